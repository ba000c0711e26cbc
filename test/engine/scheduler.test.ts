import { describe, expect, test } from "vitest";
import { decodeJson, encodeJson } from "../../src/adapters/sqlite/daemon/codec.ts";
import type { OperatingMode } from "../../src/domain/run/operating-mode.ts";
import type { StrategySpec } from "../../src/domain/strategy/spec.ts";
import { registerStrategies } from "../../src/engine/register-strategies.ts";
import { insertDueRuns } from "../../src/engine/scheduler.ts";
import { SLOT_MS, thresholdSpec, USDC, WETH } from "../support/builders.ts";
import { skipOpenRuns } from "../support/daemon-database.ts";
import { ACCOUNT, createOutside, type Life, type Outside, openLife } from "../support/engine-life.ts";

const MINUTE_MS = 60_000;

async function begin(change: Partial<StrategySpec> = {}): Promise<{
  outside: Outside;
  life: Life;
  at(nowMs: number): Promise<readonly string[]>;
}> {
  const outside = createOutside(SLOT_MS - 10_000, change);
  const life = openLife(outside);
  await registerStrategies(life.context);
  const at = async (nowMs: number): Promise<readonly string[]> => {
    outside.clock.jumpTo(nowMs);
    return await insertDueRuns(life.context);
  };
  return { outside, life, at };
}

function gapsOf({ db }: Life): unknown[] {
  return db.prepare("SELECT first_slot_ms, last_slot_ms, count, reason FROM gaps ORDER BY first_slot_ms").all();
}

function slotsOf({ db }: Life): unknown[] {
  return db.prepare("SELECT slot_ms FROM runs ORDER BY slot_ms").pluck().all();
}

/** Ends every open run, so that the next slot is free. */
function endRuns({ store }: Life): void {
  skipOpenRuns(store);
}

const gap = (slotMs: number, reason: string, count = 1) => ({
  ...{ first_slot_ms: slotMs, last_slot_ms: slotMs + (count - 1) * MINUTE_MS, count, reason },
});

describe("a slot", () => {
  test("SCH-1 that is due becomes one run, however often the clock is looked at", async () => {
    const { life, at } = await begin();
    expect(await at(SLOT_MS - 1)).toEqual([]);
    const [id] = await at(SLOT_MS + 700);
    expect(life.store.run(id ?? "")).toEqual({
      ...{ id, strategyId: "weekly", slotMs: SLOT_MS, slots: 1, state: "due", reason: undefined, detail: undefined },
      ...{ specHash: "spec", windowEndsMs: SLOT_MS + 700 + 60_000, retries: 0, swaps: [] },
    });
    expect(await at(SLOT_MS + 800)).toEqual([]);
    expect(slotsOf(life)).toEqual([SLOT_MS]);
  });

  test("SCH-1 runs once over a kill: a fresh process on the same file does not repeat it", async () => {
    const { outside, life, at } = await begin();
    await at(SLOT_MS);
    life.db.close();
    const next = openLife(outside);
    await registerStrategies(next.context);
    expect(await insertDueRuns(next.context)).toEqual([]);
    expect(slotsOf(next)).toEqual([SLOT_MS]);
  });

  test("SCH-19 is never repeated when the clock goes back, and the next one comes in its time", async () => {
    const { life, at } = await begin();
    await at(SLOT_MS);
    endRuns(life);
    expect(await at(SLOT_MS - 10 * MINUTE_MS)).toEqual([]);
    expect(await at(SLOT_MS + 1)).toEqual([]);
    expect(await at(SLOT_MS + MINUTE_MS)).toHaveLength(1);
    expect(slotsOf(life)).toEqual([SLOT_MS, SLOT_MS + MINUTE_MS]);
    expect(gapsOf(life)).toEqual([]);
  });

  test("SCH-23 whose strategy still has an open run is a gap, and neighbours of it share the row", async () => {
    const { life, at } = await begin();
    await at(SLOT_MS);
    await at(SLOT_MS + MINUTE_MS);
    await at(SLOT_MS + 2 * MINUTE_MS);
    expect(slotsOf(life)).toEqual([SLOT_MS]);
    expect(gapsOf(life)).toEqual([gap(SLOT_MS + MINUTE_MS, "overlap", 2)]);
    endRuns(life);
    expect(await at(SLOT_MS + 3 * MINUTE_MS)).toHaveLength(1);
    await at(SLOT_MS + 4 * MINUTE_MS);
    expect(gapsOf(life)).toEqual([gap(SLOT_MS + MINUTE_MS, "overlap", 2), gap(SLOT_MS + 4 * MINUTE_MS, "overlap")]);
  });

  test("that passed while the process was down is a gap, and only the newest may still run", async () => {
    const { life, at } = await begin();
    await at(SLOT_MS);
    endRuns(life);
    expect(await at(SLOT_MS + 5 * MINUTE_MS + 20_000)).toHaveLength(1);
    expect(slotsOf(life)).toEqual([SLOT_MS, SLOT_MS + 5 * MINUTE_MS]);
    expect(gapsOf(life)).toEqual([gap(SLOT_MS + MINUTE_MS, "missed", 4)]);
  });

  test("that is older than half of the time to the next one is missed too", async () => {
    const { life, at } = await begin();
    expect(await at(SLOT_MS + 31_000)).toEqual([]);
    expect(gapsOf(life)).toEqual([gap(SLOT_MS, "missed")]);
    expect(await at(SLOT_MS + MINUTE_MS)).toHaveLength(1);
  });

  test("has exactly one end, whatever mixture of runs, pauses, overlaps and downtime comes", async () => {
    const { life, at } = await begin();
    const mode = (name: OperatingMode): void =>
      life.store.setMode({ scope: "global", mode: name, setBy: "ops", reason: "r", atMs: 1 });
    await at(SLOT_MS);
    await at(SLOT_MS + MINUTE_MS);
    endRuns(life);
    mode("paused");
    await at(SLOT_MS + 2 * MINUTE_MS);
    await at(SLOT_MS + 5 * MINUTE_MS + 1);
    mode("active");
    await at(SLOT_MS + 6 * MINUTE_MS);
    await at(SLOT_MS + 9 * MINUTE_MS + 45_000);
    const covered = gapsOf(life) as { first_slot_ms: number; count: number }[];
    const slots = covered.flatMap(({ first_slot_ms, count }) =>
      Array.from({ length: count }, (_none, index) => first_slot_ms + index * MINUTE_MS),
    );
    const all = [...slots, ...(slotsOf(life) as number[])].sort((a, b) => a - b);
    expect(all).toEqual(Array.from({ length: 10 }, (_none, index) => SLOT_MS + index * MINUTE_MS));
  });
});

