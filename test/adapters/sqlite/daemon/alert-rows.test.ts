import { expect, test } from "vitest";
import { createAlertOutbox } from "../../../../src/adapters/sqlite/daemon/alert-rows.ts";
import { createStore } from "../../../../src/adapters/sqlite/daemon/store.ts";
import type { Severity } from "../../../../src/domain/run/alert.ts";
import { alertSample, NOW_MS } from "../../../support/builders.ts";
import { openDaemonDatabase } from "../../../support/daemon-database.ts";

function begin(sendAlertsFrom: Severity | undefined = "warning") {
  const { db } = openDaemonDatabase();
  const store = createStore(db, { sendAlertsFrom });
  const states = (): unknown[] => db.prepare("SELECT state FROM alerts ORDER BY number").pluck().all();
  return { db, store, outbox: createAlertOutbox(db), states };
}

test("the same code is not raised again for a subject while it is true, and is when it was over", () => {
  const { store, states } = begin();
  expect(store.raiseAlert(alertSample())).toBe(true);
  expect(store.raiseAlert(alertSample({ id: "alert_2", text: "in other words" }))).toBe(false);
  expect(store.raiseAlert(alertSample({ id: "alert_3", subject: "swap run_2.0.1" }))).toBe(true);
  expect(store.raiseAlert(alertSample({ id: "alert_4", code: "RUN_PARKED" }))).toBe(true);
  store.endAlerts("swap run_1.0.1", NOW_MS);
  expect(store.raiseAlert(alertSample({ id: "alert_5" }))).toBe(true);
  expect(store.raiseAlert(alertSample({ id: "alert_6", subject: "swap run_2.0.1" }))).toBe(false);
  expect(states()).toHaveLength(4);
});

test("an alert whose transaction fails was never raised", () => {
  const { store, outbox } = begin();
  const work = (): void =>
    store.transaction(() => {
      store.raiseAlert(alertSample());
      throw new Error("killed");
    });
  expect(work).toThrow("killed");
  expect(outbox.nextAlert(NOW_MS)).toBeUndefined();
  expect(store.raiseAlert(alertSample())).toBe(true);
});

test.each([
  ["info", ["waiting", "waiting", "waiting"]],
  ["warning", ["log-only", "waiting", "waiting"]],
  ["critical", ["log-only", "log-only", "waiting"]],
  [undefined, ["log-only", "log-only", "log-only"]],
] as const)("what is below %s is not sent", (minimum, expected) => {
  const { db } = openDaemonDatabase();
  const store = createStore(db, { sendAlertsFrom: minimum });
  for (const severity of ["info", "warning", "critical"] as const) {
    store.raiseAlert(alertSample({ id: severity, code: severity, severity }));
  }
  expect(db.prepare("SELECT state FROM alerts ORDER BY number").pluck().all()).toEqual(expected);
});

test("an alert comes out as it went in, also when it is over by then, and not before its time", () => {
  const { store, outbox } = begin();
  const alert = alertSample({ runId: "run_1" });
  store.raiseAlert(alert);
  store.endAlerts(alert.subject, NOW_MS);
  expect(outbox.nextAlert(NOW_MS - 1)).toBeUndefined();
  expect(outbox.nextAlert(NOW_MS)).toEqual({ ...alert, attempts: 0 });
  outbox.beginAttempt("alert_1", NOW_MS + 5_000);
  expect(outbox.nextAlert(NOW_MS + 4_999)).toBeUndefined();
  expect(outbox.nextAlertMs()).toBe(NOW_MS + 5_000);
  expect(outbox.nextAlert(NOW_MS + 5_000)).toMatchObject({ id: "alert_1", attempts: 1 });
  outbox.finishAlert("alert_1", { state: "sent", outcome: "HTTP 200", atMs: NOW_MS });
  expect(outbox.nextAlertMs()).toBeUndefined();
});

test("of too many the oldest are given up, and of the rest those that are too old", () => {
  const { store, outbox, states } = begin();
  for (let index = 0; index < 5; index += 1) {
    store.raiseAlert(alertSample({ id: `alert_${index}`, code: `C${index}`, atMs: NOW_MS + index }));
  }
  const ids = outbox.giveUp({ raisedBeforeMs: 0, mostWaiting: 3 }, NOW_MS).map(({ id }) => id);
  expect(ids).toEqual(["alert_0", "alert_1"]);
  expect(outbox.giveUp({ raisedBeforeMs: NOW_MS + 3, mostWaiting: 3 }, NOW_MS).map(({ id }) => id)).toEqual([
    "alert_2",
  ]);
  expect(outbox.giveUp({ raisedBeforeMs: NOW_MS + 3, mostWaiting: 3 }, NOW_MS)).toEqual([]);
  expect(states()).toEqual(["given-up", "given-up", "given-up", "waiting", "waiting"]);
});

test("old rows go once they are over and settled, and never before", () => {
  const { db, store } = begin("critical");
  store.raiseAlert(alertSample({ id: "true", code: "STILL_TRUE" }));
  store.raiseAlert(alertSample({ id: "over", code: "OVER", subject: "swap s" }));
  store.endAlerts("swap s", NOW_MS);
  db.exec("UPDATE sqlite_sequence SET seq = 10001 WHERE name = 'alerts'");
  store.raiseAlert(alertSample({ id: "new", code: "NEW" }));
  expect(db.prepare("SELECT id FROM alerts ORDER BY number").pluck().all()).toEqual(["true", "new"]);
});

test("a text of any length is stored within bounds", () => {
  const { store, outbox } = begin();
  store.raiseAlert(alertSample({ text: "x".repeat(100_000) }));
  expect(outbox.nextAlert(NOW_MS)?.text.length).toBeLessThan(2_010);
});
