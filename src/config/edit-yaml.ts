import { isMap, isNode, isScalar, type Node, parseDocument } from "yaml";
import { readYaml } from "./read-yaml.ts";

/** A value of a YAML file that is to be another one. */
export interface YamlEdit {
  /** keys from the top of the file */
  readonly path: readonly [string, ...string[]];
  /** as it is written in the file; undefined: the key goes, with the comment behind its value */
  readonly text: string | undefined;
}

/**
 * Gives some values of a YAML file other texts, and leaves everything else as it stands: comments, order, spaces. A key
 * that is not there is added to its map.
 * @returns undefined where that cannot be done, or would say something else than was asked for
 */
export function editYaml(before: string, edits: readonly YamlEdit[]): string | undefined {
  let text = before;
  for (const edit of edits) {
    const edited = place(text, edit);
    if (edited === undefined || !saysNothingElse(text, edited, edit)) return undefined;
    text = edited;
  }
  return text;
}

/** The text of a value as it stands in a file; undefined where the key is not there. */
export function textAt(text: string, path: readonly string[]): string | undefined {
  const found = parseDocument(text, { logLevel: "silent" }).getIn(path, true);
  const range = isNode(found) ? found.range : undefined;
  return range ? text.slice(range[0], range[1]) : undefined;
}

function place(text: string, { path, text: value }: YamlEdit): string | undefined {
  const document = parseDocument(text, { logLevel: "silent" });
  if (document.errors.length > 0) return undefined;
  const found = document.getIn(path, true);
  const above = path.slice(0, -1);
  const parent = above.length === 0 ? document.contents : document.getIn(above, true);
  if (value === undefined) return removed(text, parent, path.at(-1));
  if (isNode(found) && found.range) return replaced(text, [found.range[0], found.range[1]], value);
  return isNode(parent) ? added(text, parent, `${path.at(-1)}: ${value}`) : undefined;
}

/** A comment behind the value stays in its column where there is room. */
function replaced(text: string, [from, to]: readonly [number, number], value: string): string {
  const rest = text.slice(to);
  const spaces = /^( +)#/.exec(rest)?.[1]?.length;
  const room = spaces === undefined ? 0 : Math.max(1, spaces + (to - from) - value.length) - spaces;
  const kept = room >= 0 ? " ".repeat(room) + rest : rest.slice(-room);
  return text.slice(0, from) + value + kept;
}

/** Whole lines go: an entry that shares one with another stays. */
function removed(text: string, parent: unknown, name: string | undefined): string | undefined {
  const entry = isMap(parent) ? parent.items.find(({ key }) => isScalar(key) && key.value === name) : undefined;
  const { key, value } = entry ?? {};
  if (!isNode(key) || !key.range || !isNode(value) || !value.range) return undefined;
  const from = text.lastIndexOf("\n", key.range[0] - 1) + 1;
  if (text.slice(from, key.range[0]).trim() !== "") return undefined;
  const end = text.indexOf("\n", value.range[1] - 1);
  return text.slice(0, from) + (end < 0 ? "" : text.slice(end + 1));
}

function added(text: string, parent: Node, entry: string): string | undefined {
  const last = isMap(parent) ? parent.items.at(-1) : undefined;
  const key = last?.key;
  if (!isMap(parent) || !isNode(key) || !key.range || !parent.range) return undefined;
  if (parent.flow === true) {
    const end = parent.range[1] - 1;
    const inside = text.slice(0, end).trimEnd();
    return `${inside}${inside.endsWith(",") ? "" : ","} ${entry} ${text.slice(end)}`;
  }
  const lineStart = text.lastIndexOf("\n", key.range[0] - 1) + 1;
  const indent = text.slice(lineStart, key.range[0]);
  if (indent.trim() !== "") return undefined;
  // Behind the whole of the last entry, with the comment of its line.
  const value = isNode(last?.value) ? last.value.range?.[1] : undefined;
  const lineEnd = text.indexOf("\n", (value ?? key.range[1]) - 1);
  const end = lineEnd < 0 ? text.length : lineEnd;
  return `${text.slice(0, end)}\n${indent}${entry}${text.slice(end)}`;
}

/** Whether two texts differ in what they say at one path alone, and there as it was asked for. */
function saysNothingElse(before: string, after: string, { path, text }: YamlEdit): boolean {
  const [old, changed, wanted] = [before, after, text ?? "{ }"].map((one) => readYaml("", one));
  if ([changed, wanted].some((read) => read === undefined || read.problems.length > 0)) return false;
  // What is undefined stands in no JSON, as a key that is gone.
  const expected = withValue(old?.source?.data, path, text === undefined ? undefined : wanted?.source?.data);
  return JSON.stringify(expected) === JSON.stringify(changed?.source?.data);
}

function withValue(data: unknown, [key, ...below]: readonly string[], value: unknown): unknown {
  if (key === undefined) return value;
  const map = typeof data === "object" && data !== null ? (data as Readonly<Record<string, unknown>>) : {};
  return { ...map, [key]: withValue(map[key], below, value) };
}
