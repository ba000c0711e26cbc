import { z } from "zod";
import { isRecord } from "../domain/json.ts";
import { closest } from "./closest.ts";
import type { Complaint, Found, Path } from "./complaint.ts";
import { knownKeys, schemaAt, unionOptions, unwrap } from "./schema-tree.ts";
import { hintForForm, hintForKey, hintForMissing, type OtherFile, optionMeant } from "./shape-hints.ts";
import { pathKey, REFUSED } from "./source.ts";

interface ShapeOptions {
  readonly otherKeys?: "refused" | "allowed";
  /** another file, whose keys may have been written into this one */
  readonly otherFile?: OtherFile;
}

/**
 * The keys of a file that are in order, parsed. `whole` are all of them: what is broken is taken for left out, so that it
 * hides no problem elsewhere; undefined where that may not be.
 */
export interface Keys<Schema extends z.ZodObject> {
  readonly fields: Partial<z.output<Schema>>;
  readonly whole: z.output<Schema> | undefined;
}

/**
 * Checks a file against a schema, each key of the top level for itself, so that one broken key hides no problem of
 * another.
 */
export function* checkShape<Schema extends z.ZodObject>(
  schema: Schema,
  data: unknown,
  options: ShapeOptions = {},
): Found<Keys<Schema>> {
  const fields: Record<string, unknown> = {};
  const keys = { fields: fields as Partial<z.output<Schema>>, whole: undefined };
  if (data === REFUSED) return keys;
  const known = Object.keys(schema.shape);
  if (!isRecord(data)) {
    yield { path: [], message: "the file holds no map of keys", suggestion: `its keys are ${known.join(", ")}` };
    return keys;
  }
  const file = { data, root: schema, options };
  const findings = unknownKeys(file, Object.keys(data), known);
  const standIns: Record<string, unknown> = {};
  let isWhole = true;
  for (const [key, field] of Object.entries(schema.shape as Record<string, z.ZodType>)) {
    const value = data[key];
    if (value === undefined && field instanceof z.ZodOptional) continue;
    const result = value === REFUSED ? undefined : field.safeParse(value, { reportInput: false });
    if (result?.success === true) {
      fields[key] = result.data;
      continue;
    }
    const leftOut = field.safeParse(undefined);
    if (leftOut.success) standIns[key] = leftOut.data;
    else isWhole = false;
    findings.push(...explainKey(file, field, key, result?.error.issues ?? []));
  }
  yield* withoutEchoes(findings);
  return isWhole ? { ...keys, whole: { ...standIns, ...fields } as z.output<Schema> } : keys;
}

/** A complaint, and how it ranks among others of the same file. */
interface Finding extends Complaint {
  readonly kind: "unknown" | "missing" | "other";
  /** of an unknown key the places that it was probably meant for */
  readonly meant?: readonly Path[];
}

/** A mistyped key is one mistake: that the right key is missing, or its map incomplete, is not reported as well. */
function withoutEchoes(findings: readonly Finding[]): readonly Finding[] {
  const unknown = findings.filter(({ kind }) => kind === "unknown");
  const meant = new Set(unknown.flatMap((finding) => finding.meant ?? []).map(pathKey));
  const maps = new Set(unknown.map(({ path }) => pathKey(path.slice(0, -1))));
  const echoes = { unknown: new Set<string>(), missing: meant, other: maps };
  return findings.filter(({ kind, path }) => !echoes[kind].has(pathKey(path)));
}

/** What is wrong with a key of the top level that is missing or broken. */
function explainKey(
  file: CheckedFile,
  field: z.ZodType,
  key: string,
  issues: readonly z.core.$ZodIssue[],
): readonly Finding[] {
  if (valueAt(file.data, [key]) === undefined) return [missingKey([key], field)];
  return issues.flatMap((issue) => explain(file, field, [key], issue));
}

function missingKey(path: Path, field: z.ZodType): Finding {
  const key = String(path.at(-1));
  return { kind: "missing", path, message: `the key "${key}" is missing`, suggestion: hintForMissing(key, field) };
}

/** A file, and the schema of all of it. */
interface CheckedFile {
  readonly data: unknown;
  readonly root: z.ZodType;
  readonly options: ShapeOptions;
}

function unknownKeys(file: CheckedFile, keys: readonly string[], known: readonly string[]): Finding[] {
  if (file.options.otherKeys === "allowed") return [];
  return keys.filter((key) => !known.includes(key)).map((key) => unknownKey(file, [key], known));
}

