import { describe, expect, it } from "vitest";
import type { SweepSpec } from "../../src/domain/strategy/sweep.ts";
import { loaded, MAIN, POLICY, problemsOf, strategyProblems } from "./project.ts";

const SWEEP = `kind: sweep
wallet: main
from: WETH
to: USDC
when: { above: "500 USD" }
lot: { min: "50 USD" }
schedule: { every: 1h }
`;

const TANK = `kind: sweep
wallet: main
from: USDC
to: ETH
when: { native_below: "0.02 ETH" }
refill_to: "0.06 ETH"
lot: { min: "10 USD" }
schedule: { every: 10m }
`;

const DAI = `  DAI: { address: "0x50c5725949A6F0c72E6C4a641F24049A917DB0Cb", decimals: 18, feed: preset }\n`;
const WITH_DAI = { "main.yaml": MAIN.replace("policy:", `${DAI}policy:`) };

function spec(text: string): SweepSpec {
  const [strategy] = loaded({ ...WITH_DAI, "strategies/weekly.yaml": text }).strategies;
  if (strategy?.spec.kind !== "sweep") throw new Error("no sweep was loaded");
  return strategy.spec;
}

const dollars = (whole: bigint): bigint => whole * 10n ** 18n;

describe("a sweep's file", () => {
  it("SWP-3 keeps a lot a little below the policy's largest trade, and rests for ten minutes, unless it says otherwise", () => {
    expect(spec(SWEEP)).toMatchObject({
      from: [{ token: { symbol: "WETH" }, keep: 0n, above: { usd: dollars(500n) } }],
      to: { symbol: "USDC" },
      refill: undefined,
      lot: { min: dollars(50n), max: dollars(475n) },
      maxPerDay: undefined,
      cooldownSeconds: 600,
      exit: false,
    });
  });

  it("takes every key there is", () => {
    const text = `kind: sweep
wallet: main
from: [WETH, DAI]
to: USDC
when: { above: { WETH: "0.5 WETH", DAI: "500 USD" } }
keep: { WETH: "0.2 WETH" }
lot: { min: "50 USD", max: "400 USD" }
cooldown: 6h
limits: { max_per_day: "900 USD", slippage: 50bps }
exit: true
schedule: { every: 1h }
`;
    expect(spec(text)).toMatchObject({
      from: [
        { token: { symbol: "WETH" }, keep: 2n * 10n ** 17n, above: { raw: 5n * 10n ** 17n } },
        { token: { symbol: "DAI" }, keep: 0n, above: { usd: dollars(500n) } },
      ],
      lot: { min: dollars(50n), max: dollars(400n) },
      limits: { slippage: 5_000n },
      maxPerDay: dollars(900n),
      cooldownSeconds: 21_600,
      exit: true,
    });
  });

  it("SWP-11 a gas tank keeps half of the way between the policy's reserve and its lower threshold as a last resort", () => {
    expect(spec(TANK)).toMatchObject({
      from: [{ token: { symbol: "USDC" }, keep: 0n, above: undefined }],
      to: { symbol: "ETH" },
      refill: { below: 2n * 10n ** 16n, to: 6n * 10n ** 16n, lastResort: 5n * 10n ** 15n },
    });
    expect(spec(`${TANK}last_resort: "0.002 ETH"\n`).refill?.lastResort).toBe(2n * 10n ** 15n);
  });

  it.each([
    [
      "a sweep without a threshold",
      SWEEP.replace('{ above: "500 USD" }', "{}"),
      '5:7 when: needs exactly one of above and native_below -> for example { above: "500 USD" }',
    ],
    [
      "both forms at once",
      SWEEP.replace('{ above: "500 USD" }', '{ above: "500 USD", native_below: "0.02 ETH" }'),
      "5:7 when: needs exactly one of above and native_below -> drop one of the two",
    ],
    [
      "a key of a gas tank in a sweep",
      `${SWEEP}refill_to: "0.06 ETH"\n`,
      "8:1 refill_to: belongs to when: { native_below: ... } -> drop it",
    ],
    [
      "one amount for several tokens",
      SWEEP.replace("from: WETH", "from: [WETH, ETH]").replace('"500 USD"', '"0.5 WETH"'),
      '5:16 when.above: one amount of WETH is no threshold for several tokens -> write "500 USD", or { WETH: "..." }',
    ],
    [
      "a threshold in another token",
      SWEEP.replace('"500 USD"', '"500 USDC"'),
      "5:16 when.above: must be in WETH, not in USDC -> write how much it is in WETH",
    ],
    [
      "a token without a threshold",
      SWEEP.replace("from: WETH", "from: [WETH, ETH]").replace('"500 USD"', '{ WETH: "1 WETH" }'),
      '5:16 when.above: ETH has no threshold -> add ETH: "500 USD"',
    ],
    [
      "a threshold of a token that is not sold",
      SWEEP.replace('"500 USD"', '{ WETH: "1 WETH", ETH: "1 ETH" }'),
      "5:39 when.above.ETH: ETH is not sold, so it needs no threshold -> drop it, or add it to from",
    ],
    [
      "keep for a token that is not sold",
      `${SWEEP}keep: { USDC: "5 USDC" }\n`,
      "8:15 keep.USDC: USDC is not sold, so it needs no keep -> drop it",
    ],
    [
      "keeping more than the threshold",
      `${SWEEP.replace('"500 USD"', '"0.5 WETH"')}keep: { WETH: "0.6 WETH" }\n`,
      "8:15 keep.WETH: is more than the threshold that starts a sale -> keep less",
    ],
    [
      "a token that stands there twice",
      SWEEP.replace("from: WETH", "from: [WETH, WETH]"),
      "3:14 from.1: WETH is listed twice",
    ],
    [
      "the coin for its wrapped form",
      SWEEP.replace("to: USDC", "to: ETH"),
      "3:7 from: WETH and ETH are one coin and its wrapped form: that is no trade",
    ],
    [
      "a lot above the policy",
      SWEEP.replace('"50 USD" }', '"50 USD", max: "501 USD" }'),
      "6:28 lot.max: 501 USD is more than the policy's max_trade of 500 USD (policy.yaml:2:12) -> use at most 500 USD; only the owner may raise the policy",
    ],
    [
      "a day above the policy",
      `${SWEEP}limits: { max_per_day: "1001 USD" }\n`,
      "8:24 limits.max_per_day: 1001 USD is more than the policy's max_per_day of 1000 USD (policy.yaml:3:14) -> use at most 1000 USD; only the owner may raise the policy",
    ],
    [
      "a day that is no lot",
      `${SWEEP}limits: { max_per_day: "49 USD" }\n`,
      "8:24 limits.max_per_day: is less than the smallest lot, so nothing would ever be sold -> raise it, or lower lot.min",
    ],
    [
      "a smallest lot above the largest",
      SWEEP.replace('"50 USD"', '"476 USD"'),
      "6:13 lot.min: is more than the largest lot of 475 USD -> change it",
    ],
    [
      "a gas tank that fills something else",
      TANK.replace("from: USDC\nto: ETH", "from: WETH\nto: USDC"),
      "4:5 to: is USDC, but native_below refills the native coin -> write ETH, or use when: { above: ... }",
    ],
    [
      "a gas tank without an upper threshold",
      TANK.replace('refill_to: "0.06 ETH"\n', ""),
      '1:1 : the key "refill_to" is missing: a refill needs an upper threshold -> for example refill_to: "0.06 ETH"',
    ],
    [
      "an upper threshold below the lower one",
      TANK.replace('"0.06 ETH"', '"0.02 ETH"'),
      "6:12 refill_to: does not lie above native_below -> use more than 0.02 ETH",
    ],
    [
      "SWP-11 a lower threshold within the policy's gas reserve",
      TANK.replace("0.02", "0.01"),
      "5:23 when.native_below: 0.01 ETH does not lie above the policy's gas_reserve of 0.01 ETH (policy.yaml:5:14): a refill could not pay its gas -> use more than 0.01 ETH",
    ],
    [
      "SWP-11 a last resort that reaches above the lower threshold",
      `${TANK}last_resort: "0.011 ETH"\n`,
      "5:23 when.native_below: 0.02 ETH does not lie above the policy's gas_reserve of 0.01 ETH (policy.yaml:5:14) and the last resort of 0.011 ETH: a refill could not pay its gas -> use more than 0.021 ETH",
    ],
  ])("%s is refused", (_name, text, expected) => {
    expect(strategyProblems(text)).toEqual([expected]);
  });

  it("SWP-8 a gas tank of another wallet is refused", () => {
    const dead = '"0x000000000000000000000000000000000000dEaD"';
    const problems = problemsOf({
      "policy.yaml": POLICY.replace("[main]", `[main, ${dead}]`),
      "strategies/weekly.yaml": `${TANK}recipient: ${dead}\n`,
    });
    expect(problems).toMatchObject([{ message: "a refill that goes elsewhere fills no gas tank of this wallet" }]);
  });

  it("SWP-12 the wrapped coin refills nothing, and is refused", () => {
    expect(strategyProblems(TANK.replace("from: USDC", "from: WETH"))).toEqual([
      "3:7 from: WETH and ETH are one coin and its wrapped form: that is no trade",
    ]);
  });
});
