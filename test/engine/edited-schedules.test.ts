import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { openForReading, readSnapshot } from "../../src/audit/snapshot.ts";
import { checkStructure } from "../../src/audit/structure.ts";
import type { Schedule } from "../../src/domain/schedule/schedule.ts";
import type { StrategySpec } from "../../src/domain/strategy/spec.ts";
import type { LoadedStrategy } from "../../src/engine/engine-context.ts";
import { SLOT_MS } from "../support/builders.ts";
import { createOutside, type Life, type Outside, openLife, turn } from "../support/engine-life.ts";

/** A second after a slot of every schedule that has the first slot as its anchor. */
const START_MS = SLOT_MS + 1_500;

/** The daemon on one file, through edits of the schedule, requests and restarts; seconds count from the first slot. */
interface World {
  readonly outside: Outside;
  life(): Life;
  ask(command: string, more?: Record<string, string>): Promise<string>;
  edit(seconds: number): Promise<void>;
  restart(downSeconds: number): Promise<void>;
  wait(seconds: number): Promise<void>;
  /** slots with a run, and those with another end */
  runs(): number[];
  gaps(): { first: number; last: number; count: number; reason: string }[];
}

function every(seconds: number): Schedule {
  return { kind: "every", seconds, anchorSeconds: SLOT_MS / 1_000 };
}

function edition(spec: StrategySpec, seconds: number): LoadedStrategy {
  return { spec: { ...spec, schedule: every(seconds) }, specHash: `every ${seconds}` };
}

async function begin(seconds: number): Promise<World> {
  const outside = createOutside(START_MS, { schedule: every(seconds) });
  let file = edition(outside.spec, seconds);
  let life = openLife(outside, { settings: { strategies: [file] } });
  await life.engine.start();
  await turn(outside, life, 2);
  const said = (): string =>
    life.db.prepare<[], string>("SELECT answer FROM requests ORDER BY id DESC").pluck().get() ?? "";
  return {
    outside,
    life: () => life,
    ask: async (command, more = {}) => {
      const request = { arguments: { strategy: "weekly", ...more }, madeBy: "ops", madeAtMs: outside.clock.nowMs() };
      life.store.addRequest({ command, ...request });
      await turn(outside, life, 2);
      return said();
    },
    edit: async (every) => {
      file = edition(outside.spec, every);
      await life.engine.adopt([file]);
      await turn(outside, life, 1);
    },
    restart: async (downSeconds) => {
      life.kill();
      life.db.close();
      await outside.clock.advance(downSeconds * 1_000);
      outside.chain.mine();
      life = openLife(outside, { settings: { strategies: [file] } });
      await life.engine.start();
      await turn(outside, life, 2);
    },
    wait: (seconds) => turn(outside, life, seconds),
    runs: () =>
      life.db.prepare<[number], number>("SELECT (slot_ms - ?) / 1000 FROM runs ORDER BY slot_ms").pluck().all(SLOT_MS),
    gaps: () =>
      life.db
        .prepare<[number, number], { first: number; last: number; count: number; reason: string }>(
          `SELECT (first_slot_ms - ?) / 1000 AS first, (last_slot_ms - ?) / 1000 AS last, count, reason
           FROM gaps ORDER BY first_slot_ms`,
        )
        .all(SLOT_MS, SLOT_MS),
  };
}

/** Nothing died, and the audit finds one end for each slot and no run of a slot that was not come to. */
function expectSound(world: World): void {
  expect(world.life().errors).toEqual([]);
  const db = openForReading(world.outside.file);
  try {
    expect(checkStructure(readSnapshot(db, world.outside.file))).toEqual([]);
  } finally {
    db.close();
  }
}

const used = (first: number, count = 1, last = first) => ({ first, last, count, reason: "skipped_by_operator" });

