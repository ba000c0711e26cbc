import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { migrateDaemon } from "../src/adapters/sqlite/daemon/schema.ts";
import { createStore } from "../src/adapters/sqlite/daemon/store.ts";
import { migrateLane } from "../src/adapters/sqlite/lanes.ts";
import { readSandboxFacts } from "../src/app/sandbox-facts.ts";
import type { RetentionSlice } from "../src/ports/retention-store.ts";
import { backUp } from "../src/storage/backup.ts";
import { openDatabase, type SqliteDatabase } from "../src/storage/database.ts";
import { createJournal } from "../test/audit/support/journal.ts";
import { makeFolder, start } from "../test/e2e/support/swapd.ts";
import { fillHistory, makeWhole } from "./history/fill.ts";

/**
 * What a run weighs once it is old, and what letting go costs. The first on the rows of a real sandbox: copies of its
 * database are made as it grows, and in both everything that is over is let go as if it were years ago. What one copy has
 * more than the other, by used bytes of all pages, is what its further runs weigh: what every database has is in both. The
 * second on filled rows: every turn is timed, with the fsync of its commit. `--seconds N` (of the sandbox) and `--runs N`
 * (filled) make it small. Ends with 1 when a gate is missed.
 */
const SECONDS = argument("--seconds", 240);
const RUNS = argument("--runs", 20_000);
/** A turn by its processor time: what else the machine does lengthens it by the clock, and holds everybody up alike. */
const GATES = { bytesPerRun: 2_000, worstSliceCpuMs: 50 };
/** All strategies of the sandbox have traded by then: what their first runs leave behind is in both copies. */
const FIRST_COPY = 0.4;
const SLICE_MS = 5;
const FAR_MS = 5_000_000_000_000;

function argument(name: string, otherwise: number): number {
  const at = process.argv.indexOf(name);
  return at === -1 ? otherwise : Number(process.argv[at + 1]);
}

const folder = mkdtempSync(join(tmpdir(), "swapd-bench-retention-"));
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

interface Went {
  readonly pruned: number;
  readonly archived: number;
  readonly slicesMs: readonly number[];
  readonly slicesCpuMs: readonly number[];
}

/** Lets everything go, in turns as long as the daemon's, without the pauses in between. */
function letAllGo(db: SqliteDatabase): Went {
  const store = createStore(db);
  const went = { pruned: 0, archived: 0, slicesMs: [] as number[], slicesCpuMs: [] as number[] };
  let after: RetentionSlice["after"];
  do {
    const [began, cpu] = [performance.now(), process.cpuUsage()];
    const mayGoOn = (): boolean => performance.now() < began + SLICE_MS;
    const turn = { unsignedBeforeMs: FAR_MS, signedBeforeMs: FAR_MS, nowMs: FAR_MS, after, mayGoOn };
    const result = store.transaction(() => store.letGo(turn));
    went.slicesMs.push(performance.now() - began);
    const { user, system } = process.cpuUsage(cpu);
    went.slicesCpuMs.push((user + system) / 1_000);
    went.pruned += result.pruned;
    went.archived += result.archived;
    after = result.last;
  } while (after !== undefined);
  return went;
}

/** Used bytes of all pages, by what they belong to. */
function weigh(db: SqliteDatabase): ReadonlyMap<string, number> {
  const rows = db
    .prepare<[], { name: string; used: number }>(
      "SELECT name, sum(pgsize - unused) AS used FROM dbstat GROUP BY name ORDER BY name",
    )
    .all();
  return new Map(rows.map(({ name, used }) => [name, used]));
}

interface Weighed {
  readonly runs: number;
  readonly signed: number;
  readonly before: ReadonlyMap<string, number>;
  readonly after: ReadonlyMap<string, number>;
}

