import { describe, expect, test } from "vitest";
import { setAlertChannels } from "../../src/adapters/sqlite/daemon/alert-outbox.ts";
import type { StrategySpec } from "../../src/domain/strategy/spec.ts";
import { SLOT_MS, USDC } from "../support/builders.ts";
import { ACCOUNT, createOutside, type Life, openLife, turn, turnUntil } from "../support/engine-life.ts";

const HOUR_MS = 3_600_000;
const hourly = { kind: "every", seconds: 3_600 } as const;
/** A full hour before the sample slot. */
const START_MS = Math.floor(SLOT_MS / HOUR_MS) * HOUR_MS + 5_000;

function reports({ db }: Life): unknown[] {
  return db.prepare("SELECT detail FROM daemon_events WHERE kind = 'downtime'").pluck().all();
}

async function firstLife(change: Partial<StrategySpec> = {}) {
  const outside = createOutside(START_MS, { schedule: hourly, ...change });
  outside.chain.ledger.setAllowance(USDC.address, ACCOUNT, 0n);
  const life = openLife(outside);
  await life.engine.start();
  await turn(outside, life, 40);
  return { outside, life };
}

describe("after a start", () => {
  test("SCH-24 nothing is reported of a first life: there was none before", async () => {
    const { life } = await firstLife();
    expect(reports(life)).toEqual([]);
  });

  test("SCH-24 one record reports how long the daemon was down, also after a kill, and what became of each slot", async () => {
    const { outside, life } = await firstLife();
    life.kill();
    life.db.close();
    outside.clock.jumpTo(START_MS + 7 * HOUR_MS + 720_000);
    const next = openLife(outside);
    await next.engine.start();
    await turn(outside, next, 3);
    expect(reports(next)).toEqual(["down 7h11m; 7 slots missed: 6 skipped (too late), 1 run (policy latest)"]);
    await turn(outside, next, 5);
    expect(reports(next)).toHaveLength(1);
  });

  test.each(["skip", "run"])("SCH-24 the same where a %s waits that was asked for meanwhile", async (command) => {
    const { outside, life } = await firstLife();
    const madeAtMs = START_MS + 7 * HOUR_MS + 719_000;
    life.store.addRequest({ command, arguments: { strategy: "weekly" }, madeBy: "ops", madeAtMs });
    life.kill();
    life.db.close();
    outside.clock.jumpTo(START_MS + 7 * HOUR_MS + 720_000);
    outside.chain.mine();
    const next = openLife(outside);
    await next.engine.start();
    await turn(outside, next, 3);
    expect(next.db.prepare("SELECT answer FROM requests").pluck().all()).toEqual([
      expect.not.stringContaining("clock"),
    ]);
    expect(reports(next)).toEqual(["down 7h11m; 7 slots missed: 6 skipped (too late), 1 run (policy latest)"]);
  });

  test("SCH-24 a slot that comes on time is none of the missed ones, and a clean stop counts from its own end", async () => {
    const { outside, life } = await firstLife();
    life.store.setMode({ scope: "weekly", mode: "paused", setBy: "ops", reason: "r", atMs: outside.clock.nowMs() });
    const stopped = life.engine.stop();
    await turn(outside, life, 1);
    await stopped;
    life.db.close();
    outside.clock.jumpTo(START_MS + 2 * HOUR_MS - 6_000);
    const next = openLife(outside);
    await next.engine.start();
    await turn(outside, next, 3);
    expect(reports(next)).toEqual(["down 1h59m; 1 slot missed: 1 skipped (too late)"]);
  });

  test("SCH-24 swaps that were open are reported with what became of them", async () => {
    const { outside, life } = await firstLife({ gasless: "never", schedule: { kind: "every", seconds: 60 } });
    const isSubmitted = (): boolean => life.store.unsettledSwaps().length > 0;
    expect(await turnUntil(outside, life, { maxSeconds: 90, isDone: isSubmitted })).toBe(true);
    life.kill();
    life.db.close();
    outside.clock.jumpTo(outside.clock.nowMs() + 20_000);
    const next = openLife(outside);
    await next.engine.start();
    await turn(outside, next, 30);
    expect(reports(next)).toEqual([
      expect.stringMatching(/^down [2-5][0-9]s; .*; 1 swap was open: 1 (mined|confirmed)$/),
    ]);
  });
});

