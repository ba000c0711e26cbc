import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

// The worked example of a page of docs, built from nothing but the page, in a copy of the project.

/** The top of the project. */
export const ROOT = join(import.meta.dirname, "../../..");

/** A file's name in bold, and the block of code that follows it. */
const FILE = /^\*\*([\w./-]+)\*\*\n\n(`{3,})(\w+)\n([\s\S]*?)^\2$/gm;

interface Block {
  readonly path: string;
  readonly language: string;
  readonly text: string;
}

/** What every copy holds of the project. */
const COPIED = [
  "src",
  "test",
  "scripts",
  "docs",
  "config",
  "package.json",
  "tsconfig.json",
  "biome.json",
  ".gitignore",
];

export interface WorkedExample {
  /** the text of the page */
  readonly page: string;
  /** what the page shows of files, in its order */
  readonly blocks: readonly Block[];
  /** A copy of the project with the example in it, as a reader of the page would end up with. */
  build(): string;
}

/** @param more of the project that the example needs alongside what every copy holds */
export function workedExample(path: string, more: readonly string[] = []): WorkedExample {
  const page = readFileSync(join(ROOT, path), "utf8");
  const blocks = [...page.matchAll(FILE)].map(
    ([, file = "", , language = "", text = ""]): Block => ({ path: file, language, text }),
  );
  return { page, blocks, build: () => build(blocks, [...COPIED, ...more]) };
}

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

function build(blocks: readonly Block[], copied: readonly string[]): string {
  const folder = temporaryDirectory();
  for (const name of copied) cpSync(join(ROOT, name), join(folder, name), { recursive: true });
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
  // What one start of a copy has compiled the next one loads.
  const compiled = { NODE_COMPILE_CACHE: join(folder, ".compiled") };
  const env = { ...process.env, ...compiled, NO_COLOR: "1", FORCE_COLOR: undefined };
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], {
    cwd: folder,
    encoding: "utf8",
    env,
  });
  return { status, output: stdout + stderr };
}
