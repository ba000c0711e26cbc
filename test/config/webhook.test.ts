import { join } from "node:path";
import { expect, it } from "vitest";
import { brief, loaded, MAIN, problemsOf } from "./project.ts";

const alerts = (webhook: string): Record<string, string> => ({
  "main.yaml": `${MAIN}alerts: { webhook: { ${webhook} } }\n`,
});

it("is where alerts go: two references, files from the folder of the main file, and warnings upwards by default", () => {
  const { webhook, file } = loaded(alerts("url: { env: ALERT_URL }, secret: { file: alert.key }"));
  expect(webhook).toEqual({
    url: { env: "ALERT_URL" },
    secret: { file: join(file, "../alert.key") },
    minimum: "warning",
  });
  const other = loaded(alerts("url: { env: A }, secret: { env: B }, minimum: critical"));
  expect(other.webhook?.minimum).toBe("critical");
});

it("is not needed: the log has everything", () => {
  expect(loaded().webhook).toBeUndefined();
  expect(loaded({ "main.yaml": `${MAIN}alerts: { fills: true }\n` }).webhook).toBeUndefined();
});

it("takes messages of fills and starts where they are switched on, and counts slots that ended alike to three", () => {
  expect(loaded().told).toEqual({ fills: false, starts: false, sameEnds: 3 });
  const told = { "main.yaml": `${MAIN}alerts: { fills: true, starts: true, sameEnds: 10 }\n` };
  expect(loaded(told).told).toEqual({ fills: true, starts: true, sameEnds: 10 });
  const wrong = { "main.yaml": `${MAIN}alerts: { fills: yes please, sameEnds: 1 }\n` };
  const problems = problemsOf(wrong).map(brief).join("\n");
  expect(problems).toContain("alerts.fills: needs true or false");
  expect(problems).toContain("alerts.sameEnds: ");
});

it.each([
  ['url: "https://hooks.example/T00/key", secret: { env: B }', "alerts.webhook.url: needs a reference"],
  ["url: { env: A }, secret: hunter2hunter2hunter2", "alerts.webhook.secret: needs a reference"],
  ["url: { env: A }", 'alerts.webhook.secret: the key "secret" is missing'],
  ["url: { env: A }, secret: { env: B }, minimum: loud", "alerts.webhook.minimum: is none of the values known here"],
  ["url: { env: A }, secret: { env: B }, minimun: info", 'alerts.webhook.minimun: unknown key "minimun"'],
])("with %s it is refused: %s", (webhook, expected) => {
  const problems = problemsOf(alerts(webhook)).map(brief);
  expect(problems.join("\n")).toContain(expected);
  expect(problems.join("\n")).not.toMatch(/hunter2hunter2|T00/);
});
