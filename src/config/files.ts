import { readdirSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, isAbsolute, resolve } from "node:path";
import { closest } from "./closest.ts";
import { CONFIG_BOUNDS } from "./defaults.ts";
import type { SecretReference } from "./fields.ts";

/** What came of reading a file: its text, or why there is none. */
export type FileText = { readonly text: string } | { readonly problem: string };

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Reads a text file of bounded size. The answer says in words why it cannot be read. */
export function readTextFile(path: string): FileText {
  try {
    const found = statSync(path);
    if (!found.isFile()) return { problem: "is no file" };
    if (found.size > CONFIG_BOUNDS.maxFileBytes) {
      return { problem: `has ${found.size} bytes; at most ${CONFIG_BOUNDS.maxFileBytes} are read` };
    }
    const text = readFileSync(path, "utf8");
    // Bytes that are no text become this character without a word; only then the slower, strict reading is needed.
    return { text: text.includes("\uFFFD") ? utf8.decode(readFileSync(path)) : text };
  } catch (error) {
    return { problem: describeFileError(error) };
  }
}

/** The names in a folder, sorted. */
export function listFolder(path: string): { readonly names: readonly string[] } | { readonly problem: string } {
  try {
    return { names: readdirSync(path).sort() };
  } catch (error) {
    return { problem: describeFileError(error) };
  }
}

/** The name in its folder that a path which does not exist was probably meant for. */
export function similarName(path: string): string | undefined {
  const beside = listFolder(dirname(path));
  return "problem" in beside || beside.names.includes(basename(path))
    ? undefined
    : closest(basename(path), beside.names);
}

function describeFileError(error: unknown): string {
  if (error instanceof TypeError) return "is no UTF-8 text";
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const words: Readonly<Record<string, string>> = {
    ENOENT: "does not exist",
    EACCES: "may not be read: permission denied",
    EPERM: "may not be read: permission denied",
    ENOTDIR: "does not exist: a part of its path is no folder",
    EISDIR: "is a folder",
  };
  return words[code] ?? `cannot be read (${code === "" ? "unknown error" : code})`;
}

/** A path as written in a file, made absolute from that file's folder. */
export function resolveFrom(file: string, path: string): string {
  return isAbsolute(path) ? path : resolve(dirname(file), path);
}

/**
 * Looks up a secret. It is returned, and occurs nowhere else: the problem names only where it was looked for. A trailing
 * line break of a file is not part of the secret.
 */
export function resolveSecret(
  reference: SecretReference,
  env: Readonly<Record<string, string | undefined>>,
): { readonly ok: true; readonly value: string } | { readonly ok: false; readonly problem: string } {
  if ("env" in reference) {
    const value = env[reference.env];
    if (value !== undefined && value !== "") return { ok: true, value };
    return {
      ok: false,
      problem: `the environment variable ${reference.env} is ${value === undefined ? "not set" : "empty"}`,
    };
  }
  const read = readTextFile(reference.file);
  if ("problem" in read) return { ok: false, problem: `the file ${reference.file} ${read.problem}` };
  const value = read.text.replace(/\r?\n$/, "");
  return value === "" ? { ok: false, problem: `the file ${reference.file} is empty` } : { ok: true, value };
}
