import { describe, expect, onTestFinished, test } from "vitest";
import { type AlertSenderOptions, startAlertSender } from "../../../src/adapters/notify/alert-sender.ts";
import type { Delivery } from "../../../src/adapters/notify/post.ts";
import { createAlertOutbox, setAlertChannels } from "../../../src/adapters/sqlite/daemon/alert-outbox.ts";
import { createStore } from "../../../src/adapters/sqlite/daemon/store.ts";
import type { AlertChannel } from "../../../src/ports/alert-store.ts";
import { alertSample, NOW_MS } from "../../support/builders.ts";
import { openDaemonDatabase } from "../../support/daemon-database.ts";
import { FakeClock, quiet } from "../../support/fake-clock.ts";
import { silentLogger } from "../../support/silent-logger.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const OPTIONS: AlertSenderOptions = {
  ...{ shortestRetryMs: 2_000, longestRetryMs: 1_800_000, mostAttempts: 1_000, longestAgeMs: DAY_MS, mostWaiting: 100 },
  stopWithinMs: 200,
};
const TAKEN: Delivery = { kind: "delivered", detail: "an answer" };
const LATER: Delivery = { kind: "later", detail: "an answer" };
const REFUSED: Delivery = { kind: "refused", detail: "an answer" };

const channel = (name: string, change: Partial<AlertChannel> = {}): AlertChannel => ({
  ...{ name, severities: ["info", "warning", "critical"], sendsEnds: false },
  ...change,
});

/** Channels whose receivers take everything until they are told otherwise. */
function begin(
  clock = new FakeClock(NOW_MS),
  db = openDaemonDatabase().db,
  { channels = [channel("one")], ...options }: Partial<AlertSenderOptions> & { channels?: AlertChannel[] } = {},
) {
  void setAlertChannels(db, channels);
  const store = createStore(db);
  const logger = silentLogger();
  const receiver = (name: string) => {
    const outbox = createAlertOutbox(db, name);
    const its = { answer: TAKEN, got: [] as string[], outbox };
    const open = (change: Partial<typeof outbox> = {}) => {
      const sender = startAlertSender(
        { ...OPTIONS, ...options },
        {
          ...{ channel: name, outbox: { ...outbox, ...change }, clock, logger },
          deliver: async ({ alert: { id }, tells }) => {
            its.got.push(tells === "end" ? `${id} over` : id);
            return its.answer;
          },
        },
      );
      onTestFinished(async () => {
        const stopped = sender.stop();
        await clock.advance(OPTIONS.stopWithinMs);
        await stopped;
      });
      return sender;
    };
    return Object.assign(its, { open });
  };
  const raise = (id: string, change = {}): boolean =>
    store.raiseAlert(alertSample({ id, code: id, subject: `about ${id}`, atMs: clock.nowMs(), ...change }));
  const end = (id: string): void => store.endAlerts(`about ${id}`, clock.nowMs());
  const states = (name = "one"): unknown[] =>
    db.prepare("SELECT state FROM alert_deliveries WHERE channel = ? ORDER BY number").pluck().all(name);
  const [first, second] = channels.map(({ name }) => receiver(name));
  if (first === undefined) throw new Error("a channel is needed");
  const pass = async (minutes: number): Promise<void> => {
    for (let minute = 0; minute < minutes; minute += 1) await clock.advance(MINUTE_MS);
  };
  return { ...{ clock, db, store, logger, raise, end, states, pass }, one: first, two: second ?? first };
}

test.each([
  ["back by seven hours", -7 * HOUR_MS],
  ["ahead by three days", 3 * DAY_MS],
])("a clock that is set %s holds up neither an alert that waits nor a new one", async (_name, byMs) => {
  const { clock, one, raise, states } = begin();
  one.answer = LATER;
  raise("before");
  const sender = one.open();
  await quiet();
  expect(one.got).toEqual(["before"]);
  clock.jumpTo(NOW_MS + byMs);
  one.answer = TAKEN;
  raise("after");
  sender.wake();
  for (let second = 0; second < 3; second += 1) await clock.advance(1_000);
  expect(one.got).toEqual(["before", "after", "before"]);
  expect(states()).toEqual(["sent", "sent"]);
});

