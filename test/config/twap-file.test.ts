import { describe, expect, it } from "vitest";
import type { TwapSpec } from "../../src/domain/strategy/twap.ts";
import { loaded, strategyProblems } from "./project.ts";

const TWAP = `kind: twap
wallet: main
sell: "12 WETH"
buy: USDC
start: 2026-11-03T08:00Z
duration: 10d
every: 2h
slice: { min: "0.05 WETH" }
`;

function spec(text: string): TwapSpec {
  const [strategy] = loaded({ "strategies/weekly.yaml": text }).strategies;
  if (strategy?.spec.kind !== "twap") throw new Error("no twap strategy was loaded");
  return strategy.spec;
}

const START_MS = Date.UTC(2026, 10, 3, 8);

describe("a twap strategy's file", () => {
  it("TWAP-12 cuts the time into slices that begin at the start, with a window that ends before the next one", () => {
    expect(spec(TWAP)).toMatchObject({
      schedule: { kind: "every", seconds: 7_200, anchorSeconds: START_MS / 1_000, jitterSeconds: undefined },
      retryForSeconds: 6_480,
      sell: { raw: 12n * 10n ** 18n },
      startMs: START_MS,
      slices: 120,
      everySeconds: 7_200,
      spread: 0n,
      slice: { unfilled: "roll", max: 2n * 10n ** 17n, min: 5n * 10n ** 16n },
      limit: { floor: undefined, abort: undefined },
      exit: false,
      maxTradeUsd: 500n * 10n ** 18n,
    });
  });

  it("takes every key there is", () => {
    const text = `kind: twap
wallet: main
sell: "5000 USDC"
buy: WETH
start: 2026-11-03T08:00Z
end: 2026-11-03
slices: 10
randomize: { size: 20%, time: 15m }
slice: { min: "100 USDC", max: "1000 USDC", window: 1h, unfilled: drop }
limit: { max_price: "4200 USDC", abort_above: "4500 USDC" }
exit: true
`;
    expect(spec(text)).toMatchObject({
      schedule: { seconds: 5_760, jitterSeconds: 900 },
      retryForSeconds: 3_600,
      slices: 10,
      spread: 200_000n,
      slice: { unfilled: "drop", max: 1_000_000_000n, min: 100_000_000n },
      limit: {
        floor: { bought: 10n ** 18n, sold: 4_200_000_000n },
        abort: { bought: 10n ** 18n, sold: 4_500_000_000n },
      },
      exit: true,
    });
  });

  it("reads prices of the sold token in the bought one", () => {
    const { limit } = spec(`${TWAP}limit: { min_price: "3800 USDC", abort_below: "3500.5 USDC" }\n`);
    expect(limit).toEqual({
      floor: { bought: 3_800_000_000n, sold: 10n ** 18n },
      abort: { bought: 3_500_500_000n, sold: 10n ** 18n },
    });
  });

  it.each([
    [
      "TWAP-10 slices under the least",
      TWAP.replace('"0.05 WETH"', '"0.2 WETH"'),
      "8:15 slice.min: the smallest of 120 slices would sell 0.1 WETH, less than the least of 0.2 WETH -> use fewer slices, or lower the least",
    ],
    [
      "TWAP-10 a plan without a least",
      TWAP.replace('slice: { min: "0.05 WETH" }\n', ""),
      '1:1 slice: the key "slice" is missing -> add slice: { min: "0.05 WETH" } (bounds of one slice)',
    ],
    [
      "a cap that no slice fits under",
      TWAP.replace('{ min: "0.05 WETH" }', '{ min: "0.05 WETH", max: "0.09 WETH" }'),
      "8:33 slice.max: the largest of 120 slices sells 0.1 WETH, more than the most of 0.09 WETH -> use more slices, or raise the most",
    ],
    [
      "both every and slices",
      `${TWAP}slices: 5\n`,
      "9:1 slices: needs exactly one of every and slices; there are both -> drop one of the two",
    ],
    [
      "neither duration nor end",
      TWAP.replace("duration: 10d\n", ""),
      "1:1 : needs exactly one of duration and end; none is there -> for example duration: 10d",
    ],
    [
      "an end without a start",
      TWAP.replace("start: 2026-11-03T08:00Z\nduration: 10d", "end: 2026-11-13"),
      "5:6 end: needs a start too -> add start, or write duration instead of end",
    ],
    [
      "an end before the start",
      TWAP.replace("duration: 10d", "end: 2026-11-02"),
      "6:6 end: does not lie after start -> name a later day, or an earlier start",
    ],
    [
      "a gap longer than all of it",
      TWAP.replace("every: 2h", "every: 11d"),
      "7:8 every: 864000s cannot be cut like this: no slice comes to a whole second, or none fits -> use fewer slices or a longer duration",
    ],
    [
      "more slices than are computed",
      TWAP.replace("every: 2h", "every: 1m"),
      "7:8 every: makes 14400 slices, at most 10000 are allowed -> use fewer",
    ],
    [
      "TWAP-12 a late start that reaches the next slice",
      `${TWAP}randomize: { time: 2h }\n`,
      "9:20 randomize.time: is not shorter than the 2h from one slice to the next -> use a shorter time",
    ],
    [
      "TWAP-12 a window that reaches the next slice",
      `${TWAP.replace('{ min: "0.05 WETH" }', '{ min: "0.05 WETH", window: 2h }')}randomize: { time: 10m }\n`,
      "8:36 slice.window: is longer than the 110m that are left until the next slice -> use at most 110m",
    ],
    [
      "TWAP-5 extend with an end that does not move",
      TWAP.replace("duration: 10d", "end: 2026-11-13").replace(" }\n", ", unfilled: extend }\n"),
      "8:38 slice.unfilled: goes on after the end, but end says that nothing does -> write duration instead of end, or roll",
    ],
    [
      "a limit price in the wrong token",
      `${TWAP}limit: { min_price: "1 WETH" }\n`,
      "9:21 limit.min_price: must be in USDC, not in WETH -> write how much it is in USDC",
    ],
    [
      "two limit prices",
      `${TWAP}limit: { min_price: "3800 USDC", max_price: "1 WETH" }\n`,
      "9:45 limit.max_price: say the same in two ways: give one of min_price and max_price",
    ],
    [
      "TWAP-8 an abort price that comes before the limit price",
      `${TWAP}limit: { min_price: "3800 USDC", abort_below: "3800 USDC" }\n`,
      "9:8 limit: the abort price is reached before the limit price, so no slice would ever wait -> move the abort price further away",
    ],
    [
      "the coin for its wrapped form",
      TWAP.replace("buy: USDC", "buy: ETH"),
      "4:6 buy: WETH and ETH are one coin and its wrapped form: that is no trade",
    ],
  ])("%s is refused", (_name, text, expected) => {
    expect(strategyProblems(text)).toEqual([expected]);
  });

  it.each(["schedule: { every: 1h }", "retry_for: 1h"])("has no key for what slices say already: %s", (line) => {
    expect(strategyProblems(`${TWAP}${line}\n`)).toEqual([
      expect.stringContaining(`unknown key "${line.split(":")[0]}"`),
    ]);
  });
});

it("TWAP-16 starts now, with a duration and without an end", () => {
  const now = TWAP.replace("start: 2026-11-03T08:00Z", "start: now");
  expect(spec(now)).toMatchObject({ startMs: undefined, startsNow: true, schedule: { anchorSeconds: undefined } });
  expect(strategyProblems(now.replace("duration: 10d", "end: 2026-11-13"))).toEqual([
    "6:6 end: how long it takes is not known before it has begun -> write duration instead of end",
  ]);
});
