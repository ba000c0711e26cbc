import { expect, test } from "vitest";
import type { StrategySpec } from "../../src/domain/strategy/spec.ts";
import { SLOT_MS } from "../support/builders.ts";
import { createOutside, openLife, turn, turnUntil } from "../support/engine-life.ts";
import { keptTotals, recount } from "../support/recount.ts";
import { replayAll } from "../support/replays.ts";

test("a revert that one node called a success until it was confirmed frees its money at the final block, and is reported", async () => {
  const change = { gasless: "never", schedule: { kind: "every", seconds: 86_400 } } as Partial<StrategySpec>;
  const outside = createOutside(Math.ceil(SLOT_MS / 86_400_000) * 86_400_000 - 1_500, change);
  const { chain } = outside;
  for (let block = 0; block < 6; block += 1) chain.mine();
  const life = openLife(outside);
  await life.engine.start();
  const states = (): unknown[] => life.db.prepare("SELECT state FROM swaps").pluck().all();
  const isCounted = () => states().includes("confirmed");
  expect(await turnUntil(outside, life, { maxSeconds: 60, isDone: isCounted })).toBe(true);
  const { hash } = chain.receipts().find(({ logs }) => logs.length > 2) ?? {};
  const { receipt } = chain;
  chain.receipt = async (asked) => {
    const found = await receipt.call(chain, asked);
    return found?.hash === hash && found !== undefined ? { ...found, succeeded: false, logs: [] } : found;
  };
  await turn(outside, life, 20);
  expect([states(), life.errors, life.isDead()]).toEqual([["reverted"], [], false]);
  expect(life.db.prepare("SELECT state FROM runs").pluck().all()).toEqual(["failed"]);
  expect(life.db.prepare("SELECT state FROM ledger").pluck().all()).toEqual(["released"]);
  expect(outside.reported.map(({ code }) => code)).toContain("FILL_TAKEN_BACK");
  await life.engine.stop();
  expect(keptTotals(life.db)).toEqual(recount(life.db));
  expect(replayAll(outside.file).problems).toEqual([]);
});
