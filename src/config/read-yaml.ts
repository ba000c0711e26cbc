import { readPlainYaml } from "./plain-yaml.ts";
import type { Problem } from "./problem.ts";
import type { Places, Source } from "./source.ts";
import { readStrictYaml } from "./strict-yaml.ts";

/**
 * Reads one YAML document as plain data: maps, lists, text, booleans, numbers. Everything that YAML may silently turn
 * into something else is refused with its place: duplicate keys, anchors, aliases, merge keys, tags, unquoted `0x...`,
 * base-60 numbers, leading zeros, exponents. All problems are returned at once.
 *
 * A file in which nothing is unusual is read by a faster reader, and the places of its values are looked up only when a
 * problem must be told.
 */
export function readYaml(file: string, text: string): { source: Source | undefined; problems: Problem[] } {
  const data = readPlainYaml(text);
  if (data === undefined) {
    const { source, problems } = readStrictYaml(file, text);
    return { source, problems };
  }
  let known: Places | undefined;
  const places = (): Places => {
    known ??= readStrictYaml(file, text).source?.places() ?? { values: new Map(), keys: new Map() };
    return known;
  };
  return { source: { file, text, data, places }, problems: [] };
}
