import { expect, test } from "vitest";
import { ChainReadError } from "../../src/domain/chain-read-error.ts";
import { toPpm } from "../../src/domain/money/fraction.ts";
import { createClockWatch } from "../../src/engine/clock-watch.ts";
import { keepWatchingDrawdown } from "../../src/engine/drawdown.ts";
import { revokeLeftovers } from "../../src/engine/janitor.ts";
import { performEffect } from "../../src/engine/perform/perform-effect.ts";
import { registerStrategies } from "../../src/engine/register-strategies.ts";
import { policySample, ROUTER, runSample, SLOT_MS, USDC } from "../support/builders.ts";
import { ACCOUNT, createOutside, type Life, openLife, turn, turnUntil } from "../support/engine-life.ts";
import { historyOf } from "../support/history-of.ts";

/** An hour's schedule: its window is as long as the outages below. */
const HOURLY = { schedule: { kind: "every", seconds: 3_600 }, retryForSeconds: 700 } as const;
const CRASH = "no RPC endpoint answered eth_simulateV1: node: -32603 method handler crashed";

function begin() {
  const outside = createOutside(SLOT_MS - (SLOT_MS % 3_600_000) + 3_599_000, HOURLY);
  return { outside, life: openLife(outside) };
}

const crashes = async (): Promise<never> => {
  throw new ChainReadError("unreachable", CRASH);
};

test("a node that fails for ten minutes costs a few questions, each with its reason on a row, and its end the true one", async () => {
  const { outside, life } = begin();
  outside.chain.simulate = crashes;
  await life.engine.start();
  await turn(outside, life, 600);
  expect(outside.service.requests.length).toBeGreaterThan(8);
  expect(outside.service.requests.length).toBeLessThan(25);
  const [run] = historyOf(life).runs({ limit: 1 });
  const [retries, ...others] = historyOf(life).retries(run?.id ?? "");
  expect(others).toEqual([]);
  expect(retries).toMatchObject({ reason: "node_unavailable", detail: CRASH });
  expect(retries?.count).toBe(outside.service.requests.length);
  await turn(outside, life, 120);
  expect(historyOf(life).runs({ limit: 1 })).toMatchObject([
    { state: "skipped", reason: "node_unavailable", swaps: [{ reason: "node_unavailable" }] },
  ]);
  await life.engine.stop();
});

test("a swap goes on within a minute after the fault is over, however long it lasted", async () => {
  const { outside, life } = begin();
  const { simulate } = outside.chain;
  outside.chain.simulate = crashes;
  await life.engine.start();
  await turn(outside, life, 400);
  outside.chain.simulate = simulate;
  const asked = outside.service.requests.length;
  const isAsked = () => outside.service.requests.length > asked;
  expect(await turnUntil(outside, life, { maxSeconds: 61, isDone: isAsked })).toBe(true);
  const isFilled = () => historyOf(life).runs({ limit: 1 })[0]?.state === "filled";
  expect(await turnUntil(outside, life, { maxSeconds: 20, isDone: isFilled })).toBe(true);
  await life.engine.stop();
});

test("a swap that is signed is looked up again within 15 s after its node is back, however long it was away", async () => {
  const outside = createOutside(SLOT_MS - (SLOT_MS % 3_600_000) + 3_599_000, { ...HOURLY, gasless: "only" });
  const life = openLife(outside);
  await life.engine.start();
  const isOut = () => outside.service.submissions.length > 0;
  expect(await turnUntil(outside, life, { maxSeconds: 10, isDone: isOut })).toBe(true);
  outside.chain.isDown = true;
  await turn(outside, life, 300);
  const [run] = historyOf(life).runs({ limit: 1 });
  expect(historyOf(life).retries(run?.id ?? "")).toMatchObject([{ reason: "node_unavailable" }]);
  outside.chain.isDown = false;
  const isSeen = () => historyOf(life).runs({ limit: 1 })[0]?.state === "filled";
  expect(await turnUntil(outside, life, { maxSeconds: 16, isDone: isSeen })).toBe(true);
  await life.engine.stop();
});

