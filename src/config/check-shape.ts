import { z } from "zod";
import { closest } from "./closest.ts";
import type { Problem } from "./problem.ts";
import { type Path, pathKey, problemAt, problemAtKey, REFUSED, type Source } from "./source.ts";

/**
 * Checks a file against a schema, each key of the top level for itself, so that one broken key hides no problem of
 * another. @returns the keys that are in order, parsed, and all problems with their places
 */
export function checkShape<Schema extends z.ZodObject>(
  schema: Schema,
  source: Source,
  options: { readonly otherKeys: "refused" | "allowed" } = { otherKeys: "refused" },
): { values: Partial<z.output<Schema>>; problems: Problem[] } {
  const findings: Finding[] = [];
  const values: Record<string, unknown> = {};
  if (!isRecord(source.data)) {
    const problem = problemAt(
      source,
      [],
      "the file holds no map of keys",
      `its keys are ${Object.keys(schema.shape).join(", ")}`,
    );
    return { values: values as Partial<z.output<Schema>>, problems: [problem] };
  }
  const known = Object.keys(schema.shape);
  for (const key of Object.keys(source.data)) {
    if (!known.includes(key) && options.otherKeys === "refused") findings.push(unknownKey(source, [key], known));
  }
  for (const [key, field] of Object.entries(schema.shape as Record<string, z.ZodType>)) {
    const value = source.data[key];
    if (value === REFUSED) continue;
    const result = field.safeParse(value, { reportInput: false });
    if (result.success) values[key] = result.data;
    else if (value === undefined) findings.push(missingKey(source, [key], field));
    else for (const issue of result.error.issues) findings.push(...explain(source, field, [key], issue));
  }
  return { values: values as Partial<z.output<Schema>>, problems: withoutEchoes(findings) };
}

/** A problem, and what it is worth beside others of the same file. */
interface Finding {
  readonly problem: Problem;
  readonly kind: "unknown" | "missing" | "other";
  /** where the problem stands; of an unknown key the place that it was probably meant for */
  readonly meant: string;
}

/** A mistyped key is one mistake: that the right key is missing, or its map incomplete, is not told as well. */
function withoutEchoes(findings: readonly Finding[]): Problem[] {
  const unknown = new Set(findings.filter((finding) => finding.kind === "unknown").map((finding) => finding.meant));
  const mapsOfUnknown = new Set(
    findings.filter(({ kind }) => kind === "unknown").map(({ problem }) => parentOf(problem.path)),
  );
  return findings
    .filter(({ kind, meant }) => kind !== "missing" || !unknown.has(meant))
    .filter(({ kind, problem }) => kind !== "other" || !mapsOfUnknown.has(problem.path))
    .map(({ problem }) => problem);
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf(".")));
}

function other(problem: Problem): Finding {
  return { problem, kind: "other", meant: problem.path };
}

function missingKey(source: Source, path: Path, field: z.ZodType): Finding {
  const problem = problemAt(source, path, `the key "${path.at(-1)}" is missing`, describeField(field));
  return { problem, kind: "missing", meant: pathKey(path) };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function unknownKey(source: Source, path: Path, known: readonly string[]): Finding {
  const key = String(path.at(-1));
  const meant = closest(key, known);
  const suggestion = meant === undefined ? `known keys here: ${known.join(", ")}` : `did you mean "${meant}"?`;
  const problem = problemAtKey(source, path, `unknown key "${key}"`, suggestion);
  return { problem, kind: "unknown", meant: pathKey([...path.slice(0, -1), meant ?? key]) };
}

function describeField(field: z.ZodType): string | undefined {
  const description = unwrap(field).meta()?.description;
  return description === undefined ? undefined : `it is ${description}`;
}

/** Turns one issue of a field into problems. Values are never repeated here: they may be secrets. */
function explain(source: Source, field: z.ZodType, at: Path, issue: z.core.$ZodIssue): Finding[] {
  const path = [...at, ...issue.path.map((part) => (typeof part === "symbol" ? String(part) : part))];
  const value = valueAt(source.data, path);
  if (value === REFUSED) return [];
  switch (issue.code) {
    case "unrecognized_keys": {
      const known = knownKeys(schemaAt(field, issue.path));
      return issue.keys.map((key) => unknownKey(source, [...path, key], known));
    }
    case "invalid_union": {
      const options = unionOptions(schemaAt(field, issue.path));
      const best = bestBranch(issue.errors, options, value);
      return best === undefined
        ? [other(problemAt(source, path, issue.message))]
        : best.issues.flatMap((inner) => explain(source, best.schema, path, inner));
    }
    case "invalid_key":
      return issue.issues.flatMap((inner) => [other(problemAtKey(source, path, inner.message))]);
    case "invalid_value": {
      if (value === undefined) return [missingKey(source, path, schemaAt(field, issue.path))];
      const options = issue.values.map(String);
      const meant = typeof value === "string" ? closest(value, options) : undefined;
      const suggestion = meant === undefined ? `write ${options.join(" or ")}` : `did you mean "${meant}"?`;
      return [other(problemAt(source, path, "is none of the values known here", suggestion))];
    }
    default: {
      if (value === undefined) return [missingKey(source, path, schemaAt(field, issue.path))];
      const suggestion = issue.code === "custom" ? issue.params?.suggestion : undefined;
      const message = value === null ? "is empty" : issue.message;
      return [other(problemAt(source, path, message, typeof suggestion === "string" ? suggestion : undefined))];
    }
  }
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

function unionOptions(schema: z.ZodType): readonly z.ZodType[] {
  return schema instanceof z.ZodUnion ? (schema.options as readonly z.ZodType[]) : [];
}

function valueAt(data: unknown, path: Path): unknown {
  let value: unknown = data;
  for (const part of path) {
    if (typeof value !== "object" || value === null) return undefined;
    value = (value as Record<string | number, unknown>)[part];
  }
  return value;
}

function schemaAt(schema: z.ZodType, path: readonly PropertyKey[]): z.ZodType {
  let current = unwrap(schema);
  for (const part of path) {
    const inner = step(current, part);
    if (inner === undefined) return current;
    current = unwrap(inner);
  }
  return current;
}

function step(schema: z.ZodType, part: PropertyKey): z.ZodType | undefined {
  if (schema instanceof z.ZodObject) return (schema.shape as Record<PropertyKey, z.ZodType>)[part];
  if (schema instanceof z.ZodRecord) return schema.valueType as z.ZodType;
  if (schema instanceof z.ZodArray) return schema.element as z.ZodType;
  for (const option of unionOptions(schema)) {
    const found = step(unwrap(option), part);
    if (found !== undefined) return found;
  }
  return undefined;
}

function unwrap(schema: z.ZodType): z.ZodType {
  let current = schema;
  for (let depth = 0; depth < 16; depth += 1) {
    if (current instanceof z.ZodOptional || current instanceof z.ZodDefault) current = current.unwrap() as z.ZodType;
    else if (current instanceof z.ZodPipe) current = current.in as z.ZodType;
    else break;
  }
  return current;
}

function knownKeys(schema: z.ZodType): string[] {
  if (schema instanceof z.ZodObject) return Object.keys(schema.shape);
  return unionOptions(schema).flatMap((option) => knownKeys(unwrap(option)));
}
