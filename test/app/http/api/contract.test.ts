import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { openApiDocument, openApiText } from "../../../../src/app/http/api/openapi.ts";
import { OPERATIONS } from "../../../../src/app/http/api/operations.ts";
import { startApiLife } from "../../../support/api-life.ts";

const document = openApiDocument() as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId: string }>>>>;
};
const ajv = new Ajv2020({ strict: false, validateFormats: false });
ajv.addSchema({ $id: "api", ...document });

/** What the document says of an answer, to hold an answer against it. */
function validatorOf(path: string, method: string, kind: "ok" | "problem") {
  const place = `${path.replaceAll("~", "~0").replaceAll("/", "~1")}/${method.toLowerCase()}/responses`;
  const rest = kind === "ok" ? "200/content/application~1json" : "default/content/application~1problem+json";
  return ajv.compile({ $ref: `api#/paths/${place}/${rest}/schema` });
}

describe("each path of the document", () => {
  it("answers as the document says, to the scope that it names, and refuses as it says to everybody else", async () => {
    const life = await startApiLife();
    const runs = await life.as("read", "/api/v1/runs");
    expect(runs.json.items[0].state).toBe("filled");
    for (const [id, operation] of Object.entries(OPERATIONS)) {
      if (operation.method !== "GET") continue;
      const filled = operation.path
        .replace("/runs/{id}", `/runs/${runs.json.items[0].id}`)
        .replace("{symbol}", "WETH")
        .replace("{id}", "weekly");
      const answer = await life.as("read", `/api/v1${filled}`);
      expect([id, answer.status, answer.text]).toEqual([id, 200, expect.any(String)]);
      const validate = validatorOf(`/api/v1${operation.path}`, "get", "ok");
      expect([id, validate(answer.json), validate.errors]).toEqual([id, true, null]);
      expect(operation.answer.safeParse(answer.json).error).toBeUndefined();
      if (operation.scope === "none") continue;
      const refused = await life.ask(`/api/v1${filled}`);
      expect([id, refused.status, refused.headers["content-type"]]).toEqual([
        ...[id, 401, "application/problem+json; charset=utf-8"],
      ]);
      const validateProblem = validatorOf(`/api/v1${operation.path}`, "get", "problem");
      expect([id, validateProblem(refused.json), validateProblem.errors]).toEqual([id, true, null]);
    }
  });
});

describe("the document", () => {
  it("is what the server serves, to everybody", async () => {
    const life = await startApiLife({ seconds: 1 });
    const answer = await life.ask("/api/v1/openapi.json");
    expect(answer.json).toEqual(JSON.parse(JSON.stringify(document)));
  });

  it("is the one in docs/openapi.json: `npm run openapi` writes it", () => {
    const kept = readFileSync(new URL("../../../../docs/openapi.json", import.meta.url), "utf8");
    expect(kept).toBe(openApiText());
  });
});
