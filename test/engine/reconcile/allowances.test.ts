import { describe, expect, test } from "vitest";
import { ChainReadError } from "../../../src/domain/chain-read-error.ts";
import type { StrategySpec } from "../../../src/domain/strategy/spec.ts";
import { POOL, ROUTER, runSample, SLOT_MS, USDC } from "../../support/builders.ts";
import { accept, live, nameAfterItsFile, open } from "../../support/databases-in-turn.ts";
import {
  ACCOUNT,
  createOutside,
  type Life,
  type Outside,
  openLife,
  turn,
  turnUntil,
} from "../../support/engine-life.ts";

const grant = { wallet: ACCOUNT, token: USDC.address, spender: ROUTER };

/** A world whose next slot is far away, and whose wallet an earlier life has looked at. */
async function begin(): Promise<Outside> {
  const schedule = { kind: "every", seconds: 86_400 };
  const outside = createOutside(SLOT_MS - 3_000_500, {
    gasless: "never",
    schedule,
  } as unknown as Partial<StrategySpec>);
  mine(outside, 6);
  const life = openLife(outside);
  nameAfterItsFile(life, outside);
  await life.engine.start();
  await turn(outside, life, 5);
  expect(open(life)).toEqual([]);
  await life.engine.stop();
  life.db.close();
  return outside;
}

function mine({ chain }: Outside, blocks: number): void {
  for (let block = 0; block < blocks; block += 1) chain.mine();
}

function allow({ chain }: Outside, amount: bigint): void {
  chain.ledger.setAllowance(USDC.address, ACCOUNT, amount);
}

function reported({ reported }: Outside): number {
  return reported.filter(({ code }) => code === "DATABASE_BEHIND").length;
}

/** A life in which a leftover was taken back for good, and forgotten. @returns the last block before that */
async function takeBack(outside: Outside): Promise<number> {
  allow(outside, 5n);
  mine(outside, 6);
  const life = openLife(outside);
  life.store.writeRecord(runSample(), { kind: "grant", ...grant }, 1);
  const { number } = await outside.chain.latest();
  await life.engine.start();
  const isForgotten = (): boolean => life.store.idleGrants().length === 0 && !isAnyOpen(life);
  expect(await turnUntil(outside, life, { maxSeconds: 60, isDone: isForgotten })).toBe(true);
  await life.engine.stop();
  life.db.close();
  return number;
}

function isAnyOpen({ db }: Life): boolean {
  return db.prepare("SELECT 1 FROM lane_intents WHERE state <> 'final'").get() !== undefined;
}

