import { isRecord } from "../domain/json.ts";
import { databaseOf } from "./build-paper.ts";
import { DEFAULTS } from "./defaults.ts";
import { readTextFile, resolveFrom } from "./files.ts";
import { readYaml } from "./read-yaml.ts";
import { REFUSED } from "./source.ts";

/** A key of a file that is no YAML: at the left margin, with its value on the same line, plain up to a comment or in quotes. */
const lineOf = (text: string, key: string): string | undefined => {
  const value = new RegExp(
    `^${key}:[ \\t]+(?:"([^"\\n]+)|'([^'\\n]+)|([^"'#\\s][^\\n]*?)(?:[ \\t]+#.*)?[ \\t\\r]*$)`,
    "m",
  ).exec(text);
  return value?.[1] ?? value?.[2] ?? value?.[3];
};

/** A key as the loader reads it, where it is a text; else what its line says, unless the file has no such key. */
function textAt({ text, data }: { readonly text: string; readonly data: unknown }, key: string): string | undefined {
  const value = isRecord(data) ? data[key] : REFUSED;
  if (value === undefined) return undefined;
  return typeof value === "string" && value !== "" ? value : lineOf(text, key);
}

/**
 * The database that a main file names, whatever else is wrong with it or with the files beside it: a daemon that runs
 * goes on under the files as they were, and a person must reach it.
 * @returns undefined where the file cannot be read
 */
export function namedDatabase(file: string): string | undefined {
  const read = readTextFile(file);
  if ("problem" in read) return undefined;
  // Mostly it is another file that is broken: this one says what it says, however it is written.
  const main = { text: read.text, data: readYaml(file, read.text).source?.data };
  const database = textAt(main, "database") ?? DEFAULTS.database;
  return databaseOf(textAt(main, "mode") === "paper" ? "paper" : "live", resolveFrom(file, database));
}
