import { describe, expect, test } from "vitest";
import { swapdProfile } from "../../src/adapters/swap-service/swapd/service.ts";
import { toPpm } from "../../src/domain/money/fraction.ts";
import type { Run } from "../../src/domain/run/run.ts";
import { isSwapEnd } from "../../src/domain/run/states.ts";
import type { StrategySpec } from "../../src/domain/strategy/spec.ts";
import { HUNDRED_USDC, policySample, ROUTER, rebalanceSpec, SLOT_MS, USDC, WETH } from "../support/builders.ts";
import { ACCOUNT, createOutside, type Life, type Outside, openLife, turn, turnUntil } from "../support/engine-life.ts";
import { quiet } from "../support/fake-clock.ts";
import { refusal } from "../support/fake-service.ts";

const START_MS = SLOT_MS - 1_500;

async function begin(change: Partial<StrategySpec> = {}, options: Parameters<typeof openLife>[1] = {}) {
  const outside = createOutside(START_MS, change);
  const life = openLife(outside, options);
  await life.engine.start();
  return { outside, life };
}

function runOf(life: Life): Run {
  const id = life.db.prepare<[], string>("SELECT id FROM runs ORDER BY slot_ms").pluck().get() ?? "none";
  const run = life.store.run(id);
  if (run === undefined) throw new Error("no run yet");
  return run;
}

function isFilled(life: Life): boolean {
  return life.db.prepare("SELECT state FROM runs").pluck().get() === "filled";
}

/** Turns until every swap of the run has its end. */
async function finish(outside: Outside, life: Life): Promise<Run> {
  const isDone = (): boolean => {
    const { swaps, state } = runOf(life);
    return state !== "executing" && swaps.every((swap) => isSwapEnd(swap.state));
  };
  await turn(outside, life, 2);
  await turnUntil(outside, life, { maxSeconds: 50, isDone });
  expect(life.errors).toEqual([]);
  return runOf(life);
}

describe("a slot that comes due", () => {
  test("becomes one self-executed fill: approved exactly, measured by its receipt, nothing left allowed", async () => {
    const { outside, life } = await begin();
    const run = await finish(outside, life);
    expect(run).toMatchObject({ state: "filled", slotMs: SLOT_MS });
    const [swap] = run.swaps;
    expect(swap).toMatchObject({ state: "final", mode: "self-executed", approvals: 1, fill: { sold: HUNDRED_USDC } });
    expect(await outside.chain.balance(USDC.address, ACCOUNT)).toBe(900_000_000n);
    expect(await outside.chain.balance(WETH.address, ACCOUNT)).toBe(3n * 10n ** 18n + (swap?.fill?.bought ?? 0n));
    const grant = { token: USDC.address, owner: ACCOUNT, spender: ROUTER };
    expect(await outside.chain.allowance(grant)).toBe(0n);
  });

  test("becomes one gasless fill: both signatures journaled, the relayer pays, the chain confirms", async () => {
    const { outside, life } = await begin({ gasless: "prefer" });
    const run = await finish(outside, life);
    expect(run.swaps).toMatchObject([{ state: "final", mode: "gasless", fill: { sold: HUNDRED_USDC, gasCost: 0n } }]);
    expect(outside.service.submissions).toHaveLength(1);
    const rows = life.db.prepare("SELECT kind, signature IS NOT NULL AS isSigned FROM signatures ORDER BY kind").all();
    expect(rows).toEqual([
      { kind: "permit", isSigned: 1 },
      { kind: "swap", isSigned: 1 },
    ]);
    expect(outside.chain.sent).toEqual([]);
  });

  test("of a mix sells first, and buys with what that brought", async () => {
    const spec = { ...rebalanceSpec(), recipient: ACCOUNT, wallet: { name: "main", address: ACCOUNT } };
    const { outside, life } = await begin(spec);
    const run = await finish(outside, life);
    expect(run.state).toBe("filled");
    const [sell, buy] = run.swaps;
    expect([sell?.sell.symbol, sell?.buy.symbol, buy?.sell.symbol, buy?.buy.symbol]).toEqual([
      ...["WETH", "USDC", "USDC", "WBTC"],
    ]);
    expect(buy?.gross).toBeGreaterThan(1_000_000_000n);
    expect(buy?.fill?.sold).toBe(buy?.gross);
  });

  test("asks for gasless first and swaps by itself where the relayer will not", async () => {
    const { outside, life } = await begin({ gasless: "prefer" });
    outside.service.refusesGasless = true;
    const run = await finish(outside, life);
    expect(run.swaps).toMatchObject([{ state: "final", mode: "self-executed" }]);
    expect(outside.service.requests.map(({ gasless }) => gasless)).toEqual([true, false, false]);
  });

  test("in a dry run ends before anything is signed", async () => {
    const { outside, life } = await begin({}, { settings: { live: false } });
    expect(await finish(outside, life)).toMatchObject({ state: "skipped", reason: "dry_run" });
    expect(outside.signed).toEqual([]);
  });

  test("is asked again while the service is in trouble, and ends with the reason when its window is over", async () => {
    const { outside, life } = await begin({ retryForSeconds: 5 });
    outside.service.refuses = refusal("OVERLOADED", true);
    const run = await finish(outside, life);
    expect(run).toMatchObject({ state: "skipped", reason: "quote_unavailable" });
    expect(outside.service.requests.length).toBeGreaterThan(1);
    expect(outside.service.requests.length).toBeLessThan(5);
    expect(life.store.reserved(ACCOUNT, USDC.address)).toBe(0n);
  });
});

