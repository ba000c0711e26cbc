import { z } from "zod";
import { closest } from "./closest.ts";
import { knownKeys, mapsWithKey, unwrap } from "./schema-tree.ts";

/** What to write instead, from a schema alone. */

const NEGATIVE = /^(?:no|off|false|none|never|n)$/i;
const NEGATIVE_OPTIONS = ["never", "none", "skip", "ignore"];

/** The option that a mistyped word, or a no of another language, stands for. */
export function optionMeant(value: unknown, options: readonly string[]): string | undefined {
  if (typeof value === "boolean" || typeof value === "string") {
    const negative = NEGATIVE.test(String(value)) ? NEGATIVE_OPTIONS.find((one) => options.includes(one)) : undefined;
    if (negative !== undefined) return negative;
  }
  return typeof value === "string" ? closest(value, options) : undefined;
}

/** What an unknown key was meant to be. `maps` are the maps of the file that it belongs into, when that is it. */
export interface KeyHint {
  readonly suggestion: string;
  readonly key: string | undefined;
  readonly maps: readonly (readonly string[])[];
}

/** Another file of the configuration, as it is called in a hint. */
export interface OtherFile {
  readonly schema: z.ZodObject;
  readonly name: string;
}

/**
 * A key that is known elsewhere in the file was put into the wrong map; else it may be mistyped, or known here with a word
 * before it, as max_slippage for slippage.
 */
export function hintForKey(
  key: string,
  place: {
    readonly known: readonly string[];
    readonly path: readonly (string | number)[];
    readonly root: z.ZodType;
    readonly value: unknown;
    readonly otherFile: OtherFile | undefined;
  },
): KeyHint {
  const { known, path, root, value, otherFile } = place;
  const meant = closest(key, known);
  const isSpelling = meant !== undefined && plain(meant) === plain(key);
  const here = path.slice(0, -1).map(String);
  const maps = isSpelling ? [] : mapsWithKey(root, key).filter((map) => map.join(".") !== here.join("."));
  const nearest = nearestMaps(maps, here);
  if (nearest.length > 0) {
    return { suggestion: `it belongs ${nearest.map(describeMap(key)).join(", or ")}`, key: undefined, maps: nearest };
  }
  if (!isSpelling && otherFile !== undefined && Object.hasOwn(otherFile.schema.shape, key)) {
    return { suggestion: `it belongs into ${otherFile.name}`, key: undefined, maps: [] };
  }
  const inner = typeof value === "object" && value !== null && !Array.isArray(value) ? Object.keys(value) : [];
  if (meant === undefined && inner.length > 0 && inner.every((one) => known.includes(one))) {
    const first = inner[0];
    const suggestion = `without this key: write ${inner.join(", ")} in its place`;
    return { suggestion, key: first, maps: [] };
  }
  const longer = key.length < 4 ? [] : known.filter((one) => plain(one).endsWith(plain(key)));
  const found = meant ?? (longer.length === 1 ? longer[0] : undefined);
  const suggestion = found === undefined ? `known keys here: ${known.join(", ")}` : `did you mean "${found}"?`;
  return { suggestion, key: found, maps: [] };
}

function plain(word: string): string {
  return word.toLowerCase().replaceAll(/[_-]/g, "");
}

/** The maps that are fewest levels away, at most three. */
function nearestMaps(maps: readonly (readonly string[])[], here: readonly string[]): readonly (readonly string[])[] {
  const distance = (map: readonly string[]): number => Math.abs(map.length - here.length);
  const least = Math.min(...maps.map(distance));
  const unique = new Map(maps.filter((map) => distance(map) === least).map((map) => [map.join("."), map]));
  return unique.size > 3 ? [] : [...unique.values()];
}

function describeMap(key: string): (map: readonly string[]) => string {
  return (map) => {
    if (map.length === 0) return "to the top of the file";
    return `into ${map.join(".")}: ${map.map((name) => `${name}: { `).join("")}${key}: ...${" }".repeat(map.length)}`;
  };
}

/** What to write for a value of the wrong form: a word in place of a map or of a list, a map in place of a list. */
export function hintForForm(
  schema: z.ZodType,
  value: unknown,
): { readonly message: string; readonly suggestion: string | undefined } | undefined {
  const form = unwrap(schema);
  if (form instanceof z.ZodArray) {
    const isWord = typeof value === "string" && unwrap(form.element as z.ZodType) instanceof z.ZodString;
    return { message: "needs a list", suggestion: isWord ? `write [${quoted(value)}]` : "write [first, second]" };
  }
  if (form instanceof z.ZodRecord) return { message: "needs a map of names and values", suggestion: undefined };
  if (!(form instanceof z.ZodObject)) return undefined;
  const known = knownKeys(form);
  const meant = keyMeant(form, value);
  const suggestion = meant === undefined ? `its keys are ${known.join(", ")}` : `write { ${meant} }`;
  return { message: "needs a map of keys", suggestion };
}

function quoted(text: string): string {
  return /^[A-Za-z][\w./-]*$/.test(text) ? text : `"${text}"`;
}

/** `every 6h` names its key itself; a word that is an option of one key alone stands for that key. */
function keyMeant(form: z.ZodObject, value: unknown): string | undefined {
  const [, key = "", rest = ""] = typeof value === "string" ? (/^([a-z_]+)[\s:=]+(\S.*)$/i.exec(value) ?? []) : [];
  if (Object.hasOwn(form.shape, key)) return `${key}: ${rest}`;
  for (const [name, field] of Object.entries(form.shape as Record<string, z.ZodType>)) {
    const inner = unwrap(field);
    const option = inner instanceof z.ZodEnum ? optionMeant(value, inner.options.map(String)) : undefined;
    if (option !== undefined) return `${name}: ${option}`;
  }
  return undefined;
}

/** What a missing key is for, with an example where its schema has one. */
export function hintForMissing(key: string, schema: z.ZodType): string | undefined {
  const field = unwrap(schema);
  const description = field.meta()?.description;
  const example = exampleOf(field);
  if (example === undefined) return description === undefined ? undefined : `it is ${description}`;
  return description === undefined ? `add ${key}: ${example}` : `add ${key}: ${example} (${description})`;
}

function exampleOf(schema: z.ZodType): string | undefined {
  const field = unwrap(schema);
  const [example] = (field.meta()?.examples ?? []) as readonly unknown[];
  if (example !== undefined) return /\s/.test(String(example)) ? `"${example}"` : String(example);
  if (!(field instanceof z.ZodObject)) return undefined;
  const needed = Object.entries(field.shape as Record<string, z.ZodType>).filter(
    ([, inner]) => !(inner instanceof z.ZodOptional || inner instanceof z.ZodDefault),
  );
  const parts = needed.map(([name, inner]) => ({ name, example: exampleOf(inner) }));
  const isWhole = parts.length > 0 && parts.every((part) => part.example !== undefined);
  return isWhole ? `{ ${parts.map((part) => `${part.name}: ${part.example}`).join(", ")} }` : undefined;
}
