import { databaseOf } from "./build-paper.ts";
import { DEFAULTS } from "./defaults.ts";
import { readTextFile, resolveFrom } from "./files.ts";

/** A key of the main file at the left margin, with its value on the same line: plain up to a comment, or in quotes. */
const lineOf = (text: string, key: string): string | undefined => {
  const value = new RegExp(`^${key}:[ \\t]+(?:"([^"\\n]+)|'([^'\\n]+)|([^"'#\\n]+?)[ \\t\\r]*(?:#.*)?$)`, "m").exec(
    text,
  );
  return value?.[1] ?? value?.[2] ?? value?.[3];
};

/**
 * The database that a main file names, whatever else is wrong with it or with the files beside it: a daemon that runs
 * goes on under the files as they were, and a person must reach it.
 * @returns undefined where the file cannot be read
 */
export function namedDatabase(file: string): string | undefined {
  const read = readTextFile(file);
  if ("problem" in read) return undefined;
  const database = lineOf(read.text, "database") ?? DEFAULTS.database;
  return databaseOf(lineOf(read.text, "mode") === "paper" ? "paper" : "live", resolveFrom(file, database));
}
