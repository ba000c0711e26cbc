import { expect, test } from "vitest";
import { ChainReadError } from "../../src/domain/chain-read-error.ts";
import { toPpm } from "../../src/domain/money/fraction.ts";
import type { Dips } from "../../src/domain/strategy/dips.ts";
import { samplePrices } from "../../src/engine/price-sampler.ts";
import { dcaSpec, NOW_MS, priceOf, USDC, usd, WBTC, WETH } from "../support/builders.ts";
import { createOutside, type Life, openLife, turn } from "../support/engine-life.ts";

const HOUR_MS = 3_600_000;
const DAY_SECONDS = 86_400;

function dips(of: typeof WETH, days: number): Dips {
  const tiers = [{ drop: toPpm(100_000), multiplier: toPpm(2_000_000) }];
  return { of, reference: { kind: "high", seconds: days * DAY_SECONDS }, tiers, maxMultiplier: undefined };
}

/** Two strategies that look back at WETH, one at WBTC, and one at nothing; none of them is due soon. */
function begin(): Life & { outside: ReturnType<typeof createOutside> } {
  const outside = createOutside(NOW_MS);
  const schedule = { ...outside.spec.schedule, kind: "every", seconds: 30 * DAY_SECONDS } as const;
  const specs = [
    dcaSpec({ id: "short", schedule, dips: dips(WETH, 2) }),
    dcaSpec({ id: "long", schedule, dips: dips(WETH, 30) }),
    dcaSpec({ id: "bitcoin", schedule, buy: WBTC, dips: dips(WBTC, 2) }),
    dcaSpec({ id: "plain", schedule }),
  ];
  const life = openLife(outside, { settings: { strategies: specs.map((spec) => ({ spec, specHash: "spec" })) } });
  return { ...life, outside };
}

const running = new AbortController().signal;
const right = { problem: () => undefined };
const hoursOf = ({ store }: Life, token: typeof WETH) => store.priceBars(token.address, 0).map(({ hourMs }) => hourMs);

test("DCA-17 only prices that somebody looks back at are recorded, each once a check", async () => {
  const life = begin();
  await samplePrices(life.context, running, right);
  expect(life.store.priceBars(WETH.address, 0)).toMatchObject([{ close: priceOf(WETH).usd, samples: 1 }]);
  expect(life.store.priceBars(WBTC.address, 0)).toMatchObject([{ close: priceOf(WBTC).usd, samples: 1 }]);
  expect(life.store.priceBars(USDC.address, 0)).toEqual([]);
});

test("DCA-17 a price that is missing leaves no bar, and keeps no other from being recorded", async () => {
  const life = begin();
  const { price } = life.context.deps.prices;
  life.context.deps.prices.price = async (token) =>
    token.address === WETH.address ? { missing: "stale", detail: "too old" } : await price(token);
  await samplePrices(life.context, running, right);
  expect(hoursOf(life, WETH)).toEqual([]);
  expect(hoursOf(life, WBTC)).toHaveLength(1);
});

test("DCA-17 bars are kept as long as the longest look-back at their token reaches, and some time beyond", async () => {
  const life = begin();
  for (const token of [WETH, WBTC]) {
    for (const days of [40, 36, 8, 1]) {
      life.store.addPriceSample(token.address, NOW_MS - days * DAY_SECONDS * 1_000, usd("1"));
    }
  }
  await samplePrices(life.context, running, right);
  const daysAgo = (token: typeof WETH) => hoursOf(life, token).map((ms) => Math.floor((NOW_MS - ms) / (24 * HOUR_MS)));
  expect(daysAgo(WETH)).toEqual([36, 8, 1, 0]);
  expect(daysAgo(WBTC)).toEqual([8, 1, 0]);
});

test("DCA-17 the daemon looks at its start, then at its pace, and not after its stop", async () => {
  const life = begin();
  await life.engine.start();
  await turn(life.outside, life, 130);
  await life.engine.stop();
  const samples = () => life.store.priceBars(WETH.address, 0).reduce((sum, bar) => sum + bar.samples, 0);
  expect(samples()).toBe(3);
  await life.outside.clock.advance(120_000);
  expect(samples()).toBe(3);
  expect(life.errors).toEqual([]);
});

test("a source that breaks is looked at again at the next check, and stops nothing", async () => {
  const life = begin();
  const { price } = life.context.deps.prices;
  let checks = 0;
  life.context.deps.prices.price = async (token) => {
    checks += 1;
    if (checks === 1) throw new ChainReadError("unreachable", "no node answered");
    return await price(token);
  };
  await life.engine.start();
  await turn(life.outside, life, 70);
  await life.engine.stop();
  expect(life.errors).toEqual([]);
  expect(hoursOf(life, WETH)).toHaveLength(1);
});

test("a mistake of our own in a check stops the process", async () => {
  const life = begin();
  life.context.deps.prices.price = async () => {
    throw new TypeError("undefined is not a function");
  };
  await life.engine.start();
  await turn(life.outside, life, 2);
  expect(life.errors).toMatchObject([{ name: "TypeError" }]);
});
