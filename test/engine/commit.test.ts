import { describe, expect, test } from "vitest";
import type { RunEvent } from "../../src/domain/run/events.ts";
import type { Run, Swap } from "../../src/domain/run/run.ts";
import { createCommitter } from "../../src/engine/commit.ts";
import { registerStrategies } from "../../src/engine/register-strategies.ts";
import { alterAnswers } from "../support/altered-answers.ts";
import { HUNDRED_USDC, NOW_MS, policySample, ROUTER, runSample, SLOT_MS, USDC } from "../support/builders.ts";
import { addRun, saveAs } from "../support/daemon-database.ts";
import { ACCOUNT, createOutside, Killed, type Life, type Outside, openLife } from "../support/engine-life.ts";
import { intentRow } from "../support/lane-database.ts";
import { approvalSample, decodedFor, readingFor, swapIn } from "../support/reading-samples.ts";

/** Answers the effect of the run. */
function commit(life: Life, event: RunEvent): Promise<void> {
  return life.engine.committer.commit({ runId: "run_1", event, effectId: 1 });
}

/** A run with one swap in this state, and an effect of it that waits for its answer. */
async function begin(
  swap: Swap,
  options: Parameters<typeof openLife>[1] = {},
): Promise<{ outside: Outside; life: Life; run: Run }> {
  const outside = createOutside(NOW_MS);
  const life = openLife(outside, options);
  await registerStrategies(life.context);
  const run = addRun(life.store, runSample({ swaps: [swap] }));
  life.store.addEffects(run.id, [{ effect: { kind: "ReadFacts", swapId: swap.id }, notBeforeMs: 0 }], 1);
  return { outside, life, run };
}

const owned = { wallet: ACCOUNT, recipient: ACCOUNT } as const;
const quoted = swapIn("quoted", owned);
const relayed = swapIn("quoted", { ...owned, mode: "gasless", gasless: "only" });
const facts = (swap: Swap, change = {}): RunEvent => ({
  ...{ kind: "facts-read", swapId: swap.id },
  reading: readingFor(swap, change),
});

function rows({ db }: Life): Record<string, unknown> {
  const count = (table: string): unknown => db.prepare(`SELECT count(*) FROM ${table}`).pluck().get();
  const tables = ["transitions", "checks", "capabilities", "grants", "signatures", "lane_intents"];
  const open = db.prepare("SELECT count(*) FROM effects").pluck().get();
  const state = db.prepare("SELECT state FROM swaps").pluck().all();
  return { ...Object.fromEntries(tables.map((table) => [table, count(table)])), open, state };
}

describe("a step and everything that follows from it are one commit", () => {
  test("for our own transaction: the cleared swap, its right to the token, and the lane's request", async () => {
    const { life } = await begin(quoted);
    await commit(life, facts(quoted));
    expect(rows(life)).toMatchObject({ state: ["cleared"], capabilities: 1, lane_intents: 1, open: 0 });
    expect(life.lanes.intent("run_1.0.1.swap")).toMatchObject({ purpose: "swap", state: "planned", to: ROUTER });
    expect(life.lanes.openIntents(ACCOUNT, 31_337)).toHaveLength(1);
  });

  test("for signatures: both digests, the right, and the cancel request to sign", async () => {
    const { life } = await begin(relayed);
    await commit(life, facts(relayed));
    expect(rows(life)).toMatchObject({ state: ["cleared"], signatures: 2, capabilities: 1, grants: 1, open: 1 });
    expect(life.store.dueEffects(NOW_MS, 10, "no routes")).toMatchObject([{ effect: { kind: "SignGasless" } }]);
  });

  test.each([
    ["before", "quoted"],
    ["after", "cleared"],
  ])("a kill %s it leaves all of it or nothing", async (moment, state) => {
    const { life } = await begin(quoted, { killAt: (label) => label === `commit.facts-read.${moment}` });
    await expect(commit(life, facts(quoted))).rejects.toThrow(Killed);
    const isDone = moment === "after" ? 1 : 0;
    expect(rows(life)).toMatchObject({ state: [state], capabilities: isDone, lane_intents: isDone, open: 1 - isDone });
  });

  test("a second right to the token undoes the whole step, and its effect waits to be tried again", async () => {
    const { life } = await begin(quoted);
    const other = addRun(
      life.store,
      runSample({
        id: "run_2",
        slotMs: SLOT_MS + 1,
        swaps: [{ ...swapIn("final", owned), id: "other", runId: "run_2" }],
      }),
    );
    const right = {
      kind: "open-capability",
      swapId: "other",
      wallet: ACCOUNT,
      token: USDC.address,
      spender: ROUTER,
    } as const;
    life.store.writeRecord(other, { ...right, untilSeconds: 1 }, 1);
    // As if the fact had been stale: the question says free, the constraint knows better.
    const commitFree = alterAnswers(life.store, "step", (read) => ({
      ...read,
      ledger: read.ledger && { ...read.ledger, isTokenBusy: false },
    }));
    const store = { ...life.store, commit: commitFree };
    const context = { ...life.context, deps: { ...life.context.deps, store } };
    const before = rows(life);
    const committer = createCommitter(context, () => undefined);
    await expect(committer.commit({ runId: "run_1", event: facts(quoted), effectId: 1 })).rejects.toThrow("UNIQUE");
    expect(rows(life)).toEqual(before);
  });

  test("a request that has its row already undoes the whole step, and so does one of a wallet without a lane", async () => {
    const { life } = await begin(quoted);
    const before = rows(life);
    const lanes = { ...life.context, deps: { ...life.context.deps, lanes: new Map() } };
    const committer = createCommitter(lanes, () => undefined);
    const answer = { runId: "run_1", event: facts(quoted), effectId: 1 };
    await expect(committer.commit(answer)).rejects.toThrow("has no lane");
    expect(rows(life)).toEqual(before);
    life.lanes.insertIntent(intentRow({ id: `${quoted.id}.swap`, account: ACCOUNT }));
    await expect(commit(life, facts(quoted))).rejects.toThrow("UNIQUE");
    expect(rows(life)).toEqual({ ...before, lane_intents: 1 });
  });
});

