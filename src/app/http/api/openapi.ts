import { z } from "zod";
import { API_VERSION } from "./describe-status.ts";
import { OPERATIONS } from "./operations.ts";
import { EVENTS } from "./shapes/action-shapes.ts";
import { NAMED_SHAPES } from "./shapes/shape.ts";

type Json = Readonly<Record<string, unknown>>;

const SCHEMAS = "#/components/schemas/";

const REFUSAL: Json = {
  description: "Why it was refused.",
  content: { "application/problem+json": { schema: { $ref: `${SCHEMAS}Problem` } } },
};

/** The API as OpenAPI 3.1 describes it: from the same table and schemas as the answers. */
export function openApiDocument(): Json {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const [id, operation] of Object.entries(OPERATIONS)) {
    const path = `/api/v1${operation.path}`;
    paths[path] = { ...paths[path], [operation.method.toLowerCase()]: describeOperation(id, operation) };
  }
  paths["/api/v1/events"] = { get: describeEvents() };
  return {
    openapi: "3.1.0",
    info: {
      title: "swapd",
      version: API_VERSION,
      summary: "The daemon's own API.",
      description:
        "Amounts are text: `amount` in the token's unit, `raw` in its smallest one. Names of tokens and strategies, and everything that a service says, are text to be shown, never markup.",
      license: { name: "MIT", identifier: "MIT" },
    },
    paths,
    components: {
      schemas: namedSchemas(),
      securitySchemes: {
        token: { type: "http", scheme: "bearer", description: "a token of `swapd login add`" },
        login: { type: "apiKey", in: "cookie", name: "swapd_login_<port>", description: "the login of a browser" },
      },
    },
  };
}

/** The document as it is kept beside the docs. */
export function openApiText(): string {
  return `${JSON.stringify(openApiDocument(), undefined, 2)}\n`;
}

function namedSchemas(): Json {
  const { schemas } = z.toJSONSchema(NAMED_SHAPES, { uri: (id) => `${SCHEMAS}${id}`, io: "output" });
  return Object.fromEntries(
    Object.entries(schemas)
      .sort()
      .map(([id, schema]) => [id, stripped(schema as Json)]),
  );
}

/** A schema alone; what has a name is referred to. */
function schemaOf(schema: z.ZodType, io: "input" | "output"): unknown {
  const id = NAMED_SHAPES.get(schema as never)?.id;
  if (id !== undefined) return { $ref: `${SCHEMAS}${id}` };
  return stripped(z.toJSONSchema(schema, { io }) as Json);
}

function stripped({ $schema: _, $id: __, id: ___, ...schema }: Json): Json {
  return schema;
}

interface Described {
  readonly path: string;
  readonly summary: string;
  readonly scope: string;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType;
  readonly answer: z.ZodType;
}

function describeOperation(operationId: string, { path, summary, scope, query, body, answer }: Described): Json {
  const answerSchema = schemaOf(answer, "output");
  return {
    operationId,
    summary,
    ...(scope === "none" ? { security: [] } : { security: [{ token: [] }, { login: [] }], "x-scope": scope }),
    parameters: [...pathParameters(path), ...queryParameters(query), ...keyParameter(operationId)],
    ...(body === undefined
      ? {}
      : { requestBody: { required: true, content: { "application/json": { schema: schemaOf(body, "input") } } } }),
    responses: {
      200: { description: "The answer.", content: { "application/json": { schema: answerSchema } } },
      ...(path.startsWith("/session") ? {} : { 304: { description: "It is the same as before (If-None-Match)." } }),
      default: REFUSAL,
    },
  };
}

/** Events have no place of their own in OpenAPI 3.1: each has its shape by its name. */
function describeEvents(): Json {
  const lastId = "the id of the last event that was heard: what came behind it is sent first";
  return {
    operationId: "followEvents",
    summary: "What happens, as it happens (Server-Sent Events).",
    security: [{ token: [] }, { login: [] }],
    "x-scope": "read",
    "x-events": Object.fromEntries(Object.entries(EVENTS).map(([name, event]) => [name, schemaOf(event, "output")])),
    parameters: [
      { name: "Last-Event-ID", in: "header", required: false, description: lastId, schema: { type: "string" } },
    ],
    responses: {
      200: { description: "The events.", content: { "text/event-stream": { schema: { type: "string" } } } },
      default: REFUSAL,
    },
  };
}

function pathParameters(path: string): readonly Json[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    ...{ name, in: "path", required: true, schema: { type: "string", maxLength: 100 } },
  }));
}

function queryParameters(query: z.ZodObject | undefined): readonly Json[] {
  if (query === undefined) return [];
  const { properties = {} } = z.toJSONSchema(query, { io: "input", unrepresentable: "any" });
  return Object.entries(properties).map(([name, property]) => {
    const { description, ...schema } = property as Json;
    return { name, in: "query", required: false, description, schema };
  });
}

function keyParameter(operationId: string): readonly Json[] {
  if (operationId !== "act") return [];
  const description = "a text of your own, new for each action: sent again, it gives the same answer and acts once";
  return [
    { name: "Idempotency-Key", in: "header", required: true, description, schema: { type: "string", maxLength: 100 } },
  ];
}