describe("a slot that an operator used up before the schedule was edited", () => {
  test("keeps its end when a denser schedule is undone", async () => {
    const world = await begin(600);
    expect(await world.ask("skip")).toContain("will not run");
    await world.edit(100);
    await world.edit(600);
    expectSound(world);
    expect(world.gaps()).toEqual([used(100), used(600)]);
    for (const downSeconds of [1, 600, 1_800]) {
      await world.restart(downSeconds);
      expectSound(world);
    }
    expect(world.runs()).not.toContain(600);
  });

  test("keeps its end under a sparser schedule that has the same instant", async () => {
    const world = await begin(100);
    await world.ask("skip");
    await world.ask("skip");
    await world.edit(200);
    expect(world.gaps()).toEqual([used(100), used(200)]);
    await world.wait(410);
    expectSound(world);
    expect(world.runs()).toEqual([400]);
  });

  test.each(["at work", "paused", "down"])("does not run under a denser one, with the daemon %s then", async (how) => {
    const world = await begin(120);
    await world.ask("skip");
    await world.edit(40);
    expect(world.gaps()).toEqual([used(40), used(120)]);
    if (how === "paused") await world.ask("mode", { scope: "weekly", mode: "paused", reason: "r" });
    if (how === "down") await world.restart(185);
    else await world.wait(160);
    expectSound(world);
    if (how === "paused") await world.ask("mode", { scope: "weekly", mode: "active", reason: "r" });
    await world.wait(how === "down" ? 30 : 50);
    expectSound(world);
    expect(world.runs()).toEqual(how === "at work" ? [80, 160, 200] : [200]);
    const missed = world.gaps().filter(({ reason }) => reason !== "skipped_by_operator");
    const ends = {
      "at work": [],
      paused: ["paused 80-80", "paused 160-160"],
      down: ["missed 80-80", "missed 160-160"],
    };
    expect(missed.map(({ first, last, reason }) => `${reason} ${first}-${last}`)).toEqual(
      ends[how as keyof typeof ends],
    );
  });

  test("has its one run under a denser schedule, and the audit knows that the strategy came to it", async () => {
    const world = await begin(120);
    expect(await world.ask("run")).toContain("in place of the slot");
    await world.wait(10);
    await world.edit(40);
    expectSound(world);
    expect(world.gaps()).toEqual([used(40)]);
    await world.wait(160);
    expectSound(world);
    expect(world.runs()).toEqual([80, 120, 160]);
  });

  test("is not the one that the next request means", async () => {
    const world = await begin(120);
    await world.ask("skip");
    await world.edit(40);
    await world.wait(80);
    expect(await world.ask("skip")).toContain(new Date(SLOT_MS + 160_000).toISOString());
    expectSound(world);
  });

  test("leaves none between without an end", async () => {
    const world = await begin(60);
    await world.ask("skip");
    await world.ask("skip");
    await world.edit(40);
    expect(world.gaps()).toEqual([used(40), used(60), used(80), used(120)]);
    expectSound(world);
  });
});

test("a database whose last handled slot an earlier release set before one with an end starts, and goes on", async () => {
  const world = await begin(120);
  await world.ask("skip");
  await world.edit(40);
  const { db } = world.life();
  // As that release left it: the end of the slot that was skipped, and no word of how far the strategy came.
  db.exec("DROP TRIGGER strategies_began; DROP TRIGGER strategies_went_on");
  db.exec("ALTER TABLE strategies DROP COLUMN furthest_slot_ms");
  db.exec("DROP TRIGGER transitions_newest_gone; DROP TRIGGER transitions_numbered_once; DROP TABLE transitions_gone");
  db.exec("DELETE FROM schema_migrations WHERE set_name = 'daemon' AND number >= 43");
  await world.restart(200);
  expectSound(world);
  await world.wait(80);
  expectSound(world);
  expect(world.runs().length).toBeGreaterThan(0);
});

type Step =
  | { readonly what: "ask" | "mode"; readonly word: string }
  | { readonly what: "edit" | "wait" | "restart"; readonly seconds: number };

/** @returns the slot that will not run, where one was skipped; in seconds from the first slot */
async function take(world: World, step: Step): Promise<number | undefined> {
  if ("seconds" in step) await world[step.what](step.seconds);
  else if (step.what === "mode") await world.ask("mode", { scope: "weekly", mode: step.word, reason: "r" });
  else {
    const slot = /^the slot of (\S+) will not run$/.exec(await world.ask(step.word))?.[1];
    if (slot !== undefined) return (Date.parse(slot) - SLOT_MS) / 1_000;
  }
  return undefined;
}

test("whatever is asked, edited and restarted, each slot has one end, and what was skipped never runs", async () => {
  const step = fc.oneof(
    fc.record({ what: fc.constant("ask" as const), word: fc.constantFrom("skip", "run") }),
    fc.record({ what: fc.constant("mode" as const), word: fc.constantFrom("paused", "active") }),
    fc.record({ what: fc.constant("edit" as const), seconds: fc.constantFrom(20, 30, 40, 60, 120) }),
    fc.record({ what: fc.constant("wait" as const), seconds: fc.integer({ min: 1, max: 70 }) }),
    fc.record({ what: fc.constant("restart" as const), seconds: fc.integer({ min: 1, max: 150 }) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 12 }), async (steps) => {
      const world = await begin(60);
      const skipped: number[] = [];
      for (const one of steps) {
        skipped.push((await take(world, one)) ?? 0);
        expectSound(world);
      }
      await take(world, { what: "mode", word: "active" });
      const before = world.runs().length;
      const nowSeconds = (world.outside.clock.nowMs() - SLOT_MS) / 1_000;
      await world.wait(Math.max(...skipped, ...world.runs(), nowSeconds) - nowSeconds + 250);
      expectSound(world);
      expect(world.runs().filter((slot) => skipped.includes(slot))).toEqual([]);
      expect(world.runs().length).toBeGreaterThan(before);
      world.life().kill();
    }),
    { numRuns: 5, seed: 25 },
  );
}, 120_000);
