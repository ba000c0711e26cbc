import { accessSync, constants, lstatSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { codeOf } from "../../net/error-code.ts";
import { hasCode } from "../../storage/private-file.ts";
import { CommandFailure, EXIT } from "../exit-codes.ts";
import { troubleOfStart } from "../start-trouble.ts";

/** Why a folder takes no files. */
export const UNWRITABLE: readonly string[] = ["EACCES", "EROFS", "EPERM"];

/**
 * Looks whether a folder is one, or can be made, before anything is asked or read.
 * @throws CommandFailure that names what is in its place
 */
export function refuseNoFolder(folder: string): void {
  const there = nearest(folder);
  const stats = statSync(there, { throwIfNoEntry: false });
  if (stats?.isDirectory() === true) return;
  const what = stats === undefined ? "a link that leads nowhere" : "no folder";
  throw new CommandFailure(EXIT.no, `${there} is ${what}, and nothing was written: name a folder with --dir`);
}

/**
 * Looks whether files can be written to a folder, or to the one that it is to be made in.
 * @throws CommandFailure with what to do
 */
export function refuseUnwritable(folder: string): void {
  const there = nearest(folder);
  try {
    accessSync(there, constants.W_OK | constants.X_OK);
  } catch (error) {
    if (!hasCode(error, UNWRITABLE)) throw error;
    const what = `${there} cannot be written (${codeOf(error)}), and nothing was written`;
    throw new CommandFailure(EXIT.no, `${what}: run this as its owner, or name another folder with --dir`);
  }
}

/** What the file system says while files are written: it names the path, and is no mistake of ours. */
export function failWriting(error: unknown): never {
  if (!(error instanceof Error && "syscall" in error)) throw error;
  const { exitCode, message } = troubleOfStart(error);
  throw new CommandFailure(exitCode, `the files cannot be written: ${message}`);
}

/** A folder, or the nearest above it that there is something at. */
function nearest(path: string): string {
  for (let at = path; ; at = dirname(at)) {
    if (isThere(at) || at === dirname(at)) return at;
  }
}

/** Below a file there is nothing; what may not be looked into is found out by writing. */
function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    if (!hasCode(error, ["ENOTDIR", "EACCES"])) throw error;
    return false;
  }
}
