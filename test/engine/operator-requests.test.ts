import { describe, expect, test } from "vitest";
import { createAccessStore } from "../../src/adapters/sqlite/daemon/access-store.ts";
import { SUBJECT } from "../../src/domain/run/alert.ts";
import { parseWindow } from "../../src/domain/schedule/parse-window.ts";
import type { StrategySpec } from "../../src/domain/strategy/spec.ts";
import type { EngineSettings } from "../../src/engine/engine-context.ts";
import { takeRequests } from "../../src/engine/operator-requests.ts";
import { registerStrategies } from "../../src/engine/register-strategies.ts";
import { insertDueRuns } from "../../src/engine/scheduler.ts";
import { alterAnswers } from "../support/altered-answers.ts";
import { alertSample, SLOT_MS } from "../support/builders.ts";
import { skipOpenRuns } from "../support/daemon-database.ts";
import { ACCOUNT, createOutside, type Life, openLife } from "../support/engine-life.ts";

const MINUTE_MS = 60_000;
const WEEK_SECONDS = 604_800;

async function begin(change: Partial<StrategySpec> = {}, settings: Partial<EngineSettings> = {}) {
  const outside = createOutside(SLOT_MS - 10_000, change);
  const life = openLife(outside, { settings });
  await registerStrategies(life.context);
  const ask = async (command: string, args: Record<string, string> = {}): Promise<string | undefined> => {
    const id = life.store.addRequest({ command, arguments: args, madeBy: "ops", madeAtMs: outside.clock.nowMs() });
    await takeRequests(life.context);
    return life.store.answerOf(id);
  };
  return { outside, life, ask };
}

function slotsOf({ db }: Life): unknown[] {
  return db.prepare("SELECT slot_ms FROM runs ORDER BY slot_ms").pluck().all();
}

function gapsOf({ db }: Life): unknown[] {
  return db.prepare("SELECT first_slot_ms AS slot, count, reason FROM gaps ORDER BY first_slot_ms").all();
}

test.each([
  ["global", [ACCOUNT], true],
  ["weekly", [ACCOUNT], true],
  ["global", [], false],
])("who halts %s is told what owners of Safes (%j) can execute all the same: %s", async (scope, safes, isTold) => {
  const { ask, outside } = await begin({}, { safes: new Set(safes) });
  const left = "what the owners of a Safe have been asked for they can execute until its deadline";
  const answer = await ask("mode", { mode: "halted", scope, reason: "stop" });
  expect([answer?.startsWith(`${scope} is halted`), answer?.includes(left)]).toEqual([true, isTold]);
  expect(outside.reported.map(({ text }) => text.includes(left))).toEqual([isTold]);
  expect(await ask("mode", { mode: "active", scope })).not.toContain(left);
});

describe("a request that breaks on its way", () => {
  test("is refused with the reason and never taken again, and those after it are", async () => {
    const { life } = await begin();
    const commit = alterAnswers(life.store, "scope", () => broken());
    const store = { ...life.store, commit };
    const context = { ...life.context, deps: { ...life.context.deps, store } };
    const add = (command: string, args: Record<string, string>) =>
      life.store.addRequest({ command, arguments: args, madeBy: "ops", madeAtMs: life.context.deps.clock.nowMs() });
    const [first, second] = [add("mode", { mode: "halted" }), add("skip", { strategy: "weekly" })];
    await takeRequests(context);
    expect(life.store.answerOf(first)).toBe("refused: no room on the disk");
    expect(life.store.answerOf(second)).toMatch(/will not run$/);
    expect(life.store.openRequests()).toEqual([]);
    expect(life.store.mode("global")).toBeUndefined();
  });
});

/** A token of an operator, and what asks by it. */
async function token(life: Awaited<ReturnType<typeof begin>>["life"]) {
  const access = createAccessStore(life.db);
  const hash = "0".repeat(64);
  await access.addToken({ name: "bot", scope: "operate", hash, madeBy: "ada" }, 1);
  const accessId = (await access.find(hash, 2))?.id ?? 0;
  const ask = async (mode: string) => {
    const key = { accessId, key: mode, asked: hash };
    const request = { command: "mode", arguments: { mode }, madeBy: "bot (token)" };
    const written = await access.request(key, request, life.context.deps.clock.nowMs());
    return typeof written === "string" ? 0 : written.id;
  };
  return { access, ask };
}

