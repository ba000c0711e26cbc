import { describe, expect, test } from "vitest";
import { pairPriceOf } from "../../src/domain/strategy/pair-price.ts";
import type { ThresholdLeg } from "../../src/domain/strategy/threshold-spec.ts";
import { priceOf, SLOT_MS, thresholdLeg, thresholdSpec, USDC, usd, WETH } from "../support/builders.ts";
import { ACCOUNT, createOutside, type Life, type Outside, openLife, turn } from "../support/engine-life.ts";

const level = pairPriceOf(900_000_000n, USDC);

/** A stop on a chain, whose prices are those of its newest block. */
async function openStop(change: Partial<ThresholdLeg>) {
  const outside = createOutside(SLOT_MS - 1_500, {
    ...thresholdSpec({
      ...{ id: "stop", retryForSeconds: 120, maxGapSeconds: 60, gasless: "never" },
      schedule: { kind: "every", seconds: 10 },
      legs: [thresholdLeg({ trigger: { kind: "cross", side: "below", price: level }, ...change })],
    }),
    ...{ wallet: { name: "main", address: ACCOUNT }, recipient: ACCOUNT },
  });
  const life = openLife(outside);
  const market = { dollars: "1000" };
  Object.assign(life.context.deps.prices, {
    price: async (token: typeof WETH) => {
      const sample = { ...priceOf(token), atSeconds: (await outside.chain.latest()).timestamp };
      return token.address === WETH.address ? { ...sample, usd: usd(market.dollars) } : sample;
    },
  });
  await life.engine.start();
  await turn(outside, life, 30);
  return { outside, life, market };
}

/** Time passes, and no block comes. */
async function standStill({ clock }: Outside, life: Life, seconds: number): Promise<void> {
  for (let passed = 0; passed < seconds; passed += 1) {
    await clock.advance(1_000);
    await life.engine.tick();
  }
}

describe("while the chain stands still", () => {
  test("a price that stood in its last block confirms no trigger, and nothing is sold by it once blocks come again", async () => {
    const { outside, life, market } = await openStop({ confirm: { forSeconds: 600, samples: 3 } });
    market.dollars = "890";
    await turn(outside, life, 20);
    await standStill(outside, life, 1_200);
    market.dollars = "1000";
    await turn(outside, life, 120);
    expect(outside.signed).toEqual([]);
    market.dollars = "890";
    await turn(outside, life, 660);
    expect(outside.signed).not.toEqual([]);
  });
});
