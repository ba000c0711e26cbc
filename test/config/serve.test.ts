import { expect, it } from "vitest";
import { brief, loaded, MAIN, problemsOf } from "./project.ts";

const serve = (fields: string): Record<string, string> => ({ "main.yaml": `${MAIN}serve: { ${fields} }\n` });

it("trusts no proxy, lets no page of another origin read, and serves no metrics, unless it is told to", () => {
  expect(loaded().serve).toMatchObject({ trustedProxies: [], corsOrigins: [], metrics: undefined });
  const told = loaded(
    serve('trustedProxies: ["10.0.0.0/8", "::1"], corsOrigins: ["https://app.example"], metrics: "127.0.0.1:9466"'),
  ).serve;
  expect(told).toMatchObject({ trustedProxies: ["10.0.0.0/8", "::1"], corsOrigins: ["https://app.example"] });
  expect(told.metrics).toEqual({ host: "127.0.0.1", port: 9_466 });
  expect(loaded(serve('corsOrigins: ["*"]')).serve.corsOrigins).toEqual(["*"]);
});

it.each([
  ['trustedProxies: ["0.0.0.0/0"]', "serve.trustedProxies.0: is no IP address and no network"],
  ['trustedProxies: ["10.0.0.0/33"]', "serve.trustedProxies.0: is no IP address and no network"],
  ['trustedProxies: ["proxy.example"]', "serve.trustedProxies.0: is no IP address and no network"],
  ['corsOrigins: ["https://app.example/"]', "serve.corsOrigins.0: is no origin"],
  ['corsOrigins: ["app.example"]', "serve.corsOrigins.0: is no origin"],
  ["metrics: 9466", "serve.metrics: needs a text"],
])("with %s it is refused: %s", (fields, expected) => {
  expect(problemsOf(serve(fields)).map(brief).join("\n")).toContain(expected);
});