test("what a token asked for that is revoked while those before it are taken is not done", async () => {
  const { life } = await begin();
  const { access, ask } = await token(life);
  const [first, second] = [await ask("paused"), await ask("active")];
  const commit: typeof life.store.commit = async (units) => {
    const written = await life.store.commit(units);
    await access.revoke("bot", 4);
    return written;
  };
  await takeRequests({ ...life.context, deps: { ...life.context.deps, store: { ...life.store, commit } } });
  expect(life.store.answerOf(first)).toBe("global is paused");
  expect(life.store.answerOf(second)).toMatch(/^refused: bot, who asked, was revoked/);
  expect(life.store.mode("global")).toMatchObject({ mode: "paused" });
});

test("what a token asked for that is revoked right before it would be done is not done, and keeps its refusal", async () => {
  const { life } = await begin();
  const { access, ask } = await token(life);
  const asked = await ask("paused");
  const commit: typeof life.store.commit = async (units) => {
    await access.revoke("bot", 4);
    return await life.store.commit(units);
  };
  await takeRequests({ ...life.context, deps: { ...life.context.deps, store: { ...life.store, commit } } });
  expect(life.store.answerOf(asked)).toMatch(/^refused: bot, who asked, was revoked/);
  expect(life.store.mode("global")).toBeUndefined();
});

function broken(): never {
  throw new Error("no room on the disk");
}