describe("an allowance that no row granted", () => {
  test("is not found on the word of a node that lags", async () => {
    const outside = await begin();
    const before = await takeBack(outside);
    const { chain } = outside;
    const allowance = chain.allowance.bind(chain);
    chain.allowance = (asked, block) => allowance(asked, block ?? before);
    const life = await live(outside);
    await turn(outside, life, 5);
    expect([open(life), reported(outside), life.errors]).toEqual([[], 0, []]);
  });

  test("is not found by nodes whose final block is older than its revocation, and they are asked again", async () => {
    const outside = await begin();
    const before = await takeBack(outside);
    const { chain } = outside;
    const [allowance, finalized] = [chain.allowance.bind(chain), chain.finalized.bind(chain)];
    const old = (await chain.block(before)) ?? (await finalized());
    chain.finalized = async () => old;
    let asked = 0;
    chain.allowance = async (of, block) => {
      asked += of.token === USDC.address ? 1 : 0;
      return await allowance(of, Math.min(block ?? before, before));
    };
    const life = await live(outside);
    await turn(outside, life, 10);
    const first = asked;
    await turn(outside, life, 10);
    expect(asked).toBeGreaterThan(first);
    Object.assign(chain, { allowance, finalized });
    await turn(outside, life, 10);
    expect([open(life), reported(outside), life.errors]).toEqual([[], 0, []]);
  });

  test("is not found while the endpoints disagree at a final block: that cannot be proved", async () => {
    const outside = await begin();
    allow(outside, 5n);
    mine(outside, 6);
    const { chain } = outside;
    const allowance = chain.allowance.bind(chain);
    chain.allowance = async (of, block) => {
      if (of.token !== USDC.address) return await allowance(of, block);
      throw new ChainReadError("disagreement", "a.example says 0, b.example 5");
    };
    const life = await live(outside);
    expect(life.store.openDifferences()).toMatchObject([{ kind: "cannot-prove", scope: "token", token: USDC.address }]);
    chain.allowance = allowance;
    await turn(outside, life, 70);
    expect(open(life)).toEqual(["allowance"]);
  });

  test("is over once a final block shows none, and was reported once", async () => {
    const outside = await begin();
    allow(outside, 5n);
    mine(outside, 6);
    const life = await live(outside);
    expect(open(life)).toEqual(["allowance"]);
    await turn(outside, life, 130);
    expect(open(life)).toEqual(["allowance"]);
    const [one, two] = [(await outside.chain.latest()).number, outside.chain.finalized.bind(outside.chain)];
    const final = await two();
    outside.chain.finalized = async () => final;
    allow(outside, 0n);
    await turn(outside, life, 70);
    expect((await outside.chain.latest()).number).toBeGreaterThan(one);
    expect(open(life)).toEqual(["allowance"]);
    outside.chain.finalized = two;
    await turn(outside, life, 70);
    expect([open(life), reported(outside), life.errors]).toEqual([[], 1, []]);
    const over = "SELECT over_at_ms IS NOT NULL FROM alerts WHERE code = 'DATABASE_BEHIND'";
    expect(life.db.prepare(over).pluck().all()).toEqual([1]);
  });

  test("is not over by being used up: what left the wallet is found in its place", async () => {
    const outside = await begin();
    allow(outside, 5n);
    mine(outside, 6);
    const life = await live(outside);
    outside.chain.takeAway({ token: USDC.address, from: ACCOUNT, to: POOL, amount: 5n });
    allow(outside, 0n);
    await turn(outside, life, 130);
    expect([open(life), life.errors]).toEqual([["outflow"], []]);
  });

  test("is not accepted before it is final: a fork may hold it back and bring it again", async () => {
    const outside = await begin();
    const { chain } = outside;
    chain.mine();
    allow(outside, 5n);
    const life = await live(outside);
    expect(life.store.openDifferences()).toMatchObject([{ kind: "cannot-prove", scope: "token", token: USDC.address }]);
    chain.reorganise(1);
    expect(await accept(life)).toContain("accepted 1");
    await turn(outside, life, 10);
    chain.mine();
    allow(outside, 5n);
    await turnUntil(outside, life, { maxSeconds: 3_700, isDone: () => open(life).length > 0 });
    expect([open(life), life.store.hasGrant(grant)]).toEqual([["allowance"], false]);
    expect(await accept(life)).toContain("it is taken back");
    await turn(outside, life, 60);
    expect([open(life), life.store.hasGrant(grant), life.errors]).toEqual([[], false, []]);
    expect(await chain.allowance({ token: USDC.address, owner: ACCOUNT, spender: ROUTER })).toBe(0n);
  });

  test("is not forgotten, once accepted, by nodes whose final block is older than the one that showed it", async () => {
    const outside = await begin();
    const { chain } = outside;
    const before = await chain.latest();
    allow(outside, 0n);
    chain.mine();
    allow(outside, 5n);
    mine(outside, 6);
    const life = await live(outside);
    expect(open(life)).toEqual(["allowance"]);
    const [allowance, finalized] = [chain.allowance.bind(chain), chain.finalized.bind(chain)];
    chain.finalized = async () => before;
    chain.allowance = (asked, block) => allowance(asked, Math.min(block ?? before.number, before.number));
    expect(await accept(life)).toContain("it is taken back");
    await turn(outside, life, 20);
    expect(life.store.hasGrant(grant)).toBe(true);
    Object.assign(chain, { allowance, finalized });
    await turn(outside, life, 60);
    expect([open(life), life.store.hasGrant(grant), life.errors]).toEqual([[], false, []]);
  });
});
