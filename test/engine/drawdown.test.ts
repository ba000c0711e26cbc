import { describe, expect, test } from "vitest";
import { NATIVE_TOKEN } from "../../src/domain/money/address.ts";
import { toPpm } from "../../src/domain/money/fraction.ts";
import type { UsdPrice } from "../../src/domain/money/price.ts";
import { keepWatchingDrawdown, watchDrawdown } from "../../src/engine/drawdown.ts";
import { takeRequests } from "../../src/engine/operator-requests.ts";
import { NOW_MS, policySample, priceOf, RELAYER, runSample, USDC, WETH } from "../support/builders.ts";
import { addRun } from "../support/daemon-database.ts";
import { ACCOUNT, createOutside, type Life, openLife } from "../support/engine-life.ts";
import { swapIn } from "../support/reading-samples.ts";

const drawdown = { stop: toPpm(200_000), overSeconds: 604_800 };
const open = new AbortController().signal;

/** Everything but WETH at its sample price. */
function begin(file?: ReturnType<typeof createOutside>) {
  const outside = file ?? createOutside(NOW_MS);
  const policy = policySample({ recipients: [ACCOUNT], drawdown });
  const life = openLife(outside, { settings: { policy } });
  const market: { weth: number | undefined } = { weth: 1_000 };
  const prices: Life["context"]["deps"]["prices"] = {
    price: async (token) => {
      if (token.address === USDC.address || market.weth === 1_000) return priceOf(token);
      if (market.weth === undefined) return { missing: "stale", detail: "a test" };
      return { ...priceOf(token), usd: ((priceOf(token).usd * BigInt(market.weth)) / 1_000n) as UsdPrice };
    },
  };
  const context = { ...life.context, deps: { ...life.context.deps, prices } };
  const check = async (weth: number | undefined) => {
    market.weth = weth;
    await outside.clock.advance(60_000);
    await watchDrawdown(context, open, { problem: () => undefined });
  };
  return { outside, life, context, check, market };
}

async function resume({ life }: ReturnType<typeof begin>): Promise<void> {
  life.store.addRequest({
    command: "mode",
    arguments: { mode: "active" },
    madeBy: "ops",
    madeAtMs: life.context.deps.clock.nowMs(),
  });
  await takeRequests(life.context);
}

describe("a fall of the wallets' value", () => {
  test("stops everything but exits, in the policy's name and with a critical alert, once", async () => {
    const { outside, life, check } = begin();
    await check(1_000);
    await check(850);
    expect(life.store.mode("global")).toBeUndefined();
    await check(700);
    await check(600);
    expect(life.store.mode("global")).toMatchObject({ mode: "exits-only", setBy: "policy" });
    expect(outside.reported).toMatchObject([{ severity: "critical", code: "DRAWDOWN_STOP" }]);
    expect(outside.reported[0]?.text).toContain("less than at their high of the last 7 d");
  });

  test("is remembered over a restart: neither the high nor the stop is forgotten", async () => {
    const first = begin();
    await first.check(1_000);
    first.life.kill();
    const second = begin(first.outside);
    await second.check(700);
    expect(second.life.store.mode("global")?.mode).toBe("exits-only");
    second.life.kill();
    const third = begin(first.outside);
    await third.check(600);
    expect(first.outside.reported).toHaveLength(1);
  });

  test("is over by a person's word only, and then it is measured from there", async () => {
    const world = begin();
    const { life, check, outside } = world;
    await check(1_000);
    await check(700);
    await check(1_000);
    expect(life.store.mode("global")?.mode).toBe("exits-only");
    await resume(world);
    await check(700);
    await check(600);
    expect(life.store.mode("global")).toMatchObject({ mode: "active", setBy: "ops" });
    await check(500);
    expect(life.store.mode("global")?.mode).toBe("exits-only");
    expect(outside.reported).toHaveLength(2);
  });

  test("leaves a mode that a person made stricter as it is, and is reported all the same", async () => {
    const { life, check, outside } = begin();
    await check(1_000);
    life.store.setMode({ scope: "global", mode: "paused", setBy: "ops", reason: "r", atMs: 1 });
    await check(700);
    expect(life.store.mode("global")).toMatchObject({ mode: "paused", setBy: "ops" });
    expect(outside.reported).toMatchObject([{ code: "DRAWDOWN_STOP" }]);
  });
});

test("coins that a wallet on paper is lent for gas hide no fall of what it has", async () => {
  const { outside, life, context, market } = begin();
  const lent = 1_000n * 10n ** 18n;
  const own = await outside.chain.balance(NATIVE_TOKEN, ACCOUNT);
  outside.chain.ledger.credit(NATIVE_TOKEN, ACCOUNT, lent - own);
  outside.chain.mine();
  const falling = context.deps.prices;
  const price: typeof falling.price = async (token) =>
    token.address === WETH.address ? await falling.price(token) : priceOf(token);
  const settings = { ...context.settings, lentGas: new Map([[ACCOUNT, lent]]) };
  const onPaper = { settings, deps: { ...context.deps, prices: { price } } };
  for (const weth of [1_000, 500]) {
    market.weth = weth;
    await outside.clock.advance(60_000);
    await watchDrawdown(onPaper, open, { problem: () => undefined });
  }
  expect(life.store.mode("global")).toMatchObject({ mode: "exits-only", setBy: "policy" });
});