describe("a schedule's limits", () => {
  const untilSecond = (atMs: number): number => Math.floor((atMs % 86_400_000) / MINUTE_MS);

  test("SCH-11 what a run retries ends with its window", async () => {
    const closes = untilSecond(SLOT_MS) + 1;
    const windows = [{ days: [0, 1, 2, 3, 4, 5, 6], fromMinute: 0, untilMinute: closes }];
    const { life, at } = await begin({ schedule: { kind: "every", seconds: 60, windows }, retryForSeconds: 600 });
    const [id] = await at(SLOT_MS + 500);
    expect(life.store.run(id ?? "")?.windowEndsMs).toBe(SLOT_MS + MINUTE_MS);
    endRuns(life);
    expect(await at(SLOT_MS + MINUTE_MS)).toEqual([]);
    expect(gapsOf(life)).toEqual([]);
  });

  test("SCH-12 a delayed run keeps its slot, and a restart does not roll the delay anew", async () => {
    const { outside, life, at } = await begin({ schedule: { kind: "every", seconds: 3_600, jitterSeconds: 3_000 } });
    const hourMs = Math.ceil(SLOT_MS / 3_600_000) * 3_600_000;
    const secondsUntilRun = async (check: () => Promise<readonly string[]>, life: Life): Promise<number> => {
      for (let second = 0; second <= 3_000; second += 1) {
        outside.clock.jumpTo(hourMs + second * 1_000);
        const [id] = await check();
        if (id === undefined) continue;
        expect(life.store.run(id)?.slotMs).toBe(hourMs);
        return second;
      }
      return -1;
    };
    const first = await secondsUntilRun(() => at(outside.clock.nowMs()), life);
    expect(first).toBeGreaterThan(0);
    life.db.exec(
      "DROP TRIGGER runs_kept; DELETE FROM runs; UPDATE strategies SET last_slot_ms = last_slot_ms - 3600000",
    );
    life.db.close();
    const next = openLife(outside);
    expect(await secondsUntilRun(() => insertDueRuns(next.context), next)).toBe(first);
  });

  test("SCH-16 an accumulated run says in the database for how many slots it stands", async () => {
    const catchUp = { policy: "accumulate", windowSeconds: 3_600, maxRuns: 3, maxMultiple: 4 } as const;
    const { life, at } = await begin({ catchUp });
    const [id] = await at(SLOT_MS + 5 * MINUTE_MS + 30_000);
    expect(life.store.run(id ?? "")).toMatchObject({ slotMs: SLOT_MS + 5 * MINUTE_MS, slots: 4 });
    expect(gapsOf(life)).toEqual([gap(SLOT_MS, "missed", 2), gap(SLOT_MS + 2 * MINUTE_MS, "accumulated", 3)]);
  });

  test("DCA-12 a downtime over its start makes one run of the slots from there on, and of none before", async () => {
    const catchUp = { policy: "accumulate", windowSeconds: 3_600, maxRuns: 3, maxMultiple: 4 } as const;
    const { life, at } = await begin({ catchUp, startMs: SLOT_MS + 4 * MINUTE_MS });
    const [id] = await at(SLOT_MS + 5 * MINUTE_MS + 30_000);
    expect(life.store.run(id ?? "")).toMatchObject({ slotMs: SLOT_MS + 5 * MINUTE_MS, slots: 2 });
    expect(gapsOf(life)).toEqual([gap(SLOT_MS, "missed", 4), gap(SLOT_MS + 4 * MINUTE_MS, "accumulated")]);
  });
});

