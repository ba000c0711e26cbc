import { expect, test } from "vitest";
import { createAlertOutbox, setAlertChannels } from "../../../../src/adapters/sqlite/daemon/alert-outbox.ts";
import type { DaemonStore } from "../../../../src/adapters/sqlite/daemon/store.ts";
import { createStore } from "../../../../src/adapters/sqlite/daemon/store.ts";
import { SEVERITIES, type Severity, SUBJECT } from "../../../../src/domain/run/alert.ts";
import { isWarnedOf } from "../../../../src/engine/true-warnings.ts";
import { alertSample, NOW_MS } from "../../../support/builders.ts";
import { openDaemonDatabase } from "../../../support/daemon-database.ts";

function begin(minimum: Severity = "warning", sendsEnds = false) {
  const { db } = openDaemonDatabase();
  const severities = SEVERITIES.slice(SEVERITIES.indexOf(minimum));
  void setAlertChannels(db, [{ name: "webhook", severities, sendsEnds }]);
  const store = createStore(db);
  const states = (): unknown[] => db.prepare("SELECT state FROM alert_deliveries ORDER BY number").pluck().all();
  return { db, store, outbox: createAlertOutbox(db, "webhook"), states };
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

test("a newer alert in an older one's place is sent, and nothing more of the older one", async () => {
  const { store, outbox } = begin();
  store.raiseAlert(alertSample());
  store.replaceAlert(alertSample({ id: "alert_2" }), NOW_MS);
  expect(store.raiseAlert(alertSample({ id: "alert_2", text: "more of it" }))).toBe(true);
  const next = await outbox.next();
  expect(next).toMatchObject({ alert: { id: "alert_2", text: "more of it" }, tells: "begin" });
  await outbox.finish(next?.number ?? 0, { state: "sent", outcome: "HTTP 200", atMs: NOW_MS });
  expect(await outbox.next()).toBeUndefined();
});

test("an alert whose transaction fails was never raised", async () => {
  const { store, outbox } = begin();
  const work = (): void =>
    store.transaction(() => {
      store.raiseAlert(alertSample());
      throw new Error("killed");
    });
  expect(work).toThrow("killed");
  expect(await outbox.next()).toBeUndefined();
  expect(store.raiseAlert(alertSample())).toBe(true);
});

test.each([
  ["info", ["info", "warning", "critical"]],
  ["warning", ["warning", "critical"]],
  ["critical", ["critical"]],
] as const)("what is below %s is not sent", (minimum, expected) => {
  const { db, store } = begin(minimum);
  for (const severity of ["info", "warning", "critical"] as const) {
    store.raiseAlert(alertSample({ id: severity, code: severity, severity }));
  }
  const sent = db.prepare("SELECT id FROM alert_deliveries JOIN alerts ON alerts.number = alert").pluck().all();
  expect(sent).toEqual(expected);
});

test("an alert comes out as it went in, also when it is over by then, with the instant that it is due at", async () => {
  const { store, outbox } = begin();
  const alert = alertSample({ runId: "run_1" });
  store.raiseAlert(alert);
  store.endAlerts(alert.subject, NOW_MS + 5);
  const waiting = { number: 1, tells: "begin", alert, overAtMs: NOW_MS + 5, attempts: 0, dueAt: 0 };
  expect(await outbox.next()).toEqual(waiting);
  await outbox.beginAttempt(1, 5_000);
  expect(await outbox.next()).toEqual({ ...waiting, attempts: 1, dueAt: 5_000 });
  await outbox.makeAllDue();
  expect(await outbox.next()).toEqual({ ...waiting, attempts: 1 });
  await outbox.finish(1, { state: "sent", outcome: "HTTP 200", atMs: NOW_MS });
  expect(await outbox.next()).toBeUndefined();
});

test("of each subject the oldest is next, and of these the one that is due first", async () => {
  const { store, outbox } = begin("info");
  for (const [id, subject] of [
    ["a1", "a"],
    ["a2", "a"],
    ["b1", "b"],
  ] as const)
    store.raiseAlert(alertSample({ id, code: id, subject }));
  expect((await outbox.next())?.alert.id).toBe("a1");
  await outbox.beginAttempt(1, 5_000);
  expect((await outbox.next())?.alert.id).toBe("b1");
  await outbox.beginAttempt(3, 6_000);
  expect((await outbox.next())?.alert.id).toBe("a1");
  await outbox.finish(1, { state: "sent", outcome: "HTTP 200", atMs: NOW_MS });
  expect((await outbox.next())?.alert.id).toBe("a2");
});

test("of too many the least severe are given up, the oldest first, and of the rest those that are too old", async () => {
  const { store, outbox, states } = begin("info");
  const severities = ["critical", "info", "warning", "info", "warning", "info"] as const;
  for (const [index, severity] of severities.entries()) {
    store.raiseAlert(alertSample({ id: `alert_${index}`, code: `C${index}`, severity }));
  }
  const giveUp = async (upToNumber: number, mostWaiting: number): Promise<string[]> =>
    (await outbox.giveUp({ upToNumber, mostWaiting }, NOW_MS)).map(({ alert }) => alert.id);
  expect(await giveUp(0, 4)).toEqual(["alert_1", "alert_3"]);
  expect(await giveUp(0, 2)).toEqual(["alert_2", "alert_5"]);
  expect(await outbox.newestNumber()).toBe(6);
  expect(await giveUp(1, 2)).toEqual([]);
  store.endAlerts(alertSample().subject, NOW_MS);
  expect(await giveUp(1, 2)).toEqual(["alert_0"]);
  expect(await giveUp(1, 2)).toEqual([]);
  expect(states()).toEqual([...Array(4).fill("given-up"), "waiting", "given-up"]);
});

test("what is true, severe enough and not sent waits again, and nothing else does", async () => {
  const { db, store, outbox } = begin("critical");
  store.raiseAlert(alertSample({ id: "log", code: "LOG", severity: "warning" }));
  store.raiseAlert(alertSample({ id: "mild", code: "MILD", severity: "info" }));
  for (const id of ["past", "tried", "sent"])
    store.raiseAlert(alertSample({ id, code: id, severity: "critical", subject: id }));
  const end = { outcome: "HTTP 500", atMs: NOW_MS };
  for (const number of [1, 2]) await outbox.finish(number, { ...end, state: "given-up" });
  await outbox.finish(3, { ...end, state: "sent" });
  store.endAlerts("past", NOW_MS);
  await setAlertChannels(db, [{ name: "webhook", severities: ["warning", "critical"], sendsEnds: false }]);
  await outbox.waitAgain();
  await outbox.waitAgain();
  const waiting = db
    .prepare("SELECT id FROM alert_deliveries JOIN alerts ON alerts.number = alert WHERE state = 'waiting' ORDER BY id")
    .pluck()
    .all();
  expect(waiting).toEqual(["log", "tried"]);
});

test("an end waits for the channels that report ends, once, and not where the beginning was given up or is not reported", async () => {
  const { db, store } = begin("warning", true);
  const channels = [
    { name: "webhook", severities: ["warning", "critical"], sendsEnds: true },
    { name: "mute", severities: ["warning", "critical"], sendsEnds: false },
    { name: "calm", severities: ["critical"], sendsEnds: true },
  ] as const;
  await setAlertChannels(db, channels);
  store.raiseAlert(alertSample({ id: "a", code: "A" }));
  store.raiseAlert(alertSample({ id: "b", code: "B" }));
  await createAlertOutbox(db, "webhook").finish(3, { state: "given-up", outcome: "HTTP 410", atMs: NOW_MS });
  store.endAlerts(alertSample().subject, NOW_MS);
  store.endAlerts(alertSample().subject, NOW_MS);
  const ends = db.prepare("SELECT channel, alert FROM alert_deliveries WHERE tells = 'end'").all();
  expect(ends).toEqual([{ channel: "webhook", alert: 1 }]);
});

test("a message is sent whatever the least severity is, is never true of anything, and is written once by its id", async () => {
  const { db, store, outbox } = begin("critical");
  const message = alertSample({ id: "fill_1", severity: "info", code: "FILLED" });
  expect(store.addMessage(message)).toBe(true);
  expect(store.addMessage({ ...message, text: "in other words" })).toBe(false);
  expect(await outbox.next()).toMatchObject({ alert: message, overAtMs: NOW_MS, attempts: 0 });
  expect(db.prepare("SELECT count(*) FROM alerts WHERE over_at_ms IS NULL").pluck().get()).toBe(0);
  const nowhere = createStore(openDaemonDatabase().db);
  expect(nowhere.addMessage(message)).toBe(true);
});

function isWarned(store: DaemonStore, strategyId: string, subjects: readonly string[] = ["clock"]): boolean {
  return isWarnedOf(store.trueWarnings(strategyId, subjects), { strategyId, subjects, hindrancesSinceMs: NOW_MS });
}

test("people are warned of what is true, by strategy or by subject, and info warns nobody", () => {
  const { store } = begin();
  store.raiseAlert(alertSample({ severity: "info" }));
  expect(isWarned(store, "weekly")).toBe(false);
  store.raiseAlert(alertSample({ id: "alert_2", code: "OTHER" }));
  expect(isWarned(store, "weekly", [])).toBe(true);
  expect(isWarned(store, "monthly")).toBe(false);
  store.raiseAlert(alertSample({ id: "alert_3", subject: "clock", strategy: undefined }));
  expect(isWarned(store, "monthly")).toBe(true);
  for (const subject of ["clock", "swap run_1.0.1"]) store.endAlerts(subject, NOW_MS);
  expect(isWarned(store, "weekly")).toBe(false);
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

test("a text of any length is stored within bounds", async () => {
  const { store, outbox } = begin();
  store.raiseAlert(alertSample({ text: "x".repeat(100_000) }));
  expect((await outbox.next())?.alert.text.length).toBeLessThan(2_010);
});

test("what was said of a strategy is over when it is gone, but not of its open swaps and its mode", () => {
  const { db, store } = begin();
  const ofSwap = ["swap run_1.0.1", "proposal of run_1.0.1", "delivery of run_1.0.1"];
  const ofOpen = [...ofSwap, "run run_1", "wait of run_1", "mode of weekly"];
  const subjects = ["funds of weekly", ...ofOpen, "SWAP to RUN of weekly"];
  for (const subject of subjects) store.raiseAlert(alertSample({ id: subject, subject }));
  store.raiseAlert(alertSample({ id: "clock", subject: "clock", strategy: undefined }));
  const open = (): unknown[] =>
    db.prepare("SELECT subject FROM alerts WHERE over_at_ms IS NULL ORDER BY number").pluck().all();
  store.endAlertsOfOthers(["weekly"], NOW_MS);
  expect(open()).toHaveLength(9);
  // A pair is reported by its tokens, whose symbols may be the words of other subjects.
  store.endAlertsOfOthers(["monthly"], NOW_MS);
  expect(open()).toEqual([...ofOpen, "clock"]);
});

test("a fill that is lost is true until a person says so, whatever becomes of its strategy, and hides nothing else", () => {
  const { db, store } = begin();
  const fills = [
    ["fill of run_1.0.1", "weekly"],
    ["fill of run_2.0.1", "weekly"],
    ["fill of run_3.0.1", "monthly"],
  ] as const;
  for (const [subject, strategy] of fills) {
    const alert = { id: subject, subject, strategy, code: "FILL_TAKEN_BACK", severity: "critical" } as const;
    store.raiseAlert(alertSample({ ...alert, atMs: NOW_MS - 1 }));
  }
  const open = (): unknown[] =>
    db.prepare("SELECT subject FROM alerts WHERE over_at_ms IS NULL ORDER BY number").pluck().all();
  expect(isWarned(store, "weekly")).toBe(false);
  store.endAlertsOfOthers([], NOW_MS);
  store.endAlertsOfWants("weekly", { raisedUntilMs: NOW_MS, atMs: NOW_MS });
  expect(open()).toHaveLength(3);
  store.endAlertsOfFills("weekly", NOW_MS);
  expect(open()).toEqual(["fill of run_3.0.1"]);
});

test("a warning that a clock ahead raised ends with its want, and not only once that clock's time has come", () => {
  const { db, store } = begin();
  for (const [subject, atMs] of [
    ["funds of a", NOW_MS - 2],
    ["funds of b", NOW_MS],
    ["funds of c", NOW_MS + 365 * 86_400_000],
  ] as const) {
    store.raiseAlert(alertSample({ id: subject, subject, strategy: "weekly", severity: "warning", atMs }));
  }
  store.endAlertsOfWants("weekly", { raisedUntilMs: NOW_MS - 1, atMs: NOW_MS });
  expect(db.prepare("SELECT subject FROM alerts WHERE over_at_ms IS NULL").pluck().all()).toEqual(["funds of b"]);
});

test("what is said of no strategy stays true when the last strategy is gone", () => {
  const { db, store } = begin();
  store.raiseAlert(alertSample({ id: "account", subject: "account 0x1", strategy: undefined }));
  store.raiseAlert(alertSample({ id: "funds", subject: "funds of weekly" }));
  store.endAlertsOfOthers([], NOW_MS);
  expect(db.prepare("SELECT id FROM alerts WHERE over_at_ms IS NULL").pluck().all()).toEqual(["account"]);
});

test("what was said of a service, or of a signer elsewhere, is over when it is configured no more", () => {
  const { db, store } = begin();
  const [gone, kept] = ["old.example:8443", "new.example"];
  const services = [gone, kept].flatMap((host) => [SUBJECT.service(host), SUBJECT.callsTo(host)]);
  const signers = ["local by now", "vault"].flatMap((wallet) => [SUBJECT.signer(wallet), SUBJECT.signed(wallet)]);
  for (const subject of [...services, ...signers, "clock", "funds of service"]) {
    store.raiseAlert(alertSample({ id: subject, subject, strategy: undefined }));
  }
  store.endAlertsOfOthersOutside({ hosts: [kept], signed: ["vault"] }, NOW_MS);
  expect(db.prepare("SELECT subject FROM alerts WHERE over_at_ms IS NULL ORDER BY number").pluck().all()).toEqual([
    SUBJECT.service(kept),
    SUBJECT.callsTo(kept),
    SUBJECT.signer("vault"),
    SUBJECT.signed("vault"),
    "clock",
    "funds of service",
  ]);
});

test("a code that is switched off is written down and not sent, and what is still true of it is sent once it is on again", async () => {
  const { db, store, states } = begin("info");
  store.raiseAlert(alertSample({ id: "waits", code: "NO_FUNDS" }));
  const webhook = { name: "webhook", severities: ["info", "warning", "critical"], sendsEnds: false } as const;
  await setAlertChannels(db, [{ ...webhook, codesOff: ["NO_FUNDS", "FILLED"] }]);
  store.raiseAlert(alertSample({ id: "later", code: "NO_FUNDS", subject: "other" }));
  store.addMessage(alertSample({ id: "fill", code: "FILLED" }));
  expect(states()).toEqual([]);
  const outbox = createAlertOutbox(db, "webhook");
  await outbox.waitAgain();
  expect(states()).toEqual([]);
  await setAlertChannels(db, [webhook]);
  await outbox.waitAgain();
  expect(db.prepare("SELECT id FROM alert_deliveries JOIN alerts ON alerts.number = alert").pluck().all()).toEqual([
    "waits",
    "later",
  ]);
});

test("a channel that sends no messages sends alerts alone", async () => {
  const { db, store } = begin();
  await setAlertChannels(db, [
    { name: "webhook", severities: ["critical"], sendsEnds: false },
    { name: "pager", severities: ["critical"], sendsEnds: false, sendsMessages: false },
  ]);
  store.addMessage(alertSample({ id: "fill", code: "FILLED", severity: "info" }));
  store.raiseAlert(alertSample({ id: "loud", severity: "critical" }));
  const sent = db.prepare("SELECT channel, id FROM alert_deliveries JOIN alerts ON alerts.number = alert").raw().all();
  expect(sent).toEqual([
    ["webhook", "fill"],
    ["pager", "loud"],
    ["webhook", "loud"],
  ]);
});

test("each channel sends its own severities, and nothing of its own codes that are off, also of what waits", async () => {
  const { db, store } = begin();
  store.raiseAlert(alertSample({ id: "before", severity: "warning", code: "NO_FUNDS" }));
  const chat = { name: "webhook", severities: ["info", "warning"], sendsEnds: false } as const;
  const family = { name: "family", severities: [], sendsEnds: true, codesOff: ["DIGEST"] } as const;
  await setAlertChannels(db, [{ ...chat, codesOff: ["NO_FUNDS"] }, family]);
  store.raiseAlert(alertSample({ id: "loud", severity: "critical", subject: "loud" }));
  store.raiseAlert(alertSample({ id: "calm", severity: "info", subject: "calm" }));
  store.raiseAlert(alertSample({ id: "empty", severity: "warning", code: "NO_FUNDS", subject: "empty" }));
  for (const code of ["FILLED", "DIGEST"])
    store.addMessage(alertSample({ id: code, code, severity: "info", subject: code }));
  for (const name of ["webhook", "family"]) await createAlertOutbox(db, name).waitAgain();
  const sent = "SELECT channel, id FROM alert_deliveries JOIN alerts ON alerts.number = alert ORDER BY alert, channel";
  expect(db.prepare(sent).raw().all()).toEqual([
    ["webhook", "calm"],
    ["family", "FILLED"],
    ["webhook", "FILLED"],
    ["webhook", "DIGEST"],
  ]);
});