describe("checks that are answered in the same moment", () => {
  const lost = (runId: string, effectId: number) => ({
    ...{ runId, effectId },
    event: { kind: "observation-unavailable", swapId: `${runId}.0.1`, detail: "no answer" } as const,
  });

  async function two(): Promise<{ life: Life; commit: ReturnType<typeof createCommitter>["commit"] }> {
    const { life } = await begin(swapIn("submitted", { ...owned, mode: "gasless" }));
    const other = { ...swapIn("submitted", { ...owned, mode: "gasless" }), id: "run_2.0.1", runId: "run_2" };
    addRun(life.store, runSample({ id: "run_2", slotMs: SLOT_MS + 1, swaps: [other] }));
    life.store.addEffects("run_2", [{ effect: { kind: "ReadChain", swapId: other.id }, notBeforeMs: 0 }], 1);
    return { life, commit: createCommitter(life.context, () => undefined).commit };
  }

  const waiting = ({ db }: Life): unknown[] =>
    db.prepare("SELECT id FROM effects WHERE id <= 2 ORDER BY id").pluck().all();

  test("are written together, and are asked again each by itself", async () => {
    const { life, commit } = await two();
    await Promise.all([commit(lost("run_1", 1)), commit(lost("run_2", 2))]);
    expect(waiting(life)).toEqual([]);
    const next = life.store.dueEffects(NOW_MS + 60_000, 9, "no routes").map(({ runId }) => runId);
    expect(next.toSorted()).toEqual(["run_1", "run_2"]);
  });

  test("hold by themselves when one of them breaks an invariant, and only that one is heard of", async () => {
    const { life, commit } = await two();
    const answers = await Promise.allSettled([commit(lost("nobody", 2)), commit(lost("run_1", 1))]);
    expect(answers.map(({ status }) => status)).toEqual(["rejected", "fulfilled"]);
    expect(waiting(life)).toEqual([2]);
    expect(life.store.dueEffects(NOW_MS + 60_000, 9, "no routes")).toMatchObject([
      { runId: "run_2" },
      { runId: "run_1" },
    ]);
  });
});

test("a check that finds nothing new writes no swap anew, and looks again", async () => {
  const { life } = await begin(swapIn("submitted", { ...owned, mode: "gasless" }));
  life.db.exec("UPDATE swaps SET updated_at_ms = 0");
  await commit(life, { kind: "observation-unavailable", swapId: "run_1.0.1", detail: "no answer" });
  expect(life.db.prepare("SELECT updated_at_ms FROM swaps").pluck().get()).toBe(0);
  expect(rows(life)).toMatchObject({ open: 1, state: ["submitted"] });
});

test("an approval goes to the lane under its own name, with the grant noted", async () => {
  const { life } = await begin(quoted);
  await commit(life, facts(quoted, { allowance: 0n, approval: approvalSample(quoted) }));
  expect(life.lanes.intent("run_1.0.1.approve1")).toMatchObject({ purpose: "approve", to: USDC.address });
  expect(rows(life)).toMatchObject({ grants: 1, capabilities: 0, state: ["approving"] });
});

