import { chownSync, readFileSync, realpathSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { codeOf } from "../net/error-code.ts";
import { syncFile, writeWhole } from "../storage/whole-file.ts";

/** Only its owner may read it. */
export const PRIVATE_FILE_MODE = 0o600;

/**
 * Writes a file that was not there before, and returns once it is on the disk: a key that is funded in the next minute
 * must outlive a power cut. What could not be written whole is taken away again.
 * @throws EEXIST where a file is there already, which is left as it is
 */
export function writeNewFile(path: string, text: string, mode: number): void {
  writeWhole(path, text, { mode, flag: "wx" });
  syncFile(dirname(path));
}

/** A mount that may only be read, another user's folder, a file that is a mount of its own, no room. */
const UNWRITABLE = new Set(["EROFS", "EACCES", "EPERM", "EBUSY", "EXDEV", "ENOSPC", "EDQUOT", "EFBIG"]);

/**
 * Gives a file another text, at once: who reads it meanwhile finds the old or the new one. It keeps its permissions and
 * its owner; a link stays one.
 * @returns why that cannot be done here, in words; undefined where it was done
 */
export function replaceFile(
  path: string,
  { before, after }: { readonly before: string; readonly after: string },
): string | undefined {
  const file = realpathSync(path);
  const coming = `${file}.coming-${process.pid}`;
  try {
    const { mode, uid, gid } = statSync(file);
    rmSync(coming, { force: true });
    writeNewFile(coming, after, mode & 0o777);
    if (uid !== process.getuid?.() || gid !== process.getgid?.()) chownSync(coming, uid, gid);
    if (readFileSync(file, "utf8") !== before) return `${path} was changed by somebody else meanwhile`;
    renameSync(coming, file);
    syncFile(dirname(file));
    return undefined;
  } catch (error) {
    const code = codeOf(error);
    if (!UNWRITABLE.has(code)) throw error;
    return `${path} cannot be written here (${code})`;
  } finally {
    // Where it was renamed there is none any more.
    removeIfThere(coming);
  }
}

function removeIfThere(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch (error) {
    if (!UNWRITABLE.has(codeOf(error))) throw error;
  }
}