describe("a mode", () => {
  test("that was set active by a clock that ran ahead bars no slot once the clock is right", async () => {
    const { outside, life } = await begin({ schedule: { kind: "every", seconds: 60 } } as Partial<StrategySpec>);
    const aheadMs = SLOT_MS + 365 * 86_400_000;
    life.store.setMode({ scope: "global", mode: "active", setBy: "ops", reason: "go on", atMs: aheadMs });
    await registerStrategies(life.context);
    outside.clock.jumpTo(SLOT_MS + 500);
    await insertDueRuns(life.context);
    expect([slotsOf(life), gapsOf(life)]).toEqual([[SLOT_MS], []]);
    expect(life.store.mode("global")).toMatchObject({ setBy: "ops", reason: "go on", atMs: SLOT_MS - 10_000 });
  });

  test("of a strategy whose file has another name by now says that no file of that name is in force", async () => {
    const { life } = await begin();
    const renamed = { ...life.context, settings: { ...life.context.settings, strategies: [] } };
    const id = life.store.addRequest({
      ...{
        command: "mode",
        arguments: { mode: "paused", scope: "weekly" },
        madeBy: "ops",
        madeAtMs: life.context.deps.clock.nowMs(),
      },
    });
    await takeRequests(renamed);
    expect(life.store.answerOf(id)).toMatch(/^weekly is paused; no file of that name is in force/);
    expect(life.store.mode("weekly")?.mode, "its open run must be stoppable").toBe("paused");
  });

  test("is set with who asked, when and why, globally or for one strategy", async () => {
    const { life, ask } = await begin();
    expect(await ask("mode", { mode: "halted", reason: "dry run" })).toBe("global is halted");
    expect(life.store.mode("global")).toEqual({
      ...{ scope: "global", mode: "halted", setBy: "ops", reason: "dry run", atMs: SLOT_MS - 10_000 },
    });
    expect(await ask("mode", { mode: "paused", scope: "weekly" })).toBe("weekly is paused");
    expect(life.store.mode("weekly")?.reason).toBe("no reason given");
  });

  test("that a person sets active again acknowledges the lost fills of that strategy, and nothing else does", async () => {
    const { life, ask } = await begin();
    const lost = { subject: SUBJECT.fill("run_1.0.1"), code: "FILL_TAKEN_BACK", severity: "critical" } as const;
    life.store.raiseAlert(alertSample({ ...lost, strategy: "weekly" }));
    const open = (): unknown => life.db.prepare("SELECT count(*) FROM alerts WHERE over_at_ms IS NULL").pluck().get();
    await ask("mode", { mode: "paused", scope: "weekly" });
    await ask("mode", { mode: "active" });
    expect(open()).toBe(1);
    for (const mode of ["active", "active"]) await ask("mode", { mode, scope: "weekly" });
    expect(open()).toBe(0);
  });

  test("SCH-18 that is set back to active does not make up for what passed before", async () => {
    const catchUp = { policy: "all", windowSeconds: 3_600, maxRuns: 9, maxMultiple: 2 } as const;
    const { life, outside } = await begin({ catchUp });
    life.store.setMode({ scope: "weekly", mode: "active", setBy: "ops", reason: "r", atMs: SLOT_MS + MINUTE_MS + 1 });
    outside.clock.jumpTo(SLOT_MS + 2 * MINUTE_MS + 1_000);
    expect(await insertDueRuns(life.context)).toHaveLength(1);
    expect(slotsOf(life)).toEqual([SLOT_MS + 2 * MINUTE_MS]);
    expect(gapsOf(life)).toEqual([{ slot: SLOT_MS, count: 2, reason: "paused" }]);
  });

  test("that lets nothing trade, because a stricter one holds besides, says so", async () => {
    const { life, ask } = await begin();
    await ask("mode", { mode: "halted" });
    expect(await ask("mode", { mode: "active", scope: "weekly" })).toBe(
      "weekly is active; everything is halted, and the stricter of the two holds",
    );
    await ask("mode", { mode: "paused", scope: "weekly" });
    expect(await ask("mode", { mode: "active" })).toBe(
      "global is active; a mode of their own have still weekly (paused)",
    );
    expect(await ask("mode", { mode: "exits-only", scope: "weekly" })).toBe("weekly is exits-only");
    expect(life.errors).toEqual([]);
  });

  test("that is set in place of a halt says that open runs are signed again, unless everything is halted besides", async () => {
    const { ask } = await begin();
    await ask("mode", { mode: "halted" });
    expect(await ask("mode", { mode: "halted", scope: "weekly" })).toBe("weekly is halted");
    expect(await ask("mode", { mode: "paused", scope: "weekly" })).toBe("weekly is paused");
    expect(await ask("mode", { mode: "paused" })).toBe(
      "global is paused; it was halted, and open runs are signed again",
    );
    expect(await ask("mode", { mode: "exits-only" })).toBe("global is exits-only");
  });

  test("SCH-18 that is active already stays active since when it was, so that nothing counts as paused", async () => {
    const { life, outside, ask } = await begin();
    outside.clock.jumpTo(SLOT_MS + 500);
    expect(await ask("mode", { mode: "active" })).toBe("global is active");
    expect(life.store.modes()).toEqual([]);
    await ask("mode", { mode: "paused" });
    expect(await insertDueRuns(life.context)).toEqual([]);
    await ask("mode", { mode: "active" });
    expect(life.store.mode("global")?.mode).toBe("active");
    expect(gapsOf(life)).toEqual([{ slot: SLOT_MS, count: 1, reason: "paused" }]);
  });

  test.each([
    [{ mode: "sleeping" }, 'refused: no mode "sleeping"; known are active, exits-only, paused, halted'],
    [{}, "refused: no mode undefined; known are active, exits-only, paused, halted"],
    [{ mode: "halted", scope: "monthly" }, 'refused: no strategy "monthly"'],
  ])("that makes no sense is refused and changes nothing: %j", async (args, answer) => {
    const { life, ask } = await begin();
    expect(await ask("mode", args as Record<string, string>)).toBe(answer);
    expect(life.store.modes()).toEqual([]);
  });
});

