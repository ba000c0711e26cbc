import { copyFileSync, existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import type { Faults } from "../faults.ts";
import { type KeptRows, keepAnswers, openRows, type Rows } from "../oracle/rows.ts";
import type { Report } from "../oracle/signing.ts";
import type { Trace } from "../trace.ts";
import { openAlone } from "./connection.ts";
import { cutRange, type DiskImage, restoreCut, takeImage } from "./log-cut.ts";
import { CANARY } from "./workload.ts";

/** What a database knows of what was signed: its name, how often, and how often a person accepted what it lacks. */
export interface Known {
  readonly id: string | undefined;
  readonly signed: number;
  readonly accepted: number;
}

/** How the next start finds the database. */
export type Exchange = "cut" | "old copy" | "lost";

/** The database's files of one world, and what befalls them while nobody has them open. */
export interface Files {
  readonly file: string;
  /** the pace of the service's key, which the database's exchange does not touch */
  readonly paceFile: string;
  readonly rows: KeptRows;
  /** Keeps a copy, as `swapd backup` does. */
  backUp(): void;
  /** Exchanges the files of a dead process. */
  exchange(how: Exchange, death: { readonly number: number; isNewestSynced: boolean }): void;
  /** Writes a pace that no clock can have written, as one that was copied from another machine. */
  spoilPace(number: number): void;
  readonly cuts: number;
  checkSecrecy(report: Report): void;
  remove(): void;
}

const MOST_COPIES = 8;

/** in microseconds since the boot, and calls per second */
const ODD_PACES = [
  ["next_slot_us", 60_000_000_000n],
  ["next_slot_us", 10n ** 18n],
  ["blocked_until_us", 200_000_000_000n],
  ["blocked_until_us", 10n ** 18n],
  ["rate_at_us", 10n ** 18n],
  ["rate_per_second", 0],
  ["limit_seen", -1],
] as const;

export function createFiles(parts: {
  folder: string;
  emptyDatabase: string;
  faults: Faults;
  trace: Trace;
  /** hears what the database knew before it was exchanged for another, and what the other one knows */
  exchanged(before: Known, after: Known): void;
  /** hears that nobody can read from the stored pace any more what the service asked for */
  paceSpoiled(): void;
}): Files {
  const { faults, trace, emptyDatabase } = parts;
  const { chance } = faults;
  const file = join(parts.folder, `seed-${chance.seed}.db`);
  const paceFile = `${file}.limiter.db`;
  removeDatabase(file);
  copyFileSync(emptyDatabase, file);
  const rows = keepAnswers(openRows(() => openAlone(file)));
  const copies: DiskImage[] = [];
  let cuts = 0;
  const replace = (put: () => void): void => {
    const before = knownOf(rows);
    rows.reopen(put);
    parts.exchanged(before, knownOf(rows));
  };
  const lose = (): void => {
    for (const ending of ["", "-wal", "-shm"]) rmSync(`${file}${ending}`, { force: true });
    copyFileSync(emptyDatabase, file);
  };
  return {
    ...{ file, paceFile, rows },
    backUp: () => {
      copies.push(takeImage(file));
      if (copies.length > MOST_COPIES) copies.shift();
    },
    exchange: (how, { number, isNewestSynced }) => {
      if (how === "cut") {
        const image = takeImage(file);
        const { least, most } = cutRange(image, isNewestSynced);
        const at = chance.between(least, most, "cut", number);
        cuts += 1;
        trace.note("world", `the log of ${most} bytes is cut at ${at}, synced are ${least}`);
        rows.reopen(() => restoreCut(file, image, at));
        return;
      }
      const copy = how === "lost" || copies.length === 0 ? undefined : chance.pick(copies, "copy", number);
      trace.note("world", copy === undefined ? "the database is lost" : `an older copy is put back`);
      if (copy === undefined) replace(lose);
      else replace(() => restoreCut(file, copy, copy.log.bytes.length));
    },
    spoilPace: (number) => {
      const [column, value] = chance.pick(ODD_PACES, "odd pace", number);
      const db = new Database(paceFile);
      // A daemon that was killed early has stored none.
      const isStored = db.prepare("SELECT 1 FROM sqlite_master WHERE name = 'pace'").get() !== undefined;
      if (isStored) db.prepare(`UPDATE pace SET ${column} = ?`).run(value);
      db.close();
      if (!isStored) return;
      trace.note("world", `the stored pace has ${column} ${value}`);
      parts.paceSpoiled();
    },
    get cuts() {
      return cuts;
    },
    checkSecrecy: (report) => checkSecrecy(file, report),
    remove: () => removeDatabase(file),
  };
}

/** What the rows know of what was signed, or is about to be. */
export function knownOf(rows: Rows): Known {
  const row = rows.one<{ id: string | null; signed: number; accepted: number }>(
    `SELECT database_id AS id, signatures + signed + (SELECT coalesce(max(seq), 0) FROM lane_signings) AS signed,
       (SELECT count(*) FROM requests WHERE command = 'accept' AND answer LIKE 'accepted%') AS accepted FROM identity`,
  );
  return { id: row?.id ?? undefined, signed: row?.signed ?? 0, accepted: row?.accepted ?? 0 };
}

/** What stands in the addresses of endpoints and in the API key stands in no file. */
function checkSecrecy(file: string, report: Report): void {
  for (const ending of ["", "-wal"]) {
    if (existsSync(`${file}${ending}`) && readFileSync(`${file}${ending}`).includes(CANARY)) {
      report("S12", `a secret stands in the database${ending}`);
    }
  }
}

function removeDatabase(file: string): void {
  for (const ending of ["", "-wal", "-shm", ".limiter.db", ".limiter.db-wal", ".limiter.db-shm"]) {
    if (existsSync(`${file}${ending}`)) rmSync(`${file}${ending}`);
  }
}
