import { describe, expect, it } from "vitest";
import { CandleFileError, readCandles } from "../../../src/app/backtest/read-candles.ts";

const MS = 1_735_689_600_000;
const HOUR = 3_600_000;
const usd = (text: string): bigint => BigInt(Math.round(Number(text) * 100)) * 10n ** 16n;

function refused(text: string): string {
  try {
    readCandles("a.csv", text);
  } catch (error) {
    if (error instanceof CandleFileError) return error.message;
    throw error;
  }
  return "taken";
}

describe("candles are read as exchanges and their clients write them", () => {
  const expected = [
    { atMs: MS, open: usd("10"), high: usd("12"), low: usd("9"), close: usd("11") },
    { atMs: MS + HOUR, open: usd("11"), high: usd("11"), low: usd("10.5"), close: usd("10.75") },
  ];
  const row = (time: string | number, rest: string): string => `${time},${rest}`;
  const [FIRST, SECOND] = ["10,12,9,11,1", "11,11,10.5,10.75,2"];
  const VARIANTS: Readonly<Record<string, string>> = {
    "with a header in milliseconds": `timestamp,open,high,low,close,volume\n${row(MS, FIRST)}\n${row(MS + HOUR, SECOND)}\n`,
    "without a header": `${row(MS, FIRST)}\n${row(MS + HOUR, SECOND)}`,
    "in seconds": `${row(MS / 1_000, FIRST)}\n${row((MS + HOUR) / 1_000, SECOND)}`,
    "in microseconds, with more columns behind": `${row(MS * 1_000, `${FIRST},7,8`)}\n${row((MS + HOUR) * 1_000, `${SECOND},7,8`)}`,
    "in dates of freqtrade": `date,open,high,low,close,volume\n${row("2025-01-01 00:00:00+00:00", FIRST)}\n${row("2025-01-01 01:00:00+00:00", SECOND)}`,
    "in ISO dates with Windows' line ends and a byte order mark": `\uFEFFTime,Open,High,Low,Close\r\n${row("2025-01-01T00:00:00Z", FIRST)}\r\n${row("2025-01-01T01:00:00Z", SECOND)}\r\n`,
    "in another order, by semicolon": `close;low;high;open;open_time\n11;9;12;10;${MS}\n10.75;10.5;11;11;${MS + HOUR}`,
    "in quotes and with exponents": `"${MS}","1e1","1.2e+1","90e-1","11"\n${MS + HOUR},11,11,10.5,10.75`,
  };
  it.each(Object.entries(VARIANTS))("%s", (_, text) => {
    const { candles, stepMs } = readCandles("a.csv", text);
    expect(candles.map(({ atMs, open, high, low, close }) => ({ atMs, open, high, low, close }))).toEqual(expected);
    expect(stepMs).toBe(HOUR);
  });
});

describe("what is not right is said with its lines", () => {
  const line = (hour: number, price = 10): string => `${MS + hour * HOUR},${price},${price},${price},${price}`;
  it("gaps, with the line before them", () => {
    const { notes } = readCandles("a.csv", [line(0), line(1), line(2), line(6)].join("\n"));
    expect(notes).toEqual([
      "a.csv: 3 candles of 1h are missing (after line 3 from 2025-01-01T03:00:00Z until 2025-01-01T06:00:00Z); there is no price there, and nothing is traded",
    ]);
  });

  it("disorder and lines that stand there twice, which are put right", () => {
    const { notes, candles } = readCandles("a.csv", [line(1), line(0), line(2), line(2)].join("\n"));
    expect(notes).toEqual([
      "a.csv: 1 lines stand before an earlier line (line 2); sorted",
      "a.csv: 1 lines stand there twice (line 4); taken once",
    ]);
    expect(candles.map(({ atMs }) => (atMs - MS) / HOUR)).toEqual([0, 1, 2]);
  });

  it.each([
    [
      "two candles of one instant that differ",
      [line(0), line(1), line(1, 11)],
      "lines 2 and 3 are of 2025-01-01T01:00:00Z and differ",
    ],
    [
      "a price that is none",
      [line(0), `${MS + HOUR},ten,10,10,10`],
      'line 2: open is "ten", and a price is a number above zero',
    ],
    ["a price of zero", [line(0), line(1, 0)], 'line 2: open is "0"'],
    ["a missing price", [line(0), `${MS + HOUR},10,10`], "line 2: low is missing"],
    [
      "columns in a wrong order",
      [line(0), `${MS + HOUR},10,9,12,11`],
      "line 2: low and high do not enclose open and close",
    ],
    ["a time that is none", [line(0), "yesterday,10,10,10,10"], 'line 2: timestamp is "yesterday"'],
    [
      "times of two kinds",
      [line(0), `${(MS + HOUR) / 1_000},10,10,10,10`],
      "its timestamps are milliseconds (line 1) and seconds (line 2)",
    ],
    ["a header without a price", ["timestamp,open,high,low", line(0)], "line 1: the header has no column close"],
    ["one candle", [line(0)], "has 1 candles; at least two are needed"],
  ])("%s is refused", (_, lines, message) => {
    expect(refused(lines.join("\n"))).toContain(message);
  });

  it("of many faulty lines the first five, and how many there are", () => {
    const message = refused(Array.from({ length: 9 }, () => "x").join("\n"));
    expect(message.split("\n")).toHaveLength(1);
    const more = refused([line(0), ...Array.from({ length: 9 }, () => `${MS},x,1,1,1`)].join("\n"));
    expect(more.split("\n")).toHaveLength(6);
    expect(more).toContain("... and 4 more lines");
  });
});