/** Everything that reads the outside, made to fail of a mistake in our own code. */
const MISTAKES: Readonly<Record<string, (life: Life, outside: ReturnType<typeof createOutside>) => void>> = {
  "the pinned decoder": (_life, { service }) => {
    service.profile = { ...service.profile, decodeTransaction: mistaken };
  },
  "reading a view": (_life, { chain }) => {
    chain.balance = mistaken;
  },
  "reading facts": (_life, { chain }) => {
    chain.priorityFee = mistaken;
  },
};

function mistaken(): never {
  throw new TypeError("undefined is not a function");
}

test.each(Object.entries(MISTAKES))("a mistake of our own in %s stops the process at once", async (_where, make) => {
  const { outside, life } = begin();
  await life.engine.start();
  make(life, outside);
  await turn(outside, life, 3);
  expect(life.isDead()).toBe(true);
  expect(life.errors).toMatchObject([{ name: "TypeError" }]);
});

/** What looks at the chain alongside the work itself: a mistake in it must not be one more look that came to nothing. */
const WATCHES: Readonly<Record<string, (life: Life, signal: AbortSignal) => Promise<void>>> = {
  "the wallets' value": ({ context }, signal) => keepWatchingDrawdown(context, signal, AGREEING),
  "leftover allowances": ({ context }) => revokeLeftovers(context),
  "the newest block": ({ context }, signal) => createClockWatch(context).keepChecking(signal),
};
const AGREEING = { problem: () => undefined };

test.each(Object.entries(WATCHES))("a mistake of our own in the check of %s is thrown", async (_what, watch) => {
  const outside = createOutside(SLOT_MS, HOURLY);
  const drawdown = { stop: toPpm(200_000), overSeconds: 604_800 };
  const life = openLife(outside, { settings: { policy: policySample({ recipients: [ACCOUNT], drawdown }) } });
  life.store.writeRecord(runSample(), { kind: "grant", wallet: ACCOUNT, token: USDC.address, spender: ROUTER }, 1);
  await registerStrategies(life.context);
  for (const read of ["latest", "balance", "allowance"] as const) outside.chain[read] = async () => mistaken();
  life.context.deps.prices.price = async () => mistaken();
  const giveUp = new AbortController();
  const watched = watch(life, giveUp.signal).then(
    () => "it went on",
    (error: unknown) => error,
  );
  await outside.clock.advance(120_000);
  giveUp.abort();
  await outside.clock.advance(120_000);
  expect(await watched).toBeInstanceOf(TypeError);
});

test("a mistake of our own while a signed swap is submitted or looked up stops the process, a silent node does not", async () => {
  const outside = createOutside(SLOT_MS - (SLOT_MS % 3_600_000) + 3_599_000, { ...HOURLY, gasless: "only" });
  const life = openLife(outside, { killAt: (label) => label === "effect.SubmitGasless.before" });
  await life.engine.start();
  await turn(outside, life, 5);
  const next = openLife(outside);
  const [pending] = next.store.dueEffects(outside.clock.nowMs(), 1, "others");
  const run = next.store.run(pending?.runId ?? "");
  if (pending === undefined || run === undefined) throw new Error("nothing is to be submitted");
  const perform = () => performEffect(next.context, run, { effect: pending.effect, before: 0 });
  const latest = outside.chain.latest.bind(outside.chain);
  outside.chain.isDown = true;
  await expect(perform()).resolves.toMatchObject({ kind: "unsent" });
  const check = { effect: { kind: "ReadChain", swapId: run.swaps[0]?.id ?? "" }, before: 0 } as const;
  await expect(performEffect(next.context, run, check)).resolves.toMatchObject({ kind: "observation-unavailable" });
  outside.chain.latest = mistaken;
  await expect(perform()).rejects.toThrow(TypeError);
  await expect(performEffect(next.context, run, check)).rejects.toThrow(TypeError);
  outside.chain.latest = latest;
});
