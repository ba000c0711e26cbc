import { expect, test } from "vitest";
import { ChainReadError } from "../../src/domain/chain-read-error.ts";
import { SUBJECT } from "../../src/domain/run/alert.ts";
import { pairPriceOf } from "../../src/domain/strategy/pair-price.ts";
import { alertSample, priceOf, SLOT_MS, thresholdLeg, thresholdSpec, USDC, WETH } from "../support/builders.ts";
import { ACCOUNT, createOutside, openLife, turn } from "../support/engine-life.ts";

const HELD = 3n * 10n ** 18n;
const NOTIFICATIONS = { fills: false, starts: false, sameEnds: 3 };

/** A stop that sells 2 WETH below 900 USDC, looked at every minute. */
async function begin() {
  const outside = createOutside(SLOT_MS - 1_500);
  const { wallet, recipient } = outside.spec;
  const trigger = { kind: "cross", side: "below", price: pairPriceOf(900_000_000n, USDC) } as const;
  const leg = thresholdLeg({ trigger, amount: { raw: 2n * 10n ** 18n }, ifAlreadyTrue: "wait" });
  const spec = { ...thresholdSpec({ id: "stop", legs: [leg] }), wallet, recipient };
  const life = openLife(outside, {
    settings: { notifications: NOTIFICATIONS, strategies: [{ spec, specHash: "stop" }] },
  });
  const market = { weth: 1_000n, isAway: false };
  const price: typeof life.context.deps.prices.price = async (token) => {
    if (market.isAway) throw new ChainReadError("unreachable", "the feed does not answer");
    const known = priceOf(token);
    const usd = token.address === WETH.address ? (known.usd * market.weth) / 1_000n : known.usd;
    return { ...known, usd: usd as typeof known.usd, atSeconds: outside.clock.nowMs() / 1_000 };
  };
  Object.assign(life.context.deps, { prices: { price } });
  const credit = (amount: bigint): void => outside.chain.ledger.credit(WETH.address, ACCOUNT, amount);
  await life.engine.start();
  await turn(outside, life, 130);
  const codes = (): string[] => outside.reported.map(({ code }) => code);
  return { outside, life, market, codes, credit };
}

test("a stop that finds the wallet empty says so each time, also where the price recovers in between", async () => {
  const { outside, life, market, codes, credit } = await begin();
  credit(-HELD);
  market.weth = 850n;
  await turn(outside, life, 190);
  expect(codes()).toEqual(["NO_FUNDS"]);
  credit(HELD);
  market.weth = 1_000n;
  await turn(outside, life, 660);
  expect(life.db.prepare("SELECT over_at_ms IS NOT NULL FROM alerts").pluck().all()).toEqual([1]);
  credit(-HELD);
  market.weth = 850n;
  await turn(outside, life, 130);
  expect(codes()).toEqual(["NO_FUNDS", "NO_FUNDS"]);
  expect(life.errors).toEqual([]);
});

test("a price that wavers around the stop of an empty wallet is reported once in ten minutes", async () => {
  const { outside, life, market, codes, credit } = await begin();
  credit(-HELD);
  for (let crossings = 0; crossings < 4; crossings += 1) {
    market.weth = 850n;
    await turn(outside, life, 60);
    market.weth = 1_000n;
    await turn(outside, life, 60);
  }
  expect(codes()).toEqual(["NO_FUNDS"]);
});

test("an empty wallet of some time ago keeps nobody from hearing that a stop cannot look any more", async () => {
  const { outside, life, market, codes, credit } = await begin();
  credit(-HELD);
  market.weth = 850n;
  await turn(outside, life, 130);
  market.isAway = true;
  await turn(outside, life, 1_200);
  expect(codes()).toEqual(["NO_FUNDS", "SLOTS_END_ALIKE"]);
});

test("what denied a stop's swap is over when the stop wants nothing any more; what is critical stays", async () => {
  const { outside, life } = await begin();
  const alert = { subject: SUBJECT.pair("stop", { sell: WETH, buy: USDC }), strategy: "stop", atMs: SLOT_MS };
  life.store.raiseAlert(alertSample({ ...alert, id: "alert_gas", code: "GAS_RESERVE_TOO_LOW" }));
  const critical = { ...alert, id: "alert_fill", code: "FILL_TAKEN_BACK", severity: "critical" } as const;
  life.store.raiseAlert(alertSample({ ...critical, subject: SUBJECT.fill("run_1.0.1") }));
  const open = (): unknown[] =>
    life.db.prepare("SELECT code FROM alerts WHERE over_at_ms IS NULL ORDER BY number").pluck().all();
  await turn(outside, life, 130);
  expect(open()).toEqual(["GAS_RESERVE_TOO_LOW", "FILL_TAKEN_BACK"]);
  await turn(outside, life, 600);
  expect(open()).toEqual(["FILL_TAKEN_BACK"]);
});
