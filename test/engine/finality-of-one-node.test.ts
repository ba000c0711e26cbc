import { expect, test } from "vitest";
import type { StrategySpec } from "../../src/domain/strategy/spec.ts";
import { HUNDRED_USDC, SLOT_MS, USDC } from "../support/builders.ts";
import { ACCOUNT, createOutside, openLife, turn, turnUntil } from "../support/engine-life.ts";

const HELD = 1_000_000_000n;

/** One swap of a day, in a block and not confirmed yet. */
async function beginMined(gasless: string) {
  const change = { gasless, schedule: { kind: "every", seconds: 86_400 } } as Partial<StrategySpec>;
  const midnightMs = Math.ceil(SLOT_MS / 86_400_000) * 86_400_000;
  const outside = createOutside(midnightMs - 1_500, change);
  const { chain } = outside;
  for (let block = 0; block < 6; block += 1) chain.mine();
  const life = openLife(outside);
  await life.engine.start();
  const fill = () => chain.receipts().find(({ succeeded, logs }) => succeeded && logs.length > 2);
  const isMined = () => fill() !== undefined;
  expect(await turnUntil(outside, life, { maxSeconds: 60, isDone: isMined })).toBe(true);
  const states = (): unknown[] => life.db.prepare("SELECT state FROM swaps").pluck().all();
  return { outside, chain, life, states, hash: fill()?.hash };
}

const MODES = [["never"], ["only"]];

test.each(MODES)(
  "one node's false word of what is final does not make a fill final that a reorganisation takes back for good (gasless: %s)",
  async (gasless) => {
    const { outside, chain, life, states } = await beginMined(gasless);
    // The first endpoint answers for another chain: it alone, for less than the minute after which its id is asked again.
    const { finalized, agreed } = chain;
    chain.agreed = async () => ({ ...(await agreed.call(chain)), finalized: () => finalized.call(chain) });
    chain.finalized = async () => ({ ...(await finalized.call(chain)), number: 60_000_000 });
    await turn(outside, life, 2);
    expect(states()).toEqual(["confirmed"]);
    chain.finalized = finalized;
    chain.reorganise(4);
    await turn(outside, life, 900);
    const counted = life.store.soldBy("weekly").get(USDC.address) ?? 0n;
    const sold = HELD - (await chain.balance(USDC.address, ACCOUNT));
    expect({ counted, states: states(), errors: life.errors }).toMatchObject({ counted: sold, errors: [] });
    expect([0n, HUNDRED_USDC]).toContain(sold);
    await life.engine.stop();
  },
);

test.each(MODES)(
  "a fill that one node alone has is not final at any number of blocks, and is as soon as the others have it (gasless: %s)",
  async (gasless) => {
    const { outside, chain, life, states, hash } = await beginMined(gasless);
    const { agreed } = chain;
    chain.agreed = async () => {
      const reads = await agreed.call(chain);
      return { ...reads, receipt: async (asked) => (asked === hash ? undefined : await reads.receipt(asked)) };
    };
    await turn(outside, life, 20);
    expect(states()).toEqual(["confirmed"]);
    chain.agreed = agreed;
    await turn(outside, life, 30);
    expect(states()).toEqual(["final"]);
    await life.engine.stop();
  },
);

test.each(MODES)("all endpoints are asked for a fill once, at its end (gasless: %s)", async (gasless) => {
  const { outside, chain, life, states, hash } = await beginMined(gasless);
  const { agreed } = chain;
  let asked = 0;
  chain.agreed = async () => {
    const reads = await agreed.call(chain);
    const receipt: typeof reads.receipt = async (of) => {
      if (of === hash) asked += 1;
      return await reads.receipt(of);
    };
    return { ...reads, receipt };
  };
  await turn(outside, life, 60);
  expect([states(), asked]).toEqual([["final"], 1]);
  await life.engine.stop();
});