test("an alert is reported once, with the run it belongs to, and only when the commit holds", async () => {
  const { life, outside } = await begin(quoted);
  const theirs = { decoding: { ok: true, swap: decodedFor(quoted, { recipient: ROUTER }) } } as const;
  await commit(life, facts(quoted, theirs));
  expect(outside.reported).toMatchObject([
    { severity: "warning", code: "RECIPIENT_MISMATCH", fields: { strategy: "weekly", runId: "run_1" } },
  ]);
});

test("ALL-5 the memory of the end is written with the end", async () => {
  const { life } = await begin(quoted);
  const theirs = { decoding: { ok: true, swap: decodedFor(quoted, { recipient: ROUTER }) } } as const;
  life.db.exec("UPDATE strategies SET memory_at_ms = 0");
  await commit(life, facts(quoted, theirs));
  expect(life.db.prepare("SELECT memory_at_ms FROM strategies").pluck().get()).toBe(NOW_MS);
});

describe("a strategy that fails too often", () => {
  const failed = (life: Life, index: number, agoMs: number, reason = "RECIPIENT_MISMATCH"): void => {
    const id = `old_${index}`;
    const run = addRun(life.store, runSample({ id, slotMs: SLOT_MS - index }));
    saveAs(life.store, { ...run, state: "failed", reason }, NOW_MS - agoMs);
  };
  const fail = async (life: Life): Promise<void> => {
    const theirs = { decoding: { ok: true, swap: decodedFor(quoted, { recipient: ROUTER }) } } as const;
    await commit(life, facts(quoted, theirs));
  };

  test("ALL-4 only leaves positions from the commit of the last failure on, with the reason", async () => {
    const { life } = await begin(quoted);
    failed(life, 1, 10_000);
    failed(life, 2, 20_000);
    await fail(life);
    expect(life.store.mode("weekly")).toEqual({
      ...{ scope: "weekly", mode: "exits-only", setBy: "policy", atMs: NOW_MS },
      reason: "3 failed runs within 1h, the last one: RECIPIENT_MISMATCH",
    });
  });

  test("is not one that lacked node, service or price, now or before", async () => {
    const { life } = await begin(quoted);
    for (const index of [1, 2]) failed(life, index, index * 10_000, "SIMULATION_UNAVAILABLE");
    await fail(life);
    expect(life.store.mode("weekly")).toBeUndefined();
    const { life: other, outside, run } = await begin(quoted);
    for (const index of [1, 2]) failed(other, index, index * 10_000);
    outside.clock.jumpTo(run.windowEndsMs - 1_000);
    const unable = facts(quoted, { simulation: { kind: "unavailable", reason: "no eth_simulateV1" } });
    await commit(other, unable);
    expect(other.store.run("run_1")?.state).toBe("failed");
    expect(other.store.mode("weekly")).toBeUndefined();
  });

  test("is not one that met a page of a proxy in the service's place", async () => {
    const { life } = await begin(quoted);
    for (const index of [1, 2, 3]) failed(life, index, index * 10_000, "ANSWER_NOT_JSON");
    await fail(life);
    expect(life.store.mode("weekly")).toBeUndefined();
  });

  test("does not while its failures are fewer, or too long ago", async () => {
    const { life } = await begin(quoted, { settings: { policy: policySample({ recipients: [ACCOUNT] }) } });
    failed(life, 1, 10_000);
    failed(life, 2, 3_601_000);
    await fail(life);
    expect(life.store.mode("weekly")).toBeUndefined();
  });
});

test("a run that is not in the database is a broken invariant", async () => {
  const { life } = await begin(quoted);
  const answer = { runId: "run_9", event: { kind: "started" } } as const;
  await expect(life.engine.committer.commit(answer)).rejects.toThrow("run run_9 is not in the database");
});

test("what others reserved and sold comes from the same commit: the day's cap counts every strategy", async () => {
  const { life } = await begin(quoted, {
    settings: { policy: policySample({ recipients: [ACCOUNT], maxPerDayUsd: (150n * 10n ** 18n) as never }) },
  });
  const other = addRun(
    life.store,
    runSample({
      id: "run_2",
      strategyId: "other",
      slotMs: SLOT_MS + 1,
      swaps: [{ ...swapIn("quoted", owned), id: "b", runId: "run_2", gross: HUNDRED_USDC }],
    }),
  );
  life.store.writeRecord(other, { kind: "value", swapId: "b", usd: 100n * 10n ** 18n }, 1);
  await commit(life, facts(quoted));
  expect(life.store.run("run_1")).toMatchObject({ state: "skipped", reason: "DAILY_CAP_EXCEEDED" });
});
