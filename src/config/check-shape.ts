import { z } from "zod";
import { closest } from "./closest.ts";
import type { Problem } from "./problem.ts";
import { knownKeys, schemaAt, unionOptions, unwrap } from "./schema-tree.ts";
import { hintForForm, hintForKey, hintForMissing, type OtherFile, optionMeant } from "./shape-hints.ts";
import { type Path, pathKey, problemAt, problemAtKey, REFUSED, type Source } from "./source.ts";

interface ShapeOptions {
  readonly otherKeys?: "refused" | "allowed";
  /** another file, whose keys may have been written into this one */
  readonly otherFile?: OtherFile;
}

/**
 * Checks a file against a schema, each key of the top level for itself, so that one broken key hides no problem of
 * another. @returns the keys that are in order, parsed, and all problems with their places
 */
export function checkShape<Schema extends z.ZodObject>(
  schema: Schema,
  source: Source,
  options: ShapeOptions = {},
): { values: Partial<z.output<Schema>>; problems: Problem[] } {
  const findings: Finding[] = [];
  const values: Record<string, unknown> = {};
  if (source.data === REFUSED) return { values: values as Partial<z.output<Schema>>, problems: [] };
  if (!isRecord(source.data)) {
    const suggestion = `its keys are ${Object.keys(schema.shape).join(", ")}`;
    const problem = problemAt(source, [], "the file holds no map of keys", suggestion);
    return { values: values as Partial<z.output<Schema>>, problems: [problem] };
  }
  const known = Object.keys(schema.shape);
  for (const key of Object.keys(source.data)) {
    if (!known.includes(key) && options.otherKeys !== "allowed")
      findings.push(unknownKey({ source, root: schema, options }, [key], known));
  }
  for (const [key, field] of Object.entries(schema.shape as Record<string, z.ZodType>)) {
    const value = source.data[key];
    if (value === REFUSED || (value === undefined && field instanceof z.ZodOptional)) continue;
    const result = field.safeParse(value, { reportInput: false });
    if (result.success) values[key] = result.data;
    else if (value === undefined) findings.push(missingKey(source, [key], field));
    else
      for (const issue of result.error.issues)
        findings.push(...explain({ source, root: schema, options }, field, [key], issue));
  }
  return { values: values as Partial<z.output<Schema>>, problems: withoutEchoes(findings) };
}

/** A problem, and what it is worth beside others of the same file. */
interface Finding {
  readonly problem: Problem;
  readonly kind: "unknown" | "missing" | "other";
  /** where the problem stands; of an unknown key the places that it was probably meant for */
  readonly meant: readonly string[];
}

/** A mistyped key is one mistake: that the right key is missing, or its map incomplete, is not told as well. */
function withoutEchoes(findings: readonly Finding[]): Problem[] {
  const unknown = new Set(findings.filter(({ kind }) => kind === "unknown").flatMap(({ meant }) => meant));
  const mapsOfUnknown = new Set(
    findings.filter(({ kind }) => kind === "unknown").map(({ problem }) => parentOf(problem.path)),
  );
  return findings
    .filter(({ kind, meant }) => kind !== "missing" || !meant.some((place) => unknown.has(place)))
    .filter(({ kind, problem }) => kind !== "other" || !mapsOfUnknown.has(problem.path))
    .map(({ problem }) => problem);
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf(".")));
}

function other(problem: Problem): Finding {
  return { problem, kind: "other", meant: [problem.path] };
}