describe("a value that is not known for sure is no sample", () => {
  test.each([
    ["is missing", undefined],
    ["is zero", 0],
  ])("while a price %s", async (_what, weth) => {
    const { life, check } = begin();
    await check(weth);
    expect(life.store.drawdown()).toBeUndefined();
  });

  test("while a swap moves a token", async () => {
    const { life, check } = begin();
    addRun(life.store, runSample({ swaps: [swapIn("submitted", { wallet: ACCOUNT })] }));
    await check(1_000);
    expect(life.store.drawdown()).toBeUndefined();
  });

  test("nor when one settles while the chain is being read", async () => {
    const { outside, life, check } = begin();
    const { balance } = outside.chain;
    outside.chain.balance = async (...args) => {
      outside.chain.balance = balance;
      const run = runSample({ swaps: [swapIn("cancelled", { wallet: ACCOUNT })] });
      addRun(life.store, run);
      life.store.writeRecord(run, { kind: "release", swapId: "run_1.0.1" }, 1);
      return await balance.apply(outside.chain, args);
    };
    await check(1_000);
    expect(life.store.drawdown()).toBeUndefined();
  });
});

describe("money that comes or goes", () => {
  test("stops nothing: a withdrawal of nearly all, and a swap whose output goes to somebody else", async () => {
    const { outside, life, check } = begin();
    await check(1_000);
    outside.chain.ledger.credit(WETH.address, ACCOUNT, -29n * 10n ** 17n);
    outside.chain.mine();
    await check(1_000);
    outside.chain.ledger.credit(USDC.address, ACCOUNT, -500_000_000n);
    outside.chain.mine();
    const filled = swapIn("final", { wallet: ACCOUNT, recipient: RELAYER });
    const fill = { ...filled.fill, sold: 500_000_000n, bought: 5n * 10n ** 17n } as NonNullable<typeof filled.fill>;
    addRun(life.store, runSample({ swaps: [{ ...filled, fill }] }));
    await check(1_000);
    expect(life.store.mode("global")).toBeUndefined();
    expect(life.store.drawdown()).toMatchObject({ index: 10n ** 18n });
  });
});

describe("a wallet with trades of long ago", () => {
  /** A wallet that bought a whole WETH for 500 USDC, of which it has nothing any more. */
  async function withTradedWallet() {
    const { outside, life, context } = begin();
    const filled = swapIn("final", { wallet: RELAYER, recipient: RELAYER });
    const fill = { ...filled.fill, sold: 500_000_000n, bought: 10n ** 18n } as NonNullable<typeof filled.fill>;
    addRun(life.store, runSample({ swaps: [{ ...filled, fill }] }));
    const own = context.deps.signers.get(ACCOUNT);
    if (own === undefined) throw new Error("the life has no signer");
    const look = async (wallets: readonly (typeof ACCOUNT)[]) => {
      const signers = new Map(wallets.map((wallet) => [wallet, own]));
      await outside.clock.advance(60_000);
      outside.chain.mine();
      await watchDrawdown({ ...context, deps: { ...context.deps, signers } }, open, { problem: () => undefined });
      return life.store.drawdown()?.index;
    };
    return { life, look };
  }

  test("changes nothing when it is taken out of the configuration, or put in: what it did was done before", async () => {
    const { life, look } = await withTradedWallet();
    const seen = [await look([ACCOUNT, RELAYER]), await look([ACCOUNT]), await look([RELAYER, ACCOUNT])];
    expect(seen).toEqual([10n ** 18n, 10n ** 18n, 10n ** 18n]);
    expect(life.store.mode("global")).toBeUndefined();
  });
});

test("a value that is not known for an hour is reported with its reason, because the rule stops nobody then, and is over with a sample", async () => {
  const { outside, life, context, market } = begin();
  const alerts = (): unknown =>
    life.db.prepare("SELECT code, over_at_ms IS NOT NULL FROM alerts ORDER BY number").raw().all();
  const minutes = async (count: number): Promise<void> => {
    for (let passed = 0; passed < count; passed += 1) await outside.clock.advance(60_000);
  };
  const stopping = new AbortController();
  const watching = keepWatchingDrawdown(context, stopping.signal, { problem: () => undefined });
  await minutes(5);
  market.weth = undefined;
  await minutes(59);
  expect(alerts()).toEqual([]);
  await minutes(5);
  expect(alerts()).toEqual([["DRAWDOWN_UNWATCHED", 0]]);
  expect(outside.reported).toMatchObject([
    { severity: "critical", text: expect.stringContaining("has no price (stale: a test)") },
  ]);
  market.weth = 1_000;
  await minutes(2);
  expect(alerts()).toEqual([["DRAWDOWN_UNWATCHED", 1]]);
  market.weth = undefined;
  await minutes(65);
  stopping.abort();
  await watching;
  const withoutRule = {
    ...context,
    settings: { ...context.settings, policy: policySample({ recipients: [ACCOUNT] }) },
  };
  await keepWatchingDrawdown(withoutRule, open, { problem: () => undefined });
  expect(alerts()).toEqual([
    ["DRAWDOWN_UNWATCHED", 1],
    ["DRAWDOWN_UNWATCHED", 1],
  ]);
});
