import { describe, expect, test } from "vitest";
import type { RunEvent } from "../../src/domain/run/events.ts";
import { takeRequests } from "../../src/engine/operator-requests.ts";
import { registerStrategies } from "../../src/engine/register-strategies.ts";
import { NOW_MS, ROUTER, runSample, SLOT_MS } from "../support/builders.ts";
import { addRun, saveAs } from "../support/daemon-database.ts";
import { ACCOUNT, createOutside, Killed, type Life, type Outside, openLife } from "../support/engine-life.ts";
import { decodedFor, readingFor, swapIn } from "../support/reading-samples.ts";

const owned = { wallet: ACCOUNT, recipient: ACCOUNT } as const;
const quoted = swapIn("quoted", owned);

async function begin(options: Parameters<typeof openLife>[1] = {}): Promise<{ outside: Outside; life: Life }> {
  const outside = createOutside(NOW_MS);
  const life = openLife(outside, options);
  await registerStrategies(life.context);
  return { outside, life };
}

/** A run of its own whose quoted swap is denied, or cleared. */
async function decide(life: Life, index: number, verdict: "denied" | "cleared"): Promise<void> {
  const id = `run_${index}`;
  const swap = { ...quoted, id: `${id}.0.1`, runId: id };
  addRun(life.store, runSample({ id, slotMs: SLOT_MS + index, swaps: [swap] }));
  const lie = { decoding: { ok: true, swap: decodedFor(swap, { recipient: ROUTER }) } } as const;
  const reading = readingFor(swap, verdict === "denied" ? lie : {});
  await life.engine.committer.commit({ runId: id, event: { kind: "facts-read", swapId: swap.id, reading } });
}

async function ask(life: Life, request: Record<string, string>): Promise<void> {
  life.store.addRequest({
    command: "mode",
    arguments: request,
    madeBy: "ops",
    madeAtMs: life.context.deps.clock.nowMs(),
  });
  await takeRequests(life.context);
}

const alertsOf = ({ db }: Life): unknown[] =>
  db.prepare("SELECT severity, code, subject, over_at_ms IS NOT NULL AS isOver FROM alerts ORDER BY number").all();
const codes = (outside: Outside): string[] => outside.reported.map(({ code }) => code);

describe("an alert is a row of the commit that makes it true", () => {
  test.each([
    ["before", []],
    ["after", [{ severity: "warning", code: "RECIPIENT_MISMATCH", subject: "USDC to WETH of weekly", isOver: 0 }]],
  ])("a kill %s the commit leaves %j", async (moment, expected) => {
    const { life, outside } = await begin({ killAt: (label) => label === `commit.facts-read.${moment}` });
    await expect(decide(life, 1, "denied")).rejects.toThrow(Killed);
    expect(alertsOf(life)).toEqual(expected);
    // Nobody was notified yet: what the row is there for.
    expect(outside.reported).toEqual([]);
  });

  test("with its run, and an id of its own", async () => {
    const { life } = await begin();
    await decide(life, 1, "denied");
    expect(life.db.prepare("SELECT id, strategy, run_id FROM alerts").get()).toEqual({
      ...{ id: expect.stringMatching(/^alert_/), strategy: "weekly", run_id: "run_1" },
    });
  });
});

test("a denial that repeats itself is reported once, and again after a swap of the pair had passed", async () => {
  const { life, outside } = await begin({ settings: { live: false } });
  await decide(life, 1, "denied");
  await decide(life, 2, "denied");
  expect(codes(outside)).toEqual(["RECIPIENT_MISMATCH"]);
  await decide(life, 3, "cleared");
  expect(alertsOf(life)).toMatchObject([{ isOver: 1 }]);
  await decide(life, 4, "denied");
  expect(codes(outside)).toEqual(["RECIPIENT_MISMATCH", "RECIPIENT_MISMATCH", "STRATEGY_EXITS_ONLY"]);
});

