import { z } from "zod";
import type { ServiceBook } from "../domain/guard/service-promises.ts";
import type { ChannelBook } from "../domain/run/alert-channel.ts";
import { channelSchema } from "./build-channels.ts";
import { channelEntry } from "./schemas/alerts-schema.ts";
import { mainSchema, serviceProfile } from "./schemas/main-schema.ts";
import { policySchema } from "./schemas/policy-schema.ts";
import { FILE_KINDS } from "./strategy/kinds.ts";

/** A JSON Schema document (draft 2020-12) as plain data. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** What the loader knows besides the schemas. */
interface Known {
  readonly services: ServiceBook;
  readonly channels: ChannelBook;
}

/**
 * The JSON Schemas of the configuration files, for editors: by the path from the project's root at which each is kept.
 * They are generated from the schemas that the loader uses.
 */
export function jsonSchemas(known: Known): Readonly<Record<string, JsonSchema>> {
  const [first, ...others] = Object.values(FILE_KINDS).map((kind) => kind.schema);
  if (first === undefined) throw new Error("there is no kind of strategy");
  return {
    "config/swapd.schema.json": toJsonSchema(mainSchema, "swapd: the main file", known),
    "config/policy.schema.json": toJsonSchema(policySchema, "swapd: the owner's policy", known),
    "strategies/strategy.schema.json": toJsonSchema(
      z.discriminatedUnion("kind", [first, ...others]),
      "swapd: a strategy",
      known,
    ),
  };
}

/** How a schema file is written. */
export function writeJsonSchema(schema: JsonSchema): string {
  return `${JSON.stringify(schema, undefined, 2)}\n`;
}

/** The loader looks up profiles and kinds of channels by name; an editor gets the names, and the keys of each. */
function toJsonSchema(schema: z.ZodType, title: string, { services, channels }: Known): JsonSchema {
  return {
    title,
    ...z.toJSONSchema(schema, {
      io: "input",
      override: ({ zodSchema, jsonSchema }) => {
        if (zodSchema === serviceProfile) jsonSchema.enum = [...services.keys()];
        if (zodSchema !== channelEntry) return;
        for (const key of Object.keys(jsonSchema)) delete jsonSchema[key];
        jsonSchema.anyOf = [...channels].map(([kind, form]) => {
          const { $schema, ...ofKind } = z.toJSONSchema(channelSchema(kind, form), { io: "input" });
          return ofKind;
        });
      },
    }),
  };
}
