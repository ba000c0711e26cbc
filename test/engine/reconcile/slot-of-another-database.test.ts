import { expect, test } from "vitest";
import type { StrategySpec } from "../../../src/domain/strategy/spec.ts";
import { SLOT_MS } from "../../support/builders.ts";
import {
  accept,
  acceptAlone,
  acceptInTime,
  BUDGET,
  begin,
  copyTo,
  fill,
  fills,
  LIFETIME_SECONDS,
  live,
  markerOf,
  nameAfterItsFile,
  open,
} from "../../support/databases-in-turn.ts";
import { createOutside, type Life, type Outside, openLife, turn } from "../../support/engine-life.ts";

// Slots that passed before a person accepts what another database did may be what that one filled.

const DAY_MS = 86_400_000;
const MIDNIGHT_MS = Math.ceil(SLOT_MS / DAY_MS) * DAY_MS;
const MODES = ["only", "never"] as const;

/** Another process: no object of the one before says when its strategies are due next. */
const anotherProcess = (outside: Outside, file: string): Outside => ({ ...outside, spec: { ...outside.spec }, file });

/** A day's slot that the newer database filled, and a copy of moments before it. */
async function filledSlot(gasless: (typeof MODES)[number]): Promise<{ outside: Outside; restored: Outside }> {
  const change = { gasless, schedule: { kind: "every", seconds: DAY_MS / 1_000 } } as Partial<StrategySpec>;
  const outside = createOutside(MIDNIGHT_MS - 20_500, change);
  const marker = markerOf(outside);
  const first = openLife(outside, { marker });
  nameAfterItsFile(first, outside);
  await first.engine.start();
  await turn(outside, first, 10);
  await first.engine.stop();
  first.db.close();
  const restored = anotherProcess(outside, copyTo(outside, "copy.db"));
  await fill(outside, 1, marker);
  return { outside, restored };
}

/** The same world, with a wall clock that can be set apart from it. */
function withOwnClock(outside: Outside, offMs: number): { readonly of: Outside; setRight(): void } {
  let off = offMs;
  const nowMs = (): number => outside.clock.nowMs() + off;
  const clock: Outside["clock"] = Object.create(outside.clock, { nowMs: { value: nowMs, configurable: true } });
  return {
    of: { ...outside, clock },
    setRight: () => {
      off = 0;
    },
  };
}

const gaps = ({ db }: Life) => db.prepare("SELECT reason, count FROM gaps").all();

test.each(MODES)(
  "one is not made up for where it is accepted by the next start's check alone (gasless: %s)",
  async (gasless) => {
    const { outside, restored } = await filledSlot(gasless);
    const marker = markerOf(outside);
    const first = openLife(restored, { marker });
    await first.engine.start();
    for (let tries = 0; tries < 8 && !open(first).includes("fill"); tries += 1) await outside.clock.advance(500);
    await first.engine.stop();
    await outside.clock.advance((LIFETIME_SECONDS + 5) * 1_000);
    outside.chain.mine();
    expect(await acceptAlone(first)).toContain("accepted");
    const life = await live(anotherProcess(outside, restored.file), marker);
    await turn(restored, life, 120);
    expect([fills(outside), gaps(life), life.errors]).toEqual([1, [{ reason: "halted", count: 1 }], []]);
  },
);

test.each(MODES)(
  "nothing is accepted by a clock by which no slot is run, and none is made up for after it (gasless: %s)",
  async (gasless) => {
    const { outside, restored } = await filledSlot(gasless);
    const { of, setRight } = withOwnClock(restored, -600_000);
    const life = await live(of, markerOf(outside));
    await turn(restored, life, LIFETIME_SECONDS + 5);
    expect(open(life)).toEqual(expect.arrayContaining(["older", "fill"]));
    expect(await accept(life)).toMatch(/^refused: this machine's clock .* behind the chain's time/u);
    setRight();
    await turn(restored, life, 10);
    expect(await accept(life)).toContain("accepted");
    await turn(restored, life, 120);
    expect([fills(outside), gaps(life), life.errors]).toEqual([1, [{ reason: "halted", count: 1 }], []]);
  },
);

test.each(MODES)(
  "one is not made up for where it was accepted without a daemon, by a clock that ran ahead (gasless: %s)",
  async (gasless) => {
    const { outside, restored } = await filledSlot(gasless);
    const marker = markerOf(outside);
    const { of, setRight } = withOwnClock(restored, 600_000);
    const first = openLife(of, { marker });
    await first.engine.start();
    await turn(restored, first, LIFETIME_SECONDS + 5);
    await first.engine.stop();
    expect(await acceptAlone(first)).toContain("accepted");
    setRight();
    const life = await live(anotherProcess(outside, restored.file), marker);
    await turn(restored, life, 120);
    expect([fills(outside), gaps(life), life.errors]).toEqual([1, [{ reason: "halted", count: 1 }], []]);
    expect(life.store.acceptedOthers().values().next().value).toBeLessThanOrEqual(outside.clock.nowMs());
  },
);

test.each(MODES)(
  "what a start with a wrong clock found counts in the budget of strategies that came into force after it (gasless: %s)",
  async (gasless) => {
    const outside = begin(gasless);
    const marker = markerOf(outside);
    await fill(outside, 1, marker);
    const restored = anotherProcess(outside, copyTo(outside, "copy.db"));
    await fill(outside, 3, marker);
    const { of, setRight } = withOwnClock(restored, -600_000);
    const life = await live(of, marker);
    await turn(restored, life, LIFETIME_SECONDS + 5);
    expect(await accept(life)).toMatch(/^refused/u);
    setRight();
    await acceptInTime(restored, life);
    await turn(restored, life, 400);
    expect([fills(outside), life.errors]).toEqual([BUDGET, []]);
  },
);
