import { createHash } from "node:crypto";
import {
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { z } from "zod";
import { syncFile } from "../../storage/whole-file.ts";
import { writeNewFile } from "../new-file.ts";

/** A file that is to be there, or to be another one. */
export interface PlannedFile {
  /** from the folder */
  readonly path: string;
  readonly text: string;
  readonly mode: number;
  /** what it replaces; undefined: nothing is there */
  readonly before: string | undefined;
}

/** Where files wait until all of them are on the disk, below the folder that they are for. */
const STAGE = ".swapd-init";
const MANIFEST = "ready.json";

/** Of the text for a file that a link leads to, which waits next to that file: it may be on another disk. */
const BESIDE = ".swapd-init";

const manifest = z.array(z.object({ staged: z.string(), path: z.string(), before: z.string().nullable() }));

/** What became of files that were put in their places. */
export interface Placed {
  readonly written: readonly string[];
  /** changed by somebody else meanwhile, and left: what was to be written stands beside each, with `.new` behind its name */
  readonly left: readonly string[];
}

/**
 * Writes files all or none: they wait on the disk until the last one is there, and are renamed to their places then. What
 * a kill leaves in between is finished, or put away, by {@link recoverInit}. A file keeps its owner, and a link stays one.
 */
export function writeAll(folder: string, files: readonly PlannedFile[], beforeMove?: (path: string) => void): Placed {
  const stage = join(folder, STAGE);
  mkdirSync(folder, { recursive: true });
  rmSync(stage, { recursive: true, force: true });
  mkdirSync(stage, { mode: 0o700 });
  const listed = files.map(({ path, text, mode, before }, index) => {
    const staged = stageOf(join(folder, path), String(index));
    writeStaged(resolve(stage, staged), join(folder, path), { text, mode });
    return { staged, path, before: before === undefined ? null : hashOf(before) };
  });
  writeNewFile(join(stage, "listed"), JSON.stringify(listed), 0o600);
  renameSync(join(stage, "listed"), join(stage, MANIFEST));
  syncFile(stage);
  syncFile(folder);
  return moveAll(folder, beforeMove);
}

/** Where the text for a file waits, from the stage or absolute. */
function stageOf(file: string, name: string): string {
  return existsSync(file) && lstatSync(file).isSymbolicLink() ? `${realpathSync(file)}${BESIDE}` : name;
}

function writeStaged(staged: string, file: string, { text, mode }: { text: string; mode: number }): void {
  rmSync(staged, { force: true });
  writeNewFile(staged, text, mode);
  if (!existsSync(file)) return;
  const { uid, gid } = statSync(file);
  if (uid !== process.getuid?.() || gid !== process.getgid?.()) chownSync(staged, uid, gid);
}

/**
 * Ends what a killed init began in a folder.
 * @returns what was finished; undefined where nothing was begun, or nothing of it was in its place yet
 */
export function recoverInit(folder: string): Placed | undefined {
  if (isInterrupted(folder)) return moveAll(folder);
  rmSync(join(folder, STAGE), { recursive: true, force: true });
  return undefined;
}

/** Whether some files of an init may be in their places and others not yet. */
export function isInterrupted(folder: string): boolean {
  return existsSync(join(folder, STAGE, MANIFEST));
}

function moveAll(folder: string, beforeMove: (path: string) => void = () => undefined): Placed {
  const stage = join(folder, STAGE);
  const listed = manifest.parse(JSON.parse(readFileSync(join(stage, MANIFEST), "utf8")));
  const left: string[] = [];
  for (const { staged, path, before } of listed) {
    const [from, place] = [resolve(stage, staged), join(folder, path)];
    beforeMove(path);
    if (!existsSync(from)) continue;
    mkdirSync(dirname(place), { recursive: true });
    const to = existsSync(place) ? realpathSync(place) : place;
    const isAsItWas = (existsSync(to) ? hashOf(readFileSync(to, "utf8")) : null) === before;
    if (!isAsItWas) left.push(path);
    renameSync(from, isAsItWas ? to : `${to}.new`);
    syncFile(dirname(to));
  }
  rmSync(stage, { recursive: true, force: true });
  return { written: listed.map(({ path }) => path).filter((path) => !left.includes(path)), left };
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
