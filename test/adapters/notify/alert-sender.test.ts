import type { ServerResponse } from "node:http";
import { expect, onTestFinished, test, vi } from "vitest";
import { systemClock } from "../../../src/adapters/clock/system-clock.ts";
import {
  type AlertSender,
  type AlertSenderDeps,
  type AlertSenderOptions,
  startAlertSender,
} from "../../../src/adapters/notify/alert-sender.ts";
import { webhook } from "../../../src/adapters/notify/channels/webhook.ts";
import { createAlertOutbox, setAlertChannels } from "../../../src/adapters/sqlite/daemon/alert-outbox.ts";
import { createStore } from "../../../src/adapters/sqlite/daemon/store.ts";
import { isSigned, startReceiver } from "../../support/alert-receiver.ts";
import { alertSample } from "../../support/builders.ts";
import { channelMessage, sendBy, sendingOf } from "../../support/channel-messages.ts";
import { openDaemonDatabase } from "../../support/daemon-database.ts";
import { silentLogger } from "../../support/silent-logger.ts";

/** However busy the machine is; at rest each of these takes a second at most. */
const SOON = 20_000;

const SECRET = "0123456789abcdef-alert-secret";
const KEY = "key-in-the-path-0123";
const OPTIONS: AlertSenderOptions = {
  ...{ shortestRetryMs: 100, longestRetryMs: 400, mostAttempts: 50, longestAgeMs: 60_000, mostWaiting: 100 },
  stopWithinMs: 200,
};

/** Reports a webhook at this URL, over HTTP. */
const deliverTo =
  (url: string, timeoutMs = 5_000): AlertSenderDeps["deliver"] =>
  async ({ alert }, { nowMs, signal }) => {
    const values = { url: `${url}/${KEY}`, secret: SECRET };
    return await sendBy(webhook, values, channelMessage(alert), sendingOf({ nowMs, timeoutMs, signal }));
  };

function begin(url: string, change: Partial<AlertSenderOptions> = {}) {
  const { db } = openDaemonDatabase();
  void setAlertChannels(db, [{ name: "webhook", severities: ["info", "warning", "critical"], sendsEnds: false }]);
  const store = createStore(db);
  const logger = silentLogger();
  const outbox = createAlertOutbox(db, "webhook");
  const deps = { channel: "webhook", outbox, clock: systemClock, logger, deliver: deliverTo(url) };
  const open = (): AlertSender => {
    const sender = startAlertSender({ ...OPTIONS, ...change }, deps);
    onTestFinished(async () => await sender.stop());
    return sender;
  };
  const raise = (id: string, fields = {}): void => {
    store.raiseAlert(alertSample({ id, code: id, subject: id, atMs: Date.now(), ...fields }));
  };
  const rows = () =>
    db
      .prepare(
        "SELECT id, state, attempts, outcome FROM alert_deliveries AS one JOIN alerts ON alerts.number = alert ORDER BY one.number",
      )
      .all();
  return { ...{ db, store, logger, deps, open, raise, rows } };
}

const ids = (received: readonly { headers: Record<string, unknown> }[]): unknown[] =>
  received.map(({ headers }) => headers["swapd-alert-id"]);

test("what waits from before is sent, and what comes later as soon as the sender is woken", async () => {
  const { url, received } = await startReceiver();
  const { open, raise, rows } = begin(url);
  raise("a");
  const sender = open();
  await vi.waitFor(() => expect(ids(received)).toEqual(["a"]), SOON);
  raise("b");
  raise("c");
  sender.wake();
  await vi.waitFor(() => expect(ids(received)).toEqual(["a", "b", "c"]), SOON);
  await vi.waitFor(() => expect(rows()).toMatchObject([{ state: "sent" }, { state: "sent" }, { state: "sent" }]), SOON);
  for (const request of received) expect(await isSigned(request, SECRET)).toBe(true);
});

test("what is critical passes what waits before it, but for what was said of its own subject before", async () => {
  const { url, received } = await startReceiver((response, count) => {
    response.writeHead(count === 1 ? 429 : 200).end();
  });
  const { open, raise } = begin(url);
  for (const id of ["a", "b", "c"]) raise(id);
  raise("older", { subject: "wallet" });
  raise("theft", { subject: "wallet", severity: "critical" });
  raise("d");
  open();
  await vi.waitFor(() => expect(received).toHaveLength(7), SOON);
  expect(ids(received)).toEqual(["older", "older", "theft", "a", "b", "c", "d"]);
});