describe("a slot that comes due while the database is asked what else is due", () => {
  test("is begun after that answer, and not at the next poll", async () => {
    const outside = createOutside(START_MS);
    const life = openLife(outside);
    const { store } = life.context.deps;
    let answered: Promise<void> | undefined;
    const read: typeof store.read = async (question) => {
      const rows = await store.read(question);
      if (question.kind === "next-effect") await answered;
      return rows;
    };
    Object.assign(life.context.deps, { store: { ...store, read } });
    await life.engine.start();
    const answer = Promise.withResolvers<void>();
    answered = answer.promise;
    await outside.clock.advance(1_500);
    await life.engine.tick();
    const before = runOf(life).state;
    answered = undefined;
    answer.resolve();
    await quiet();
    await outside.clock.advance(0);
    expect([before, runOf(life).state, life.errors]).toEqual(["due", "executing", []]);
  });
});

describe("a service that lies", () => {
  test.each([
    ["about the recipient", { recipient: ROUTER }, "RECIPIENT_MISMATCH"],
    ["about the amount", { amountIn: HUNDRED_USDC + 1n }, "AMOUNT_MISMATCH"],
    ["about the deadline", { deadline: 10n ** 12n }, "DEADLINE_OUT_OF_BOUNDS"],
  ] as const)("%s gets no signature in any mode", async (_name, change, code) => {
    for (const gasless of ["only", "never"] as const) {
      const { outside, life } = await begin({ gasless, retryForSeconds: 3 });
      outside.service.twist = (swap) => ({ ...swap, ...change });
      expect(await finish(outside, life)).toMatchObject({ state: "failed", reason: code });
      expect(outside.signed).toEqual([]);
      expect(outside.reported.map((message) => message.code)).toEqual([code]);
    }
  });

  test("about a nonce that another swap has gets no signature for it", async () => {
    const { outside, life } = await begin({ gasless: "only" });
    await finish(outside, life);
    const signed = outside.signed.length;
    outside.service.twist = (swap) => ({ ...swap, nonce: 1n });
    await turn(outside, life, 70);
    expect(life.db.prepare("SELECT state, reason FROM runs ORDER BY slot_ms").all()).toEqual([
      { state: "filled", reason: null },
      { state: "failed", reason: "NONCE_USED" },
    ]);
    expect([outside.signed.length, outside.service.submissions.length]).toEqual([signed, 1]);
  });
});