describe("a run that is asked for", () => {
  test("SCH-20 takes the place of the next slot, so that asking does not buy twice", async () => {
    const { life, outside, ask } = await begin();
    const slot = new Date(SLOT_MS).toISOString();
    expect(await ask("run", { strategy: "weekly" })).toBe(`started run_1 in place of the slot of ${slot}`);
    expect(slotsOf(life)).toEqual([SLOT_MS]);
    outside.clock.jumpTo(SLOT_MS + 1);
    expect(await insertDueRuns(life.context)).toEqual([]);
    expect(slotsOf(life)).toEqual([SLOT_MS]);
  });

  test("SCH-20 with `--extra` comes besides the schedule: the next slot runs too", async () => {
    const { life, outside, ask } = await begin();
    outside.clock.jumpTo(SLOT_MS - 9_300);
    expect(await ask("run", { strategy: "weekly", extra: "true" })).toBe("started run_1, besides the schedule");
    expect(await ask("run", { strategy: "weekly", extra: "true" })).toBe("refused: weekly still has an open run");
    skipOpenRuns(life.store);
    expect(await ask("run", { strategy: "weekly", extra: "true" })).toContain(
      "refused: weekly already ran for this slot",
    );
    outside.clock.jumpTo(SLOT_MS);
    expect(await insertDueRuns(life.context)).toHaveLength(1);
    expect(slotsOf(life)).toEqual([SLOT_MS - 10_000, SLOT_MS]);
    expect(life.db.prepare("SELECT detail FROM transitions WHERE to_state = 'due'").pluck().all()).toEqual([
      "an extra run, asked for by ops",
      null,
    ]);
  });

  test("SCH-20 with `--extra` does not take the place of a slot whose start is delayed", async () => {
    const { outside, ask } = await begin({ schedule: { kind: "every", seconds: 60, jitterSeconds: 50 } });
    outside.clock.jumpTo(SLOT_MS);
    expect(await ask("run", { strategy: "weekly", extra: "true" })).toContain(
      "refused: this second is a slot of weekly",
    );
  });

  test("has its window now, not at the slot whose place it takes: that may lie days ahead", async () => {
    const { life, outside, ask } = await begin({ schedule: { kind: "every", seconds: WEEK_SECONDS } });
    await ask("run", { strategy: "weekly" });
    const run = life.store.run("run_1");
    expect(run?.slotMs).toBeGreaterThan(outside.clock.nowMs() + 24 * 60 * MINUTE_MS);
    expect(run?.windowEndsMs).toBe(outside.clock.nowMs() + 60_000);
  });

  test("SCH-20 has its whole window where the schedule is closed: windows do not bind a person", async () => {
    const windows = ["Mon 08:00-08:01"].map(parseWindow).filter((one) => "days" in one);
    const schedule = { kind: "every", seconds: WEEK_SECONDS, timezone: "UTC", windows } as const;
    const { life, outside, ask } = await begin({ schedule, retryForSeconds: 200_000 } as Partial<StrategySpec>);
    await ask("run", { strategy: "weekly", extra: "true" });
    expect(life.store.run("run_1")?.windowEndsMs).toBe(outside.clock.nowMs() + 200_000_000);
  });

  test("is refused while the strategy has an open one", async () => {
    const { life, ask } = await begin();
    await ask("run", { strategy: "weekly" });
    expect(await ask("run", { strategy: "weekly" })).toBe("refused: weekly still has an open run");
    expect(slotsOf(life)).toHaveLength(1);
    expect(life.store.strategy("weekly")?.lastSlotMs).toBe(SLOT_MS);
  });

  test.each(["paused", "halted", "exits-only"] as const)(
    "is refused in the mode %s: it starts no runs",
    async (mode) => {
      const { life, ask } = await begin();
      await ask("mode", { mode });
      expect(await ask("run", { strategy: "weekly" })).toBe(`refused: weekly starts no runs, its mode is ${mode}`);
      expect(slotsOf(life)).toEqual([]);
    },
  );

  test("does not pass over a slot that is due already: that one runs, and the request is refused", async () => {
    const { life, outside, ask } = await begin();
    outside.clock.jumpTo(SLOT_MS + 300);
    expect(await ask("run", { strategy: "weekly" })).toBe("refused: weekly still has an open run");
    expect(slotsOf(life)).toEqual([SLOT_MS]);
  });
});

