import { expect, it } from "vitest";
import { brief, loaded, MAIN, problemsOf } from "./project.ts";

const serve = (fields: string): Record<string, string> => ({ "main.yaml": `${MAIN}serve: { ${fields} }\n` });

it("keeps its database beside the daemon's, which may be the one folder that can be written, unless it is told otherwise", () => {
  const elsewhere = { "main.yaml": `${MAIN.replace(/^database: .*\n/m, "")}database: /data/mine.db\n` };
  expect([loaded(elsewhere).database, loaded(elsewhere).serve.database]).toEqual(["/data/mine.db", "/data/service.db"]);
  expect(loaded({ ...elsewhere, "service.db": "of an older release" }).serve.database).toMatch(
    /swapd-test-\w+\/service\.db$/,
  );
  const told = { "main.yaml": `${elsewhere["main.yaml"]}serve: { database: /other/own.db }\n` };
  expect(loaded(told).serve.database).toBe("/other/own.db");
});

it("trusts no proxy, lets no page of another origin read, and serves no metrics, unless it is told to", () => {
  expect(loaded().serve).toMatchObject({ trustedProxies: [], corsOrigins: [], metrics: undefined });
  const reported = loaded(
    serve('trustedProxies: ["10.0.0.0/8", "::1"], corsOrigins: ["https://app.example"], metrics: "127.0.0.1:9466"'),
  ).serve;
  expect(reported).toMatchObject({ trustedProxies: ["10.0.0.0/8", "::1"], corsOrigins: ["https://app.example"] });
  expect(reported.metrics).toEqual({ host: "127.0.0.1", port: 9_466 });
  expect(loaded(serve('corsOrigins: ["*"]')).serve.corsOrigins).toEqual(["*"]);
});

it("keeps to a stated wait for a day and lets a call wait two minutes, unless it is told otherwise", () => {
  expect(loaded().timing).toMatchObject({ maxRetryAfterMs: 86_400_000, maxCallWaitMs: 120_000 });
  const reported = loaded({ "main.yaml": `${MAIN}timing: { maxRetryAfter: 2h, maxCallWait: 30s }\n` }).timing;
  expect(reported).toMatchObject({ maxRetryAfterMs: 7_200_000, maxCallWaitMs: 30_000 });
});

it.each([
  ["maxRetryAfter: 30s", "timing.maxRetryAfter: is not between 1m and 7d"],
  ["maxRetryAfter: 8d", "timing.maxRetryAfter: is not between 1m and 7d"],
  ["maxCallWait: 1s", "timing.maxCallWait: is not between 5s and 30m"],
])("with timing %s it is refused: %s", (fields, expected) => {
  const problems = problemsOf({ "main.yaml": `${MAIN}timing: { ${fields} }\n` });
  expect(problems.map(brief).join("\n")).toContain(expected);
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

it("is refused in the daemon's own database", () => {
  const same = { "main.yaml": `${MAIN}database: swapd.db\nserve: { database: ./swapd.db }\n` };
  expect(problemsOf(same).map(brief)).toEqual([
    "14:20 serve.database: is the daemon's own database -> name another file, or leave the key out",
  ]);
});

it("gives no two servers of one process the same port", () => {
  const http = (listen: string) => `${MAIN.replace(/^http: .*\n/m, "")}http: { listen: "${listen}" }\n`;
  const both = {
    "main.yaml": `${http("127.0.0.1:9500")}serve: { listen: "0.0.0.0:9500", metrics: "127.0.0.1:9501" }\n`,
  };
  const found = "serve.listen: is port 9500, and so is http.listen -> give each a port of its own";
  expect(problemsOf(both).map(brief)).toEqual([expect.stringContaining(found)]);
  // The default of a key that is not written counts too.
  expect(problemsOf({ "main.yaml": http("127.0.0.1:9465") }).map(brief)).toEqual([
    expect.stringContaining("serve.listen: is port 9465, and so is http.listen"),
  ]);
  expect(problemsOf(serve('listen: "127.0.0.1:9700", metrics: "127.0.0.1:9700"')).map(brief)).toEqual([
    expect.stringContaining("serve.metrics: is port 9700, and so is serve.listen"),
  ]);
  const any = { "main.yaml": `${http("127.0.0.1:0")}serve: { listen: "127.0.0.1:0", metrics: "127.0.0.2:9464" }\n` };
  expect(loaded(any).serve.listen.port).toBe(0);
});
