import type { TypedData } from "../../domain/guard/typed-data.ts";
import type { LosslessJson } from "../../net/parse-json.ts";
import { asObject, createReader, toPlain, type WireReader } from "./wire-reader.ts";

/**
 * Reads the typed data of an answer as it stands; a profile decides whether it is known. A service may leave the primary
 * type out, because there is only one type. What is not typed data at all is a problem of the answer.
 */
export function readTypedData(answer: WireReader, field: string): TypedData | undefined {
  const json = answer.value(field);
  if (json === undefined) return undefined;
  const reader = createReader(json, field);
  const domain = asObject(reader.value("domain"));
  const types = readTypes(reader.value("types"));
  const message = asObject(reader.value("message"));
  const primaryType = reader.text("primaryType") ?? onlyKey(types);
  if (domain === undefined || types === undefined || message === undefined || primaryType === undefined) {
    answer.note(field, "lacks a proper domain, types, message or primary type");
    return undefined;
  }
  return { domain: plainFields(domain), types, primaryType, message: plainFields(message) };
}

function readTypes(json: LosslessJson | undefined): TypedData["types"] | undefined {
  const fields = asObject(json);
  if (fields === undefined) return undefined;
  const types: Record<string, { name: string; type: string }[]> = {};
  for (const [typeName, list] of Object.entries(fields)) {
    if (!Array.isArray(list)) return undefined;
    const members: { name: string; type: string }[] = [];
    for (const member of list as readonly LosslessJson[]) {
      const { name, type } = asObject(member) ?? {};
      if (typeof name !== "string" || typeof type !== "string") return undefined;
      members.push({ name, type });
    }
    types[typeName] = members;
  }
  return types;
}

function onlyKey(types: TypedData["types"] | undefined): string | undefined {
  const names = Object.keys(types ?? {});
  return names.length === 1 ? names[0] : undefined;
}

function plainFields(fields: { readonly [key: string]: LosslessJson }): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, toPlain(value)]));
}
