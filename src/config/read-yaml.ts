import {
  type Document,
  isAlias,
  isMap,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  type Pair,
  parseAllDocuments,
  type Scalar,
  type YAMLMap,
} from "yaml";
import { at, type Complaint, type Path } from "./complaint.ts";
import { plainScalar } from "./plain-scalar.ts";
import { makeProblem, type Place, type Problem } from "./problem.ts";
import { type Places, pathKey, REFUSED, type Source } from "./source.ts";
import { tagOffsets } from "./tag-offsets.ts";
import { describeSyntax } from "./yaml-syntax.ts";

const MAX_DEPTH = 16;
const MAX_PROBLEMS = 100;
/** How far before a value its tag may be: comments may stand between them. */
const FARTHEST_TAG = 500;

/** Spaces that look like the plain one, or like nothing, and come with text that was copied. */
const ODD_SPACE = /[\u00a0\u1680\u2000-\u200b\u2028\u2029\u202f\u205f\u2060\u3000\ufeff]/;
const tooDeep = (path: Path): Complaint => at`${path}: nothing here is nested deeper than ${MAX_DEPTH} levels`;
const tagged = (path: Path): Complaint => at`${path}: tags (a leading !) are not used here -> write the plain value`;

interface YamlSource {
  readonly file: string;
  readonly text: string;
  readonly counter: LineCounter;
  /** offsets of values and keys, by path: their lines are counted once one must be reported */
  readonly values: Map<string, number>;
  readonly keys: Map<string, number>;
  readonly problems: Problem[];
  /** where tags stand that the parser could not resolve and left out; each is taken away once it is complained about */
  readonly lostTags: Set<number>;
}

/**
 * Reads one YAML document as plain data: maps, lists, text, booleans, numbers. Everything that YAML may silently turn
 * into something else is refused with its place: duplicate keys, anchors, aliases, merge keys, tags, unquoted `0x...`,
 * base-60 numbers, leading zeros, exponents. All problems are returned at once.
 */
export function readYaml(file: string, text: string): { source: Source | undefined; problems: Problem[] } {
  const source: YamlSource = {
    file,
    text,
    counter: new LineCounter(),
    values: new Map(),
    keys: new Map(),
    problems: [],
    lostTags: new Set(),
  };
  const document = parseText(source);
  if (document === undefined) return { source: undefined, problems: source.problems };
  const data = readNode(source, document.contents, []);
  for (const offset of source.lostTags) complain(source, offset, tagged([]));
  // Of a tag at a place where none may stand (behind an explicit key) the parser says nothing at all.
  if (source.problems.length === 0) for (const offset of tagOffsets(text)) complain(source, offset, tagged([]));
  let places: Places | undefined;
  const count = (offsets: ReadonlyMap<string, number>): Map<string, Place> =>
    new Map([...offsets].map(([id, offset]) => [id, placeAt(source, offset)]));
  const placesOf = (): Places => {
    places ??= { values: count(source.values), keys: count(source.keys) };
    return places;
  };
  return { source: { file, text, data, places: placesOf }, problems: source.problems };
}

function parseText(source: YamlSource): Document | undefined {
  const documents = parseDocuments(source);
  if (documents === undefined) return undefined;
  const [document, second] = documents;
  if (document !== undefined) complainOfSyntax(source, document);
  if (second !== undefined)
    complain(
      source,
      second.range?.[0] ?? 0,
      at`: a file holds one document -> move what follows '---' to a file of its own`,
    );
  if (document === undefined || document.contents === null) {
    complain(source, 0, at`: the file is empty`);
    return undefined;
  }
  const fatal = document.errors.some((error) => error.code !== "TAG_RESOLVE_FAILED");
  return fatal || second !== undefined ? undefined : document;
}

/** @returns undefined where it is nested too deeply to be parsed */
function parseDocuments(source: YamlSource): readonly Document[] | undefined {
  try {
    return [
      ...parseAllDocuments(source.text, {
        lineCounter: source.counter,
        prettyErrors: false,
        schema: "failsafe",
        uniqueKeys: false,
        logLevel: "silent",
      }),
    ];
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    complain(source, 0, tooDeep([]));
    return undefined;
  }
}

