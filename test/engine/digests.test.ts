import { expect, test } from "vitest";
import { formatUnits } from "../../src/domain/money/amount.ts";
import type { StrategySpec } from "../../src/domain/strategy/spec.ts";
import { alertSample, SLOT_MS } from "../support/builders.ts";
import { createOutside, type Life, type Outside, openLife, turn } from "../support/engine-life.ts";

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const NOTIFICATIONS = {
  ...{ fills: false, starts: false, sameEnds: 3 },
  digest: { periods: ["day", "week"], timezone: "UTC" },
} as const;
/** The midnight after the slot: Wednesday, 15 November 2023. */
const MIDNIGHT_MS = Math.ceil(SLOT_MS / DAY_MS) * DAY_MS;

function begin(nowMs = SLOT_MS - 1_500, change: Partial<StrategySpec> = {}) {
  const outside = createOutside(nowMs, change);
  return {
    outside,
    open: (options = {}) => openLife(outside, { settings: { notifications: NOTIFICATIONS }, ...options }),
  };
}

const digests = ({ db }: Life): string[] =>
  db.prepare<[], string>("SELECT text FROM alerts WHERE code = 'DIGEST' ORDER BY number").pluck().all();

async function live(outside: Outside, life: Life, seconds: number): Promise<void> {
  await life.engine.start();
  await turn(outside, life, seconds);
  await life.engine.stop();
  expect(life.errors).toEqual([]);
}

/** All that the account ever paid the chain, by the chain alone. */
function paid({ chain }: Outside) {
  const wei = chain.receipts().reduce((sum, { gasUsed, effectiveGasPrice }) => sum + gasUsed * effectiveGasPrice, 0n);
  return { transactions: chain.receipts().length, wei };
}

test("a day is told once it is over: fills with their sums, costs, slots without a trade, open alerts and the head", async () => {
  const { outside, open } = begin();
  const first = open();
  await live(outside, first, 20);
  first.store.raiseAlert(alertSample({ subject: "swap x", atMs: outside.clock.nowMs() }));
  expect(digests(first)).toEqual([]);
  first.db.close();
  await outside.clock.advance(MIDNIGHT_MS - outside.clock.nowMs() - 5_000);
  const second = open();
  await live(outside, second, 20);
  expect(digests(second)).toHaveLength(1);
  const [fills = "", costs, slots, alerts, head] = (digests(second)[0] ?? "").split("\n").slice(1);
  expect(digests(second)[0]).toMatch(/^day from 2023-11-14 until 2023-11-15 \(UTC\) on sandbox\n/);
  // The second one is of the slot that was due at the start, and confirmed before midnight.
  expect(fills).toBe("2 fills: weekly sold 200 USDC, bought 0.20099 WETH (2)");
  expect(costs).toBe("gas of 4 transactions 0.0004 ETH");
  expect(paid(outside)).toEqual({ transactions: 4, wei: 4n * 10n ** 14n });
  expect(slots).toMatch(/^(?:no slot without a trade|[0-9]+ slots? without a trade: [0-9]+ [a-z_]+)/);
  expect(alerts).toBe("open alerts: SWAP_UNKNOWN (swap x)");
  expect(head).toMatch(/^history of [0-9]+ links, head [0-9a-f]{64}$/);
  expect(outside.reported.filter(({ code }) => code === "DIGEST")).toHaveLength(1);
});

test("gas of what filled nothing is told too, in the digest of its day alone", async () => {
  const { outside, open } = begin();
  const { chain } = outside;
  const mine = chain.mine.bind(chain);
  // What simulates reverts in its block.
  chain.mine = () => {
    chain.ledger.rate = 50n;
    mine();
    chain.ledger.rate = 101n;
  };
  const told: string[] = [];
  const paidOfDay: string[] = [];
  for (const day of [0, 1, 2]) {
    const before = paid(outside);
    const life = open();
    await live(outside, life, 30);
    told.push(...digests(life).slice(told.length));
    life.db.close();
    const { transactions, wei } = paid(outside);
    const ofDay = `gas of ${transactions - before.transactions} transactions ${formatUnits(wei - before.wei, 18)} ETH`;
    paidOfDay.push(ofDay);
    await outside.clock.advance(MIDNIGHT_MS + day * DAY_MS - outside.clock.nowMs() + 1_000);
  }
  expect(outside.chain.receipts().map(({ succeeded }) => succeeded)).toContain(false);
  expect(told.map((text) => text.split("\n").slice(1, 3))).toEqual([
    ["no fill", paidOfDay[0]],
    ["no fill", paidOfDay[1]],
  ]);
});

test("a restart after midnight writes no second one, and what was in one is in no other of the same period", async () => {
  const { outside, open } = begin();
  const first = open();
  await live(outside, first, 20);
  first.db.close();
  await outside.clock.advance(MIDNIGHT_MS - outside.clock.nowMs() + 1_000);
  for (let life = 0; life < 3; life += 1) {
    const next = open();
    await live(outside, next, 15);
    expect(digests(next)).toHaveLength(1);
    next.db.close();
  }
  await outside.clock.advance(DAY_MS);
  const last = open();
  await live(outside, last, 15);
  expect(digests(last)).toHaveLength(2);
  expect(digests(last)[1]).toContain("day from 2023-11-15 until 2023-11-16");
  const counted = digests(last).map((text) => Number(/\n([0-9]+) fill/.exec(text)?.[1]));
  const fills = last.db
    .prepare<[], number>(
      `SELECT count(*) FROM transitions WHERE subject = 'swap' AND to_state = 'confirmed'
         AND id <= (SELECT last_transition FROM digests WHERE period = 'day')`,
    )
    .pluck()
    .get();
  expect(counted).toEqual([1, (fills ?? 0) - 1]);
});

