import { expect, onTestFinished, test } from "vitest";
import { toPpm } from "../../src/domain/money/fraction.ts";
import type { UsdPrice } from "../../src/domain/money/price.ts";
import { watchDrawdown } from "../../src/engine/drawdown.ts";
import type { PublishedProposal } from "../../src/ports/treasury.ts";
import { policySample, priceOf, USDC } from "../support/builders.ts";
import { ACCOUNT, openLife, turn, turnUntil } from "../support/engine-life.ts";
import { createTreasuryOutside, runsOf } from "../support/treasury-life.ts";

// The drawdown stop while the owners of a Safe are asked for a swap, which may last hours.

const MOVING = "swaps are moving tokens at each check";

/** A life whose owners are asked for its first swap, after a first sample of its value. */
async function proposeOnce() {
  const outside = createTreasuryOutside();
  const policy = policySample({ recipients: [ACCOUNT], drawdown: { stop: toPpm(200_000), overSeconds: 604_800 } });
  const handed: PublishedProposal[] = [];
  const life = openLife(outside, {
    settings: { safes: new Set([ACCOUNT]), policy },
    treasury: {
      ...{ safe: ACCOUNT, bindsNonce: true, proposer: undefined, freeNonce: async (next) => next },
      publish: async (proposal) => {
        handed.push(proposal);
        return { kind: "published" };
      },
    },
  });
  onTestFinished(() => life.engine.stop());
  const market = { parts: 1n };
  const prices: typeof life.context.deps.prices = {
    price: async (token) => {
      const { usd } = priceOf(token);
      return { ...priceOf(token), usd: (token.address === USDC.address ? usd : usd / market.parts) as UsdPrice };
    },
  };
  const context = { ...life.context, deps: { ...life.context.deps, prices } };
  const check = async () => await watchDrawdown(context, new AbortController().signal, { problem: () => undefined });
  await life.engine.start();
  expect(await check()).toBeUndefined();
  expect(await turnUntil(outside, life, { maxSeconds: 30, isDone: () => handed.length === 1 })).toBe(true);
  await turn(outside, life, 2);
  const [asked] = handed;
  if (asked === undefined) throw new Error("nothing was proposed");
  const states = () => runsOf(life)[0]?.swaps.map(({ state }) => state);
  return { outside, life, asked, check, market, states };
}

test("a proposal that waits for its owners moves nothing: a fall of the value stops the daemon meanwhile", async () => {
  const { life, check, market, states } = await proposeOnce();
  market.parts = 2n;
  expect([await check(), states()]).toEqual([undefined, ["submitted"]]);
  expect(life.store.mode("global")).toMatchObject({ mode: "exits-only", setBy: "policy" });
});

test("a proposal that is executed is no sample until its fill counts, and what it exchanged is no fall", async () => {
  const { outside, life, asked, check, states } = await proposeOnce();
  const before = life.store.drawdown();
  outside.chain.byOwners(asked.calls, asked);
  expect([await check(), states()]).toEqual([MOVING, ["submitted"]]);
  expect(await turnUntil(outside, life, { maxSeconds: 30, isDone: () => states()?.[0] === "confirmed" })).toBe(true);
  expect(await check()).toBeUndefined();
  const after = life.store.drawdown();
  expect(after?.sample.atMs).toBeGreaterThan(before?.sample.atMs ?? 0);
  // It brought a little more than what was sold is worth.
  expect(after?.index).toBeGreaterThan(before?.index ?? 0n);
  expect(after?.index).toBeLessThan(((before?.index ?? 0n) * 1_001n) / 1_000n);
  expect(life.store.mode("global")).toBeUndefined();
});

test("a proposal that is executed right after its block was read is in neither the balances nor the rows", async () => {
  const { outside, life, asked, check } = await proposeOnce();
  const before = life.store.drawdown();
  const { balance } = outside.chain;
  outside.chain.balance = async (...args) => {
    outside.chain.balance = balance;
    outside.chain.mine();
    outside.chain.byOwners(asked.calls, asked);
    return await balance.apply(outside.chain, args);
  };
  expect(await check()).toBeUndefined();
  expect(life.store.drawdown()?.sample.holdings).toEqual(before?.sample.holdings);
});
