import { describe, expect, test } from "vitest";
import type { StrategySpec } from "../../src/domain/strategy/spec.ts";
import { SLOT_MS, usd } from "../support/builders.ts";
import { createOutside, type Life, type Outside, openLife, turn } from "../support/engine-life.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const HALF_MINUTE_MS = 30_000;

/** A machine whose wall clock may be set apart from the world's time, which is the chain's. */
function createMachine(change: Partial<StrategySpec> = {}): {
  outside: Outside;
  open(): Life;
  nowMs(): number;
  shift(byMs: number): void;
} {
  const outside = createOutside(SLOT_MS - 5_000, { schedule: { kind: "every", seconds: 30 }, ...change });
  let aheadMs = 0;
  const nowMs = (): number => outside.clock.nowMs() + aheadMs;
  const clock: Outside["clock"] = Object.create(outside.clock, { nowMs: { value: nowMs, configurable: true } });
  const shift = (byMs: number): void => {
    aheadMs += byMs;
  };
  return { outside, nowMs, shift, open: () => openLife({ ...outside, clock }) };
}

/** With a strategy that looks every half minute, a moment after one of its slots, on a chain with a block each second. */
async function begin(): Promise<{ outside: Outside; life: Life; nowMs(): number; shift(byMs: number): void }> {
  const machine = createMachine();
  const { outside } = machine;
  const life = machine.open();
  await life.engine.start();
  await turn(outside, life, 10);
  expect(slotsOf(life)).toEqual([SLOT_MS]);
  return { ...machine, life };
}

const slotsOf = ({ db }: Life): unknown[] => db.prepare("SELECT slot_ms FROM runs ORDER BY slot_ms").pluck().all();
const gapsOf = ({ db }: Life): unknown[] => db.prepare("SELECT reason, count FROM gaps ORDER BY first_slot_ms").all();
const handledMs = ({ store }: Life): number | undefined => store.lastSlots(["weekly"]).get("weekly");
const reportedCodes = ({ reported }: Outside): string[] =>
  reported.map(({ code }) => code).filter((code) => code.startsWith("CLOCK"));
const openAlerts = ({ db }: Life): unknown[] =>
  db.prepare("SELECT code FROM alerts WHERE subject = 'clock' AND over_at_ms IS NULL").pluck().all();

function ask(life: Life, command: string, args: Record<string, string>): () => string | undefined {
  const id = life.store.addRequest({
    command,
    arguments: args,
    madeBy: "ops",
    madeAtMs: life.context.deps.clock.nowMs(),
  });
  return () => life.store.answerOf(id);
}

