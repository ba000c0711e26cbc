import { expect, test } from "vitest";
import { createLogger } from "../../../src/adapters/pino/pino-logger.ts";
import { readableLine, readableLines } from "../../../src/adapters/pino/readable-lines.ts";
import { createRedactor } from "../../../src/net/redact.ts";

/** What a logger writes for people. */
function written(log: (logger: ReturnType<typeof createLogger>) => void, colours = false): readonly string[] {
  const lines: string[] = [];
  const redactor = createRedactor();
  redactor.add("hunter2-hunter2");
  const destination = readableLines({ write: (text: string) => void lines.push(text) }, { colours });
  log(createLogger({ level: "info", redactor, destination }));
  for (const line of lines) expect(line).toMatch(/\d{2}:\d{2}:\d{2} /);
  return colours ? lines : lines.map((line) => line.slice("00:00:00 ".length));
}

test("an event is one line: when, which strategy, what, amounts and the reason", () => {
  const fields = {
    strategy: "weekly",
    swapId: "run_1.0.1",
    from: "mined",
    to: "confirmed",
    amounts: "100 USDC -> 0.04 WETH",
  };
  expect(written((logger) => logger.info({ ...fields, reason: undefined }, "swap confirmed"))).toEqual([
    "weekly: swap confirmed; swapId run_1.0.1, amounts 100 USDC -> 0.04 WETH\n",
  ]);
});

test("a warning says so, an error shows its message without the stack, and a secret is in none of them", () => {
  const lines = written((logger) => {
    logger.warn({ key: "hunter2-hunter2" }, "a key was seen");
    logger.error({ error: new Error("hunter2-hunter2 did not fit") }, "what was begun ended");
  });
  expect(lines[0]).toMatch(/^warn: a key was seen; key /);
  expect(lines[1]).toMatch(/^error: what was begun ended; error .* did not fit\n$/);
  expect(lines.join("")).not.toContain("hunter2");
});

test("a text with line breaks or control characters is still one line", () => {
  const [line] = written((logger) => logger.info({ detail: "one\ntwo\u001b[31m" }, "said"));
  expect(line).toBe("said; detail one two [31m\n");
});

test("colours are there only where they are asked for", () => {
  const [plain] = written((logger) => logger.warn({}, "look"));
  expect(plain).toBe("warn: look\n");
  const [coloured] = written((logger) => logger.warn({}, "look"), true);
  expect(coloured).toContain("\u001b[0m");
});

test("what is no JSON is shown rather than lost", () => {
  expect(readableLine("plain words\n", false)).toBe("plain words");
});
