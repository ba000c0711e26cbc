import { readFileSync } from "node:fs";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";

/** An operation as docs/openapi.json describes it. */
export interface DescribedOperation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  /** `none`: without a login, too */
  readonly scope: "none" | "read" | "operate";
  readonly takesBody: boolean;
  /** What is wrong with an answer; undefined where nothing is. */
  wrongIn(answer: unknown, kind: "ok" | "problem"): string | undefined;
}

interface Described {
  readonly operationId: string;
  readonly "x-scope"?: "read" | "operate";
  readonly requestBody?: unknown;
  readonly "x-events"?: Readonly<Record<string, unknown>>;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
}

const DOCUMENT = JSON.parse(readFileSync(new URL("../../docs/openapi.json", import.meta.url), "utf8")) as Document;

const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
ajv.addSchema({ $id: "api", ...DOCUMENT });

const asPointer = (text: string): string => text.replaceAll("~", "~0").replaceAll("/", "~1");

function wrongBy(validate: ValidateFunction, value: unknown): string | undefined {
  return validate(value) ? undefined : ajv.errorsText(validate.errors);
}

/** Every operation of the committed document. */
export const DESCRIBED: readonly DescribedOperation[] = Object.entries(DOCUMENT.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, described]) => {
    const responses = `api#/paths/${asPointer(path)}/${method}/responses`;
    const places = {
      ok: `${responses}/200/content/application~1json/schema`,
      problem: `${responses}/default/content/application~1problem+json/schema`,
    };
    return {
      ...{ id: described.operationId, method: method.toUpperCase(), path, scope: described["x-scope"] ?? "none" },
      takesBody: described.requestBody !== undefined,
      wrongIn: (answer, kind) => wrongBy(ajv.compile({ $ref: places[kind] }), answer),
    } satisfies DescribedOperation;
  }),
);

/** The names of the events of the stream, as the document has them. */
export const DESCRIBED_EVENTS: readonly string[] = Object.keys(
  DOCUMENT.paths["/api/v1/events"]?.get?.["x-events"] ?? {},
);

/** What is wrong with an event of a name; undefined where nothing is. */
export function wrongInEvent(name: string, data: unknown): string | undefined {
  return wrongBy(ajv.compile({ $ref: `api#/paths/~1api~1v1~1events/get/x-events/${name}` }), data);
}
