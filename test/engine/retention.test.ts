import { describe, expect, test } from "vitest";
import { checkHistory } from "../../src/adapters/sqlite/daemon/history-chain.ts";
import { prepareStatements } from "../../src/adapters/sqlite/statements.ts";
import { ChainReadError } from "../../src/domain/chain-read-error.ts";
import type { EngineSettings } from "../../src/engine/engine-context.ts";
import { keepLettingGo, letGo } from "../../src/engine/retention.ts";
import { NOW_MS, policySample, runSample, SLOT_MS, WALLET } from "../support/builders.ts";
import { addRun, settle } from "../support/daemon-database.ts";
import { createOutside, openLife, turn } from "../support/engine-life.ts";
import { live } from "../support/old-runs.ts";
import { swapIn } from "../support/reading-samples.ts";

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
const running = new AbortController().signal;
const agreeing = { problem: () => undefined };

/** A life whose runs ended so many days before the time that the block reports. */
function begin(daysAgo: readonly number[], settings: Partial<EngineSettings> = {}) {
  const outside = createOutside(NOW_MS);
  const life = openLife(outside, { settings: { retentionMs: 2 * DAY_MS, ...settings } });
  const chain = { aheadMs: 0, isAway: false };
  const { latest } = life.context.deps.chain;
  life.context.deps.chain.latest = async () => {
    if (chain.isAway) throw new ChainReadError("unreachable", "no endpoint answers");
    return { ...(await latest()), timestamp: Math.floor((NOW_MS + chain.aheadMs) / 1_000) };
  };
  for (const [index, days] of daysAgo.entries()) {
    const slotMs = SLOT_MS - days * DAY_MS + index * MINUTE_MS;
    addRun(life.store, runSample({ id: `run_${index}`, slotMs, state: "failed", reason: "x" }), { atMs: slotMs });
  }
  const left = (): unknown => life.db.prepare("SELECT count(*) FROM runs").pluck().get();
  return { outside, life, chain, left };
}

/** Turns need time: it is moved on until they are done. */
async function go({ outside, life }: ReturnType<typeof begin>, clocks = agreeing, signal = running): Promise<number> {
  let result: number | undefined;
  void letGo(life.context, signal, clocks).then(({ pruned }) => {
    result = pruned;
  });
  for (let waited = 0; result === undefined && waited < 1_000; waited += 1) await outside.clock.advance(50);
  return result ?? -1;
}

function setAhead({ outside }: ReturnType<typeof begin>, aheadMs: number): void {
  const nowMs = outside.clock.nowMs.bind(outside.clock);
  outside.clock.nowMs = () => nowMs() + aheadMs;
}

describe("runs that signed nothing", () => {
  test("go once they are older than the retention, however many turns that takes", async () => {
    const life = begin([...Array.from({ length: 300 }, () => 5), 1]);
    expect(await go(life)).toBe(300);
    expect(life.left()).toBe(1);
    expect(await go(life)).toBe(0);
  });

  test("stay as long as the policy looks back at failures, whatever the retention", async () => {
    const pauseAfter = { failures: 3, withinSeconds: (6 * DAY_MS) / 1_000 };
    const life = begin([7, 5], { policy: policySample({ pauseAfter }) });
    expect(await go(life)).toBe(1);
    expect(life.life.store.failuresBetween("weekly", { sinceMs: NOW_MS - 6 * DAY_MS, untilMs: NOW_MS }, [])).toBe(1);
  });

  test.each([
    { periods: ["week"] as const, pruned: 1 },
    { periods: ["day"] as const, pruned: 2 },
    { periods: [] as const, pruned: 3 },
  ])("stay until the digests of $periods have told them, whatever the retention", async ({ periods, pruned }) => {
    const digest = { periods, timezone: "UTC" };
    const notifications = { fills: false, starts: false, sameEnds: 3, digest };
    const life = begin([9, 6.9, 1.9], { retentionMs: DAY_MS, notifications });
    expect(await go(life)).toBe(pruned);
  });

  test("go sooner than those that signed, which ceilings count for a month", async () => {
    const life = begin([5, 5]);
    for (const [index, days] of [40, 29].entries()) {
      const [id, slotMs] = [`signed_${index}`, SLOT_MS - days * DAY_MS];
      const swap = { ...swapIn("final", { terms: undefined }), id: `${id}.0.1`, runId: id };
      const run = runSample({ id, slotMs, state: "filled", swaps: [swap] });
      settle(life.life.store, addRun(life.life.store, run, { atMs: slotMs }), slotMs);
    }
    expect(await go(life)).toBe(2);
    const archived = life.life.db.prepare("SELECT id FROM runs WHERE archive IS NOT NULL").pluck().all();
    expect([archived, life.left()]).toEqual([["signed_0"], 2]);
  });

  test("go by the hour while the daemon runs, and not in the first minute of a start", async () => {
    const life = begin([5]);
    const stop = new AbortController();
    const loop = keepLettingGo(life.life.context, stop.signal, agreeing);
    await life.outside.clock.advance(50_000);
    expect(life.left()).toBe(1);
    await life.outside.clock.advance(20_000);
    expect(life.left()).toBe(0);
    stop.abort();
    await life.outside.clock.advance(1);
    await loop;
  });
});

