import { describe, expect, test } from "vitest";
import { OPERATING_MODES } from "../../src/domain/run/operating-mode.ts";
import type { StrategySpec } from "../../src/domain/strategy/spec.ts";
import { takeRequests } from "../../src/engine/operator-requests.ts";
import { registerStrategies } from "../../src/engine/register-strategies.ts";
import { insertDueRuns } from "../../src/engine/scheduler.ts";
import { dcaSpec, SLOT_MS, thresholdSpec, USDC, WETH } from "../support/builders.ts";
import { ACCOUNT, createOutside, type Life, openLife, turn, turnUntil } from "../support/engine-life.ts";

const owner = { wallet: { name: "main", address: ACCOUNT }, recipient: ACCOUNT };

/** One that leaves a position, and two that do not. */
const SPECS: readonly StrategySpec[] = [
  { ...thresholdSpec(), ...owner, id: "exit" },
  { ...thresholdSpec({ sell: USDC, buy: WETH, watch: WETH }), ...owner, id: "entry" },
  { ...dcaSpec(), ...owner, id: "dca" },
];

async function ask(
  { context, store }: Life,
  command: string,
  args: Record<string, string>,
): Promise<string | undefined> {
  const id = store.addRequest({ command, arguments: args, madeBy: "ops", madeAtMs: SLOT_MS - 5_000 });
  await takeRequests(context);
  return store.answerOf(id);
}

function runsOf({ db }: Life): unknown[] {
  return db.prepare("SELECT strategy FROM runs ORDER BY strategy").pluck().all();
}

const STARTED: Readonly<Record<(typeof OPERATING_MODES)[number], readonly string[]>> = {
  active: ["dca", "entry", "exit"],
  "exits-only": ["exit"],
  paused: [],
  halted: [],
};

describe.each(OPERATING_MODES)("in the mode %s", (mode) => {
  test("for everything, only those runs start that it lets start; the other slots end with the mode as reason", async () => {
    const outside = createOutside(SLOT_MS - 10_000);
    const strategies = SPECS.map((spec) => ({ spec, specHash: spec.id }));
    const life = openLife(outside, { settings: { strategies } });
    await registerStrategies(life.context);
    await ask(life, "mode", { mode });
    outside.clock.jumpTo(SLOT_MS);
    await insertDueRuns(life.context);
    expect(runsOf(life)).toEqual(STARTED[mode]);
    const barred = SPECS.map(({ id }) => id).filter((id) => !STARTED[mode].includes(id));
    const gaps = life.db.prepare("SELECT strategy, reason FROM gaps ORDER BY strategy").all();
    expect(gaps).toEqual(barred.sort().map((strategy) => ({ strategy, reason: mode })));
  });

  test("of one strategy, the others go on as before", async () => {
    const outside = createOutside(SLOT_MS - 10_000);
    const life = openLife(outside, { settings: { strategies: SPECS.map((spec) => ({ spec, specHash: spec.id })) } });
    await registerStrategies(life.context);
    await ask(life, "mode", { mode, scope: "dca" });
    outside.clock.jumpTo(SLOT_MS);
    await insertDueRuns(life.context);
    expect(runsOf(life)).toEqual(STARTED[mode].includes("dca") ? ["dca", "entry", "exit"] : ["entry", "exit"]);
  });

  test.each(["global", "weekly"])("of %s, what is out is watched to its end, over a restart too", async (scope) => {
    const outside = createOutside(SLOT_MS - 1_000);
    const life = openLife(outside);
    await life.engine.start();
    const isOut = () => outside.signed.length === 2 && life.store.openWork().length === 1;
    expect(await turnUntil(outside, life, { maxSeconds: 20, isDone: isOut })).toBe(true);
    await ask(life, "mode", { mode, scope });
    life.kill();
    const next = openLife(outside);
    await next.engine.start();
    await turn(outside, next, 15);
    expect(next.errors).toEqual([]);
    expect(next.store.mode(scope)?.mode ?? "active").toBe(mode);
    expect(next.db.prepare("SELECT state FROM swaps").pluck().all()).toEqual(["final"]);
    expect(outside.signed).toHaveLength(2);
  });
});

test.each(OPERATING_MODES)(
  "a restart in the mode %s never trades by itself: not before the next slot",
  async (mode) => {
    const outside = createOutside(SLOT_MS + 1_000);
    const life = openLife(outside);
    await life.engine.start();
    await ask(life, "mode", { mode });
    life.kill();
    const next = openLife(outside);
    await next.engine.start();
    await turn(outside, next, 30);
    await ask(next, "mode", { mode: "active" });
    await turn(outside, next, 20);
    expect(runsOf(next)).toEqual([]);
    expect(outside.signed).toEqual([]);
  },
);
