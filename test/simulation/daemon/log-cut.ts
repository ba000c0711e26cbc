import { readFileSync, rmSync, writeFileSync } from "node:fs";

const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;

/** A write-ahead log as the file has it, with the ends of its commits: all but the newest one were synced for sure. */
interface Log {
  readonly bytes: Buffer;
  /** offsets behind each commit, oldest first; the header's end where there is none */
  readonly commitEnds: readonly number[];
}

/** What was on the disk when the power failed. */
export interface DiskImage {
  readonly database: Buffer;
  readonly log: Log;
}

/** Takes the files as they are, while a connection still has them open. */
export function takeImage(file: string): DiskImage {
  return { database: readFileSync(file), log: readLog(readFileSync(`${file}-wal`)) };
}

/** The bytes at which a power failure may have ended the log. */
export function cutRange({ log }: DiskImage, isNewestSynced: boolean): { least: number; most: number } {
  const { bytes, commitEnds } = log;
  const least = commitEnds.at(isNewestSynced ? -1 : -2) ?? Math.min(HEADER_BYTES, bytes.length);
  return { least, most: bytes.length };
}

/** Puts the image back with its log cut at a byte. Nobody may have the files open. */
export function restoreCut(file: string, { database, log }: DiskImage, at: number): void {
  writeFileSync(file, database);
  writeFileSync(`${file}-wal`, log.bytes.subarray(0, at));
  rmSync(`${file}-shm`, { force: true });
}

/** Frames count while they carry the header's salts; the size of the database in one reports that it ends a commit. */
function readLog(bytes: Buffer): Log {
  if (bytes.length < HEADER_BYTES) return { bytes, commitEnds: [] };
  const frameBytes = FRAME_HEADER_BYTES + bytes.readUInt32BE(8);
  const salts = bytes.subarray(16, 24);
  const commitEnds: number[] = [HEADER_BYTES];
  for (let from = HEADER_BYTES; from + frameBytes <= bytes.length; from += frameBytes) {
    if (!bytes.subarray(from + 8, from + 16).equals(salts)) break;
    if (bytes.readUInt32BE(from + 4) !== 0) commitEnds.push(from + frameBytes);
  }
  return { bytes, commitEnds };
}