describe("a gasless swap whose answer is lost", () => {
  test("is found on the chain when it was taken all the same", async () => {
    const { outside, life } = await begin({ gasless: "only" });
    outside.service.delivery = "answer lost";
    const run = await finish(outside, life);
    expect(run).toMatchObject({ state: "filled", swaps: [{ state: "final", attempt: 1 }] });
    expect(outside.service.submissions).toHaveLength(1);
    expect(outside.reported.map(({ code }) => code)).toEqual(["SWAP_UNKNOWN"]);
  });

  test("is unknown and holds its money until a finalised block is past its deadlines, then it is expired", async () => {
    const { outside, life } = await begin({ gasless: "only" });
    outside.service.delivery = "lost";
    await turn(outside, life, 15);
    expect(runOf(life)).toMatchObject({ state: "executing", swaps: [{ state: "unknown" }] });
    expect(life.store.reserved(ACCOUNT, USDC.address)).toBe(HUNDRED_USDC);
    expect(await finish(outside, life)).toMatchObject({ state: "failed", reason: "expired" });
    expect(life.store.reserved(ACCOUNT, USDC.address)).toBe(0n);
    expect(outside.service.submissions).toHaveLength(1);
    expect(outside.signed.filter(({ text }) => text.includes('"Swap"'))).toHaveLength(1);
  });

  test.each([
    ["is submitted again to a service that knows the same body", true, 2],
    ["is never submitted again to a service that might not", false, 1],
  ])("%s, after a kill", async (_name, idempotentExecuteSwap, submissions) => {
    const outside = createOutside(START_MS, { gasless: "only" });
    outside.service.profile = { ...swapdProfile, idempotentExecuteSwap };
    const killed = openLife(outside, { killAt: (label) => label === "gasless.submit.after" });
    await killed.engine.start();
    await turn(outside, killed, 10);
    expect(killed.isDead()).toBe(true);
    killed.db.close();
    const life = openLife(outside);
    await life.engine.start();
    expect(await finish(outside, life)).toMatchObject({ state: "filled", swaps: [{ state: "final" }] });
    expect(outside.service.submissions).toHaveLength(submissions);
    expect(await outside.chain.balance(USDC.address, ACCOUNT)).toBe(900_000_000n);
  });

  test("is not submitted too near to its deadline: a signature that was kept back only has to expire", async () => {
    const outside = createOutside(START_MS, { gasless: "only" });
    const killed = openLife(outside, { killAt: (label) => label === "effect.SubmitGasless.before" });
    await killed.engine.start();
    await turn(outside, killed, 10);
    killed.db.close();
    for (let block = 0; block < 19; block += 1) {
      await outside.clock.advance(1_000);
      outside.chain.mine();
    }
    const life = openLife(outside);
    await life.engine.start();
    expect(await finish(outside, life)).toMatchObject({ state: "failed", reason: "expired" });
    expect(outside.service.submissions).toEqual([]);
  });
});

describe("the operator's halt", () => {
  test("comes in time when the swap was cleared but the key not asked yet", async () => {
    const outside = createOutside(START_MS, { gasless: "only" });
    const killed = openLife(outside, { killAt: (label) => label === "effect.SignGasless.before" });
    await killed.engine.start();
    await turn(outside, killed, 10);
    killed.db.close();
    const life = openLife(outside);
    life.store.setMode({ scope: "global", mode: "halted", setBy: "ops", reason: "dry run", atMs: 1 });
    await life.engine.start();
    expect(await finish(outside, life)).toMatchObject({ state: "skipped", reason: "signing_barred" });
    expect(outside.signed).toEqual([]);
    expect(life.store.isTokenBusy(ACCOUNT, USDC.address, "")).toBe(false);
  });
});

describe("a reorganisation", () => {
  test("takes a confirmed swap back; it is sent again with the same bytes, and counted once", async () => {
    const { outside, life } = await begin();
    await turnUntil(outside, life, { maxSeconds: 20, isDone: () => isFilled(life) });
    outside.chain.reorganise(3);
    const run = await finish(outside, life);
    expect(run).toMatchObject({ state: "filled", swaps: [{ state: "final" }] });
    expect(new Set(outside.chain.sent).size).toBe(2);
    expect(await outside.chain.balance(USDC.address, ACCOUNT)).toBe(900_000_000n);
    const moves = life.db.prepare("SELECT reason FROM transitions WHERE reason = 'reorganised'").all();
    expect(moves.length).toBeGreaterThan(0);
    expect(life.db.prepare("SELECT state FROM ledger").pluck().all()).toEqual(["spent"]);
  });

  test("takes a gasless fill away for good when the relayer's pool forgot it: it expires, and its money is free", async () => {
    const { outside, life } = await begin({ gasless: "only" });
    await turnUntil(outside, life, { maxSeconds: 20, isDone: () => isFilled(life) });
    outside.chain.reorganise(3);
    const run = await finish(outside, life);
    expect(run).toMatchObject({ state: "failed", reason: "expired" });
    expect(await outside.chain.balance(USDC.address, ACCOUNT)).toBe(1_000_000_000n);
    expect(life.store.soldBy("weekly").size).toBe(0);
  });
});

