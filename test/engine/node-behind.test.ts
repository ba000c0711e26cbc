import { expect, test } from "vitest";
import { toPpm } from "../../src/domain/money/fraction.ts";
import type { Token } from "../../src/domain/money/token.ts";
import type { StrategySpec } from "../../src/domain/strategy/spec.ts";
import type { BlockHead } from "../../src/ports/chain.ts";
import { rebalanceSpec, SLOT_MS, USDC, WETH } from "../support/builders.ts";
import { ACCOUNT, createOutside, type Outside, openLife, turn, turnUntil } from "../support/engine-life.ts";

const EVERY_SECONDS = 15;

/** Half ether, half dollars: looked at more often than a swap takes until it is final. */
function evenMix(): Partial<StrategySpec> {
  const soft = { relative: undefined, absolute: toPpm(50_000) };
  const target = (token: Token) => ({ ...{ token, weight: toPpm(500_000), exit: false }, soft, hard: undefined });
  return {
    ...{ ...rebalanceSpec(), targets: [target(WETH), target(USDC)], gasless: "never" },
    ...{ wallet: { name: "main", address: ACCOUNT }, recipient: ACCOUNT },
    schedule: { kind: "every", seconds: EVERY_SECONDS },
  } as Partial<StrategySpec>;
}

/** A node that has come no further than this block answers all that is read at its newest one. */
function stopAt({ chain }: Outside, head: BlockHead): () => void {
  const { latest, balance } = chain;
  chain.latest = async () => head;
  chain.balance = (token, owner, block) => balance.call(chain, token, owner, block ?? head.number);
  return () => Object.assign(chain, { latest, balance });
}

test("a node that does not know the last fill yet gets nothing traded a second time", async () => {
  const outside = createOutside(SLOT_MS - 1_500, evenMix());
  const life = openLife(outside);
  await life.engine.start();
  const before = await outside.chain.latest();
  const sold = (): number => outside.chain.receipts().filter(({ logs }) => logs.length > 2).length;
  const isConfirmed = () => life.db.prepare("SELECT 1 FROM swaps WHERE state = 'confirmed'").get() !== undefined;
  expect(await turnUntil(outside, life, { maxSeconds: 60, isDone: isConfirmed })).toBe(true);
  const swaps = sold();
  const catchUp = stopAt(outside, before);
  await turn(outside, life, EVERY_SECONDS);
  catchUp();
  await turn(outside, life, 3 * EVERY_SECONDS);
  expect(sold()).toBe(swaps);
  expect(life.db.prepare("SELECT count(*) FROM swaps").pluck().get()).toBe(1);
  expect(life.errors).toEqual([]);
  await life.engine.stop();
});
