import { expect, onTestFinished, test } from "vitest";
import { ChainReadError } from "../../src/domain/chain-read-error.ts";
import type { StrategySpec } from "../../src/domain/strategy/spec.ts";
import { HUNDRED_USDC, SLOT_MS } from "../support/builders.ts";
import { createOutside, type Life, type Outside, openLife, turn, turnUntil } from "../support/engine-life.ts";
import { refusal } from "../support/fake-service.ts";
import { leaveNoncesOut } from "../support/leave-nonces-out.ts";

// Nodes that keep the logs of their newest days alone, and a daemon that was off for longer.

function begin(): Outside {
  const budget = { total: HUNDRED_USDC };
  const outside = createOutside(SLOT_MS - 1_500, { gasless: "only", budget } as Partial<StrategySpec>);
  outside.service.swapRecord = async () => refusal("QUOTE_UNKNOWN", false);
  return outside;
}

/** All logs of before now are refused from now on. */
async function forgetLogs({ chain }: Outside): Promise<void> {
  const { number: newest } = await chain.latest();
  const [logs, agreed] = [chain.logs.bind(chain), chain.agreed.bind(chain)];
  chain.logs = async (filter) => {
    if (filter.fromBlock <= newest) throw new ChainReadError("refused", "eth_getLogs was refused: pruned history");
    return await logs(filter);
  };
  chain.agreed = async () => ({ ...(await agreed()), logs: chain.logs });
}

const state = ({ db }: Life): unknown => db.prepare("SELECT state FROM swaps").pluck().get();
const isTokenHeld = ({ db }: Life): boolean =>
  db.prepare("SELECT 1 FROM capabilities WHERE live = 1").get() !== undefined;

test("an order without a nonce that has ended gives its token free at its deadline, whatever is kept of its fill", async () => {
  const outside = begin();
  leaveNoncesOut(outside.service);
  const life = openLife(outside);
  onTestFinished(() => life.engine.stop());
  await life.engine.start();
  expect(await turnUntil(outside, life, { maxSeconds: 20, isDone: () => state(life) === "final" })).toBe(true);
  expect(isTokenHeld(life)).toBe(true);
  await forgetLogs(outside);
  outside.chain.hidesReceipts = true;
  const asked = outside.service.asked.length;
  expect(await turnUntil(outside, life, { maxSeconds: 60, isDone: () => !isTokenHeld(life) })).toBe(true);
  const { terms } = life.store.run("run_2")?.swaps[0] ?? {};
  expect((await outside.chain.finalized()).timestamp).toBeGreaterThan(
    terms?.deadlineSeconds ?? Number.POSITIVE_INFINITY,
  );
  expect([state(life), outside.service.asked.length - asked, life.errors]).toEqual(["final", 0, []]);
});

test("an order with a nonce that nobody used ends, whatever is kept of the logs of its time", async () => {
  const outside = begin();
  outside.service.delivery = "lost";
  const first = openLife(outside, { killAt: (label) => label === "gasless.submit.after" });
  await first.engine.start();
  await turnUntil(outside, first, { maxSeconds: 20, isDone: () => first.isDead() });
  expect(outside.service.submissions).toHaveLength(1);
  first.db.close();
  await outside.clock.advance(100_000);
  for (let block = 0; block < 50; block += 1) outside.chain.mine();
  await forgetLogs(outside);
  const life = openLife(outside);
  onTestFinished(() => life.engine.stop());
  await life.engine.start();
  await turn(outside, life, 60);
  expect([state(life), isTokenHeld(life), life.errors]).toEqual(["expired", false, []]);
});

test("an order that was filled, and of whose time no logs are kept, is told to a person", async () => {
  const outside = begin();
  const first = openLife(outside, { killAt: (label) => label === "commit.submission-accepted.after" });
  await first.engine.start();
  await turnUntil(outside, first, { maxSeconds: 20, isDone: () => first.isDead() });
  first.db.close();
  outside.chain.mine();
  await outside.clock.advance(172_800_000);
  for (let block = 0; block < 50; block += 1) outside.chain.mine();
  await forgetLogs(outside);
  const life = openLife(outside);
  onTestFinished(() => life.engine.stop());
  await life.engine.start();
  await turn(outside, life, 30);
  expect([state(life), isTokenHeld(life), life.errors]).toEqual(["unknown", true, []]);
  expect(outside.reported.filter(({ code }) => code === "SWAP_UNKNOWN").map(({ text }) => text)).toEqual([
    expect.stringMatching(/its deadline is past, but no node shows what became of it \(eth_getLogs was refused/),
  ]);
});

test.each([true, false])(
  "a fill that was confirmed is final by its receipt where no logs are kept (with a nonce: %s)",
  async (hasNonce) => {
    const outside = begin();
    if (!hasNonce) leaveNoncesOut(outside.service);
    const first = openLife(outside);
    await first.engine.start();
    expect(await turnUntil(outside, first, { maxSeconds: 20, isDone: () => state(first) === "confirmed" })).toBe(true);
    first.kill();
    await turn(outside, first, 1);
    first.db.close();
    await outside.clock.advance(172_800_000);
    for (let block = 0; block < 50; block += 1) outside.chain.mine();
    await forgetLogs(outside);
    const life = openLife(outside);
    onTestFinished(() => life.engine.stop());
    await life.engine.start();
    await turn(outside, life, 300);
    expect(outside.reported.map(({ code }) => code)).toContain("DATABASE_BEHIND");
    expect([state(life), isTokenHeld(life), life.errors]).toEqual(["final", false, []]);
  },
);