describe("a mode", () => {
  const exits = thresholdSpec();
  const entries = thresholdSpec({ sell: USDC, buy: WETH });
  const cases: readonly [OperatingMode, Partial<StrategySpec>, string | undefined][] = [
    ["active", {}, undefined],
    ["paused", {}, "paused"],
    ["halted", {}, "halted"],
    ["exits-only", {}, "exits-only"],
    ["exits-only", exits, undefined],
    ["exits-only", entries, "exits-only"],
    ["paused", exits, "paused"],
  ];

  test.each(cases)(
    "%s, of the strategy or of all, lets a slot run or makes it a gap with its name",
    async (mode, change, reason) => {
      const { life, at, outside } = await begin({ ...change, wallet: { name: "main", address: ACCOUNT } });
      for (const [index, scope] of ["global", outside.spec.id].entries()) {
        const set = (to: OperatingMode) => life.store.setMode({ scope, mode: to, setBy: "ops", reason: "r", atMs: 1 });
        set(mode);
        expect(await at(SLOT_MS + index * MINUTE_MS), scope).toHaveLength(reason === undefined ? 1 : 0);
        set("active");
        endRuns(life);
      }
      expect(gapsOf(life)).toEqual(reason === undefined ? [] : [gap(SLOT_MS, reason, 2)]);
    },
  );

  test("of another strategy does not stop this one", async () => {
    const { life, at } = await begin();
    life.store.setMode({ scope: "other", mode: "halted", setBy: "ops", reason: "r", atMs: 1 });
    expect(await at(SLOT_MS)).toHaveLength(1);
  });
});

describe("a strategy that is made known", () => {
  test("SCH-22 begins at the next slot, never at one before it was there", async () => {
    const { life, at } = await begin();
    expect(life.store.strategy("weekly")).toMatchObject({ lastSlotMs: SLOT_MS - 10_000 });
    await at(SLOT_MS + 1);
    expect(gapsOf(life)).toEqual([]);
  });

  test("again unchanged keeps its memory and its last slot: downtime is seen as such", async () => {
    const { life, outside } = await begin();
    const row = life.store.strategy("weekly");
    outside.clock.jumpTo(SLOT_MS + 10 * MINUTE_MS);
    await registerStrategies(life.context);
    expect(life.store.strategy("weekly")).toEqual(row);
  });

  test("SCH-22 in a new edition keeps its memory, makes no slots in the past, and forgets none of the old ones", async () => {
    const { life, outside } = await begin({ ...thresholdSpec(), wallet: { name: "main", address: ACCOUNT } });
    const row = life.store.strategy("take-profit");
    const memory = '{"version":2,"legs":{"main":{"at":{"state":"armed","failures":1,"unmet":0},"fills":0}},"sold":"0"}';
    if (row !== undefined) life.store.saveStrategy({ ...row, memory }, 1);
    outside.clock.jumpTo(SLOT_MS + 10 * MINUTE_MS);
    const edition = { ...outside.spec, schedule: { kind: "every", seconds: 120 } as const };
    const context = {
      ...life.context,
      settings: { ...life.context.settings, strategies: [{ spec: edition, specHash: "b" }] },
    };
    await registerStrategies(context);
    expect(life.store.strategy("take-profit")).toMatchObject({
      ...{ memory, specHash: "b", spec: decodeJson(encodeJson(edition)), lastSlotMs: SLOT_MS + 10 * MINUTE_MS },
    });
    expect(await insertDueRuns(context)).toEqual([]);
    expect(gapsOf(life)).toEqual([gap(SLOT_MS, "missed", 11)]);
  });

  test("as another kind starts with a memory of that kind", async () => {
    const { life, outside } = await begin();
    const spec = { ...thresholdSpec(), id: "weekly" };
    const settings = { ...life.context.settings, strategies: [{ spec, specHash: "b" }] };
    await registerStrategies({ ...life.context, settings });
    expect(life.store.strategy("weekly")).toMatchObject({
      kind: "threshold",
      memory: '{"version":2,"legs":{},"sold":"0"}',
    });
    expect(outside.spec.kind).toBe("dca");
  });
});
