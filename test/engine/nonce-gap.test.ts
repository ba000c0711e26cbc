import { expect, test } from "vitest";
import type { StrategySpec } from "../../src/domain/strategy/spec.ts";
import { SLOT_MS } from "../support/builders.ts";
import { acceptAlone } from "../support/databases-in-turn.ts";
import { ACCOUNT, createOutside, type Life, type Outside, openLife, turn, turnUntil } from "../support/engine-life.ts";

interface Intent {
  readonly id: string;
  readonly purpose: string;
  readonly state: string;
  readonly outcome: string | null;
  readonly nonce: number | null;
}

function intentsOf({ db }: Life): Intent[] {
  return db
    .prepare<[], Intent>("SELECT id, purpose, state, outcome, nonce FROM lane_intents ORDER BY nonce, seq")
    .all();
}

function begin(): Outside {
  const outside = createOutside(SLOT_MS - 1_500, { gasless: "never" } as Partial<StrategySpec>);
  for (let blocks = 0; blocks < 4; blocks += 1) outside.chain.mine();
  return outside;
}

async function takeBackFrom({ chain }: Outside, block: number): Promise<void> {
  chain.reorganise((await chain.latest()).number - block + 1);
}

test.each(["the first nonce of all", "an accepted count"])(
  "%s lies above a transaction that a reorganisation takes back for good: its nonce is filled, and trading goes on",
  async (what) => {
    const outside = begin();
    const { chain } = outside;
    const life = openLife(outside);
    const isAccepted = what === "an accepted count";
    const baseline = { block: 100, transactionCount: 0 };
    if (isAccepted) life.store.saveKnownChain({ wallet: ACCOUNT, balances: new Map(), ...baseline, baseline }, 1);
    chain.mine();
    chain.ledger.countUp(ACCOUNT);
    const { number } = await chain.latest();
    await life.engine.start();
    if (isAccepted) {
      const isFound = () => life.store.openDifferences().some(({ kind }) => kind === "nonce");
      expect(await turnUntil(outside, life, { maxSeconds: 5, isDone: isFound })).toBe(true);
      await acceptAlone(life, "anna");
    }
    const isOut = () => intentsOf(life).some(({ nonce, state }) => nonce === 1 && state === "broadcast");
    expect(await turnUntil(outside, life, { maxSeconds: 90, isDone: isOut })).toBe(true);
    await takeBackFrom(outside, number);
    expect(await chain.transactionCount(ACCOUNT, "latest")).toBe(0);
    await turn(outside, life, 3);
    expect(
      intentsOf(life).some(({ id }) => id.startsWith("gap.")),
      "it may come back for as long as nothing is final",
    ).toBe(false);
    await turn(outside, life, 60);
    const intents = intentsOf(life);
    expect(intents[0]).toMatchObject({ purpose: "revoke", nonce: 0, state: "final", outcome: "succeeded" });
    expect(intents[1]).toMatchObject({ purpose: "approve", nonce: 1, state: "final", outcome: "succeeded" });
    expect(life.db.prepare("SELECT count(*) FROM swaps WHERE state = 'final'").pluck().get()).toBe(1);
    expect([life.lanes.halt(ACCOUNT, 31_337), life.errors]).toEqual([undefined, []]);
    await life.engine.stop();
  },
);
