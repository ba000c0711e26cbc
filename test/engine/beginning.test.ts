import { expect, test } from "vitest";
import { ChainReadError } from "../../src/domain/chain-read-error.ts";
import { SLOT_MS, USDC, WETH } from "../support/builders.ts";
import { createOutside, type Life, openLife, turn } from "../support/engine-life.ts";

const SCHEDULE = { schedule: { kind: "every", seconds: 30 } } as const;

/** A life whose node does not answer when it starts. */
async function beginAway(change: Parameters<typeof openLife>[1] = {}) {
  const outside = createOutside(SLOT_MS - 5_000, SCHEDULE);
  outside.chain.isDown = true;
  const life = openLife(outside, change);
  await life.engine.start();
  return { outside, life };
}

const filled = ({ db }: Life): unknown => db.prepare("SELECT count(*) FROM runs WHERE state = 'filled'").pluck().get();
const runs = ({ db }: Life): unknown => db.prepare("SELECT count(*) FROM runs").pluck().get();

test("a node that is away at the start is waited for, and then the daemon trades", async () => {
  const { outside, life } = await beginAway();
  expect(life.engine.waitingFor()).toMatchObject({ reason: "no node answered" });
  await turn(outside, life, 40);
  expect([runs(life), outside.signed, life.errors]).toEqual([0, [], []]);
  outside.chain.isDown = false;
  await turn(outside, life, 60);
  expect(life.engine.waitingFor()).toBeUndefined();
  expect(filled(life)).toBeGreaterThanOrEqual(1);
  expect(life.errors).toEqual([]);
});

test("while it waits a halt is taken, a resume and a run are refused with the reason", async () => {
  const { outside, life } = await beginAway();
  const ask = (command: string, args: Record<string, string>): number =>
    life.store.addRequest({ command, arguments: args, madeBy: "ops", madeAtMs: life.context.deps.clock.nowMs() });
  const [halt, run] = [ask("mode", { mode: "halted", scope: "global" }), ask("run", { strategy: "weekly" })];
  const [one, none] = [ask("mode", { mode: "halted", scope: "weekly" }), ask("mode", { mode: "halted", scope: "w" })];
  await turn(outside, life, 2);
  expect(life.store.answerOf(one), "of a strategy that has no rows yet").toMatch(/^weekly is halted/);
  expect(life.store.answerOf(none)).toBe('refused: no strategy "w"');
  expect(life.store.answerOf(halt)).toBe("global is halted");
  expect(life.store.answerOf(run)).toMatch(/^refused: the daemon waits for its node to begin \(no node answered\)/);
});

test("what only a person can change, found once the node answers, is fatal before anything is signed", async () => {
  const { outside, life } = await beginAway({ settings: { tokens: [{ ...USDC, decimals: 18 }, WETH] } });
  outside.chain.isDown = false;
  await turn(outside, life, 60);
  expect(life.errors).toMatchObject([{ name: "PreflightError", code: "TOKEN_MISMATCH" }]);
  expect(outside.signed).toEqual([]);
});

test.each(["TOKEN_MISMATCH", "SETTLEMENT_MISSING", "CHAIN_ID_MISMATCH"])(
  "a node that falsely says %s for a moment does not end the start",
  async (code) => {
    const outside = createOutside(SLOT_MS - 5_000, SCHEDULE);
    const undo = saysFalsely(outside, code);
    const life = openLife(outside);
    await life.engine.start();
    expect(life.engine.waitingFor()?.reason).toContain("asked again");
    await turn(outside, life, 2);
    undo();
    await turn(outside, life, 60);
    expect([life.errors, life.engine.waitingFor()]).toEqual([[], undefined]);
    expect(filled(life)).toBeGreaterThanOrEqual(1);
  },
);

test("a node that catches up, and knows no contract yet, is waited for however long it takes", async () => {
  const outside = createOutside(SLOT_MS - 5_000, SCHEDULE);
  const undo = saysFalsely(outside, "SETTLEMENT_MISSING");
  const { latest } = outside.chain;
  const old = { ...(await outside.chain.latest()), timestamp: Math.floor(SLOT_MS / 1_000) - 86_400 };
  outside.chain.latest = async () => old;
  const life = openLife(outside);
  await life.engine.start();
  await turn(outside, life, 120);
  expect(life.errors).toEqual([]);
  expect(life.engine.waitingFor()?.reason).toMatch(/no contract at the settlement address .*newest block is \S+ old/);
  outside.chain.latest = latest;
  undo();
  await turn(outside, life, 60);
  expect([life.errors, life.engine.waitingFor()]).toEqual([[], undefined]);
  expect(filled(life)).toBeGreaterThanOrEqual(1);
});

/** @returns what makes the node report the truth again */
function saysFalsely({ chain }: ReturnType<typeof createOutside>, code: string): () => void {
  const { decimals, code: codeOf } = chain;
  const wrong = new ChainReadError("wrong chain", "the node serves chain 0x1");
  if (code === "SETTLEMENT_MISSING") chain.code = async () => "0x";
  if (code === "TOKEN_MISMATCH") chain.decimals = async () => undefined;
  if (code === "CHAIN_ID_MISMATCH") chain.decimals = () => Promise.reject(wrong);
  return () => {
    chain.code = codeOf;
    chain.decimals = decimals;
  };
}

test("a daemon that only waited was not at work: the next start reports the whole downtime", async () => {
  const outside = createOutside(SLOT_MS - 5_000, SCHEDULE);
  const first = openLife(outside);
  await first.engine.start();
  await turn(outside, first, 3);
  await stopped(outside, first);
  outside.chain.isDown = true;
  await outside.clock.advance(3_600_000);
  const waiting = openLife(outside);
  await waiting.engine.start();
  await turn(outside, waiting, 3);
  await stopped(outside, waiting);
  outside.chain.isDown = false;
  await outside.clock.advance(3_600_000);
  outside.chain.mine();
  const next = openLife(outside);
  await next.engine.start();
  await turn(outside, next, 90);
  const text = next.db.prepare("SELECT detail FROM daemon_events WHERE kind = 'downtime'").pluck().all().at(-1);
  expect(text).toMatch(/^down 2h/);
});

async function stopped(outside: ReturnType<typeof createOutside>, { engine }: Life): Promise<void> {
  const over = engine.stop();
  await outside.clock.advance(5_000);
  await over;
}