test("a receiver that answers 500 first gets the same alert again, later each time, until it takes it", async () => {
  const atMs: number[] = [];
  const { url, received } = await startReceiver((response, count) => {
    atMs.push(performance.now());
    response.writeHead(count < 4 ? 500 : 200).end();
  });
  const { open, raise, rows, logger } = begin(url);
  raise("a");
  open();
  await vi.waitFor(() => expect(rows()).toEqual([{ id: "a", state: "sent", attempts: 4, outcome: "HTTP 200" }]), SOON);
  expect(ids(received)).toEqual(["a", "a", "a", "a"]);
  for (const request of received) expect(await isSigned(request, SECRET)).toBe(true);
  const gaps = atMs.slice(1).map((at, index) => at - (atMs[index] ?? 0));
  expect(gaps[0]).toBeGreaterThan(80);
  expect(gaps[1]).toBeGreaterThan(180);
  expect(gaps[2]).toBeGreaterThan(380);
  expect(logger.lines.filter(({ level }) => level === "warn")).toHaveLength(3);
});

test("a kill between the attempt and its answer sends the same alert again after the restart", async () => {
  const held: ServerResponse[] = [];
  const { url, received } = await startReceiver((response, count) => {
    if (count === 1) held.push(response);
    else response.writeHead(200).end();
  });
  const { open, raise, rows } = begin(url, { stopWithinMs: 1 });
  raise("a");
  const first = open();
  await vi.waitFor(() => expect(received).toHaveLength(1), SOON);
  expect(rows()).toMatchObject([{ state: "waiting", attempts: 1 }]);
  await first.stop();
  open();
  await vi.waitFor(() => expect(rows()).toMatchObject([{ state: "sent" }]), SOON);
  expect(ids(received)).toEqual(["a", "a"]);
});

test("a receiver that hangs holds up no stop", async () => {
  const { url, received } = await startReceiver(() => undefined);
  const { open, raise, rows } = begin(url);
  raise("a");
  const sender = open();
  await vi.waitFor(() => expect(received).toHaveLength(1), SOON);
  const startMs = performance.now();
  await sender.stop();
  expect(performance.now() - startMs).toBeLessThan(4_000);
  expect(rows()).toMatchObject([{ state: "waiting" }]);
});

test("a receiver that takes nothing is asked less often, however much waits, and one bad alert holds up no other", async () => {
  const dead = await startReceiver((response) => void response.writeHead(503).end());
  const many = begin(dead.url, { shortestRetryMs: 300, longestRetryMs: 60_000 });
  for (let index = 0; index < 20; index += 1) many.raise(`m${index}`);
  many.open();
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  expect(dead.received.length).toBeGreaterThan(0);
  expect(dead.received.length).toBeLessThan(4);

  const picky = await startReceiver((response, count) => void response.writeHead(count === 1 ? 400 : 200).end());
  const two = begin(picky.url);
  two.raise("bad");
  two.raise("good");
  two.open();
  await vi.waitFor(() => expect(ids(picky.received).slice(0, 2)).toEqual(["bad", "good"]), SOON);
});

test("alerts that are too many or taken at no attempt are given up, each with a line in the log", async () => {
  const { url, received } = await startReceiver((response) => void response.writeHead(500).end());
  const { open, store, raise, rows, logger } = begin(url, { mostWaiting: 2, mostAttempts: 2 });
  for (const id of ["a", "b", "c"]) {
    raise(id);
    store.endAlerts(id, Date.now());
  }
  open();
  await vi.waitFor(() => expect(rows().map((row) => (row as { state: string }).state)).not.toContain("waiting"), SOON);
  expect(rows()).toMatchObject([
    { id: "a", state: "given-up", attempts: 0 },
    { id: "b", state: "given-up", attempts: 2, outcome: "HTTP 500" },
    { id: "c", state: "given-up", attempts: 2, outcome: "HTTP 500" },
  ]);
  expect(received).toHaveLength(4);
  const lines = logger.lines.filter(({ level }) => level === "error");
  expect(lines.map(({ fields }) => fields.alertId)).toEqual(["a", "b", "c"]);
});