function missingKey(source: Source, path: Path, field: z.ZodType): Finding {
  const problem = problemAt(
    source,
    path,
    `the key "${path.at(-1)}" is missing`,
    hintForMissing(String(path.at(-1)), field),
  );
  return { problem, kind: "missing", meant: [pathKey(path)] };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function unknownKey({ source, root, options }: CheckedFile, path: Path, known: readonly string[]): Finding {
  const key = String(path.at(-1));
  const {
    suggestion,
    key: meantKey,
    maps,
  } = hintForKey(key, {
    known,
    path,
    root,
    value: valueAt(source.data, path),
    otherFile: options.otherFile,
  });
  const problem = problemAtKey(source, path, `unknown key "${key}"`, suggestion);
  const meant =
    maps.length > 0 ? maps.flatMap((map) => [map, [...map, key]]) : [[...path.slice(0, -1), meantKey ?? key]];
  return { problem, kind: "unknown", meant: meant.map(pathKey) };
}

/** A file, and the schema of all of it. */
interface CheckedFile {
  readonly source: Source;
  readonly root: z.ZodType;
  readonly options: ShapeOptions;
}

/** Turns one issue of a field into problems. Values are never repeated here: they may be secrets. */
function explain(file: CheckedFile, field: z.ZodType, at: Path, issue: z.core.$ZodIssue): Finding[] {
  const { source } = file;
  const path = [...at, ...issue.path.map((part) => (typeof part === "symbol" ? String(part) : part))];
  const value = valueAt(source.data, path);
  if (value === REFUSED) return [];
  switch (issue.code) {
    case "unrecognized_keys": {
      const known = knownKeys(schemaAt(field, issue.path));
      return issue.keys.map((key) => unknownKey(file, [...path, key], known));
    }
    case "invalid_union": {
      const options = unionOptions(schemaAt(field, issue.path));
      const best = bestBranch(issue.errors, options, value);
      return best === undefined
        ? [other(problemAt(source, path, issue.message))]
        : best.issues.flatMap((inner) => explain(file, best.schema, path, inner));
    }
    case "invalid_key":
      return issue.issues.flatMap((inner) => [other(problemAtKey(source, path, inner.message))]);
    case "invalid_value": {
      if (value === undefined) return [missingKey(source, path, schemaAt(field, issue.path))];
      return [other(problemAt(source, path, "is none of the values known here", valueHint(value, issue.values)))];
    }
    default: {
      if (value === undefined) return [missingKey(source, path, schemaAt(field, issue.path))];
      // a message of the schema's own is better than one about its form
      const isPlain = issue.code === "invalid_type" && issue.message.startsWith("Invalid input");
      const form = isPlain ? hintForForm(schemaAt(field, issue.path), value) : undefined;
      const suggestion = issue.code === "custom" ? issue.params?.suggestion : form?.suggestion;
      const message = value === null ? "is empty" : (form?.message ?? issue.message);
      return [other(problemAt(source, path, message, typeof suggestion === "string" ? suggestion : undefined))];
    }
  }
}

function valueHint(value: unknown, values: readonly unknown[]): string {
  const [first] = values;
  if (values.length === 1 && typeof first === "number" && value === String(first)) {
    return `write ${first}, without quotes`;
  }
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
  let best: { issues: readonly z.core.$ZodIssue[]; schema: z.ZodType; fit: number } | undefined;
  for (const [index, issues] of branches.entries()) {
    const schema = options[index];
    if (schema === undefined) continue;
    const fit = isRecord(value) ? countKnown(value, knownKeys(unwrap(schema))) : textFit(String(value), issues[0]);
    if (best === undefined || fit > best.fit) best = { issues, schema, fit };
  }
  return best;
}

function textFit(value: string, issue: z.core.$ZodIssue | undefined): number {
  if (issue?.code === "invalid_value") return closest(value, issue.values.map(String)) === undefined ? 0 : 2;
  return issue?.code === "invalid_type" ? -1 : 1;
}

function countKnown(value: Record<string, unknown>, known: readonly string[]): number {
  if (known.length === 0) return -1;
  return Object.keys(value).reduce((sum, key) => {
    if (known.includes(key)) return sum + 2;
    return closest(key, known) === undefined ? sum : sum + 1;
  }, 0);
}

function valueAt(data: unknown, path: Path): unknown {
  let value: unknown = data;
  for (const part of path) {
    if (typeof value !== "object" || value === null) return undefined;
    value = (value as Record<string | number, unknown>)[part];
  }
  return value;
}
