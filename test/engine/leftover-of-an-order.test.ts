import { expect, onTestFinished, test } from "vitest";
import type { StrategySpec } from "../../src/domain/strategy/spec.ts";
import { ETH, HUNDRED_USDC, ROUTER, SLOT_MS, USDC } from "../support/builders.ts";
import { ACCOUNT, createOutside, type Life, type Outside, openLife, turn, turnUntil } from "../support/engine-life.ts";
import { refusal } from "../support/fake-service.ts";
import { leaveNoncesOut } from "../support/leave-nonces-out.ts";

// What the permit of an order without a nonce left, which nobody filled, and whose deadline passed while the daemon was off.

const TEN_ETH = 10n ** 19n;
const grant = { owner: ACCOUNT, token: USDC.address, spender: ROUTER };

async function leftOver(): Promise<Outside> {
  const budget = { total: HUNDRED_USDC };
  const outside = createOutside(SLOT_MS - 1_500, { gasless: "only", budget } as Partial<StrategySpec>);
  const { service, chain, clock } = outside;
  leaveNoncesOut(service);
  service.swapRecord = async () => refusal("QUOTE_UNKNOWN", false);
  chain.holdsRelayed = true;
  const life = openLife(outside, { killAt: (label) => label === "commit.submission-accepted.after" });
  await life.engine.start();
  expect(await turnUntil(outside, life, { maxSeconds: 20, isDone: () => life.isDead() })).toBe(true);
  life.db.close();
  chain.ledger.setAllowance(USDC.address, ACCOUNT, HUNDRED_USDC);
  await clock.advance(100_000);
  for (let block = 0; block < 10; block += 1) chain.mine();
  return outside;
}

async function begin(outside: Outside): Promise<Life> {
  const life = openLife(outside);
  onTestFinished(() => life.engine.stop());
  await life.engine.start();
  return life;
}

const state = ({ db }: Life): unknown => db.prepare("SELECT state FROM swaps").pluck().get();
const intents = ({ db }: Life): unknown[] => db.prepare("SELECT id FROM lane_intents").pluck().all();

/** Each gives what ends it. */
const BARS: Readonly<Record<string, (outside: Outside) => () => void>> = {
  "the wallet has no coin": ({ chain }) => {
    chain.ledger.credit(ETH.address, ACCOUNT, -TEN_ETH);
    return () => chain.ledger.credit(ETH.address, ACCOUNT, TEN_ETH);
  },
  "gas is above the ceiling": ({ chain }) => {
    const { baseFee } = chain;
    chain.baseFee = 10n ** 15n;
    chain.mine();
    return () => {
      chain.baseFee = baseFee;
    };
  },
  "the token refuses it": ({ chain }) => {
    const simulate = chain.simulate.bind(chain);
    chain.simulate = async () => ({ kind: "reverted", way: "simulate", reason: "paused" });
    return () => {
      chain.simulate = simulate;
    };
  },
};

test.each(Object.keys(BARS))("is not taken back where %s, which a person is told", async (why) => {
  const outside = await leftOver();
  const unbar = BARS[why]?.(outside);
  const life = await begin(outside);
  await turn(outside, life, 60);
  expect([state(life), intents(life)]).toEqual(["unknown", []]);
  expect(outside.reported.map(({ code, text }) => [code, text.replace(/^.*but /, "")])).toEqual([
    [
      "SWAP_UNKNOWN",
      expect.stringMatching(/^its allowance is not taken back: (0x\w+ has too little|gas costs|USDC ref)/),
    ],
  ]);
  unbar?.();
  expect(await turnUntil(outside, life, { maxSeconds: 60, isDone: () => state(life) === "expired" })).toBe(true);
  expect([await outside.chain.allowance(grant), life.errors]).toEqual([0n, []]);
});

test("is taken back with the gas that the token needs for it", async () => {
  const outside = await leftOver();
  const { chain } = outside;
  const simulate = chain.simulate.bind(chain);
  chain.simulate = async (...of) => ({ ...(await simulate(...of)), gasUsedByCall: [400_000n] }) as never;
  const life = await begin(outside);
  expect(await turnUntil(outside, life, { maxSeconds: 60, isDone: () => state(life) === "expired" })).toBe(true);
  const [limit] = life.db.prepare("SELECT gas_limit FROM lane_intents").pluck().all();
  expect(Number(limit)).toBeGreaterThan(400_000);
});
