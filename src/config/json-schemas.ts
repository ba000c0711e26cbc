import { z } from "zod";
import type { ServiceBook } from "../domain/guard/service-promises.ts";
import { mainSchema, serviceProfile } from "./schemas/main-schema.ts";
import { policySchema } from "./schemas/policy-schema.ts";
import { FILE_KINDS } from "./strategy/kinds.ts";

/** A JSON Schema document (draft 2020-12) as plain data. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * The JSON Schemas of the configuration files, for editors: by the path from the project's root at which each is kept.
 * They are generated from the schemas that the loader uses.
 */
export function jsonSchemas(services: ServiceBook): Readonly<Record<string, JsonSchema>> {
  const [first, ...others] = Object.values(FILE_KINDS).map((kind) => kind.schema);
  if (first === undefined) throw new Error("there is no kind of strategy");
  return {
    "config/swapd.schema.json": toJsonSchema(mainSchema, "swapd: the main file", services),
    "config/policy.schema.json": toJsonSchema(policySchema, "swapd: the owner's policy", services),
    "strategies/strategy.schema.json": toJsonSchema(
      z.discriminatedUnion("kind", [first, ...others]),
      "swapd: a strategy",
      services,
    ),
  };
}

/** How a schema file is written. */
export function writeJsonSchema(schema: JsonSchema): string {
  return `${JSON.stringify(schema, undefined, 2)}\n`;
}

/** The loader looks a profile up by its name; an editor is told the names. */
function toJsonSchema(schema: z.ZodType, title: string, services: ServiceBook): JsonSchema {
  return {
    title,
    ...z.toJSONSchema(schema, {
      io: "input",
      override: ({ zodSchema, jsonSchema }) => {
        if (zodSchema === serviceProfile) jsonSchema.enum = [...services.keys()];
      },
    }),
  };
}
