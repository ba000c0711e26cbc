import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";

const DIRECTORY = fileURLToPath(new URL(".", import.meta.url));

const mutantFile = z.strictObject({
  /** what is wrong in the program when this stands in it, one sentence */
  bug: z.string(),
  file: z.string(),
  /** stands in the file exactly once */
  find: z.string(),
  replace: z.string(),
  /** test files, of which one test at least fails with the bug */
  tests: z.array(z.string()).min(1),
});

/** A known bug that can be put back into the program, and the tests that must notice. */
export interface Mutant extends z.infer<typeof mutantFile> {
  readonly name: string;
}

/** All mutants: a file each alongside this one. */
export function readMutants(): readonly Mutant[] {
  return readdirSync(DIRECTORY)
    .filter((file) => file.endsWith(".json"))
    .sort()
    .map((file) => {
      const content = mutantFile.parse(JSON.parse(readFileSync(join(DIRECTORY, file), "utf8")));
      return { name: file.replace(/\.json$/, ""), ...content };
    });
}

/** The text with the bug put back. */
export function mutated(text: string, { name, find, replace }: Mutant): string {
  const pieces = text.split(find);
  if (pieces.length !== 2) throw new Error(`mutant ${name}: its text stands ${pieces.length - 1} times in the file`);
  return pieces.join(replace);
}
