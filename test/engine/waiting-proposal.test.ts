import { expect, test } from "vitest";
import type { PublishedProposal, Treasury } from "../../src/ports/treasury.ts";
import { HUNDRED_USDC, POOL, SLOT_MS, USDC } from "../support/builders.ts";
import { ACCOUNT, type Life, openLife, turn, turnUntil } from "../support/engine-life.ts";
import { leftForPools } from "../support/rows-add-up.ts";
import type { SafeChain } from "../support/safe-chain.ts";
import { createTreasuryOutside, runsOf } from "../support/treasury-life.ts";

// What owners leave lying: within its slot's window a proposal takes the place of the one before it.

/** Where nobody is asked for anything. */
const noTreasury: Treasury = {
  ...{ safe: ACCOUNT, bindsNonce: true, proposer: undefined, freeNonce: async (next) => next },
  publish: async () => ({ kind: "published" }),
};

async function begin() {
  const outside = createTreasuryOutside();
  const handed: PublishedProposal[] = [];
  const life = openLife(outside, {
    settings: { safes: new Set([ACCOUNT]) },
    treasury: {
      ...noTreasury,
      publish: async (proposal) => {
        handed.push(proposal);
        return { kind: "published" };
      },
    },
  });
  await life.engine.start();
  const proposed = async (count: number): Promise<void> => {
    expect(await turnUntil(outside, life, { maxSeconds: 60, isDone: () => handed.length >= count })).toBe(true);
    await turn(outside, life, 2);
  };
  return { outside, handed, life, proposed, chain: outside.chain };
}

const money = ({ db }: Life) =>
  db.prepare<[], [string, string]>("SELECT state, amount FROM ledger ORDER BY rowid").raw().all();
const statesOf = (life: Life) => runsOf(life)[0]?.swaps.map(({ state }) => state);
const execute = (chain: SafeChain, { calls, nonce, hash }: PublishedProposal): void =>
  void chain.byOwners(calls, { nonce, hash });

test("a proposal that waits for its owners keeps its money reserved, and what comes of it frees or spends it", async () => {
  const { life, handed, chain, outside, proposed } = await begin();
  await proposed(1);
  expect([statesOf(life), money(life)]).toEqual([["submitted"], [["reserved", String(HUNDRED_USDC)]]]);
  const [first] = handed;
  if (first === undefined) throw new Error("nothing was proposed");
  execute(chain, first);
  const isFilled = () => runsOf(life)[0]?.state === "filled";
  expect(await turnUntil(outside, life, { maxSeconds: 30, isDone: isFilled })).toBe(true);
  expect(money(life)).toEqual([["spent", String(HUNDRED_USDC)]]);
  expect(life.errors).toEqual([]);
});

test("a proposal that went stale is proposed anew on the same nonce, within its window, and only one of both fills", async () => {
  const { life, handed, chain, outside, proposed } = await begin();
  await proposed(2);
  const [stale, fresh] = handed;
  if (stale === undefined || fresh === undefined) throw new Error("nothing was proposed");
  expect([stale.nonce, fresh.nonce]).toEqual([0n, 0n]);
  expect(fresh.hash).not.toBe(stale.hash);
  expect(fresh.deadlineSeconds).toBeGreaterThan(stale.deadlineSeconds);
  expect(statesOf(life)).toEqual(["expired", "submitted"]);
  // One amount is held at a time: the stale one gave its own back.
  expect(money(life).filter(([state]) => state === "reserved")).toEqual([["reserved", String(HUNDRED_USDC)]]);
  execute(chain, fresh);
  execute(chain, stale);
  const isFilled = () => runsOf(life)[0]?.state === "filled";
  expect(await turnUntil(outside, life, { maxSeconds: 30, isDone: isFilled })).toBe(true);
  expect(leftForPools(outside)).toMatchObject([{ amount: HUNDRED_USDC }]);
  expect(life.errors).toEqual([]);
});

test("a proposal that nobody wants ends with its slot's window, and its money is free", async () => {
  const { life, handed, outside } = await begin();
  const hasEnded = () => runsOf(life)[0]?.state === "failed";
  expect(await turnUntil(outside, life, { maxSeconds: 150, isDone: hasEnded })).toBe(true);
  expect(new Set(statesOf(life))).toEqual(new Set(["expired"]));
  expect(new Set(handed.map(({ nonce }) => nonce))).toEqual(new Set([0n]));
  const ofSlot = runsOf(life)[0]?.slotMs;
  expect(ofSlot).toBe(SLOT_MS);
  expect(new Set(money(life).map(([state]) => state))).not.toContain("spent");
  expect(money(life)[0]?.[0]).toBe("released");
});

test("what its owners move shows in the balances that people read, at the next check of the chain", async () => {
  const { life, outside, chain } = await begin();
  const had = life.store.knownChain(ACCOUNT);
  chain.takeAway({ token: USDC.address, from: ACCOUNT, to: POOL, amount: HUNDRED_USDC });
  for (let block = 0; block < 6; block += 1) chain.mine();
  await life.engine.stop();
  const later = openLife(outside, { settings: { safes: new Set([ACCOUNT]) }, treasury: noTreasury });
  await later.engine.start();
  await turn(outside, later, 3);
  const now = later.store.knownChain(ACCOUNT);
  expect(now?.balances.get(USDC.address)).toBe((had?.balances.get(USDC.address) ?? 0n) - HUNDRED_USDC);
  expect([now?.baseline, now?.transactionCount]).toEqual([had?.baseline, had?.transactionCount]);
  expect(now?.block).toBeGreaterThan(had?.block ?? 0);
  expect(later.errors).toEqual([]);
});