function complainOfSyntax(source: YamlSource, document: Document): void {
  const complaints = [...document.errors, ...document.warnings];
  // Tags are complained about node by node, with their path.
  for (const { code, pos } of complaints) if (code === "TAG_RESOLVE_FAILED") source.lostTags.add(pos[0]);
  const exhausted = complaints.find(({ code }) => code === "RESOURCE_EXHAUSTION");
  if (exhausted !== undefined) complain(source, exhausted.pos[0], tooDeep([]));
  const errors = complaints.filter(({ code }) => code !== "TAG_RESOLVE_FAILED" && code !== "RESOURCE_EXHAUSTION");
  for (const { offset, complaint } of describeSyntax(errors, source.text, document)) {
    complain(source, offset, complaint);
  }
}

/** Reports a problem, as long as there are few. @returns what stands in the data in place of the value */
function complain(source: YamlSource, offset: number, { path, message, suggestion }: Complaint): typeof REFUSED {
  const about = { place: placeAt(source, offset), path: path.join("."), message, suggestion };
  if (source.problems.length < MAX_PROBLEMS) source.problems.push(makeProblem(source, about));
  return REFUSED;
}

const UNUSED = "anchors and aliases (& and *) are not used here";

function readNode(source: YamlSource, node: unknown, path: Path, id = pathKey(path)): unknown {
  const offset = offsetOf(node);
  if (offset !== undefined) source.values.set(id, offset);
  if (path.length > MAX_DEPTH) return complain(source, offset ?? 0, tooDeep(path));
  if (isAlias(node))
    return complain(
      source,
      offset ?? 0,
      at`${path}: ${UNUSED} -> write the value out, or quote a text that begins with "*"`,
    );
  complainOfAnchor(source, node, path);
  if (refusesTag(source, node, path)) return REFUSED;
  if (isMap(node)) return readMap(source, node, path);
  if (isSeq(node)) return node.items.map((item, index) => readNode(source, item, [...path, index]));
  if (isScalar(node)) return readScalar(source, node, path);
  return null;
}

function complainOfAnchor(source: YamlSource, node: unknown, path: Path): void {
  const anchor = isMap(node) || isSeq(node) || isScalar(node) ? node.anchor : undefined;
  if (anchor === undefined) return;
  const offset = offsetOf(node);
  // The mark stands before the value, in its line or in one above it.
  const mark = source.text.lastIndexOf(`&${anchor}`, offset);
  complain(source, mark < 0 ? (offset ?? 0) : mark, at`${path}: ${UNUSED} -> write the value out where it is needed`);
}

