import { expect, onTestFinished, test } from "vitest";
import type { StrategySpec } from "../../src/domain/strategy/spec.ts";
import { HUNDRED_USDC, RELAYER, SLOT_MS, USDC } from "../support/builders.ts";
import { ACCOUNT, createOutside, type Life, openLife, turn, turnUntil } from "../support/engine-life.ts";
import { leaveNoncesOut } from "../support/leave-nonces-out.ts";

const swaps = ({ db }: Life): unknown[] => db.prepare("SELECT state, sold, hash FROM swaps").all();

test("an outflow that an order took for its fill for a while is found once the order's own fill takes its place", async () => {
  const change = { id: "order", gasless: "only", budget: { total: HUNDRED_USDC } };
  const outside = createOutside(SLOT_MS - 1_500, change as Partial<StrategySpec>);
  leaveNoncesOut(outside.service);
  const { chain, clock, service } = outside;
  for (let block = 0; block < 6; block += 1) chain.mine();
  chain.holdsRelayed = true;
  const first = openLife(outside);
  await first.engine.start();
  expect(await turnUntil(outside, first, { maxSeconds: 30, isDone: () => service.submissions.length > 0 })).toBe(true);
  chain.mine();
  // Somebody who may take USDC of the wallet takes as much as the order sells, and nothing comes for it.
  chain.takeAway({ token: USDC.address, from: ACCOUNT, to: RELAYER, amount: HUNDRED_USDC });
  const { hash } = chain.receipts().at(-1) ?? {};
  await turn(outside, first, 8);
  expect(swaps(first)).toEqual([expect.objectContaining({ hash })]);
  // A start checks the chain, as the hourly check does.
  await first.engine.stop();
  first.db.close();
  const life = openLife(outside);
  await life.engine.start();
  await turn(outside, life, 6);
  expect(life.store.openDifferences()).toEqual([]);
  chain.holdsRelayed = false;
  await turn(outside, life, 10);
  expect(swaps(life)).toEqual([
    { state: "final", sold: HUNDRED_USDC.toString(), hash: expect.not.stringContaining(hash ?? "") },
  ]);
  await life.engine.stop();
  life.db.close();
  clock.jumpTo(clock.nowMs() + 4_000_000);
  chain.mine();
  const again = openLife(outside);
  onTestFinished(() => again.engine.stop());
  await again.engine.start();
  await turn(outside, again, 30);
  expect(again.store.openDifferences()).toMatchObject([{ kind: "outflow", facts: { hash } }]);
  expect([first.errors, life.errors, again.errors]).toEqual([[], [], []]);
});
