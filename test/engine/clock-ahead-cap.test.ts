import { expect, test } from "vitest";
import type { StrategySpec } from "../../src/domain/strategy/spec.ts";
import { policySample, SLOT_MS, swapSample, usd } from "../support/builders.ts";
import { addSwap } from "../support/daemon-database.ts";
import { ACCOUNT, createOutside, type Outside, openLife, turn, turnUntil } from "../support/engine-life.ts";

const DAY_MS = 24 * 3_600_000;
const MIDNIGHT_MS = Math.ceil(SLOT_MS / DAY_MS) * DAY_MS;

test.each([
  ["never", 3_650],
  ["only", 3_650],
  ["never", 0],
])(
  "a fill that is confirmed while the wall clock is ahead does not use up the day's cap until then (gasless: %s, days ahead: %i)",
  async (gasless, daysAhead) => {
    const change = { gasless, schedule: { kind: "every", seconds: DAY_MS / 1_000 } } as Partial<StrategySpec>;
    const outside = createOutside(MIDNIGHT_MS - 1_500, change);
    let aheadMs = 0;
    const nowMs = (): number => outside.clock.nowMs() + aheadMs;
    const clock: Outside["clock"] = Object.create(outside.clock, { nowMs: { value: nowMs, configurable: true } });
    // One swap of 100 USDC a day is within the cap, two are not.
    const policy = policySample({ recipients: [ACCOUNT], maxPerDayUsd: usd("150") });
    const life = openLife({ ...outside, clock }, { settings: { policy } });
    await life.engine.start();
    const swaps = (): { state: string; reason: string | null }[] =>
      life.db.prepare("SELECT state, reason FROM swaps ORDER BY rowid").all() as never;
    const isMined = () => swaps().some(({ state }) => state === "mined");
    expect(await turnUntil(outside, life, { maxSeconds: 90, isDone: isMined })).toBe(true);
    aheadMs = daysAhead * DAY_MS;
    await turn(outside, life, 10);
    expect(swaps()[0]?.state).toMatch(/confirmed|final/);
    aheadMs = 0;
    await turn(outside, life, 10);
    expect(life.engine.clocks.problem()).toBeUndefined();
    // A week later.
    for (let day = 1; day <= 7; day += 1) {
      outside.clock.jumpTo(MIDNIGHT_MS + day * DAY_MS - 3_000);
      await turn(outside, life, 60);
    }
    expect(swaps().filter(({ state }) => state === "final").length).toBeGreaterThan(1);
  },
);

/** A daemon with one sale of 100 dollars that was seen at an instant. */
function sold(atMs: number) {
  const outside = createOutside(SLOT_MS);
  const machine = { aheadMs: 0 };
  const nowMs = (): number => outside.clock.nowMs() + machine.aheadMs;
  const clock: Outside["clock"] = Object.create(outside.clock, { nowMs: { value: nowMs, configurable: true } });
  const life = openLife({ ...outside, clock });
  const owner = addSwap(life.store, swapSample({ id: "sold", wallet: ACCOUNT, recipient: ACCOUNT }));
  const money = [
    { kind: "value", swapId: "sold", usd: 100n },
    { kind: "spend", swapId: "sold", amount: 1n },
  ] as const;
  for (const record of money) life.store.writeRecord(owner, record, atMs);
  return { outside, machine, life, usdOfDay: () => life.store.soldUsdSince(nowMs() - DAY_MS, "") };
}

test("a sale that an earlier life saw years ahead counts for a day from now on, and no longer; status and log report it", async () => {
  const { outside, life, usdOfDay } = sold(SLOT_MS + 3_650 * DAY_MS);
  await life.engine.start();
  await turn(outside, life, 3);
  expect(usdOfDay()).toBe(100n);
  const reported = life.db.prepare("SELECT detail FROM daemon_events WHERE kind = 'clock-jump'").pluck().all();
  expect(reported).toEqual([
    expect.stringMatching(/^1 sales that were seen by a clock that ran ahead, the latest at 2033-/),
  ]);
  outside.clock.jumpTo(SLOT_MS + DAY_MS - 3_600_000);
  expect(usdOfDay()).toBe(100n);
  outside.clock.jumpTo(SLOT_MS + DAY_MS + 60_000);
  expect(usdOfDay()).toBe(0n);
  expect(life.errors).toEqual([]);
});

test("while the clock is wrong no sale counts anew: a clock that stands days behind frees no day's cap", async () => {
  const { outside, machine, life, usdOfDay } = sold(SLOT_MS);
  machine.aheadMs = -3 * DAY_MS;
  await life.engine.start();
  await turn(outside, life, 30);
  expect(life.engine.clocks.problem()).toContain("behind the chain's time");
  machine.aheadMs = 0;
  await turn(outside, life, 30);
  expect(usdOfDay()).toBe(100n);
});
