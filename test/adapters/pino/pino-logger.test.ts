import { expect, test } from "vitest";
import { createLogger } from "../../../src/adapters/pino/pino-logger.ts";
import { createRedactor } from "../../../src/net/redact.ts";
import { Secret } from "../../../src/net/secret.ts";

const canary = "canary-0123456789-secret";

function capture() {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const redactor = createRedactor([canary]);
  return { lines, logger: createLogger({ level: "info", redactor, destination }) };
}

test("a secret reaches no line, wherever in an entry it stands", () => {
  const { lines, logger } = capture();
  const error = new Error(`bad key ${canary}`, { cause: new Error(`cause ${canary}`) });
  Object.assign(error, { code: canary, request: { url: canary } });
  const fields = { error, list: [canary], nested: { deep: { [canary]: canary } }, secret: new Secret(canary) };
  logger.child({ bound: canary }).error(fields, `happened with ${canary}`);
  logger.warn({ url: "https://rpc.example/v2/unregistered-key" }, "The node does not answer.");
  const text = lines.join("");
  expect(text).not.toContain(canary);
  expect(text).not.toContain("unregistered-key");
  expect(text).toContain("bad key [redacted]");
  expect(text).toContain("https://rpc.example/");
});

test("amounts keep every digit and lines are JSON with a level name and a time", () => {
  const { lines, logger } = capture();
  logger.info({ amount: 2n ** 200n, nonce: 7 }, "Signed.");
  logger.debug({}, "Not shown.");
  expect(lines).toHaveLength(1);
  const entry = JSON.parse(lines[0]!);
  expect(entry).toMatchObject({ level: "info", amount: String(2n ** 200n), nonce: 7, msg: "Signed." });
  expect(Date.parse(entry.time)).toBeGreaterThan(0);
});

test("a circular or endless field does not stop the program", () => {
  const { lines, logger } = capture();
  const circle: Record<string, unknown> = { text: "x".repeat(100_000) };
  circle.self = circle;
  logger.info(circle, "A circle.");
  expect(lines[0]!.length).toBeLessThan(60_000);
  expect(lines[0]).toContain("[deeper]");
});