describe("a slot that is to be skipped", () => {
  test("SCH-21 ends as a gap with its own reason, and the one after it runs", async () => {
    const { life, outside, ask } = await begin();
    expect(await ask("skip", { strategy: "weekly" })).toBe(
      `the slot of ${new Date(SLOT_MS).toISOString()} will not run`,
    );
    expect(await ask("skip", { strategy: "weekly" })).toContain(new Date(SLOT_MS + MINUTE_MS).toISOString());
    outside.clock.jumpTo(SLOT_MS + MINUTE_MS + 1);
    expect(await insertDueRuns(life.context)).toEqual([]);
    outside.clock.jumpTo(SLOT_MS + 2 * MINUTE_MS + 1);
    expect(await insertDueRuns(life.context)).toHaveLength(1);
    expect(slotsOf(life)).toEqual([SLOT_MS + 2 * MINUTE_MS]);
    expect(gapsOf(life)).toEqual([
      { slot: SLOT_MS, count: 1, reason: "skipped_by_operator" },
      { slot: SLOT_MS + MINUTE_MS, count: 1, reason: "skipped_by_operator" },
    ]);
  });

  test("SCH-21 is one that waits for its turn, when there is one", async () => {
    const catchUp = { policy: "all", windowSeconds: 3_600, maxRuns: 9, maxMultiple: 2 } as const;
    const { life, outside, ask } = await begin({ catchUp });
    outside.clock.jumpTo(SLOT_MS + 2 * MINUTE_MS);
    expect(await ask("skip", { strategy: "weekly" })).toContain(new Date(SLOT_MS + MINUTE_MS).toISOString());
    skipOpenRuns(life.store);
    expect(await insertDueRuns(life.context)).toHaveLength(1);
    expect(slotsOf(life)).toEqual([SLOT_MS, SLOT_MS + 2 * MINUTE_MS]);
  });

  test("SCH-21 is the next one, never one that is due already", async () => {
    const { life, outside, ask } = await begin();
    outside.clock.jumpTo(SLOT_MS + 300);
    expect(await ask("skip", { strategy: "weekly" })).toContain(new Date(SLOT_MS + MINUTE_MS).toISOString());
    expect(slotsOf(life)).toEqual([SLOT_MS]);
  });
});

test.each(["run", "skip"])("%s of an unknown strategy is refused", async (command) => {
  const { ask } = await begin();
  expect(await ask(command, { strategy: "monthly" })).toBe('refused: no strategy "monthly"');
  expect(await ask(command)).toBe('refused: no strategy ""');
});

test("an unknown command is answered too, and no request is taken twice", async () => {
  const { life, ask } = await begin();
  expect(await ask("dance")).toBe('refused: unknown command "dance"');
  expect(life.store.openRequests()).toEqual([]);
});

test.each([
  ["run", { strategy: "weekly", extra: "true" }],
  ["skip", { strategy: "weekly" }],
  ["approve", { run: "run_1" }],
  ["accept", {}],
  ["mode", { mode: "active" }],
])("what a daemon that ended left untaken is done by no start long after: %s", async (command, args) => {
  const { outside, life } = await begin();
  const add = (asked: string, of: Record<string, string>): number =>
    life.store.addRequest({ command: asked, arguments: of, madeBy: "ops", madeAtMs: outside.clock.nowMs() });
  const left = add(command, args);
  const stop = add("mode", { mode: "paused" });
  outside.clock.jumpTo(outside.clock.nowMs() + 5 * MINUTE_MS + 1);
  await takeRequests(life.context);
  expect(life.store.answerOf(left)).toBe("refused: it was asked 5m ago, and no daemon took it in time; ask again");
  expect(life.store.answerOf(stop), "a stop is never too late").toBe("global is paused");
  expect([slotsOf(life), gapsOf(life)]).toEqual([[], []]);
});

test("what waited for a moment, or was asked by a clock that was ahead, is done", async () => {
  const { outside, life } = await begin();
  const add = (extra: number): number =>
    life.store.addRequest({
      ...{ command: "skip", arguments: { strategy: "weekly" }, madeBy: "ops", madeAtMs: outside.clock.nowMs() + extra },
    });
  const [late, ahead] = [add(-5 * MINUTE_MS), add(60 * MINUTE_MS)];
  await takeRequests(life.context);
  for (const id of [late, ahead]) expect(life.store.answerOf(id)).toMatch(/ will not run$/);
});

test("a request is answered in the commit that carries it out: neither is there without the other", async () => {
  const { life } = await begin();
  life.store.addRequest({
    command: "run",
    arguments: { strategy: "weekly" },
    madeBy: "ops",
    madeAtMs: life.context.deps.clock.nowMs(),
  });
  life.db.exec("CREATE TRIGGER killed BEFORE UPDATE ON requests BEGIN SELECT RAISE(ABORT, 'killed'); END");
  await expect(takeRequests(life.context)).rejects.toThrow("killed");
  expect(slotsOf(life)).toEqual([]);
  expect(life.store.openRequests()).toHaveLength(1);
  life.db.exec("DROP TRIGGER killed");
  await takeRequests(life.context);
  expect(slotsOf(life)).toEqual([SLOT_MS]);
});
