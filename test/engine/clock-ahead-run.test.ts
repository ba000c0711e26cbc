import { expect, test } from "vitest";
import { createReadModel } from "../../src/adapters/sqlite/daemon/read-model.ts";
import { createHealthReader } from "../../src/app/http/health.ts";
import type { StrategySpec } from "../../src/domain/strategy/spec.ts";
import { createReach } from "../../src/engine/reach.ts";
import { SLOT_MS } from "../support/builders.ts";
import { createOutside, type Outside, openLife, turn } from "../support/engine-life.ts";
import { refusal } from "../support/fake-service.ts";

const DAY_MS = 24 * 3_600_000;
const MIDNIGHT_MS = Math.ceil(SLOT_MS / DAY_MS) * DAY_MS;

/** A weekly slot that begins two seconds after the start, on a machine whose wall clock may be set ahead. */
function begin() {
  const outside = createOutside(MIDNIGHT_MS - 1_500, {
    schedule: { kind: "every", seconds: 7 * 86_400, anchorSeconds: MIDNIGHT_MS / 1_000 },
    retryForSeconds: 3_600,
  } as Partial<StrategySpec>);
  const machine = { aheadMs: 0 };
  const nowMs = (): number => outside.clock.nowMs() + machine.aheadMs;
  const clock: Outside["clock"] = Object.create(outside.clock, { nowMs: { value: nowMs, configurable: true } });
  const life = openLife({ ...outside, clock });
  return { outside, machine, clock, life, runs: () => life.db.prepare("SELECT state, reason FROM runs").all() };
}

test.each([0, 1])(
  "a run that waits inside its window is not ended for good by a clock that is %i days ahead for some seconds",
  async (days) => {
    const { outside, machine, life, runs } = begin();
    outside.service.refuses = refusal("BUSY", true);
    await life.engine.start();
    await turn(outside, life, 10);
    machine.aheadMs = days * DAY_MS;
    await turn(outside, life, 20);
    machine.aheadMs = 0;
    outside.service.refuses = undefined;
    await turn(outside, life, 300);
    expect(runs()).toMatchObject([{ state: "filled" }]);
  },
);

test("a run is not ended for good by a clock that jumps a day ahead while the service is asked, before anybody looks at it", async () => {
  const { outside, machine, life, runs } = begin();
  const { service } = outside;
  const quote = service.quote.bind(service);
  let asked = 0;
  service.quote = async (...request) => {
    asked += 1;
    if (asked > 1) return await quote(...request);
    machine.aheadMs = DAY_MS;
    return refusal("BUSY", true);
  };
  await life.engine.start();
  await turn(outside, life, 5);
  machine.aheadMs = 0;
  await turn(outside, life, 300);
  expect(runs()).toMatchObject([{ state: "filled" }]);
});

test("a run that is held for hours by a clock that is ahead leaves the daemon healthy, is reported, and ends once the clock is right", async () => {
  const { outside, machine, clock, life, runs } = begin();
  const [node, service] = [createReach({ clock }), createReach({ clock })];
  const reads = createReadModel(life.db);
  const { engine } = life;
  const health = createHealthReader({
    mode: "live",
    clock,
    engine,
    node,
    service,
    signers: [],
    reads,
    whyUnable: () => undefined,
  });
  outside.service.refuses = refusal("BUSY", true);
  await engine.start();
  await turn(outside, life, 10);
  machine.aheadMs = DAY_MS;
  for (let minutes = 0; minutes < 90; minutes += 1) {
    await turn(outside, life, 60);
    expect((await health.health()).problems).toEqual([]);
  }
  expect(runs()).toMatchObject([{ state: "executing" }]);
  expect(outside.reported.map(({ code }) => code)).toContain("CLOCK_DISAGREES");
  expect(await health.readiness()).toMatchObject({ ready: false, clock: { ready: false } });
  machine.aheadMs = 0;
  await turn(outside, life, 30);
  expect(runs()).toMatchObject([{ state: "skipped", reason: "quote_unavailable" }]);
  expect([(await health.health()).healthy, life.errors]).toEqual([true, []]);
});
