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

/** Whether a file that is no YAML may have a key without such a line: at the left margin, where its other keys stand there. */
const mayHave = (text: string, key: string): boolean => {
  const isAtMargin = /^\w+[ \t]*:/m.test(text) && !/^\{/m.test(text);
  return new RegExp(isAtMargin ? `^(?:["']|\\?[ \\t]+)?${key}\\b` : `^[^#\\n]*\\b${key}\\b`, "m").test(text);
};

/**
 * A key as the loader reads it, where it is a text; else what its line says, unless the file has no such key.
 * @returns REFUSED where the file has the key, or may have it, and nothing tells its value
 */
function textAt({ text, data }: { readonly text: string; readonly data: unknown }, key: string) {
  const value = isRecord(data) ? data[key] : REFUSED;
  if (value === undefined) return undefined;
  if (typeof value === "string" && value !== "") return value;
  return lineOf(text, key) ?? (isRecord(data) || mayHave(text, key) ? REFUSED : undefined);
}

/**
 * The database that a main file names, whatever else is wrong with it or with the files beside it: a daemon that runs
 * goes on under the files as they were, and a person must reach it.
 * @returns undefined where the file cannot be read, or does not tell which it is: the default one may be an old one
 */
export function namedDatabase(file: string): string | undefined {
  const read = readTextFile(file);
  if ("problem" in read) return undefined;
  // Mostly it is another file that is broken: this one says what it says, however it is written.
  const main = { text: read.text.replace(/^\ufeff/, ""), data: readYaml(file, read.text).source?.data };
  const database = textAt(main, "database");
  if (database === REFUSED) return undefined;
  const mode = textAt(main, "mode") === "paper" ? "paper" : "live";
  return databaseOf(mode, resolveFrom(file, database ?? DEFAULTS.database));
}