test("an alert that waits alone is sent again after its pause, though the clock was set back", async () => {
  const { clock, one, raise, states } = begin();
  one.answer = LATER;
  raise("alone");
  one.open();
  await quiet();
  clock.jumpTo(NOW_MS - 7 * HOUR_MS);
  one.answer = TAKEN;
  for (let second = 0; second < 3; second += 1) await clock.advance(1_000);
  expect(one.got).toEqual(["alone", "alone"]);
  expect(states()).toEqual(["sent"]);
});

test("what is critical and is never taken, as a mail that looks like spam, keeps nothing else back", async () => {
  const { one, raise, states, pass } = begin();
  Object.defineProperty(one, "answer", { get: () => (one.got.at(-1) === "spam" ? LATER : TAKEN) });
  raise("spam", { severity: "critical" });
  for (const id of ["a", "b", "c"]) raise(id);
  one.open();
  await pass(15);
  expect(one.got.filter((id) => id !== "spam")).toEqual(["a", "b", "c"]);
  raise("theft", { severity: "critical" });
  await pass(30);
  expect(one.got).toContain("theft");
  expect(states()).toEqual(["waiting", "sent", "sent", "sent", "sent"]);
});

test("what an earlier life put off by a clock that ran ahead is sent at once by the next one", async () => {
  const first = begin(new FakeClock(NOW_MS + 7 * HOUR_MS));
  first.raise("a");
  await first.one.outbox.beginAttempt(1, first.clock.nowMs() + HOUR_MS);
  const second = begin(new FakeClock(NOW_MS), first.db);
  second.one.open();
  await quiet();
  expect(second.one.got).toEqual(["a"]);
});

test("an alert is tried for a day by the monotonic clock, whatever the wall clock says, and is then given up", async () => {
  const { clock, one, raise, end, states } = begin();
  one.answer = LATER;
  raise("a");
  end("a");
  one.open();
  for (let hour = 0; hour < 23; hour += 1) {
    await clock.advance(HOUR_MS);
    clock.jumpTo(NOW_MS + (hour % 2) * 30 * DAY_MS);
  }
  expect(states()).toEqual(["waiting"]);
  raise("b");
  for (let hour = 0; hour < 3; hour += 1) await clock.advance(HOUR_MS);
  expect(states()).toEqual(["given-up", "waiting"]);
});

test("an alert that is still true reaches a receiver that was away for longer than a day", async () => {
  const { clock, one, raise, states } = begin();
  one.answer = LATER;
  raise("a");
  one.open();
  for (let hour = 0; hour < 30; hour += 1) await clock.advance(HOUR_MS);
  expect(states()).toEqual(["waiting"]);
  one.answer = TAKEN;
  await clock.advance(HOUR_MS);
  expect(states()).toEqual(["sent"]);
});

describe("one that was refused too often, or for good,", () => {
  test.each([
    ["too often", LATER, 3],
    ["for good", REFUSED, 1_000],
  ])("is tried once more when the receiver takes something again, while it is true: %s", async (_how, no, most) => {
    const { one, raise, end, states, pass } = begin(undefined, undefined, { mostAttempts: most });
    one.answer = no;
    raise("a");
    end("a");
    raise("b");
    const sender = one.open();
    await pass(10);
    expect(states()).toEqual(["given-up", "given-up"]);
    one.answer = TAKEN;
    one.got.length = 0;
    raise("c");
    sender.wake();
    // Long before it would be tried again for being true.
    await pass(5);
    expect(new Set(one.got)).toEqual(new Set(["c", "b"]));
    expect(states()).toEqual(["given-up", "sent", "sent"]);
  });

  test("is tried again every half hour while it is true, though nothing else happens, and never after its end", async () => {
    const { one, raise, end, states, pass } = begin();
    one.answer = REFUSED;
    raise("a");
    one.open();
    await pass(5);
    expect([one.got, states()]).toEqual([["a"], ["given-up"]]);
    await pass(5 * 60);
    expect(one.got.length).toBeGreaterThan(4);
    expect(one.got.length).toBeLessThan(12);
    one.answer = TAKEN;
    await pass(60);
    expect(states()).toEqual(["sent"]);
    one.answer = REFUSED;
    raise("b");
    await pass(2);
    end("b");
    one.got.length = 0;
    await pass(24 * 60);
    expect(one.got).toEqual([]);
  });
});

