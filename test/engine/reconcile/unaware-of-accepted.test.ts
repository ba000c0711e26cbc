import { expect, test } from "vitest";
import { toPpm } from "../../../src/domain/money/fraction.ts";
import type { StrategySpec } from "../../../src/domain/strategy/spec.ts";
import { decideAcceptance } from "../../../src/engine/reconcile/accept.ts";
import type { Difference } from "../../../src/ports/reconciliation-store.ts";
import { dcaSpec, HUNDRED_USDC, rebalanceSpec, thresholdSpec, USDC, WALLET, WETH } from "../../support/builders.ts";
import { FakeClock } from "../../support/fake-clock.ts";

const DAY = 24 * 3_600;

/** What a person is answered who accepts a fill of another database, the one that sold what a strategy sells. */
function answerOf(strategies: readonly StrategySpec[], facts: Difference["facts"]): string {
  const found: Difference = {
    ...{ id: 1, key: "fill", wallet: WALLET, token: undefined, kind: "fill", scope: "wallet", text: "it sold" },
    ...{ facts, foundAtMs: 0, foundSinceBoot: undefined },
  };
  const settings = {
    ...{ chainId: 1, pace: { maxLifetimeSeconds: 60 } },
    strategies: strategies.map((spec) => ({ spec, specHash: spec.id })),
  };
  const rows = { open: [found], swaps: [], strategies: [], known: new Map() };
  return decideAcceptance({ settings, deps: { clock: new FakeClock(0) } }, rows, "ann").value;
}

const pays = { sell: USDC.address, buy: WETH.address, sold: HUNDRED_USDC.toString() };
const sells = { sell: WETH.address, buy: USDC.address, sold: "1000" };

test.each<[string, StrategySpec, Difference["facts"], string]>([
  [
    "a number of runs and a carry",
    dcaSpec({ budget: { maxRuns: 4 }, carry: { maxMultiple: toPpm(4_000_000) } }),
    pays,
    "budget.max_runs; what it carries over",
  ],
  ["triggers", thresholdSpec(), sells, "its triggers: a leg that sold there sells again"],
  [
    "triggers of one allocation",
    thresholdSpec({ allocation: { raw: 5_000n } }),
    sells,
    "its triggers: a leg that sold there sells again, within the allocation",
  ],
  [
    "a path",
    {
      ...{
        ...dcaSpec(),
        id: "path",
        kind: "value-averaging",
        pay: USDC,
        buy: WETH,
        maxContribution: HUNDRED_USDC,
        min: 1n,
      },
      ...{ path: { step: HUNDRED_USDC, growth: toPpm(0) }, allowSell: false, startMs: undefined },
      ...{ onInsufficient: "skip" },
    },
    pays,
    "what was bought: the path buys that again",
  ],
  [
    "a budget in dollars, a turnover, a cooldown and deposits",
    rebalanceSpec({
      ...{ budget: { total: 1n, inDollars: true }, onDeposit: "buy-underweight" },
      bands: {
        ...{ trigger: "any", soft: { forSeconds: 0, cooldownSeconds: DAY }, hard: { forSeconds: 0 } },
        maxGapSeconds: DAY,
      },
      trades: {
        ...rebalanceSpec().trades,
        maxTurnover: { perDay: toPpm(100_000), perRun: undefined },
      },
    }),
    pays,
    "its budget in dollars; max_turnover.per_day; cooldown; on_deposit, to which what was bought is a deposit",
  ],
])("who accepts a sale is told what knows nothing of it: %s", (_of, spec, facts, what) => {
  const answer = answerOf([spec, dcaSpec({ id: "other", sell: { token: WETH, raw: 1n }, buy: USDC })], facts);
  const lines = answer.split("\n").map((line) => line.trim());
  expect(lines).toContain(`${spec.id} knows nothing of it in: ${what}`);
  expect(answer).not.toContain("other knows");
  expect(answer).toContain(
    "the policy's max_per_day and max_per_month, `swapd export` and `swapd lots list` know nothing",
  );
  expect(lines.at(-1)).toContain("swapd pause <strategy>");
});

test("who accepts a sale of what counts all of it is told of the policy and the books alone", () => {
  const answer = answerOf([dcaSpec({ budget: { total: HUNDRED_USDC } })], pays);
  expect(answer).not.toContain("knows nothing of it in");
  expect(answer).not.toContain("swapd pause");
  expect(answer).toContain("max_per_month");
});

test("who accepts a sale that counts in nobody's budget is told of no limit", () => {
  expect(answerOf([dcaSpec({ sell: { token: WETH, raw: 1n }, buy: USDC })], pays)).not.toContain("knows nothing");
});