test("days in which nobody was at work are in one, and so is a week's last day", async () => {
  const { outside, open } = begin();
  const first = open();
  await live(outside, first, 20);
  first.db.close();
  // Thursday of the week after: a day's digest of nine days, and a week's.
  await outside.clock.advance(MIDNIGHT_MS + 8 * DAY_MS + HOUR_MS - outside.clock.nowMs());
  const second = open();
  await live(outside, second, 15);
  expect(digests(second).map((text) => text.split(" on ")[0])).toEqual([
    "day from 2023-11-14 until 2023-11-23 (UTC)",
    "week from 2023-11-13 until 2023-11-20 (UTC)",
  ]);
  for (const text of digests(second)) expect(text).toContain("1 fill: weekly sold 100 USDC");
});

test.each(["before", "after"])(
  "a kill %s the commit leaves one digest or none, and the next life ends with one",
  async (when) => {
    const { outside, open } = begin(MIDNIGHT_MS - 30_000);
    const first = open();
    const { store } = first;
    let killed = false;
    const commit = store.commit.bind(store);
    // The unit of the digest is the one that is asked for at midnight.
    Object.assign(first.context.deps, {
      store: {
        ...first.context.deps.store,
        ...store,
        commit: async (units: Parameters<typeof commit>[0]) => {
          const isDigest =
            outside.clock.nowMs() >= MIDNIGHT_MS && units.some(({ question }) => question.kind === "digest");
          if (!isDigest || killed) return await commit(units);
          killed = true;
          if (when === "after") await commit(units);
          first.kill();
          throw new Error("killed");
        },
      },
    });
    await first.engine.start();
    await turn(outside, first, 60);
    expect(killed).toBe(true);
    expect(digests(first)).toHaveLength(when === "after" ? 1 : 0);
    first.db.close();
    const second = open();
    await live(outside, second, 15);
    expect(digests(second)).toHaveLength(1);
  },
);

test("a clock that ran ahead by days and was set right repeats nothing, and loses no fill", async () => {
  const { outside, open } = begin();
  const first = open();
  await first.engine.start();
  await turn(outside, first, 3);
  await first.engine.stop();
  first.db.close();
  const trueMs = outside.clock.nowMs();
  // Nobody can tell before the node answers: the digest of a day that is not over is written.
  outside.clock.jumpTo(trueMs + 3 * DAY_MS);
  const ahead = open();
  await ahead.engine.start();
  await turn(outside, ahead, 3);
  await ahead.engine.stop();
  const early = digests(ahead).length;
  ahead.db.close();
  outside.clock.jumpTo(trueMs + 6_000);
  const right = open();
  await live(outside, right, 30);
  right.db.close();
  await outside.clock.advance(MIDNIGHT_MS - outside.clock.nowMs() + 1_000);
  const last = open();
  await live(outside, last, 15);
  const texts = digests(last);
  expect(texts.length).toBeGreaterThan(early);
  expect(texts.filter((text) => text.startsWith("day") && text.includes("1 fill: weekly"))).toHaveLength(1);
});

test("nobody who did not ask for digests gets one, and the first one is of no time before the first start", async () => {
  const { outside } = begin(MIDNIGHT_MS - 5_000);
  const without = openLife(outside, { settings: { notifications: { fills: false, starts: false, sameEnds: 3 } } });
  await live(outside, without, 20);
  expect(digests(without)).toEqual([]);
  without.db.close();
  await outside.clock.advance(2 * DAY_MS);
  const first = openLife(outside, { settings: { notifications: NOTIFICATIONS } });
  await live(outside, first, 20);
  expect(digests(first)).toEqual([]);
});

test("of a time in which nobody asked for digests there is none: the next one begins where they were asked for again", async () => {
  const { outside, open } = begin(MIDNIGHT_MS - 60_000);
  const first = open();
  await live(outside, first, 80);
  const [told] = digests(first);
  expect(told).toMatch(/^day from 2023-11-14 until 2023-11-15/);
  first.db.close();
  const without = open({ settings: { notifications: { ...NOTIFICATIONS, digest: undefined } } });
  await live(outside, without, 15);
  without.db.close();
  await outside.clock.advance(100 * DAY_MS);
  const again = open();
  await live(outside, again, 15);
  expect(digests(again)).toEqual([told]);
  again.db.close();
  await outside.clock.advance(DAY_MS);
  const last = open();
  await live(outside, last, 15);
  const next = digests(last).filter((text) => text.startsWith("day"));
  expect(next).toHaveLength(2);
  expect(next[1]).toMatch(/^day from 2024-02-23 until 2024-02-24/);
});

test("a day of many strategies and alerts is one message that keeps the head of the history", async () => {
  const { outside, open } = begin(MIDNIGHT_MS - 5_000);
  const life = open();
  for (let alert = 0; alert < 200; alert += 1)
    life.store.raiseAlert(alertSample({ id: `a${alert}`, subject: `swap ${"x".repeat(60)}${alert}` }));
  await live(outside, life, 20);
  expect(digests(life)[0]).toMatch(/, and 19[0-9] more\nhistory of [0-9]+ links, head [0-9a-f]{64}$/);
});
