import { describe, expect, test } from "vitest";
import { createClockWatch } from "../../src/engine/clock-watch.ts";
import type { BlockHead } from "../../src/ports/chain.ts";
import { SLOT_MS } from "../support/builders.ts";
import { createOutside, type Life, openLife, turn } from "../support/engine-life.ts";

const HOUR_MS = 3_600_000;
const slotsOf = ({ db }: Life): number[] =>
  db.prepare<[], number>("SELECT slot_ms FROM runs ORDER BY slot_ms").pluck().all();

/** For as long as one check of the clock's watch: a node that answers for another chain, of which the id is asked once a minute. */
async function answerForAnotherChain(
  byMs: number,
  then: (life: Life, outside: ReturnType<typeof createOutside>) => Promise<void>,
) {
  const outside = createOutside(SLOT_MS - 5_000, { schedule: { kind: "every", seconds: 30 } });
  const life = openLife(outside);
  await life.engine.start();
  await turn(outside, life, 10);
  expect(slotsOf(life)).toEqual([SLOT_MS]);
  const { latest } = outside.chain;
  outside.chain.latest = async () => {
    const head = await latest.call(outside.chain);
    return { ...head, number: head.number + 40_000_000, timestamp: head.timestamp + byMs / 1_000 };
  };
  await turn(outside, life, 31);
  outside.chain.latest = latest;
  await turn(outside, life, 60);
  await then(life, outside);
  expect(life.errors).toEqual([]);
}

test("one head of another chain, an hour ahead, does not stop all slots until the next start", async () => {
  await answerForAnotherChain(HOUR_MS, async (life, outside) => {
    await turn(outside, life, 600);
    expect(life.engine.clocks.problem()).toBeUndefined();
    expect(slotsOf(life).length).toBeGreaterThan(10);
    expect(outside.reported.map(({ code }) => code)).toContain("CLOCK_DISAGREES");
    expect(life.db.prepare("SELECT 1 FROM alerts WHERE code = 'CLOCK_DISAGREES' AND over_at_ms IS NULL").all()).toEqual(
      [],
    );
  });
});

test("one head of another chain with the right time does not stop all slots once the machine has slept", async () => {
  await answerForAnotherChain(0, async (life, outside) => {
    expect(life.engine.clocks.problem()).toBeUndefined();
    outside.clock.jumpTo(SLOT_MS + 2 * HOUR_MS + 1_000);
    await turn(outside, life, 600);
    expect(life.engine.clocks.problem()).toBeUndefined();
    expect(slotsOf(life)).toContain(SLOT_MS + 2 * HOUR_MS);
  });
});

describe("of two endpoints", () => {
  const at = (number: number, seconds: number): BlockHead =>
    ({
      number,
      hash: `0x${String(number).padStart(64, "0")}`,
      timestamp: SLOT_MS / 1_000 + seconds,
      baseFeePerGas: 1n,
    }) as const;

  test("the one that lags for hours says nothing of the time while the other one goes on", async () => {
    const outside = createOutside(SLOT_MS);
    const watch = createClockWatch(openLife(outside).context);
    for (let second = 0; second < 600; second += 12) {
      watch.observe(at(100 + second, second));
      watch.observe(at(50, -3 * 3_600));
      watch.observe(at(60 + second, second - 3 * 3_600));
      expect(await watch.check()).toBeUndefined();
      await outside.clock.advance(12_000);
    }
  });

  test("neither makes time stand still that stops at another block than the other", async () => {
    const outside = createOutside(SLOT_MS);
    const watch = createClockWatch(openLife(outside).context);
    for (let second = 0; second < 3_600; second += 12) {
      for (const number of [100, 98, 99, 97]) watch.observe(at(number, number - 100));
      expect(await watch.check()).toBeUndefined();
      await outside.clock.advance(12_000);
    }
  });
});
