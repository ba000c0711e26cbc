import { expect, test } from "vitest";
import { toPpm } from "../../../src/domain/money/fraction.ts";
import type { StrategySpec } from "../../../src/domain/strategy/spec.ts";
import { tradedSides, tradedTokens } from "../../../src/domain/strategy/strategy.ts";
import { dcaSpec, ETH, rebalanceSpec, thresholdSpec, USDC, WBTC, WETH } from "../../support/builders.ts";

function sides(spec: StrategySpec): string {
  const { sells, buys } = tradedSides(spec);
  const names = (tokens: readonly { symbol: string }[]) => tokens.map(({ symbol }) => symbol).join(" ");
  return `${names(sells)} -> ${names(buys)}`;
}

const half = toPpm(500_000);
test.each<[string, StrategySpec, string]>([
  ["one token", dcaSpec(), "USDC -> WETH"],
  [
    "several bought tokens",
    dcaSpec({ buy: [WETH, WBTC].map((token) => ({ token, weight: half })) }),
    "USDC -> WETH WBTC",
  ],
  ["a trigger", thresholdSpec(), "WETH -> USDC"],
  ["a mix", rebalanceSpec(), "WETH WBTC USDC -> WETH WBTC USDC"],
  [
    "a mix that is left by one token, over another",
    rebalanceSpec({
      targets: rebalanceSpec().targets.map((target) => ({ ...target, exit: target.token === WBTC })),
      trades: { ...rebalanceSpec().trades, via: ETH },
    }),
    "WETH WBTC USDC ETH -> WETH USDC ETH",
  ],
])("%s: what it may ever sell and buy", (_name, spec, expected) => {
  expect(sides(spec)).toBe(expected);
});

test("each traded token counts once", () => {
  expect(tradedTokens(rebalanceSpec())).toEqual([WETH, WBTC, USDC]);
});
