import { expect, test } from "vitest";
import { toPpm } from "../../src/domain/money/fraction.ts";
import { keepWatchingDrawdown, watchDrawdown } from "../../src/engine/drawdown.ts";
import { ETH, NOW_MS, policySample, priceOf, RELAYER, runSample, USDC, WETH } from "../support/builders.ts";
import { addRun } from "../support/daemon-database.ts";
import { ACCOUNT, createOutside, openLife } from "../support/engine-life.ts";
import { swapIn } from "../support/reading-samples.ts";

const drawdown = { stop: toPpm(200_000), overSeconds: 604_800 };
const open = new AbortController().signal;

/** All ether of the wallet goes into a token, at a loss of three tenths of the wallets' value. */
test.each([false, true])(
  "what a swap lost counts whole, also where the node is behind its block (behind: %s)",
  async (isBehind) => {
    const outside = createOutside(NOW_MS);
    const { chain } = outside;
    const tokens = [USDC, WETH];
    const policy = policySample({ recipients: [ACCOUNT], drawdown });
    const life = openLife(outside, { settings: { policy, tokens } });
    const prices = { price: async (token: typeof USDC) => priceOf(token) };
    const context = { ...life.context, deps: { ...life.context.deps, prices } };
    // The wallet holds nothing but ether: no coin, no dollars.
    chain.ledger.credit(ETH.address, ACCOUNT, -(await chain.nativeBalance(ACCOUNT)));
    chain.ledger.credit(USDC.address, ACCOUNT, -1_000_000_000n);
    await watchDrawdown(context, open, { problem: () => undefined });
    const before = await chain.latest();

    chain.mine();
    const sold = 3n * 10n ** 18n;
    const worth = (priceOf(WETH).usd * 3n) / 10n ** 12n;
    const bought = (worth * 7n) / 10n;
    chain.ledger.credit(WETH.address, ACCOUNT, -sold);
    chain.ledger.credit(USDC.address, ACCOUNT, bought);
    const { number, hash } = await chain.latest();
    const swap = swapIn("confirmed", { wallet: ACCOUNT, recipient: ACCOUNT, sell: WETH, buy: USDC, gross: sold });
    const fill = { ...swap.fill, sold, bought, blockNumber: number, blockHash: hash } as NonNullable<typeof swap.fill>;
    addRun(life.store, runSample({ swaps: [{ ...swap, fill }] }));

    const { latest } = chain;
    if (isBehind) chain.latest = async () => before;
    await outside.clock.advance(60_000);
    await watchDrawdown(context, open, { problem: () => undefined }).catch(() => undefined); // may throw: no sample
    chain.latest = latest;
    for (let check = 0; check < 3; check += 1) {
      chain.mine();
      await outside.clock.advance(60_000);
      await watchDrawdown(context, open, { problem: () => undefined });
    }
    expect(Number(life.store.drawdown()?.index) / 1e18).toBeCloseTo(0.7, 2);
    expect(life.store.mode("global")?.mode).toBe("exits-only");
  },
);

test("reports after an hour that the node stays behind the wallets, and that it is over", async () => {
  const outside = createOutside(NOW_MS);
  const policy = policySample({ recipients: [ACCOUNT], drawdown });
  const life = openLife(outside, { settings: { policy } });
  const before = await outside.chain.latest();
  outside.chain.mine();
  const { number, hash } = await outside.chain.latest();
  // Another wallet's fill alone does it, too: what it delivers is in balances of after it only.
  const swap = swapIn("confirmed", { wallet: RELAYER, recipient: ACCOUNT });
  const fill = { ...swap.fill, blockNumber: number, blockHash: hash } as NonNullable<typeof swap.fill>;
  addRun(life.store, runSample({ swaps: [{ ...swap, fill }] }));
  const { latest } = outside.chain;
  outside.chain.latest = async () => before;
  const stopping = new AbortController();
  const watching = keepWatchingDrawdown(life.context, stopping.signal, { problem: () => undefined });
  const minutes = async (count: number): Promise<void> => {
    for (let passed = 0; passed < count; passed += 1) await outside.clock.advance(60_000);
  };
  await minutes(58);
  expect(outside.reported).toEqual([]);
  await minutes(5);
  expect(outside.reported).toMatchObject([
    { code: "DRAWDOWN_UNWATCHED", text: expect.stringContaining("the node is 1 blocks behind the wallet's last fill") },
  ]);
  expect(life.store.drawdown()).toBeUndefined();
  outside.chain.latest = latest;
  await minutes(2);
  stopping.abort();
  await watching;
  expect(life.db.prepare("SELECT over_at_ms IS NOT NULL FROM alerts").pluck().all()).toEqual([1]);
  expect(life.store.drawdown()).toBeDefined();
});
