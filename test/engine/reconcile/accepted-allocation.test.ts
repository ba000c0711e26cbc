import { expect, onTestFinished, test } from "vitest";
import { toPpm } from "../../../src/domain/money/fraction.ts";
import { pairPriceOf } from "../../../src/domain/strategy/pair-price.ts";
import { priceOf, ROUTER, SLOT_MS, thresholdLeg, thresholdSpec, USDC, WETH } from "../../support/builders.ts";
import { accept, open } from "../../support/databases-in-turn.ts";
import { ACCOUNT, createOutside, type Life, openLife, turn } from "../../support/engine-life.ts";

const ONE = 10n ** 18n;

test("what a person accepted as sold is sold of the allocation: a stop sells what is left of it, and no deposit", async () => {
  const outside = createOutside(SLOT_MS - 1_500);
  const { wallet, recipient } = outside.spec;
  const trigger = { kind: "cross", side: "below", price: pairPriceOf(900_000_000n, USDC) } as const;
  const leg = thresholdLeg({ trigger, amount: { share: toPpm(1_000_000) }, ifAlreadyTrue: "wait" });
  const stop = thresholdSpec({ id: "stop", legs: [leg], allocation: { raw: 4n * ONE } });
  const spec = { ...stop, wallet, recipient };
  let isDown = false;
  const begun = async (): Promise<Life> => {
    const life = openLife(outside, { settings: { strategies: [{ spec, specHash: "stop" }] } });
    const price: typeof life.context.deps.prices.price = async (token) => {
      const known = priceOf(token);
      const usd = isDown && token.address === WETH.address ? (known.usd * 85n) / 100n : known.usd;
      return { ...known, usd: usd as typeof known.usd, atSeconds: outside.clock.nowMs() / 1_000 };
    };
    Object.assign(life.context.deps, { prices: { price } });
    await life.engine.start();
    return life;
  };
  const before = await begun();
  await turn(outside, before, 70);
  await before.engine.stop();
  outside.chain.takeAway({ token: WETH.address, from: ACCOUNT, to: ROUTER, amount: 3n * ONE });
  const life = await begun();
  onTestFinished(() => life.engine.stop());
  expect(open(life)).toEqual(["outflow"]);
  expect(await accept(life)).toContain("it counts in the budget of stop");
  outside.chain.ledger.credit(WETH.address, ACCOUNT, 3n * ONE);
  await turn(outside, life, 70);
  isDown = true;
  await turn(outside, life, 130);
  const sold = life.db.prepare("SELECT amount FROM ledger").pluck().all();
  expect([sold, life.errors]).toEqual([[ONE.toString()], []]);
});
