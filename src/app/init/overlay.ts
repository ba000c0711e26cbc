import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { codeOf } from "../../net/error-code.ts";
import { hasCode } from "../../storage/private-file.ts";
import { CommandFailure, EXIT } from "../exit-codes.ts";
import { openScratchFolder, type ScratchFolder } from "../scratch-folder.ts";
import { UNWRITABLE } from "./usable-folder.ts";

/** Texts by their paths from a folder. */
export type Texts = ReadonlyMap<string, string>;

/**
 * Runs work on a folder as it would be with some files of other texts, and leaves the folder alone: a scratch folder with
 * links to what is there. Only its owner can look into it.
 * @param folder absolute; undefined: the texts alone
 */
export async function withOverlay<T>(
  folder: string | undefined,
  texts: Texts,
  work: (scratch: string) => Promise<T>,
): Promise<T> {
  const scratch = scratchFolder();
  try {
    lay({ from: folder, to: scratch.path }, texts);
    return await work(scratch.path);
  } finally {
    scratch.remove();
  }
}

function scratchFolder(): ScratchFolder {
  try {
    return openScratchFolder("swapd-init-");
  } catch (error) {
    if (!hasCode(error, ["ENOENT", "ENOTDIR", ...UNWRITABLE])) throw error;
    const why = `no scratch folder can be made in ${tmpdir()} (${codeOf(error)})`;
    throw new CommandFailure(EXIT.no, `${why}: make that folder, or name one that can be written with TMPDIR`);
  }
}

interface Way {
  readonly from: string | undefined;
  readonly to: string;
}

function lay({ from, to }: Way, texts: Texts): void {
  const folders = new Set([...texts.keys()].map((path) => dirname(path)).filter((path) => path !== "."));
  linkAll({ from, to }, (name) => texts.has(name) || folders.has(name));
  for (const folder of folders) {
    mkdirSync(join(to, folder), { recursive: true });
    const inner = from === undefined ? undefined : join(from, folder);
    linkAll({ from: inner, to: join(to, folder) }, (name) => texts.has(join(folder, name)));
  }
  for (const [path, text] of texts) writeFileSync(join(to, path), text, { mode: 0o600 });
}

function linkAll({ from, to }: Way, isLeftOut: (name: string) => boolean): void {
  if (from === undefined || !existsSync(from)) return;
  for (const name of readdirSync(from)) {
    if (!isLeftOut(name)) symlinkSync(join(from, name), join(to, name));
  }
}
