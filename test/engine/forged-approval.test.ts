import { expect, test } from "vitest";
import type { StrategySpec } from "../../src/domain/strategy/spec.ts";
import type { Receipt } from "../../src/ports/chain.ts";
import { SLOT_MS } from "../support/builders.ts";
import { ACCOUNT, createOutside, openLife, turn } from "../support/engine-life.ts";

/** A life in which one node shows approvals as reverted, for as long as `isForged` says so, and all others as they are. */
async function begin(isForged: (approval: Receipt) => boolean) {
  const change = { gasless: "never", schedule: { kind: "every", seconds: 86_400 } } as Partial<StrategySpec>;
  const outside = createOutside(Math.ceil(SLOT_MS / 86_400_000) * 86_400_000 - 1_500, change);
  const { chain } = outside;
  for (let block = 0; block < 6; block += 1) chain.mine();
  const { receipt, agreed } = chain;
  const shown = receipt.bind(chain);
  chain.agreed = async () => ({ ...(await agreed.call(chain)), receipt: shown });
  chain.receipt = async (hash) => {
    const found = await shown(hash);
    // Of an approval only: its one log is the approval's.
    return found?.logs.length === 1 && isForged(found) ? { ...found, succeeded: false, logs: [] } : found;
  };
  const life = openLife(outside);
  await life.engine.start();
  const swaps = () => life.db.prepare("SELECT state, reason FROM swaps").all();
  return { outside, chain, life, swaps };
}

test("one node's forged revert of an approval does not end the swap, before all endpoints say so of a final block", async () => {
  const { outside, life, swaps } = await begin(() => true);
  await turn(outside, life, 40);
  expect(swaps()).not.toContainEqual({ state: "skipped", reason: "approval_failed" });
  expect(swaps()).toMatchObject([
    { state: expect.stringMatching(/approving|confirmed|final|quoted|signed|submitted|mined/) },
  ]);
  expect(life.errors).toEqual([]);
  await life.engine.stop();
});

test("an approval that one node called reverted for some blocks is used at the next honest look", async () => {
  let head = 0;
  const { outside, chain, life, swaps } = await begin(({ blockNumber }) => head < blockNumber + 3);
  const { latest } = chain;
  chain.latest = async () => {
    const block = await latest.call(chain);
    head = block.number;
    return block;
  };
  await turn(outside, life, 14);
  expect(swaps()).toEqual([{ state: expect.stringMatching(/confirmed|final/), reason: null }]);
  expect(outside.signed.length).toBe(2);
  await life.engine.stop();
});

test("an approval that one node called reverted until its block was final leads to a quote then", async () => {
  let isLying = true;
  const { outside, chain, life, swaps } = await begin(() => isLying);
  const { finalized } = chain;
  const first = await finalized.call(chain);
  chain.finalized = async () => first;
  await turn(outside, life, 30);
  expect([swaps(), outside.signed.length]).toEqual([[{ state: "approving", reason: null }], 1]);
  expect(life.lanes.openIntents(ACCOUNT, 31_337).every(({ state }) => state === "confirmed")).toBe(true);
  isLying = false;
  chain.finalized = finalized;
  await turn(outside, life, 20);
  expect(swaps()).toEqual([{ state: "final", reason: null }]);
  expect([outside.signed.length, life.errors]).toEqual([2, []]);
  await life.engine.stop();
});