describe("a clock that jumps a day ahead", () => {
  test("and back before anybody looks leaves nothing waiting for that day", async () => {
    const { outside, life } = await begin();
    // As an effect that is committed within the moment: nothing but its row reports it.
    const [runId] = life.db.prepare<[], string>("SELECT id FROM runs").pluck().all();
    const aheadMs = outside.clock.nowMs() + DAY_MS;
    const effect = { kind: "FetchRoute", what: "route", swapId: `${runId}.0.1` } as const;
    life.store.addEffects(runId ?? "", [{ effect, notBeforeMs: aheadMs + 1_000 }], aheadMs);
    const waiting = (): unknown =>
      life.db.prepare("SELECT count(*) FROM effects WHERE created_at_ms = ?").pluck().get(aheadMs);
    expect(waiting()).toBe(1);
    await turn(outside, life, 5);
    expect(waiting()).toBe(0);
  });

  test("uses up no slot, is reported once, and leaves every slot of the time after it is set right", async () => {
    const { outside, life, shift } = await begin();
    shift(DAY_MS);
    await turn(outside, life, 60);
    expect([slotsOf(life), gapsOf(life), handledMs(life)]).toEqual([[SLOT_MS], [], SLOT_MS]);
    expect(life.engine.clocks.problem()).toMatch(/ 1d(1s)? ahead of the chain's time/);
    expect([reportedCodes(outside), openAlerts(life)]).toEqual([["CLOCK_DISAGREES"], ["CLOCK_DISAGREES"]]);

    shift(-DAY_MS);
    await turn(outside, life, 60);
    expect(life.engine.clocks.problem()).toBeUndefined();
    expect(openAlerts(life)).toEqual([]);
    // Those of the minute by the wrong clock are caught up as after a downtime: the newest runs, the ones before are missed.
    expect(slotsOf(life).slice(0, 2)).toEqual([SLOT_MS, SLOT_MS + 2 * HALF_MINUTE_MS]);
    expect(slotsOf(life)).toContain(SLOT_MS + 3 * HALF_MINUTE_MS);
    expect(gapsOf(life)).toEqual([{ reason: "missed", count: 1 }]);
    expect(life.errors).toEqual([]);
  });

  test("stops nobody from stopping: what uses up slots is refused, a halt is not", async () => {
    const { outside, life, shift } = await begin();
    shift(DAY_MS);
    const asked = [
      ask(life, "run", { strategy: "weekly" }),
      ask(life, "skip", { strategy: "weekly" }),
      ask(life, "mode", { mode: "active", scope: "weekly" }),
    ];
    const halt = ask(life, "mode", { mode: "halted", scope: "weekly" });
    await turn(outside, life, 2);
    for (const answer of asked) expect(answer()).toMatch(/^refused: this machine's clock .* ahead of the chain's time/);
    expect(halt()).toBe("weekly is halted");
    expect(handledMs(life)).toBe(SLOT_MS);
  });

  test("before the start lets no new edition begin a day later either", async () => {
    const { outside, open, shift } = createMachine();
    shift(DAY_MS);
    const life = open();
    await life.engine.start();
    await turn(outside, life, 5);
    expect(handledMs(life)).toBeUndefined();
    shift(-DAY_MS);
    await turn(outside, life, 60);
    expect(slotsOf(life)).toContain(SLOT_MS + HALF_MINUTE_MS);
  });

  test("does not make an open swap wait a day for its next check once it is set back", async () => {
    const { outside, life, nowMs, shift } = await begin();
    const { store, db } = life;
    const [runId = ""] = db.prepare<[], string>("SELECT id FROM runs").pluck().all();
    shift(DAY_MS);
    await turn(outside, life, 2);
    store.addEffects(runId, [{ effect: { kind: "ReadView" }, notBeforeMs: nowMs() + 5_000 }], nowMs());
    shift(-DAY_MS);
    await turn(outside, life, 1);
    expect(store.nextEffectMs() ?? 0).toBeLessThanOrEqual(outside.clock.nowMs() + 10_000);
  });
});

describe("clocks agree", () => {
  test("while a node stalls, however old its newest block gets: slots come in their time", async () => {
    const { outside, life } = await begin();
    outside.chain.mine = () => undefined;
    await turn(outside, life, 600);
    expect(life.engine.clocks.problem()).toBeUndefined();
    expect(reportedCodes(outside)).toEqual([]);
    expect(handledMs(life)).toBeGreaterThanOrEqual(SLOT_MS + 19 * HALF_MINUTE_MS);
  });

  test("again after a machine slept, as soon as a new block is read: the newest slot is caught up", async () => {
    const { outside, life } = await begin();
    outside.clock.jumpTo(SLOT_MS + 2 * HOUR_MS + 1_000);
    await turn(outside, life, 5);
    expect(life.engine.clocks.problem()).toBeUndefined();
    expect(slotsOf(life)).toEqual([SLOT_MS, SLOT_MS + 2 * HOUR_MS]);
  });
});

/** A run that waits for a person, since long enough that an hour of approving would not end it. */
async function beginHeld(change: Partial<StrategySpec>) {
  const hourly = { kind: "every" as const, seconds: 3_600, anchorSeconds: SLOT_MS / 1_000 };
  const machine = createMachine({ schedule: hourly, retryForSeconds: 60, ...change });
  const life = machine.open();
  await life.engine.start();
  await turn(machine.outside, life, 90);
  const runId = String(life.db.prepare("SELECT id FROM runs").pluck().get());
  const endOf = (): unknown => life.db.prepare("SELECT state, reason FROM runs").get();
  return { ...machine, life, runId, endOf };
}

describe("a run that waits for a person while the clocks disagree", () => {
  test.each([HOUR_MS, -HOUR_MS])("is ended by a no, by a clock that is %i ms ahead", async (byMs) => {
    const { outside, life, shift, runId, endOf } = await beginHeld({ announceSeconds: 120 });
    shift(byMs);
    await turn(outside, life, 3);
    const no = ask(life, "skip", { strategy: runId });
    await turn(outside, life, 3);
    expect(no()).toBe(`refused ${runId} of weekly: nothing of it is signed`);
    shift(-byMs);
    await turn(outside, life, 120);
    expect([endOf(), outside.signed]).toEqual([{ state: "skipped", reason: "refused_by_operator" }, []]);
    expect(life.errors).toEqual([]);
  });

  test("hears no yes by a false time, which would be over too soon or too late, and goes on once they agree", async () => {
    const { outside, life, shift, runId, endOf } = await beginHeld({
      ...{ approveAboveUsd: usd("99.99"), approveWithinSeconds: 43_200 },
    });
    shift(-HOUR_MS);
    await turn(outside, life, 3);
    const early = ask(life, "approve", { run: runId });
    await turn(outside, life, 3);
    expect(early()).toMatch(/^refused: this machine's clock .* behind the chain's time .*; then ask again$/);
    shift(HOUR_MS);
    await turn(outside, life, 10);
    const yes = ask(life, "approve", { run: runId });
    await turn(outside, life, 30);
    expect(yes()).toMatch(/^approved /);
    expect(endOf()).toMatchObject({ state: "filled" });
    expect(life.errors).toEqual([]);
  });
});

test("a clock that is set back by an hour repeats no slot, and goes on where it was once it is right", async () => {
  const { outside, life, shift } = await begin();
  shift(-HOUR_MS);
  await turn(outside, life, 60);
  expect(life.engine.clocks.problem()).toMatch(/ (1h|59m59s) behind the chain's time/);
  expect([slotsOf(life), handledMs(life), openAlerts(life)]).toEqual([[SLOT_MS], SLOT_MS, ["CLOCK_DISAGREES"]]);
  shift(HOUR_MS);
  await turn(outside, life, 40);
  expect(new Set(slotsOf(life)).size).toBe(slotsOf(life).length);
  expect(slotsOf(life).length).toBeGreaterThan(1);
});
