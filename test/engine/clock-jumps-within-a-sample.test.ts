import { expect, test } from "vitest";
import { toPpm } from "../../src/domain/money/fraction.ts";
import type { UsdPrice } from "../../src/domain/money/price.ts";
import { keepWatchingDrawdown } from "../../src/engine/drawdown.ts";
import { keepSampling } from "../../src/engine/price-sampler.ts";
import { dcaSpec, NOW_MS, policySample, priceOf, USDC, WETH } from "../support/builders.ts";
import { ACCOUNT, createOutside, type Outside, openLife } from "../support/engine-life.ts";
import { quiet } from "../support/fake-clock.ts";

const DAY_MS = 24 * 3_600_000;

/** The clock is set a year ahead while a price is asked for, and back a second later; the watch of clocks sees it at its next tick. */
function begin() {
  const outside = createOutside(NOW_MS);
  const tiers = [{ drop: toPpm(100_000), multiplier: toPpm(2_000_000) }];
  const dips = {
    of: WETH,
    reference: { kind: "high", seconds: 30 * 86_400 },
    tiers,
    maxMultiplier: undefined,
  } as const;
  const spec = { ...dcaSpec({ dips }), wallet: { name: "main", address: ACCOUNT } };
  let aheadMs = 0;
  const market = { weth: 1_000, jumps: false };
  const nowMs = (): number => outside.clock.nowMs() + aheadMs;
  const clock: Outside["clock"] = Object.create(outside.clock, { nowMs: { value: nowMs, configurable: true } });
  const policy = policySample({ recipients: [ACCOUNT], drawdown: { stop: toPpm(200_000), overSeconds: 604_800 } });
  const life = openLife({ ...outside, clock }, { settings: { policy, strategies: [{ spec, specHash: "spec" }] } });
  const prices: typeof life.context.deps.prices = {
    price: async (token) => {
      if (market.jumps) aheadMs = 365 * DAY_MS;
      const price = priceOf(token);
      return token.address === USDC.address
        ? price
        : { ...price, usd: ((price.usd * BigInt(market.weth)) / 1_000n) as UsdPrice };
    },
  };
  const context = { ...life.context, deps: { ...life.context.deps, prices } };
  const clocks = { problem: () => (aheadMs === 0 ? undefined : "ahead") };
  const minute = async () => {
    await outside.clock.advance(60_000);
    await quiet();
    aheadMs = 0;
    market.jumps = false;
  };
  return { life, context, clocks, market, minute };
}

test.each([false, true])(
  "the high that the drawdown stop measures from survives a clock that jumps while prices are read (jumps: %s)",
  async (jumps) => {
    const { life, context, clocks, market, minute } = begin();
    const stopping = new AbortController();
    const watching = keepWatchingDrawdown(context, stopping.signal, clocks);
    await minute();
    market.weth = 850;
    market.jumps = jumps;
    await minute();
    await minute();
    market.weth = 700;
    await minute();
    await minute();
    expect(life.store.mode("global")?.mode).toBe("exits-only");
    stopping.abort();
    await minute();
    await watching;
  },
);

test.each([false, true])(
  "the hours that strategies look back at survive a clock that jumps while prices are read (jumps: %s)",
  async (jumps) => {
    const { life, context, clocks, market, minute } = begin();
    life.store.addPriceSample(WETH.address, NOW_MS - 3_600_000, priceOf(WETH).usd);
    const stopping = new AbortController();
    market.jumps = jumps;
    const sampling = keepSampling(context, stopping.signal, clocks);
    await minute();
    await minute();
    const hours = life.store.priceBars(WETH.address, NOW_MS - DAY_MS).map(({ hourMs }) => hourMs);
    expect(hours).toContain(Math.floor((NOW_MS - 3_600_000) / 3_600_000) * 3_600_000);
    stopping.abort();
    await minute();
    await sampling;
  },
);