describe("the message of it", () => {
  const notifications = { fills: false, starts: true, sameEnds: 3 };
  const said = ({ db }: Life): unknown[] =>
    db.prepare("SELECT text, strategy, over_at_ms IS NOT NULL FROM alerts WHERE code = 'DOWNTIME'").raw().all();

  /** A life that is killed, and the next one, seven hours later. */
  async function down(options: NonNullable<Parameters<typeof openLife>[1]>, hours = 7) {
    const { outside, life } = await firstLife();
    await setAlertChannels(life.db, [{ name: "phone", severities: ["critical"], sendsEnds: true }]);
    life.kill();
    life.db.close();
    outside.clock.jumpTo(START_MS + hours * HOUR_MS + 720_000);
    const next = openLife(outside, options);
    await next.engine.start();
    await turn(outside, next, 3);
    return { outside, next };
  }

  test("is raised once with the record, and sent by every channel that sends messages", async () => {
    const { outside, next } = await down({ settings: { notifications } });
    const text = "on sandbox: down 7h11m; 7 slots missed: 6 skipped (too late), 1 run (policy latest)";
    expect(said(next)).toEqual([[text, null, 1]]);
    const deliveries =
      "SELECT channel, tells FROM alert_deliveries JOIN alerts ON alerts.number = alert WHERE code = 'DOWNTIME'";
    expect(next.db.prepare(deliveries).raw().all()).toEqual([["phone", "begin"]]);
    await turn(outside, next, 5);
    expect(said(next)).toHaveLength(1);
  });

  test("says that it is about a dry run where nothing is traded", async () => {
    const { next } = await down({ settings: { notifications, live: false } });
    expect(said(next)).toEqual([[expect.stringMatching(/^dry run: on sandbox: down 7h11m; /), null, 1]]);
  });

  test("is not raised where nobody wants to hear of starts, nor of a time in which nothing was missed", async () => {
    expect(said((await down({})).next)).toEqual([]);
    const { next } = await down({ settings: { notifications } }, 0);
    expect(reports(next)).toEqual([expect.stringMatching(/^down 1\d(m|m\d+s); no slot missed$/)]);
    expect(said(next)).toEqual([]);
  });
});

describe("after a sleep of the machine, which stops the monotonic clock as well", () => {
  const notifications = { fills: false, starts: true, sameEnds: 3 };

  async function slept(change: Partial<StrategySpec> = {}) {
    const outside = createOutside(START_MS, { schedule: hourly, ...change });
    outside.chain.ledger.setAllowance(USDC.address, ACCOUNT, 0n);
    const life = openLife(outside, { settings: { notifications } });
    await life.engine.start();
    await turn(outside, life, 40);
    outside.clock.jumpTo(START_MS + 7 * HOUR_MS + 2_400_000);
    await turn(outside, life, 60);
    return { outside, life };
  }

  test("what became of its slots is recorded and told once, as after a downtime", async () => {
    const { outside, life } = await slept();
    const text = expect.stringMatching(/^stood still 7h(39|40)m; 7 slots missed: 7 skipped \(too late\)$/);
    expect(reports(life)).toEqual([text]);
    await turn(outside, life, 400);
    expect(reports(life)).toHaveLength(1);
    const said = life.db.prepare("SELECT text FROM alerts WHERE code = 'DOWNTIME'").pluck().all();
    expect(said).toEqual([expect.stringMatching(/^on sandbox: stood still .*7 slots missed/)]);
  });

  test("nothing is told of one in which no slot was missed", async () => {
    const { life } = await slept({ schedule: { kind: "every", seconds: 604_800 } });
    expect(reports(life)).toEqual([expect.stringMatching(/^stood still 7h(39|40)m; no slot missed$/)]);
    expect(life.db.prepare("SELECT text FROM alerts WHERE code = 'DOWNTIME'").pluck().all()).toEqual([]);
  });
});