function unknownKey({ data, root, options }: CheckedFile, path: Path, known: readonly string[]): Finding {
  const key = String(path.at(-1));
  if (known.includes(key)) return keyOfAnotherWay(path, key);
  const place = { known, path, root, value: valueAt(data, path), otherFile: options.otherFile };
  const { suggestion, key: meantKey, maps } = hintForKey(key, place);
  const beside = [...path.slice(0, -1), meantKey ?? key];
  const meant = maps.length > 0 ? maps.flatMap((map) => [map, [...map, key]]) : [beside];
  return { kind: "unknown", path, message: `unknown key "${key}"`, suggestion, isKey: true, meant };
}

/** Of a map that may be written in several ways: the key belongs to another one of them than the keys next to it. */
function keyOfAnotherWay(path: Path, key: string): Finding {
  const message = `the key "${key}" does not go with the other keys here`;
  return { kind: "unknown", path, message, suggestion: "choose one way to write this", isKey: true, meant: [path] };
}

/** Turns one issue of a field into complaints. Values are never repeated here: they may be secrets. */
function explain(file: CheckedFile, field: z.ZodType, at: Path, issue: z.core.$ZodIssue): Finding[] {
  const path = [...at, ...issue.path.map((part) => (typeof part === "symbol" ? String(part) : part))];
  const value = valueAt(file.data, path);
  const schema = schemaAt(field, issue.path);
  const found = (message: string, suggestion?: unknown, isKey = false): Finding[] => [
    { kind: "other", path, message, suggestion: typeof suggestion === "string" ? suggestion : undefined, isKey },
  ];
  if (value === REFUSED) return [];
  if (issue.code === "unrecognized_keys")
    return issue.keys.map((key) => unknownKey(file, [...path, key], knownKeys(schema)));
  if (issue.code === "invalid_key") return issue.issues.flatMap((inner) => found(inner.message, undefined, true));
  if (issue.code === "invalid_union") {
    const best = bestBranch(issue.errors, unionOptions(schema), value);
    if (best === undefined) return found(issue.message);
    return best.issues.flatMap((inner) => explain(file, best.schema, path, inner));
  }
  if (value === undefined) return [missingKey(path, schema)];
  if (issue.code === "invalid_value") return found("is none of the values known here", valueHint(value, issue.values));
  // a message of the schema's own is better than one about its form
  const isPlain = issue.code === "invalid_type" && issue.message.startsWith("Invalid input");
  const form = isPlain ? hintForForm(schema, value) : undefined;
  const message = value === null ? "is empty" : (form?.message ?? issue.message);
  return found(message, issue.code === "custom" ? issue.params?.suggestion : form?.suggestion);
}

/** What to write instead of a value that is none of those that there are. */
export function valueHint(value: unknown, values: readonly unknown[]): string {
  const [first] = values;
  if (values.length === 1 && typeof first === "number" && value === String(first))
    return `write ${first}, without quotes`;
  const options = values.map(String);
  const meant = optionMeant(value, options);
  return meant === undefined ? `write ${options.join(" or ")}` : `did you mean "${meant}"?`;
}

/**
 * Of the alternatives of a union the one that the author meant: for a map the one that knows most of its keys, else one
 * that takes a text at all.
 */
function bestBranch(
  branches: readonly (readonly z.core.$ZodIssue[])[],
  options: readonly z.ZodType[],
  value: unknown,
): { issues: readonly z.core.$ZodIssue[]; schema: z.ZodType } | undefined {
  if (!isRecord(value) && typeof value !== "string") return undefined;
  const fits = branches.map((issues, index) => {
    const schema = options[index] ?? z.never();
    return { issues, schema, fit: isRecord(value) ? mapFit(value, schema) : textFit(value, issues[0]) };
  });
  const most = Math.max(...fits.map(({ fit }) => fit));
  return fits.find(({ fit }) => fit === most);
}

function textFit(value: string, issue: z.core.$ZodIssue | undefined): number {
  if (issue?.code === "invalid_value") return closest(value, issue.values.map(String)) === undefined ? 0 : 2;
  return issue?.code === "invalid_type" ? -1 : 1;
}

function mapFit(value: Record<string, unknown>, schema: z.ZodType): number {
  const known = knownKeys(unwrap(schema));
  if (known.length === 0) return -1;
  const fits = Object.keys(value).map((key) => (known.includes(key) ? 2 : closest(key, known) === undefined ? 0 : 1));
  return fits.reduce<number>((sum, fit) => sum + fit, 0);
}

function valueAt(data: unknown, path: Path): unknown {
  return path.reduce<unknown>((value, part) => {
    return typeof value === "object" && value !== null ? (value as Record<string | number, unknown>)[part] : undefined;
  }, data);
}
