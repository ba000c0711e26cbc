import { expect, onTestFinished, test } from "vitest";
import { type AlertSenderOptions, startAlertSender } from "../../../src/adapters/notify/alert-sender.ts";
import { createAlertOutbox } from "../../../src/adapters/sqlite/daemon/alert-rows.ts";
import { createStore } from "../../../src/adapters/sqlite/daemon/store.ts";
import { alertSample, NOW_MS } from "../../support/builders.ts";
import { openDaemonDatabase } from "../../support/daemon-database.ts";
import { FakeClock, quiet } from "../../support/fake-clock.ts";
import { silentLogger } from "../../support/silent-logger.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const OPTIONS: AlertSenderOptions = {
  ...{ shortestRetryMs: 2_000, longestRetryMs: 1_800_000, mostAttempts: 1_000, longestAgeMs: DAY_MS, mostWaiting: 100 },
  ...{ stopWithinMs: 200, minimum: "info" },
};

/** A receiver that takes nothing until it is told to. */
function begin(clock = new FakeClock(NOW_MS), db = openDaemonDatabase().db, options: Partial<AlertSenderOptions> = {}) {
  const store = createStore(db, { sendAlertsFrom: "info" });
  const receiver = { takes: true, got: [] as string[] };
  const outbox = createAlertOutbox(db);
  const open = (change: Partial<typeof outbox> = {}) => {
    const sender = startAlertSender(
      { ...OPTIONS, ...options },
      {
        ...{ outbox: { ...outbox, ...change }, clock, logger: silentLogger() },
        deliver: async ({ id }) => {
          receiver.got.push(id);
          return { taken: receiver.takes, status: receiver.takes ? 200 : 500, detail: "an answer" };
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
  const raise = (id: string): boolean => store.raiseAlert(alertSample({ id, code: id, atMs: clock.nowMs() }));
  const states = (): unknown[] => db.prepare("SELECT state FROM alerts ORDER BY number").pluck().all();
  return { clock, db, store, receiver, outbox, open, raise, states };
}

test.each([
  ["back by seven hours", -7 * HOUR_MS],
  ["ahead by three days", 3 * DAY_MS],
])("a clock that is set %s holds up neither an alert that waits nor a new one", async (_name, byMs) => {
  const { clock, receiver, open, raise, states } = begin();
  receiver.takes = false;
  raise("before");
  const sender = open();
  await quiet();
  expect(receiver.got).toEqual(["before"]);
  clock.jumpTo(NOW_MS + byMs);
  receiver.takes = true;
  raise("after");
  sender.wake();
  for (let second = 0; second < 3; second += 1) await clock.advance(1_000);
  expect(receiver.got).toEqual(["before", "after", "before"]);
  expect(states()).toEqual(["sent", "sent"]);
});

test("what an earlier life put off by a clock that ran ahead is sent at once by the next one", async () => {
  const first = begin(new FakeClock(NOW_MS + 7 * HOUR_MS));
  first.raise("a");
  first.outbox.beginAttempt("a", first.clock.nowMs() + HOUR_MS);
  const second = begin(new FakeClock(NOW_MS), first.db);
  second.open();
  await quiet();
  expect(second.receiver.got).toEqual(["a"]);
});

test("an alert is tried for a day by the monotonic clock, whatever the wall clock says, and is then given up", async () => {
  const { clock, store, receiver, open, raise, states } = begin();
  receiver.takes = false;
  raise("a");
  store.endAlerts(alertSample().subject, NOW_MS);
  open();
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
  const { clock, receiver, open, raise, states } = begin();
  receiver.takes = false;
  raise("a");
  open();
  for (let hour = 0; hour < 30; hour += 1) await clock.advance(HOUR_MS);
  expect(states()).toEqual(["waiting"]);
  receiver.takes = true;
  await clock.advance(HOUR_MS);
  expect(states()).toEqual(["sent"]);
});

test("one that was refused too often is tried once more when the receiver takes something again, while it is true", async () => {
  const { clock, store, receiver, open, raise, states } = begin(undefined, undefined, { mostAttempts: 3 });
  receiver.takes = false;
  raise("a");
  raise("b");
  store.endAlerts(alertSample().subject, NOW_MS);
  raise("c");
  const sender = open();
  await clock.advance(HOUR_MS);
  for (let minute = 0; minute < 60; minute += 1) await clock.advance(60_000);
  expect(states()).toEqual(["given-up", "given-up", "given-up"]);
  receiver.takes = true;
  receiver.got.length = 0;
  raise("d");
  sender.wake();
  for (let minute = 0; minute < 60; minute += 1) await clock.advance(60_000);
  expect(receiver.got).toEqual(["d", "c"]);
  expect(states()).toEqual(["given-up", "given-up", "sent", "sent"]);
});

test("what had nowhere to go when it became true is sent by the start after a webhook was named, and once", async () => {
  const nowhere = openDaemonDatabase();
  const store = createStore(nowhere.db);
  store.raiseAlert(alertSample({ id: "halted", code: "ACCOUNT_HALTED", severity: "critical" }));
  store.raiseAlert(alertSample({ id: "mild", code: "MILD", severity: "info" }));
  const { clock, receiver, open } = begin(undefined, nowhere.db, { minimum: "warning" });
  open();
  await quiet();
  open();
  await clock.advance(HOUR_MS);
  expect(receiver.got).toEqual(["halted"]);
});

test("what the receiver took is not sent again in this life, though the database cannot write it down for a while", async () => {
  const { clock, receiver, outbox, open, raise, states } = begin();
  let failures = 3;
  raise("a");
  raise("b");
  open({
    finishAlert: (...end) => {
      failures -= 1;
      if (failures >= 0) throw Object.assign(new Error("database or disk is full"), { code: "SQLITE_FULL" });
      outbox.finishAlert(...end);
    },
  });
  await quiet();
  expect(receiver.got).toEqual(["a"]);
  for (let minute = 0; minute < 5; minute += 1) await clock.advance(60_000);
  expect(receiver.got).toEqual(["a", "b"]);
  expect(states()).toEqual(["sent", "sent"]);
});