/** Complains about the tag of a key or a value, also about one that the parser left out because it did not know its handle. */
function refusesTag(source: YamlSource, node: unknown, path: Path): boolean {
  const offset = offsetOf(node);
  if (offset === undefined) return false;
  const isTagged = !isAlias(node) && (node as Scalar).tag !== undefined;
  if (!isTagged && source.lostTags.size === 0) return false;
  const start = Math.max(offset - FARTHEST_TAG, 0);
  const found = /!(?:<[^>\n]*>|[^\s,[\]{}]*)(?:\s|#.*\n|&\S+)*$/.exec(source.text.slice(start, offset));
  const place = found === null ? offset : start + found.index;
  if (!isTagged && !source.lostTags.has(place)) return false;
  source.lostTags.delete(place);
  complain(source, place, tagged(path));
  return true;
}

/** @returns the keys and values; REFUSED when more keys would come from elsewhere, so that none of them is missed */
function readMap(source: YamlSource, map: YAMLMap, path: Path): Record<string, unknown> | typeof REFUSED {
  const data = Object.create(null) as Record<string, unknown>;
  let isMerged = false;
  for (const item of map.items as readonly Pair[]) {
    if (!isPair(item) || !isScalar(item.key)) {
      complain(source, offsetOf(item.key) ?? offsetOf(map) ?? 0, at`${path}: a key is a plain word`);
      continue;
    }
    const offset = offsetOf(item.key) ?? 0;
    const key = String(item.key.value);
    if (item.key.anchor !== undefined || key === "<<") {
      const inner = [...path, key];
      complain(source, offset, at`${inner}: anchors and merge keys are not used here -> write the keys out`);
      isMerged = true;
      continue;
    }
    refusesTag(source, item.key, [...path, key]);
    readEntry(source, { data, key, offset, path }, { isPlain: item.key.type === "PLAIN", value: item.value });
  }
  return isMerged ? REFUSED : data;
}

/** A key with its map, as far as that was read. */
interface PlacedKey {
  readonly data: Record<string, unknown>;
  readonly key: string;
  readonly offset: number;
  readonly path: Path;
}

/** Reads what stands under a key into its map. */
function readEntry(source: YamlSource, placed: PlacedKey, entry: { isPlain: boolean; value: unknown }): void {
  const { data, key, offset, path } = placed;
  const { isPlain, value } = entry;
  if (isPlain && /^0x/i.test(key)) {
    complain(source, offset, at`${path}: YAML reads an unquoted 0x... as a number -> put it in quotes`);
    return;
  }
  if (value === null && isPlain && isSplit(source, placed)) return;
  const inner = [...path, key];
  const id = pathKey(inner);
  const first = source.keys.get(id);
  if (first !== undefined) {
    const { line } = placeAt(source, first);
    const twice = at`${inner}: the same key occurs twice in this map, first in line ${line} -> keep one of the two`;
    data[key] = complain(source, offset, twice);
    return;
  }
  source.keys.set(id, offset);
  data[key] = readNode(source, value, inner, id);
  if (value === null) source.values.set(id, offset);
}

/** Inside of braces `every:6h` is one word, and the comma of `0,5%` begins the next key. */
function isSplit(source: YamlSource, { data, key, offset, path }: PlacedKey): boolean {
  const [, name] = /^([A-Za-z][\w-]*):./.exec(key) ?? [];
  if (name !== undefined) {
    const inner = [...path, name];
    source.keys.set(pathKey(inner), offset);
    const glued = at`${inner}: a space is missing after the colon -> write "${name}: " and then its value`;
    data[name] = complain(source, offset, glued);
    return true;
  }
  const [before, number] = Object.entries(data).at(-1) ?? [];
  if (before === undefined || typeof number !== "number" || !/^[0-9]+\s*[A-Za-z%]*$/.test(key)) return false;
  const inner = [...path, before];
  const comma = at`${inner}: the comma ends this value: decimals follow a point -> write ${number}.${key}`;
  data[before] = complain(source, source.values.get(pathKey(inner)) ?? 0, comma);
  return true;
}

function readScalar(source: YamlSource, scalar: Scalar, path: Path): unknown {
  const text = typeof scalar.value === "string" ? scalar.value : String(scalar.source ?? "");
  const [space] = ODD_SPACE.exec(text) ?? [];
  if (space !== undefined) {
    const [start = 0, end = start] = scalar.range ?? [];
    const within = Math.max(source.text.slice(start, end).indexOf(space), 0);
    const code = `U+${space.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}`;
    const odd = at`${path}: a space that is not the plain one (${code}) stands here -> write a plain space`;
    return complain(source, start + within, odd);
  }
  if (scalar.type !== "PLAIN") return text;
  const plain = plainScalar(text, path);
  return "value" in plain ? plain.value : complain(source, scalar.range?.[0] ?? 0, { ...plain, path });
}

function offsetOf(node: unknown): number | undefined {
  if (isMap(node) || isSeq(node) || isScalar(node) || isAlias(node)) return node.range?.[0];
  return undefined;
}

function placeAt(source: YamlSource, offset: number): Place {
  const { line, col } = source.counter.linePos(offset);
  return { line: Math.max(line, 1), column: Math.max(col, 1) };
}