test("what had nowhere to go when it became true is sent by the start after a channel was named, and once", async () => {
  const nowhere = openDaemonDatabase();
  nowhere.store.raiseAlert(alertSample({ id: "halted", code: "ACCOUNT_HALTED", severity: "critical" }));
  nowhere.store.raiseAlert(alertSample({ id: "mild", code: "MILD", severity: "info" }));
  const { clock, one } = begin(undefined, nowhere.db, {
    channels: [channel("one", { severities: ["warning", "critical"] })],
  });
  one.open();
  await quiet();
  one.open();
  await clock.advance(HOUR_MS);
  expect(one.got).toEqual(["halted"]);
});

test("what the receiver took is not sent again in this life, though the database cannot write it down for a while", async () => {
  const { one, raise, states, pass } = begin();
  let failures = 3;
  raise("a");
  raise("b");
  one.open({
    finish: async (...end) => {
      failures -= 1;
      if (failures >= 0) throw Object.assign(new Error("database or disk is full"), { code: "SQLITE_FULL" });
      await one.outbox.finish(...end);
    },
  });
  await quiet();
  expect(one.got).toEqual(["a"]);
  await pass(5);
  expect(one.got).toEqual(["a", "b"]);
  expect(states()).toEqual(["sent", "sent"]);
});

test("what many lives tried in vain is sent as soon as the receiver takes something else", async () => {
  const { clock, one, raise, pass } = begin();
  one.answer = LATER;
  raise("a");
  for (let life = 0; life < 9; life += 1) {
    const sender = one.open();
    await quiet();
    const stopped = sender.stop();
    await clock.advance(OPTIONS.stopWithinMs);
    await stopped;
  }
  const sender = one.open();
  await quiet();
  one.answer = TAKEN;
  raise("b");
  sender.wake();
  await pass(1);
  expect(one.got.slice(10)).toEqual(["b", "a"]);
});

describe("a receiver that asks for a pause", () => {
  const asks = (afterMs: number): Delivery => ({ ...LATER, kind: "later", afterMs });

  test("is left alone for so long, whatever else comes to be reported", async () => {
    const { clock, one, raise, pass } = begin();
    one.answer = asks(10 * MINUTE_MS);
    raise("a");
    const sender = one.open();
    await quiet();
    one.answer = TAKEN;
    raise("b");
    sender.wake();
    await pass(9);
    expect(one.got).toEqual(["a"]);
    await clock.advance(MINUTE_MS);
    await pass(1);
    expect(one.got).toEqual(["a", "b", "a"]);
  });

  test("for longer than the longest pause is asked after that all the same", async () => {
    const { one, raise, pass } = begin();
    one.answer = asks(7 * DAY_MS);
    raise("a");
    one.open();
    await pass(25);
    expect(one.got).toEqual(["a"]);
    await pass(7);
    expect(one.got).toEqual(["a", "a"]);
  });
});

describe("two channels", () => {
  const CHANNELS = [channel("one"), channel("two", { sendsEnds: true })];
  const both = (options: Partial<AlertSenderOptions> = {}) =>
    begin(undefined, undefined, { ...options, channels: CHANNELS });

  test("of which one is away for hours: the other is reported at once and once, and the one hears all when it is back", async () => {
    const { one, two, raise, end, states, pass } = both();
    one.answer = LATER;
    const senders = [one.open(), two.open()];
    for (let hour = 0; hour < 6; hour += 1) {
      raise(`a${hour}`);
      for (const sender of senders) sender.wake();
      await pass(1);
      end(`a${hour}`);
      await pass(59);
    }
    expect(two.got).toEqual([0, 1, 2, 3, 4, 5].flatMap((hour) => [`a${hour}`, `a${hour} over`]));
    expect(states("one")).toEqual(Array(6).fill("waiting"));
    one.answer = TAKEN;
    one.got.length = 0;
    await pass(60);
    expect([...one.got].sort()).toEqual(["a0", "a1", "a2", "a3", "a4", "a5"]);
    expect(two.got).toHaveLength(12);
    expect([...states("one"), ...states("two")]).toEqual(Array(18).fill("sent"));
  });

  test("are reported by the least severity of each, and of messages both", async () => {
    const { one, two, raise, store } = begin(undefined, undefined, {
      channels: [channel("one", { severities: ["critical"] }), channel("two", { severities: ["warning", "critical"] })],
    });
    raise("mild", { severity: "info" });
    raise("warm", { severity: "warning" });
    raise("hot", { severity: "critical" });
    store.addMessage(alertSample({ id: "fill", severity: "info" }));
    one.open();
    two.open();
    await quiet();
    expect([one.got, two.got]).toEqual([
      ["hot", "fill"],
      ["hot", "warm", "fill"],
    ]);
  });

  test("of which one is killed between its attempt and the answer: it alone is reported again", async () => {
    const { db, one, two, raise } = both();
    raise("a");
    await one.outbox.beginAttempt(1, 5_000);
    two.open();
    await quiet();
    const next = begin(undefined, db, { channels: CHANNELS });
    next.one.open();
    next.two.open();
    await quiet();
    expect([two.got, next.one.got, next.two.got]).toEqual([["a"], ["a"], []]);
  });
});

