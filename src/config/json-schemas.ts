import { z } from "zod";
import { mainSchema } from "./schemas/main-schema.ts";
import { policySchema } from "./schemas/policy-schema.ts";
import { strategySchemas } from "./schemas/strategy-schema.ts";

/** A JSON Schema document (draft 2020-12) as plain data. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * The JSON Schemas of the configuration files, for editors: by the path from the project's root at which each is kept.
 * They are generated from the schemas that the loader uses.
 */
export function jsonSchemas(): Readonly<Record<string, JsonSchema>> {
  const { dca, rebalance, threshold } = strategySchemas;
  return {
    "config/swapd.schema.json": toJsonSchema(mainSchema, "swapd: the main file"),
    "config/policy.schema.json": toJsonSchema(policySchema, "swapd: the owner's policy"),
    "strategies/strategy.schema.json": toJsonSchema(
      z.discriminatedUnion("kind", [dca, rebalance, threshold]),
      "swapd: a strategy",
    ),
  };
}

/** How a schema file is written. */
export function writeJsonSchema(schema: JsonSchema): string {
  return `${JSON.stringify(schema, undefined, 2)}\n`;
}

function toJsonSchema(schema: z.ZodType, title: string): JsonSchema {
  return { title, ...z.toJSONSchema(schema, { io: "input" }) };
}
