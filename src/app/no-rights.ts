import { accessSync, constants, readFileSync, type Stats, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { hasCode } from "../storage/private-file.ts";
import { CommandFailure, EXIT } from "./exit-codes.ts";
import { inShell } from "./in-shell.ts";

/** @throws CommandFailure that says whose a path is, where this user may not read it, or not look into its folder */
export function assertReadable(path: string): void {
  const why = whyNoRights(path, "read");
  if (why !== undefined) throw new CommandFailure(EXIT.configuration, why);
}

/**
 * Whose a path is and what to do, where this user may not use it; undefined where rights are not what is in the way. SQLite
 * writes beside a file that it opens.
 */
export function whyNoRights(path: string, to: "read" | "write"): string | undefined {
  const file = resolve(path);
  let at = file;
  let stats = statsOf(at);
  while (stats === undefined && at !== dirname(at)) {
    at = dirname(at);
    stats = statsOf(at);
  }
  if (stats === undefined) return undefined;
  if (isBarred(at, stats, to)) return describe(at, stats);
  if (to === "read" || at !== file || stats.isDirectory()) return undefined;
  const folder = statSync(dirname(file));
  return isBarred(dirname(file), folder, to) ? describe(dirname(file), folder) : undefined;
}

function isBarred(path: string, stats: Stats, to: "read" | "write"): boolean {
  const own = stats.isDirectory() ? constants.X_OK : constants.R_OK;
  try {
    accessSync(path, to === "write" ? own | constants.W_OK : own);
    return false;
  } catch (error) {
    return hasCode(error, ["EACCES", "EPERM"]);
  }
}

function describe(path: string, { uid }: Stats): string {
  const owner = userName(uid);
  const me = userName(process.geteuid?.() ?? uid);
  return `this user (${me}) may not use ${path}, which is of ${owner}: run it as that user, by \`sudo -u ${inShell(owner)} ...\``;
}

/** As `sudo -u` takes it, also where the number has no name. */
function userName(uid: number): string {
  return accounts().find(([, , number]) => number === String(uid))?.[0] ?? `#${uid}`;
}

function accounts(): readonly (readonly string[])[] {
  try {
    return readFileSync("/etc/passwd", "utf8")
      .split("\n")
      .map((line) => line.split(":"));
  } catch (error) {
    if (hasCode(error, ["ENOENT", "EACCES"])) return [];
    throw error;
  }
}

/** Undefined where it is not there, or where a folder above it may not be looked into. */
function statsOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch (error) {
    if (hasCode(error, ["ENOENT", "ENOTDIR", "EACCES", "EPERM", "ELOOP"])) return undefined;
    throw error;
  }
}