test("a swap that is unknown is reported, and the alert is over when the chain has answered", async () => {
  const { life, outside } = await begin();
  const swap = swapIn("signed", { ...owned, mode: "gasless", gasless: "only" });
  addRun(life.store, runSample({ swaps: [swap] }));
  const lost: RunEvent = { kind: "submission-unknown", swapId: swap.id, detail: "timeout" };
  await life.engine.committer.commit({ runId: "run_1", event: lost });
  expect(alertsOf(life)).toEqual([{ severity: "warning", code: "SWAP_UNKNOWN", subject: "swap run_1.0.1", isOver: 0 }]);
  const deadlines = [swap.terms?.deadlineSeconds ?? 0, swap.signatures?.permitDeadlineSeconds ?? 0];
  const head = { number: 90, timestampSeconds: Math.max(...deadlines) + 1 };
  const seen = { latest: head, finalized: head, fill: undefined, nonceUsed: false, allowance: 0n };
  const observation = { ...seen, serviceStatus: undefined };
  await life.engine.committer.commit({ runId: "run_1", event: { kind: "observed", swapId: swap.id, observation } });
  expect(life.store.run("run_1")?.swaps[0]?.state).toBe("expired");
  expect(alertsOf(life)).toMatchObject([{ isOver: 1 }]);
  expect(codes(outside)).toEqual(["SWAP_UNKNOWN"]);
});

describe("a strategy that fails too often", () => {
  const failed = (life: Life, index: number): void => {
    const run = addRun(life.store, runSample({ id: `old_${index}`, slotMs: SLOT_MS - index }));
    saveAs(life.store, { ...run, state: "failed" }, NOW_MS - 1_000);
  };

  test("is paused and reported once, however many open runs fail after that, and again after it was resumed", async () => {
    const { life, outside } = await begin();
    failed(life, 1);
    failed(life, 2);
    await decide(life, 1, "denied");
    await decide(life, 2, "denied");
    const pause = { severity: "warning", code: "STRATEGY_EXITS_ONLY", subject: "mode of weekly" };
    expect(alertsOf(life)).toMatchObject([{ code: "RECIPIENT_MISMATCH" }, { ...pause, isOver: 0 }]);
    expect(outside.reported[1]?.text).toContain("3 failed runs within 1h");
    await ask(life, { mode: "active", scope: "weekly" });
    expect(alertsOf(life)).toMatchObject([{}, { ...pause, isOver: 1 }]);
    await decide(life, 3, "denied");
    expect(codes(outside)).toEqual(["RECIPIENT_MISMATCH", "STRATEGY_EXITS_ONLY", "STRATEGY_EXITS_ONLY"]);
  });

  test("stays halted when a person halted it: a pause would let it sign", async () => {
    const { life, outside } = await begin();
    failed(life, 1);
    failed(life, 2);
    life.store.setMode({ scope: "weekly", mode: "halted", setBy: "ops", reason: "dry run", atMs: 1 });
    await decide(life, 1, "denied");
    expect(life.store.mode("weekly")).toMatchObject({ mode: "halted", setBy: "ops" });
    expect(codes(outside)).toEqual(["RECIPIENT_MISMATCH"]);
  });
});

test("an operator who halts is noted, who pauses is not, and what was noted ends with the mode", async () => {
  const { life, outside } = await begin();
  await ask(life, { mode: "paused" });
  await ask(life, { mode: "halted", reason: "dry run" });
  expect(outside.reported).toMatchObject([{ severity: "info", code: "HALTED_BY_OPERATOR" }]);
  await ask(life, { mode: "active" });
  expect(alertsOf(life)).toMatchObject([{ subject: "mode of global", isOver: 1 }]);
});

test("an account that its lane halts wakes somebody up, and a person's release ends it", async () => {
  const { life, outside } = await begin();
  await life.lane.halt("a stranger's transaction");
  expect(outside.reported).toMatchObject([{ severity: "critical", code: "ACCOUNT_HALTED" }]);
  expect(outside.reported[0]?.text).toContain("a stranger's transaction");
  expect(alertsOf(life)).toMatchObject([{ subject: `account ${ACCOUNT}`, isOver: 0 }]);
  await ask(life, { mode: "active", scope: "global" });
  expect(life.lanes.halts()).toEqual([]);
  expect(alertsOf(life)).toMatchObject([{ isOver: 1 }]);
});

test("a transaction that no node takes is reported once while it is so, and is over by itself", async () => {
  const { life, outside } = await begin();
  const hear = (detail: string | undefined): Promise<void> =>
    life.engine.committer.laneStore.commit({
      question: { account: ACCOUNT, chainId: 31_337 },
      decide: () => ({ changes: [], atMs: NOW_MS, value: undefined, refusal: { intentId: "swap-1", detail } }),
    });
  await hear("no node takes it: queue full");
  await hear("no node takes it: exceeds block gas limit");
  expect(codes(outside)).toEqual(["TRANSACTION_REFUSED"]);
  await hear(undefined);
  expect(alertsOf(life)).toEqual([
    { severity: "warning", code: "TRANSACTION_REFUSED", subject: "transaction swap-1", isOver: 1 },
  ]);
});
