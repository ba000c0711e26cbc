import { expect, onTestFinished, test } from "vitest";
import { startAlertSender } from "../../../src/adapters/notify/alert-sender.ts";
import { createAlertOutbox, setAlertChannels } from "../../../src/adapters/sqlite/daemon/alert-outbox.ts";
import { createStore } from "../../../src/adapters/sqlite/daemon/store.ts";
import { alertSample, NOW_MS } from "../../support/builders.ts";
import { openDaemonDatabase } from "../../support/daemon-database.ts";
import { FakeClock, quiet } from "../../support/fake-clock.ts";
import { silentLogger } from "../../support/silent-logger.ts";

const HOUR_MS = 3_600_000;
const OPTIONS = {
  ...{ shortestRetryMs: 2_000, longestRetryMs: 1_800_000, mostAttempts: 100, longestAgeMs: 24 * HOUR_MS },
  ...{ mostWaiting: 100, stopWithinMs: 200 },
};

/** A channel that is quiet until an instant. */
function begin(quietUntilMs = NOW_MS + 8 * HOUR_MS) {
  const { db } = openDaemonDatabase();
  void setAlertChannels(db, [{ name: "one", severities: ["info", "warning", "critical"], sendsEnds: true }]);
  const clock = new FakeClock(NOW_MS);
  const got: string[] = [];
  const store = createStore(db);
  const sender = startAlertSender(OPTIONS, {
    ...{ channel: "one", outbox: createAlertOutbox(db, "one"), clock, logger: silentLogger() },
    isQuiet: (nowMs) => nowMs < quietUntilMs,
    deliver: async ({ alert: { id }, tells }) => {
      got.push(tells === "end" ? `${id} over` : id);
      return { kind: "delivered", detail: "yes" };
    },
  });
  onTestFinished(async () => {
    const stopped = sender.stop();
    await clock.advance(OPTIONS.stopWithinMs);
    await stopped;
  });
  const raise = (id: string, change = {}): void => {
    store.raiseAlert(alertSample({ id, code: id, subject: `about ${id}`, atMs: clock.nowMs(), ...change }));
    sender.wake();
  };
  const pass = async (minutes: number): Promise<void> => {
    for (let minute = 0; minute < minutes; minute += 1) await clock.advance(60_000);
  };
  return { clock, db, got, store, raise, pass, sender };
}

test("in quiet hours only what is critical is sent, and the rest when they are over, in its order", async () => {
  const { got, raise, pass, store, sender } = begin();
  raise("warning");
  raise("loud", { severity: "critical" });
  store.addMessage(alertSample({ id: "fill", code: "FILLED", severity: "info", subject: "swap 1" }));
  await quiet();
  await pass(2);
  expect(got).toEqual(["loud"]);
  store.endAlerts("about loud", NOW_MS);
  store.endAlerts("about warning", NOW_MS);
  sender.wake();
  await pass(2);
  expect(got).toEqual(["loud", "loud over"]);
  await pass(8 * 60);
  expect(got).toEqual(["loud", "loud over", "warning", "fill", "warning over"]);
});

test("what waits before a critical alert about the same subject goes with it", async () => {
  const { got, raise, pass } = begin();
  raise("first", { subject: "swap 1" });
  raise("other");
  raise("second", { subject: "swap 1", severity: "critical" });
  await pass(2);
  expect(got).toEqual(["first", "second"]);
});

test("a clock that is set out of the quiet hours, or back into them, loses nothing and repeats nothing", async () => {
  const { got, raise, pass, clock } = begin();
  raise("a");
  await pass(1);
  clock.jumpTo(NOW_MS + 9 * HOUR_MS);
  await pass(2);
  expect(got).toEqual(["a"]);
  clock.jumpTo(NOW_MS);
  raise("b");
  await pass(3);
  expect(got).toEqual(["a"]);
  await pass(8 * 60);
  expect(got).toEqual(["a", "b"]);
});
