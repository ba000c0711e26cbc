import { expect, test } from "vitest";
import { registerStrategies } from "../../src/engine/register-strategies.ts";
import { insertDueRuns } from "../../src/engine/scheduler.ts";
import { dcaSpec, SLOT_MS } from "../support/builders.ts";
import { ACCOUNT, createOutside, type Life, openLife, turn } from "../support/engine-life.ts";

/** Rules of docs/STRATEGIES.md that no kind of strategy can change. */

const MINUTE_MS = 60_000;

function runsOf({ db }: Life): unknown[] {
  return db.prepare("SELECT strategy, slot_ms AS slot FROM runs ORDER BY slot_ms, strategy").all();
}

test("ALL-1 two strategies with the same pair and the same slot both run: neither stands for the other", async () => {
  const outside = createOutside(SLOT_MS - 10_000);
  const strategies = ["first", "second"].map((id) => ({ spec: dcaSpec({ id }), specHash: "spec" }));
  const life = openLife(outside, { settings: { strategies } });
  await registerStrategies(life.context);
  outside.clock.jumpTo(SLOT_MS + 100);
  expect(await insertDueRuns(life.context)).toHaveLength(2);
  expect(runsOf(life)).toEqual([
    { strategy: "first", slot: SLOT_MS },
    { strategy: "second", slot: SLOT_MS },
  ]);
});

test("ALL-2 neither a start, nor an edited file, nor a resume trades by itself", async () => {
  const outside = createOutside(SLOT_MS + 1_000, { schedule: { kind: "every", seconds: 604_800 } });
  for (const specHash of ["first", "first", "edited"]) {
    const life = openLife(outside, { settings: { strategies: [{ spec: outside.spec, specHash }] } });
    await life.engine.start();
    for (const mode of ["paused", "active"]) {
      const request = { command: "mode", arguments: { mode }, madeBy: "ops", madeAtMs: outside.clock.nowMs() };
      life.store.addRequest(request);
      await turn(outside, life, 2);
    }
    expect(runsOf(life)).toEqual([]);
    life.kill();
    life.db.close();
  }
  expect(outside.service.requests).toEqual([]);
});

test("ALL-3 a mode outlives a kill with who set it and why, and the stricter of two binds", async () => {
  const outside = createOutside(SLOT_MS - 10_000, { wallet: { name: "main", address: ACCOUNT } });
  const life = openLife(outside);
  await registerStrategies(life.context);
  life.store.setMode({ scope: "weekly", mode: "exits-only", setBy: "ops", reason: "holiday", atMs: 1 });
  life.store.setMode({ scope: "global", mode: "halted", setBy: "owner", reason: "audit", atMs: 2 });
  life.kill();
  life.db.close();
  const next = openLife(outside);
  expect(next.store.mode("weekly")).toMatchObject({ mode: "exits-only", setBy: "ops", reason: "holiday", atMs: 1 });
  outside.clock.jumpTo(SLOT_MS);
  await insertDueRuns(next.context);
  next.store.setMode({ scope: "global", mode: "active", setBy: "owner", reason: "done", atMs: SLOT_MS });
  outside.clock.jumpTo(SLOT_MS + MINUTE_MS);
  await insertDueRuns(next.context);
  const reasons = next.db.prepare("SELECT reason FROM gaps ORDER BY first_slot_ms").pluck().all();
  expect(reasons).toEqual(["halted", "exits-only"]);
});