test("neither log nor database holds more of the URL than its host, and nothing of the secret", async () => {
  const { url } = await startReceiver((response, count) => {
    if (count === 1) response.writeHead(302, { location: "/elsewhere" }).end();
    else if (count === 2) response.destroy();
    else response.writeHead(200).end();
  });
  const { open, raise, rows, logger, db } = begin(url);
  raise("a");
  open();
  await vi.waitFor(() => expect(rows()).toMatchObject([{ state: "sent", attempts: 3 }]), SOON);
  const reported = JSON.stringify([logger.lines, db.prepare("SELECT * FROM alerts, alert_deliveries").all()]);
  expect(reported).toContain(new URL(url).host);
  expect(reported).toContain("redirect");
  expect(reported).not.toContain(KEY);
  expect(reported).not.toContain(SECRET);
});

test("a database that fails for a while stops the sending and nothing else", async () => {
  const { url, received } = await startReceiver();
  const { deps, logger, raise, rows } = begin(url);
  let failures = 0;
  const next: typeof deps.outbox.next = () => {
    failures += 1;
    if (failures < 3) throw Object.assign(new Error("database is locked"), { code: "SQLITE_BUSY" });
    return deps.outbox.next();
  };
  raise("a");
  const failing = { ...deps, outbox: { ...deps.outbox, next } };
  const sender = startAlertSender({ ...OPTIONS, longestRetryMs: 50 }, failing);
  onTestFinished(async () => await sender.stop());
  await vi.waitFor(() => expect(rows()).toMatchObject([{ state: "sent" }]), SOON);
  expect(received).toHaveLength(1);
  expect(logger.lines.filter(({ level }) => level === "error")).toHaveLength(2);
});

test("a receiver that answers 429 is asked again when it said, and one that is gone for good is not asked for the same", async () => {
  const atMs: number[] = [];
  const limited = await startReceiver((response, count) => {
    atMs.push(performance.now());
    response.writeHead(count === 1 ? 429 : 200, { "retry-after": "1" }).end();
  });
  const asked = begin(limited.url, { longestRetryMs: 5_000 });
  asked.raise("a");
  asked.open();
  const gone = await startReceiver((response) => void response.writeHead(410).end());
  const refused = begin(gone.url, { longestRetryMs: 60_000 });
  refused.raise("a");
  refused.store.endAlerts("a", Date.now());
  refused.open();
  await vi.waitFor(() => expect(asked.rows()).toMatchObject([{ state: "sent", attempts: 2 }]), SOON);
  expect((atMs[1] ?? 0) - (atMs[0] ?? 0)).toBeGreaterThan(990);
  expect(refused.rows()).toEqual([{ id: "a", state: "given-up", attempts: 1, outcome: "HTTP 410" }]);
  expect(gone.received).toHaveLength(1);
});

test("channels whose receivers hang, fail or are gone delay none that is well", async () => {
  const { db, store, logger } = begin("http://127.0.0.1:1");
  const answers = {
    hangs: () => undefined,
    fails: (response: ServerResponse) => void response.writeHead(500).end(),
    gone: (response: ServerResponse) => void response.writeHead(410).end(),
    well: (response: ServerResponse) => void response.writeHead(200).end(),
  };
  const names = Object.keys(answers) as (keyof typeof answers)[];
  await setAlertChannels(
    db,
    names.map((name) => ({ name, severities: ["info", "warning", "critical"], sendsEnds: false })),
  );
  for (let index = 0; index < 5; index += 1) store.raiseAlert(alertSample({ id: `a${index}`, code: `A${index}` }));
  const reported = new Map<string, unknown[]>();
  for (const name of names) {
    const { url, received } = await startReceiver(answers[name]);
    reported.set(name, received);
    const outbox = createAlertOutbox(db, name);
    const sender = startAlertSender(OPTIONS, {
      ...{ channel: name, outbox, clock: systemClock, logger, deliver: deliverTo(url, 60_000) },
    });
    onTestFinished(async () => await sender.stop());
  }
  const states = (name: string) =>
    db.prepare("SELECT DISTINCT state FROM alert_deliveries WHERE channel = ?").pluck().all(name);
  await vi.waitFor(() => expect(states("well")).toEqual(["sent"]), SOON);
  await vi.waitFor(() => expect(reported.get("hangs")).toHaveLength(1), SOON);
  expect(reported.get("well")).toHaveLength(5);
  for (const name of ["hangs", "fails"]) expect(states(name)).toEqual(["waiting"]);
});
