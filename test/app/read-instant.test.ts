import { join } from "node:path";
import { InvalidArgumentError } from "commander";
import { expect, test } from "vitest";
import { CandleFileError, readCandles } from "../../src/app/backtest/read-candles.ts";
import { sinceMs, untilMs } from "../../src/app/books/time-range.ts";
import { runCli } from "../../src/app/cli.ts";
import { readSince } from "../../src/app/commands/audit.ts";
import { CommandFailure } from "../../src/app/exit-codes.ts";
import { readInstant } from "../../src/app/read-instant.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

/** Date.parse takes the first three for days of March and of May, and the others for times of the machine's zone. */
const NO_INSTANTS = [
  ...["2026-02-30", "2025-02-29T00:00:00Z", "2026-04-31T12:00:00+02:00"],
  ...["2026-01-31T09:00:00", "2026-01-31 09:00", "5", "1 Feb"],
];

async function typed(...words: readonly string[]): Promise<{ code: number; err: string }> {
  const err: string[] = [];
  const terminal = { out: () => undefined, err: (text: string) => void err.push(text), isInteractive: false };
  const named = ["--config", join(temporaryDirectory(), "none.yaml")];
  return { code: await runCli(["node", "swapd", ...words, ...named], terminal), err: err.join("\n") };
}

test("days and instants with a zone are read, also the last of a year and of a leap year's February", () => {
  expect(readInstant("2028-02-29")).toEqual({ atMs: Date.UTC(2028, 1, 29), isDay: true });
  expect(readInstant("2026-12-31T23:59:59.999+14:00")?.atMs).toBe(Date.UTC(2026, 11, 31, 9, 59, 59, 999));
  for (const text of NO_INSTANTS) expect([text, readInstant(text)]).toEqual([text, undefined]);
});

test.each(NO_INSTANTS)("%s is refused, and not taken for another time", async (text) => {
  expect(() => sinceMs(text)).toThrow(InvalidArgumentError);
  expect(() => untilMs(text)).toThrow(InvalidArgumentError);
  const { code, err } = await typed("why", "weekly", "--at", text);
  expect([code, err]).toEqual([2, expect.stringContaining("is no instant")]);
  if (text !== "5") expect(() => readSince(text, Date.UTC(2030, 0))).toThrow(CommandFailure);
});

test("a candle of a day that its month does not have stops a backtest with its line", () => {
  const rows = ["2025-02-28", "2025-02-29"].map((day) => `${day},1,1,1,1`);
  expect(() => readCandles("weth.csv", ["timestamp,open,high,low,close", ...rows].join("\n"))).toThrow(
    new CandleFileError("weth.csv", ['line 3: timestamp is "2025-02-29", and should be milliseconds since 1970 (UTC)']),
  );
});

test.each([["export", "--format", "csv"], ["lots"], ["report", "--html", "never-written.html"]])(
  "a time that ends before it begins is refused: %s",
  async (...words) => {
    const { code, err } = await typed(...words, "--since", "2027-01-01", "--until", "2026-12-30");
    expect([code, err]).toEqual([2, expect.stringContaining("there is nothing between them")]);
  },
);