test("a chain that is silent for a while proves nothing and breaks nothing", async () => {
  const { outside, life } = await begin();
  await turn(outside, life, 4);
  outside.chain.isDown = true;
  await turn(outside, life, 10);
  outside.chain.isDown = false;
  expect(await finish(outside, life)).toMatchObject({ state: "filled", swaps: [{ state: "final" }] });
});

test("a strategy whose file is gone while its swap is open is watched to its end, and starts nothing new", async () => {
  const outside = createOutside(START_MS, { gasless: "only" });
  const before = openLife(outside);
  await before.engine.start();
  await turn(outside, before, 3);
  expect(runOf(before).state).toBe("executing");
  before.kill();
  before.db.close();
  const life = openLife(outside, { settings: { strategies: [] } });
  await life.engine.start();
  expect(await finish(outside, life)).toMatchObject({ state: "filled" });
  await turn(outside, life, 70);
  expect(life.db.prepare("SELECT count(*) FROM runs").pluck().get()).toBe(1);
});

test("stops when asked: what is being done is finished, what is written down waits, and both are noted", async () => {
  const { outside, life } = await begin();
  await turn(outside, life, 3);
  const stopped = life.engine.stop();
  await turn(outside, life, 1);
  await stopped;
  const state = runOf(life).state;
  await turn(outside, life, 5);
  expect(runOf(life).state).toBe(state);
  expect(life.db.prepare("SELECT kind, detail FROM daemon_events ORDER BY id").all()).toEqual([
    { kind: "started", detail: "live" },
    { kind: "stopped", detail: "by request" },
  ]);
});

test("a tighter slippage is asked for once when the reference price demands more than the quote guarantees", async () => {
  const policy = policySample({ recipients: [ACCOUNT], referenceTolerance: toPpm(2_000) });
  const { outside, life } = await begin({ gasless: "never" }, { settings: { policy } });
  outside.chain.ledger.setAllowance(USDC.address, ACCOUNT, HUNDRED_USDC);
  expect(await finish(outside, life)).toMatchObject({ state: "filled", swaps: [{ tightened: true }] });
  expect(outside.service.requests.map(({ slippage }) => slippage)).toEqual([5_000n, 2_000n]);
});

test("and once more after an approval, whose confirmation is a new question", async () => {
  const policy = policySample({ recipients: [ACCOUNT], referenceTolerance: toPpm(2_000) });
  const { outside, life } = await begin({ gasless: "never" }, { settings: { policy } });
  expect(await finish(outside, life)).toMatchObject({ state: "filled", swaps: [{ tightened: true, approvals: 1 }] });
  expect(outside.service.requests.map(({ slippage }) => slippage)).toEqual([5_000n, 2_000n, 5_000n, 2_000n]);
});

describe("what a timer calls", () => {
  test("is fatal when it throws: a daemon that cannot start runs must not look healthy", async () => {
    const { life } = await begin();
    life.db.exec("DROP TABLE requests");
    await life.engine.tick();
    expect(life.errors).toMatchObject([{ message: "no such table: requests" }]);
  });

  test("so is an edit that cannot be taken over, instead of an end without a stop", async () => {
    const { outside, life } = await begin();
    life.db.exec("CREATE TRIGGER full BEFORE UPDATE ON strategies BEGIN SELECT RAISE(ABORT, 'no space left'); END");
    await life.engine.adopt([{ spec: outside.spec, specHash: "edited" }]);
    expect(life.errors).toMatchObject([{ message: expect.stringContaining("no space left") }]);
  });
});
