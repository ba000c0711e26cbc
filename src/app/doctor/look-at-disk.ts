import { existsSync, statfsSync } from "node:fs";
import { dirname } from "node:path";
import { DAY_MS } from "../../domain/time/durations.ts";
import type { DatabaseHealth } from "../database-health.ts";
import { formatBytes } from "../format-bytes.ts";
import { fine, type Judged } from "./diagnosis.ts";

/** SQLite's log, a migration's copy and a backup each need room beside the database. */
const LEAST_FREE_BYTES = 100_000_000;
const LITTLE_FREE_BYTES = 1_000_000_000;
const FEW_DAYS = 30;

/** Room on a file system, in bytes. */
export interface Room {
  readonly folder: string;
  readonly freeBytes: number;
}

/** The room where a file stands, or would: that of the first folder on the way that is there. */
export function roomAt(file: string): Room {
  let folder = dirname(file);
  while (!existsSync(folder) && folder !== dirname(folder)) folder = dirname(folder);
  const { bavail, bsize } = statfsSync(folder);
  return { folder, freeBytes: bavail * bsize };
}

/** Judges the room beside the database by what the database used a day so far. */
export function judgeDisk(
  { folder, freeBytes }: Room,
  { size, keeping }: Pick<DatabaseHealth, "size" | "keeping">,
  nowMs: number,
): readonly Judged[] {
  const what = folder;
  const mend = `df -h ${folder}`;
  const used = size === null ? 0 : size.bytes - size.freeBytes;
  const days = keeping?.madeAtMs === undefined ? 0 : (nowMs - keeping.madeAtMs) / DAY_MS;
  const aDay = days < 1 ? undefined : used / days;
  const pace = aDay === undefined ? "what is used a day is not known yet" : `about ${formatBytes(aDay)} used a day`;
  const lasts = aDay === undefined || aDay === 0 ? Number.POSITIVE_INFINITY : freeBytes / aDay;
  const found = `${formatBytes(freeBytes)} free; ${pace}${lasts < 3_650 ? `, enough for ${Math.floor(lasts)} days` : ""}`;
  if (freeBytes < LEAST_FREE_BYTES) return [{ what, state: "error", found, mend }];
  if (freeBytes < LITTLE_FREE_BYTES || lasts < FEW_DAYS) return [{ what, state: "warning", found, mend }];
  if (freeBytes < used) {
    const why = `${found}; a backup or a migration's copy (${formatBytes(used)}) does not fit`;
    return [{ what, state: "warning", found: why, mend }];
  }
  return [fine(what, found)];
}
