import { closeSync, fsyncSync, openSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Writes a file and returns once its text is on the disk: all of it, or an error, where a single write takes the part for
 * which there is room. What could not be written whole is taken away again.
 * @param flag `wx` fails where a file is there already
 */
export function writeWhole(path: string, text: string, { mode, flag }: { mode: number; flag: "w" | "wx" }): void {
  const file = openSync(path, flag, mode);
  try {
    writeFileSync(file, text);
    fsyncSync(file);
  } catch (error) {
    // Only what was opened here: a file that was there already is somebody's.
    rmSync(path, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
}

/** Gives a file its text at once: whoever reads it, also after a power cut, finds the old one, or none, or all of this one. */
export function replaceWhole(path: string, text: string, mode: number): void {
  const unfinished = `${path}.unfinished`;
  writeWhole(unfinished, text, { mode, flag: "w" });
  renameSync(unfinished, path);
  syncFile(dirname(path));
}

/** Puts a file on the disk; of a folder its names: new files, and what was renamed. */
export function syncFile(path: string): void {
  const file = openSync(path, statSync(path).isDirectory() ? "r" : "r+");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
