import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

// The worked example of docs/WRITING-A-KIND.md, built from nothing but the page, in a copy of the project.

/** The top of the project. */
export const ROOT = join(import.meta.dirname, "../../..");
/** The text of the page. */
export const PAGE = readFileSync(join(ROOT, "docs/WRITING-A-KIND.md"), "utf8");

/** A file's name in bold, and the block of code that follows it. */
const FILE = /^\*\*([\w./-]+)\*\*\n\n(`{3,})(\w+)\n([\s\S]*?)^\2$/gm;

interface Block {
  readonly path: string;
  readonly language: string;
  readonly text: string;
}

/** What the page shows of files, in its order. */
export const blocks: readonly Block[] = [...PAGE.matchAll(FILE)].map(
  ([, path = "", , language = "", text = ""]): Block => ({ path, language, text }),
);

/** Adds the lines of a hunk behind those that it shows of the file; they must stand there, once. */
function patched(path: string, text: string, diff: string): string {
  return diff
    .split("@@\n")
    .filter((hunk) => hunk !== "")
    .reduce((patching, hunk) => {
      const lines = hunk.trimEnd().split("\n");
      const shown = lines.filter((line) => line.startsWith(" ")).map((line) => `${line.slice(1)}\n`);
      const places = patching.split(shown.join("")).length - 1;
      if (places !== 1) throw new Error(`${path} holds ${places} times what the page shows of it:\n${shown.join("")}`);
      return patching.replace(shown.join(""), () => lines.map((line) => `${line.slice(1)}\n`).join(""));
    }, text);
}

/** A copy of the project with the example in it, as a reader of the page would end up with. */
export function build(): string {
  const folder = temporaryDirectory();
  for (const name of ["src", "test", "docs", "config", "package.json", "tsconfig.json", "biome.json", ".gitignore"]) {
    cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  }
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  for (const { path, language, text } of blocks) {
    const target = join(folder, path);
    if (language === "diff") {
      writeFileSync(target, patched(path, readFileSync(target, "utf8"), text));
    } else {
      if (existsSync(target)) throw new Error(`${path} is part of the project: the example needs a name of its own`);
      mkdirSync(dirname(target), { recursive: true });
      writeFileSync(target, text);
    }
  }
  return folder;
}

/** Runs a script of a package in the copy. @returns its exit code and all that it printed */
export function run(
  folder: string,
  script: string,
  ...args: readonly string[]
): { status: number | null; output: string } {
  const env = { ...process.env, NO_COLOR: "1", FORCE_COLOR: undefined };
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], {
    cwd: folder,
    encoding: "utf8",
    env,
  });
  return { status, output: stdout + stderr };
}
