import { z } from "zod";
import { ERRORS, type ErrorName } from "../errors/errors.ts";
import { LIMIT_HEADERS } from "../limits/fixed-windows.ts";
import { COMMON_ERRORS, ENDPOINTS, type Endpoint } from "./endpoints.ts";
import { errorResponse, healthResponse, limitedResponse } from "./response-schemas.ts";

type Json = Readonly<Record<string, unknown>>;

function schemaOf(schema: z.ZodType, io: "input" | "output"): Json {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: "any" });
  return rest;
}

function jsonContent(schema: Json): Json {
  return { "application/json": { schema } };
}

function queryParameters(schema: z.ZodType): Json[] {
  const { properties = {}, required = [] } = schemaOf(schema, "input") as {
    properties?: Record<string, Json>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, property]) => {
    const { description, ...rest } = property;
    return { name, in: "query", required: required.includes(name), description, schema: rest };
  });
}

function errorResponses(endpoint: Endpoint): Record<string, Json> {
  const byStatus = new Map<number, ErrorName[]>();
  for (const name of [...COMMON_ERRORS, ...endpoint.errors]) {
    const { status } = ERRORS[name];
    byStatus.set(status, [...(byStatus.get(status) ?? []), name]);
  }
  const entries = [...byStatus].map(([status, names]): [string, Json] => {
    return [String(status), status === 429 ? limitedAnswer() : errorAnswer(names)];
  });
  return Object.fromEntries(entries);
}

function limitedAnswer(): Json {
  const headers = { "Retry-After": { schema: { type: "string" } } };
  return { description: "RATE_LIMITED", headers, content: jsonContent(schemaOf(limitedResponse, "output")) };
}

/** The error's schema with the names that this answer can have. */
function errorAnswer(names: readonly ErrorName[]): Json {
  const schema = {
    allOf: [{ $ref: "#/components/schemas/Error" }, { properties: { error: { enum: [...names].sort() } } }],
  };
  return { description: names.join(", "), content: jsonContent(schema) };
}

function operation(name: string, endpoint: Endpoint): Json {
  const headers = Object.fromEntries(LIMIT_HEADERS.map((header) => [header, { schema: { type: "string" } }]));
  const content = jsonContent(schemaOf(endpoint.response, "output"));
  const request = endpoint.request;
  return {
    operationId: name,
    summary: endpoint.summary,
    security: [{}, { apikey: [] }],
    ...(request !== undefined && endpoint.method === "GET" ? { parameters: queryParameters(request) } : {}),
    ...(request !== undefined && endpoint.method === "POST"
      ? { requestBody: { required: true, content: jsonContent(schemaOf(request, "input")) } }
      : {}),
    responses: { "200": { description: "OK", headers, content }, ...errorResponses(endpoint) },
  };
}

/** The OpenAPI 3.1 document of the service, made from the schemas that it parses and answers with. */
export function openApiDocument(): Json {
  const paths: Record<string, Json> = {};
  for (const [name, endpoint] of Object.entries(ENDPOINTS)) {
    paths[endpoint.path] = { [endpoint.method.toLowerCase()]: operation(name, endpoint) };
  }
  paths["/health"] = {
    get: {
      operationId: "health",
      summary: "Whether the service answers, and which nodes of its networks do; 503 when none does",
      responses: {
        "200": { description: "OK", content: jsonContent(schemaOf(healthResponse, "output")) },
        "429": limitedAnswer(),
        "503": errorAnswer(["BUSY", "CHAIN_UNREACHABLE", "CONTRACTS_WRONG", "STOPPING"]),
      },
    },
  };
  return {
    openapi: "3.1.0",
    info: {
      title: "swapd aggregation service",
      version: "1",
      description: "Quotes swaps from on-chain pools and executes signed ones. x-errors lists every error.",
    },
    paths,
    components: {
      schemas: { Error: schemaOf(errorResponse, "output") },
      securitySchemes: { apikey: { type: "apiKey", in: "header", name: "apikey" } },
    },
    "x-errors": ERRORS,
  };
}