describe("a channel", () => {
  test("that is added later is told what is still true, and not the past", async () => {
    const { db, store, raise, end, one } = begin();
    raise("over");
    end("over");
    raise("true");
    store.addMessage(alertSample({ id: "fill", severity: "info" }));
    one.open();
    await quiet();
    const next = begin(undefined, db, { channels: [channel("one"), channel("two")] });
    next.one.open();
    next.two.open();
    await quiet();
    expect([one.got, next.one.got, next.two.got]).toEqual([["over", "true", "fill"], [], ["true"]]);
  });

  test("that is configured no more leaves nothing that waits, and back again it is a new one", async () => {
    const { db, raise, end, one, states, pass } = begin();
    one.answer = LATER;
    raise("over");
    raise("true");
    one.open();
    await pass(3);
    end("over");
    expect(await setAlertChannels(db, [])).toEqual([{ name: "one", waiting: 2 }]);
    expect(states()).toEqual([]);
    const back = begin(undefined, db);
    back.one.open();
    await quiet();
    expect(back.one.got).toEqual(["true"]);
  });

  test("that is renamed reports what is true once more, under the same ids, and never under the old name", async () => {
    const { db, raise, one } = begin();
    raise("true");
    one.open();
    await quiet();
    const renamed = begin(undefined, db, { channels: [channel("new")] });
    renamed.one.open();
    await quiet();
    expect([one.got, renamed.one.got]).toEqual([["true"], ["true"]]);
    expect(renamed.states("one")).toEqual([]);
  });

  test("whose least severity was lowered is told what is true, and what it was reported before not again", async () => {
    const { db, raise, one } = begin(undefined, undefined, {
      channels: [channel("one", { severities: ["critical"] })],
    });
    raise("hot", { severity: "critical" });
    raise("warm");
    one.open();
    await quiet();
    const lower = begin(undefined, db, { channels: [channel("one", { severities: ["warning", "critical"] })] });
    lower.one.open();
    await quiet();
    expect([one.got, lower.one.got]).toEqual([["hot"], ["warm"]]);
  });
});

describe("of one subject", () => {
  const tellingEnds = { channels: [channel("one", { sendsEnds: true })] };

  test("beginning, end and the next beginning are reported in their order, however the receiver fails, and others pass", async () => {
    const { one, raise, end, store, pass } = begin(undefined, undefined, tellingEnds);
    one.answer = LATER;
    raise("a", { code: "A", subject: "about a" });
    one.open();
    await quiet();
    end("a");
    raise("a2", { code: "A", subject: "about a" });
    raise("b");
    await pass(20);
    one.got.length = 0;
    one.answer = TAKEN;
    await pass(40);
    expect(one.got.filter((id) => id !== "b")).toEqual(["a", "a over", "a2"]);
    expect(one.got).toContain("b");
    store.endAlerts("about a", NOW_MS);
    await pass(2);
    expect(one.got.at(-1)).toBe("a2 over");
  });

  test("the end of what was given up is told to nobody", async () => {
    const { one, raise, end, states, pass } = begin(undefined, undefined, { ...tellingEnds, mostAttempts: 3 });
    one.answer = LATER;
    raise("a");
    raise("b");
    one.open();
    await pass(1);
    end("a");
    await pass(120);
    end("b");
    one.answer = TAKEN;
    one.got.length = 0;
    await pass(120);
    expect(one.got).toEqual([]);
    expect(states()).not.toContain("waiting");
  });

  test("a message that is never taken as it is holds up none that follows", async () => {
    const { one, raise, pass } = begin();
    raise("bad", { subject: "same" });
    one.answer = REFUSED;
    one.open();
    await quiet();
    one.answer = TAKEN;
    raise("good", { subject: "same" });
    await pass(2);
    expect(one.got.slice(0, 2)).toEqual(["bad", "good"]);
  });
});
