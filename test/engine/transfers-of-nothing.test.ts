import { expect, onTestFinished, test } from "vitest";
import type { StrategySpec } from "../../src/domain/strategy/spec.ts";
import { HUNDRED_USDC, RELAYER, ROUTER, SLOT_MS, USDC } from "../support/builders.ts";
import { accept } from "../support/databases-in-turn.ts";
import { ACCOUNT, createOutside, openLife, turn, turnUntil } from "../support/engine-life.ts";
import { leaveNoncesOut } from "../support/leave-nonces-out.ts";

test("a transfer of nothing that a stranger writes is no fill of an order without a nonce: the order's own is", async () => {
  const change = { id: "order", gasless: "only", budget: { total: HUNDRED_USDC } };
  const outside = createOutside(SLOT_MS - 1_500, change as Partial<StrategySpec>);
  leaveNoncesOut(outside.service);
  const { chain, service } = outside;
  for (let block = 0; block < 6; block += 1) chain.mine();
  const life = openLife(outside);
  chain.holdsRelayed = true;
  await life.engine.start();
  const isOut = () => service.submissions.length > 0;
  expect(await turnUntil(outside, life, { maxSeconds: 30, isDone: isOut })).toBe(true);
  chain.mine();
  chain.takeAway({ token: USDC.address, from: ACCOUNT, to: ROUTER, amount: 0n });
  const swaps = () => life.db.prepare("SELECT state, sold FROM swaps").all();
  await turn(outside, life, 4);
  expect(swaps()).toEqual([{ state: "submitted", sold: null }]);
  chain.holdsRelayed = false;
  await turn(outside, life, 20);
  expect(swaps()).toEqual([{ state: "final", sold: HUNDRED_USDC.toString() }]);
  const spent = life.db.prepare("SELECT state, amount FROM ledger").all();
  expect(spent).toEqual([{ state: "spent", amount: HUNDRED_USDC.toString() }]);
  expect(life.errors).toEqual([]);
  await life.engine.stop();
});

test("an outflow that is no fill holds the order's end back until a person accepts it, and no longer", async () => {
  const outside = createOutside(SLOT_MS - 1_500, { id: "order", gasless: "only" } as Partial<StrategySpec>);
  leaveNoncesOut(outside.service);
  const { chain, service } = outside;
  for (let block = 0; block < 6; block += 1) chain.mine();
  const life = openLife(outside);
  chain.holdsRelayed = true;
  await life.engine.start();
  expect(await turnUntil(outside, life, { maxSeconds: 30, isDone: () => service.submissions.length > 0 })).toBe(true);
  chain.mine();
  chain.takeAway({ token: USDC.address, from: ACCOUNT, to: RELAYER, amount: 5n });
  await life.engine.stop();
  life.db.close();
  // What a service says while it is at work holds the end back by itself.
  service.swapRecord = async () => ({ status: "expired", hash: undefined, raw: {} });
  const again = openLife(outside);
  onTestFinished(() => again.engine.stop());
  const first = () => again.db.prepare("SELECT state FROM swaps ORDER BY id").pluck().get();
  await again.engine.start();
  await turn(outside, again, 620);
  expect([first(), again.store.openDifferences().map(({ kind }) => kind)]).toEqual(["unknown", ["outflow"]]);
  expect(await accept(again)).toContain("accepted 1");
  await turn(outside, again, 120);
  expect([first(), again.errors]).toEqual(["expired", []]);
});

test("an order is not signed while a fork may put what left the wallet before beside its fill, and is once that is final", async () => {
  const change = { id: "order", gasless: "only", budget: { total: HUNDRED_USDC } };
  const outside = createOutside(SLOT_MS - 1_500, change as Partial<StrategySpec>);
  leaveNoncesOut(outside.service);
  const { chain, service } = outside;
  for (let block = 0; block < 6; block += 1) chain.mine();
  const life = openLife(outside);
  onTestFinished(() => life.engine.stop());
  await life.engine.start();
  chain.takeAway({ token: USDC.address, from: ACCOUNT, to: RELAYER, amount: 5n });
  const { number } = await chain.latest();
  const isFinal = async (): Promise<boolean> => (await chain.finalized()).number >= number;
  while (!(await isFinal())) {
    expect(service.submissions).toEqual([]);
    await turn(outside, life, 1);
  }
  const why = life.db.prepare("SELECT DISTINCT detail FROM retries WHERE reason = 'wallet_busy'").pluck().all();
  expect(why.join()).toContain(`USDC left the wallet in block ${number}`);
  expect(await turnUntil(outside, life, { maxSeconds: 30, isDone: () => service.submissions.length > 0 })).toBe(true);
  expect(life.errors).toEqual([]);
});
