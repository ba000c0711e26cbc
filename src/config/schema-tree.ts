import { z } from "zod";

/** What stands where in a schema. */

/** The schema without its wrappers: optional, default, and what is made of the value. */
export function unwrap(schema: z.ZodType): z.ZodType {
  let current = schema;
  for (let depth = 0; depth < 16; depth += 1) {
    if (current instanceof z.ZodOptional || current instanceof z.ZodDefault) current = current.unwrap() as z.ZodType;
    else if (current instanceof z.ZodPipe) current = current.in as z.ZodType;
    else break;
  }
  return current;
}

/** The schema of the value at a path, or of the nearest value above it that has one. */
export function schemaAt(schema: z.ZodType, path: readonly PropertyKey[]): z.ZodType {
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

/** The alternatives of a union; none of another schema. */
export function unionOptions(schema: z.ZodType): readonly z.ZodType[] {
  return schema instanceof z.ZodUnion ? (schema.options as readonly z.ZodType[]) : [];
}

/** The keys that a map may have; of a union those of all its alternatives. */
export function knownKeys(schema: z.ZodType): string[] {
  if (schema instanceof z.ZodObject) return Object.keys(schema.shape);
  return unionOptions(schema).flatMap((option) => knownKeys(unwrap(option)));
}

const MAX_DEPTH = 4;

/** Where a schema has a key, as the paths of the maps that hold it; maps with names of their own and lists are left out. */
export function mapsWithKey(schema: z.ZodType, key: string, path: readonly string[] = []): (readonly string[])[] {
  const current = unwrap(schema);
  if (path.length > MAX_DEPTH) return [];
  if (!(current instanceof z.ZodObject)) {
    return unionOptions(current).flatMap((option) => mapsWithKey(option, key, path));
  }
  const inner = Object.entries(current.shape as Record<string, z.ZodType>).flatMap(([name, field]) =>
    mapsWithKey(field, key, [...path, name]),
  );
  return Object.hasOwn(current.shape, key) ? [path, ...inner] : inner;
}