function weighCopy(file: string): Weighed {
  const db = openDatabase({ file });
  const count = (sql: string): number => db.prepare<[], number>(sql).pluck().get() ?? 0;
  const runs = count("SELECT count(*) FROM runs");
  const signed = count("SELECT count(DISTINCT run_id) FROM swaps JOIN capabilities ON swap_id = swaps.id");
  const before = weigh(db);
  letAllGo(db);
  db.exec("VACUUM");
  const after = weigh(db);
  db.close();
  return { runs, signed, before, after };
}

/** Copies of a sandbox's database, one of them later. */
async function runSandbox(): Promise<readonly [string, string]> {
  const world = makeFolder();
  const sandbox = start(world.path, ["sandbox", "--port", "0"]);
  const copy = (name: string): string => {
    const database = readSandboxFacts(world.path)?.database;
    if (database === undefined) throw new Error("the sandbox did not start");
    const db = openDatabase({ file: database, readonly: true });
    backUp([{ db, to: join(folder, name) }]);
    db.close();
    return join(folder, name);
  };
  try {
    await sleep(SECONDS * FIRST_COPY * 1_000);
    const first = copy("first.db");
    await sleep(SECONDS * (1 - FIRST_COPY) * 1_000);
    return [first, copy("second.db")];
  } finally {
    sandbox.process.kill("SIGINT");
    await sandbox.ended;
    world.remove();
  }
}

function total(weights: ReadonlyMap<string, number>): number {
  return [...weights.values()].reduce((sum, bytes) => sum + bytes, 0);
}

const [one, other] = (await runSandbox()).map(weighCopy);
if (one === undefined || other === undefined) throw new Error("no copies");
const runs = other.runs - one.runs;
const perRun = (when: "before" | "after"): number => Math.round((total(other[when]) - total(one[when])) / runs);
const tables = [...other.before.keys()]
  .map((table) => {
    const grown = (when: "before" | "after") =>
      Math.round(((other[when].get(table) ?? 0) - (one[when].get(table) ?? 0)) / runs);
    return { table, before: grown("before"), after: grown("after") };
  })
  .filter(({ before, after }) => before > 20 || after > 20);

const empty = openDatabase({ file: join(folder, "empty.db") });
migrateDaemon(empty);
migrateLane(empty);
const filled = join(folder, "filled.db");
createJournal(filled).close();
fillHistory(filled, { runs: RUNS, untilMs: Date.now() });
makeWhole(filled, empty);
empty.close();
const db = openDatabase({ file: filled });
const began = performance.now();
const { slicesMs, slicesCpuMs, archived } = letAllGo(db);
const tookMs = performance.now() - began;
db.pragma("wal_checkpoint(TRUNCATE)");
const [backup = 0] = backUp([{ db, to: join(folder, "copy.db") }]);
const freeMb = (Number(db.pragma("freelist_count", { simple: true })) * 4_096) / 1e6;
db.close();
const share = (values: readonly number[], part: number): number =>
  Math.round(values.toSorted((a, b) => a - b)[Math.ceil(values.length * part) - 1] ?? Number.NaN);
const row = {
  ...{ runs, signed: other.signed - one.signed, bytesBefore: perRun("before"), bytesAfter: perRun("after") },
  ...{ archived, msPerRun: Math.round((tookMs / archived) * 100) / 100 },
  ...{ sliceMs: share(slicesMs, 0.5), p99SliceMs: share(slicesMs, 0.99), worstSliceCpuMs: share(slicesCpuMs, 1) },
  ...{
    fileMb: Math.round(statSync(filled).size / 1e6),
    freeMb: Math.round(freeMb),
    backupMb: Math.round(backup / 1e6),
  },
};
console.table(tables);
console.table([row]);
console.log(JSON.stringify({ bench: "retention", gates: GATES, row, tables }));
rmSync(folder, { recursive: true, force: true });
process.exitCode = row.bytesAfter < GATES.bytesPerRun && row.worstSliceCpuMs < GATES.worstSliceCpuMs ? 0 : 1;
