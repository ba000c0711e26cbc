import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const SRC = new URL("../../src/", import.meta.url);
const ENTRY = new URL("seed-process.ts", import.meta.url);

/** What the loader follows: imports that are there for types alone are gone by then. */
const IMPORTS = /^(?:import|export) (?!type\b)(?:[\w\s,*{}]+ from )?"(\.[^"]+)"/gm;

/** The part of the program that a seed can run. */
export interface Source {
  /** below src/, sorted */
  readonly files: readonly string[];
  /** SHA-256 of their names and texts, in hex */
  readonly digest: string;
}

/**
 * Which files of src/ the processes of a campaign load. Two commits with the same digest give the same worlds for the same
 * seeds, as long as the harness and the packages stand still: what was run at one was run at the other.
 */
export function sourceOfSeeds(): Source {
  const seen = new Set<string>();
  const open = [ENTRY.href];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (seen.has(next)) continue;
    seen.add(next);
    const text = readFileSync(fileURLToPath(next), "utf8");
    for (const [, target = ""] of text.matchAll(IMPORTS)) open.push(new URL(target, next).href);
  }
  const urls = [...seen].filter((url) => url.startsWith(SRC.href)).sort();
  const hash = createHash("sha256");
  for (const url of urls) {
    const text = readFileSync(fileURLToPath(url));
    hash.update(`${url.slice(SRC.href.length)} ${text.length}\n`).update(text);
  }
  return { files: urls.map((url) => url.slice(SRC.href.length)), digest: hash.digest("hex") };
}
