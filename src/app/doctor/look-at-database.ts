import type { Mode } from "../../config/configuration.ts";
import { DAY_MS } from "../../domain/time/durations.ts";
import { formatDuration } from "../../domain/time/format-duration.ts";
import type { DatabaseHealth } from "../database-health.ts";
import { rightsOfOthers } from "../file-rights.ts";
import { formatBytes } from "../format-bytes.ts";
import { fine, type Judged } from "./diagnosis.ts";

/** A log beyond this was not written back for long: something reads, or a copy of the file is open. */
const MUCH_LOG_BYTES = 256_000_000;
/** Of a file that could be so much smaller, `swapd backup` and `swapd restore` make one. */
const MUCH_FREE_BYTES = 1_000_000_000;
const OLD_BACKUP_MS = 7 * DAY_MS;

/** Judges the file by what was read of it. */
export function judgeDatabase(
  health: DatabaseHealth,
  { mode, nowMs }: { readonly mode: Mode; readonly nowMs: number },
): readonly Judged[] {
  const { database, problems, differences, schema, size, history } = health;
  const hasNotRun = problems.some((problem) => problem.endsWith("the daemon has not run yet"));
  if (hasNotRun) return [{ what: "file", state: "warning", found: problems.join("; "), mend: "swapd start" }];
  const versions = schema.map(({ set, applied, known }) => `${set} ${applied} of ${known}`).join(", ");
  const isOther = schema.some(({ applied, known }) => applied !== known);
  const judged: Judged[] = problems.map((found) => ({ what: "file", state: "error", found, mend: mendOf(isOther) }));
  if (problems.length === 0) {
    const links =
      history === null || history.links === 0
        ? ""
        : `; history of ${history.links} links up to ${history.head.slice(0, 16)}`;
    judged.push(fine("file", `${database} is whole, page by page and row by row${links}`));
  }
  if (versions !== "" && !isOther) judged.push(fine("tables", `as this release makes them: ${versions}`));
  for (const { kind, halts, since, text } of differences)
    judged.push({
      what: kind,
      state: "error",
      found: `${text} (halts ${halts}, since ${since})`,
      mend: "swapd db check",
    });
  const others = rightsOfOthers(database);
  if (others !== undefined) {
    const found = `${database} holds signatures, and others can read it (${others.rights})`;
    judged.push({ what: "file", state: "error", found, mend: others.command });
  }
  if (size !== null) judged.push(...judgeSize(health, size));
  if (mode !== "dry-run") judged.push(judgeBackup(health, nowMs));
  return judged;
}

function mendOf(isOther: boolean): string {
  return isOther ? "swapd start" : "swapd db check";
}

function judgeSize({ database }: DatabaseHealth, size: NonNullable<DatabaseHealth["size"]>): readonly Judged[] {
  const { bytes, freeBytes, logBytes } = size;
  const found = `${formatBytes(bytes)}, of which ${formatBytes(freeBytes)} are free and used again; log of ${formatBytes(logBytes)}`;
  if (logBytes > MUCH_LOG_BYTES) {
    const why = `${found}: something keeps it from being written back, such as another program that reads ${database}`;
    return [{ what: "size", state: "warning", found: why, mend: `fuser -v ${database}` }];
  }
  if (freeBytes > MUCH_FREE_BYTES && freeBytes > bytes / 2)
    return [{ what: "size", state: "warning", found: `${found}: a copy would be smaller`, mend: "swapd backup" }];
  return [fine("size", found)];
}

function judgeBackup({ copies }: DatabaseHealth, nowMs: number): Judged {
  const what = "backup";
  const newest = copies.find(({ kind }) => kind === "backup");
  if (newest === undefined) {
    const found = "none stands beside the database; what `swapd backup --to` wrote elsewhere is not known here";
    return { what, state: "not tried", found, mend: "swapd backup" };
  }
  const found = `${newest.file}, ${formatDuration(Math.max(0, nowMs - newest.atMs))} old`;
  return nowMs - newest.atMs > OLD_BACKUP_MS
    ? { what, state: "warning", found, mend: "swapd backup" }
    : fine(what, found);
}