describe("nothing goes", () => {
  test("by a clock of this machine that is years ahead, and by a block that is", async () => {
    const ahead = begin([1]);
    setAhead(ahead, 1_000 * DAY_MS);
    expect(await go(ahead)).toBe(0);
    const block = begin([1]);
    block.chain.aheadMs = 1_000 * DAY_MS;
    expect(await go(block)).toBe(0);
    setAhead(block, 1_000 * DAY_MS);
    expect(await go(block)).toBe(1);
  });

  test("while the clocks disagree, and no further when they begin to", async () => {
    const life = begin(Array.from({ length: 300 }, () => 5));
    expect(await go(life, { problem: () => "ahead" } as never)).toBe(0);
    let asked = 0;
    const clocks = {
      problem: () => {
        asked += 1;
        return asked > 2 ? "ahead" : undefined;
      },
    };
    expect(await go(life, clocks as never)).toBeLessThan(100);
    expect(life.left()).toBeGreaterThan(200);
  });

  test("while no block shows the time", async () => {
    const life = begin([5]);
    life.chain.isAway = true;
    expect(await go(life)).toBe(0);
    life.chain.isAway = false;
    expect(await go(life)).toBe(1);
  });

  test("while it is not known what a wallet did: a row may be what reports it", async () => {
    const life = begin([5]);
    const what = { key: "k", wallet: WALLET, token: undefined, kind: "fill", scope: "wallet" } as const;
    life.life.store.addDifference({ ...what, text: "t", facts: {} }, { ms: 1, sinceBoot: { id: "boot", ms: 1 } });
    expect(await go(life)).toBe(0);
    life.life.store.settleDifference(1, { by: "ops", atMs: 1 });
    expect(await go(life)).toBe(1);
  });

  test("once the daemon stops", async () => {
    const life = begin([5]);
    expect(await go(life, agreeing, AbortSignal.abort())).toBe(0);
  });
});

test("a turn that fails in the middle takes nothing, and the next check takes all", async () => {
  const life = begin([5, 5, 5, 5]);
  life.life.db.function("fails", () => {
    throw new Error("the disk is full");
  });
  life.life.db.exec("CREATE TRIGGER fails BEFORE DELETE ON runs WHEN OLD.id = 'run_2' BEGIN SELECT fails(); END");
  await expect(letGo(life.life.context, running, agreeing)).rejects.toThrow("the disk is full");
  const rows = (sql: string): unknown => life.life.db.prepare(sql).pluck().get();
  expect([life.left(), rows("SELECT count(*) FROM gaps")]).toEqual([4, 0]);
  life.life.db.exec("DROP TRIGGER fails");
  expect(await go(life)).toBe(4);
  expect(rows("SELECT sum(count) FROM gaps")).toBe(4);
});

test("a run that the database refuses to let go stays, is reported, and keeps neither the others nor the daemon", async () => {
  const life = begin([5, 5, 5, 5]);
  const reported: unknown[] = [];
  life.life.context.deps.logger.error = (fields) => void reported.push(fields);
  life.life.db.exec(
    "CREATE TRIGGER refuses BEFORE DELETE ON runs WHEN OLD.id = 'run_2' BEGIN SELECT RAISE(ABORT, 'it is wanted'); END",
  );
  expect(await go(life)).toBe(3);
  expect(life.left()).toBe(1);
  expect(reported).toEqual([{ runId: "run_2", why: "it is wanted" }]);
});

test("a daemon that goes on for months lets go by itself, and trades on", async () => {
  const { outside, life } = await live({ gasless: "never" }, undefined, { seconds: 160 });
  for (let days = 0; days < 100; days += 1) {
    await outside.clock.advance(DAY_MS);
    outside.chain.mine();
  }
  const before = life.db.prepare("SELECT count(*) FROM runs").pluck().get();
  // Days in one step leave the clocks apart: a check comes once an hour, and takes nothing before they agree.
  for (let minutes = 0; minutes < 61; minutes += 1) {
    await outside.clock.advance(MINUTE_MS);
    outside.chain.mine();
  }
  await turn(outside, life, 130);
  expect(life.errors).toEqual([]);
  const archived = life.db.prepare("SELECT count(*) FROM runs WHERE archive IS NOT NULL").pluck().get();
  expect(archived).toBeGreaterThan(1);
  expect(life.db.prepare("SELECT count(*) FROM runs").pluck().get()).toBeGreaterThan(Number(before));
  expect(checkHistory(prepareStatements(life.db))).toEqual([]);
});
