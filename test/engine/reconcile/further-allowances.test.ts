import { expect, onTestFinished, test } from "vitest";
import { ChainReadError } from "../../../src/domain/chain-read-error.ts";
import { oneContract } from "../../../src/domain/guard/swap-contracts.ts";
import { toAddress } from "../../../src/domain/money/address.ts";
import type { StrategySpec } from "../../../src/domain/strategy/spec.ts";
import { ROUTER, SLOT_MS, USDC } from "../../support/builders.ts";
import { accept, nameAfterItsFile, open } from "../../support/databases-in-turn.ts";
import {
  ACCOUNT,
  createOutside,
  type Life,
  type Outside,
  openLife,
  turn,
  turnUntil,
} from "../../support/engine-life.ts";

const FURTHER = toAddress(`0x${"f7".repeat(20)}`);

/** A life of a service with two routers, whose next slot is far away. */
async function begun(outside: Outside): Promise<Life> {
  const life = openLife(outside, { settings: { furtherContracts: [oneContract(FURTHER)] } });
  nameAfterItsFile(life, outside);
  await life.engine.start();
  return life;
}

async function live(outside: Outside): Promise<Life> {
  const life = await begun(outside);
  onTestFinished(() => life.engine.stop());
  return life;
}

/** Its wallet has been looked at by an earlier life. */
async function begin(): Promise<Outside> {
  const schedule = { kind: "every", seconds: 86_400 };
  const outside = createOutside(SLOT_MS - 3_000_500, {
    ...{ gasless: "never", schedule },
  } as unknown as Partial<StrategySpec>);
  mine(outside);
  const life = await begun(outside);
  await turn(outside, life, 5);
  expect(open(life)).toEqual([]);
  await life.engine.stop();
  life.db.close();
  return outside;
}

function mine({ chain }: Outside): void {
  for (let block = 0; block < 6; block += 1) chain.mine();
}

function found({ store }: Life) {
  return store.openDifferences().map(({ kind, facts }) => [kind, facts.spender]);
}

test("an allowance that a further router has and no row granted is found, and taken back once it is accepted", async () => {
  const outside = await begin();
  outside.chain.ledger.setAllowance(USDC.address, ACCOUNT, 5n, FURTHER);
  mine(outside);
  const life = await live(outside);
  expect(found(life)).toEqual([["allowance", FURTHER]]);
  expect(await accept(life)).toContain("it is taken back");
  await turn(outside, life, 120);
  expect(await outside.chain.allowance({ token: USDC.address, owner: ACCOUNT, spender: FURTHER })).toBe(0n);
  expect([open(life), life.errors]).toEqual([[], []]);
});

test("what a person accepts of one router, which could not be proved, says nothing of another one", async () => {
  const outside = await begin();
  const { chain } = outside;
  const allowance = chain.allowance.bind(chain);
  const refused = new Set([ROUTER]);
  chain.allowance = async (of, block) => {
    if (of.token !== USDC.address || !refused.has(of.spender)) return await allowance(of, block);
    throw new ChainReadError("disagreement", "a.example says 0, b.example 5");
  };
  const life = await live(outside);
  expect(found(life)).toEqual([["cannot-prove", ROUTER]]);
  await accept(life);
  await turn(outside, life, 70);
  expect(open(life)).toEqual([]);
  refused.add(FURTHER);
  await turnUntil(outside, life, { maxSeconds: 3_700, isDone: () => found(life).length > 0 });
  expect(found(life)).toEqual([["cannot-prove", FURTHER]]);
});
