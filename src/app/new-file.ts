import { closeSync, fsyncSync, openSync, unlinkSync, writeSync } from "node:fs";
import { dirname } from "node:path";

/** Only its owner may read it. */
export const PRIVATE_FILE_MODE = 0o600;

/**
 * Writes a file that was not there before, and returns once it is on the disk: a key that is funded in the next minute
 * must outlive a power cut. What could not be written whole is taken away again.
 * @throws EEXIST where a file is there already, which is left as it is
 */
export function writeNewFile(path: string, text: string, mode: number): void {
  const file = openSync(path, "wx", mode);
  try {
    writeSync(file, text);
    fsyncSync(file);
  } catch (error) {
    unlinkSync(path);
    throw error;
  } finally {
    closeSync(file);
  }
  syncFolder(dirname(path));
}

/** Puts the names in a folder on the disk: new files, and what was renamed. */
function syncFolder(folder: string): void {
  const opened = openSync(folder, "r");
  try {
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
}
