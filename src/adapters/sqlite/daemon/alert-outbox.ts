import type { Severity } from "../../../domain/run/alert.ts";
import type { AlertChannel, AlertOutbox, DeliveryEnd, WaitingDelivery } from "../../../ports/alert-store.ts";
import type { SqliteDatabase } from "../../../storage/database.ts";
import { inTransaction } from "../../../storage/transaction.ts";
import { prepareStatements, type Statements } from "../statements.ts";
import { IS_SENT, RANK } from "./alert-rows.ts";

/** A channel that was configured before, and how much waited for it. */
interface GoneChannel {
  readonly name: string;
  readonly waiting: number;
}

/**
 * Writes down which channels there are, and what each of them sends. What waited for one that is configured no more is not
 * kept: under the same name it would be a new one.
 * @returns the channels that are gone
 */
export async function setAlertChannels(
  db: SqliteDatabase,
  channels: readonly AlertChannel[],
): Promise<readonly GoneChannel[]> {
  const sql = prepareStatements(db);
  return inTransaction(db, () => {
    const names = JSON.stringify(channels.map(({ name }) => name));
    const gone = sql.all<GoneChannel>(
      `SELECT name, (SELECT count(*) FROM alert_deliveries WHERE channel = name AND state = 'waiting') AS waiting
       FROM alert_channels WHERE name NOT IN (SELECT value FROM json_each(?)) ORDER BY name`,
      names,
    );
    sql.run("DELETE FROM alert_channels WHERE name NOT IN (SELECT value FROM json_each(?))", names);
    for (const channel of channels) setChannel(sql, channel);
    return gone;
  });
}

/** Of codes that it sends no more, what waits is not sent either. Where one is on again, what is true is sent. */
function setChannel(sql: Statements, channel: AlertChannel): void {
  const { name, severities, sendsEnds, sendsMessages = true, codesOff = [] } = channel;
  sql.run(
    `INSERT INTO alert_channels (name, severities, tells_ends, tells_messages) VALUES (?, ?, ?, ?)
     ON CONFLICT (name) DO UPDATE SET
       severities = excluded.severities, tells_ends = excluded.tells_ends, tells_messages = excluded.tells_messages`,
    ...[name, severities.join(" "), sendsEnds ? 1 : 0, sendsMessages ? 1 : 0],
  );
  sql.run("DELETE FROM alert_channel_codes_off WHERE channel = ?", name);
  sql.run(
    "INSERT INTO alert_channel_codes_off SELECT DISTINCT ?, value FROM json_each(?)",
    name,
    JSON.stringify(codesOff),
  );
  sql.run(
    `DELETE FROM alert_deliveries WHERE state = 'waiting' AND channel = ? AND alert IN (
       SELECT number FROM alerts JOIN alert_channel_codes_off AS off ON off.code = alerts.code AND off.channel = ?)`,
    name,
    name,
  );
}

/** The sending side of one channel, on the database of the daemon. */
export function createAlertOutbox(db: SqliteDatabase, channel: string): AlertOutbox {
  const sql = prepareStatements(db);
  const finish = (number: number, end: DeliveryEnd): void => inTransaction(db, () => finishOne(sql, number, end));
  return {
    makeAllDue: async () => {
      sql.run("UPDATE alert_deliveries SET not_before_ms = 0 WHERE channel = ? AND state = 'waiting'", channel);
    },
    waitAgain: async () => inTransaction(db, () => waitAgain(sql, channel)),
    next: async (onlyCritical = false, now = NEVER) => {
      const what = onlyCritical ? `${NEXT} AND ${BEFORE_CRITICAL}` : NEXT;
      const row = sql.get<DeliveryColumns>(`${what} ${FIRST}`, channel, Math.floor(now), Math.floor(now));
      return row === undefined ? undefined : decode(row);
    },
    beginAttempt: async (number, retryAt) => {
      sql.run(
        "UPDATE alert_deliveries SET attempts = attempts + 1, not_before_ms = ? WHERE number = ?",
        Math.ceil(retryAt),
        number,
      );
    },
    noteOutcome: async (number, outcome) => {
      sql.run("UPDATE alert_deliveries SET outcome = ? WHERE number = ?", outcome, number);
    },
    finish: async (number, end) => finish(number, end),
    newestNumber: async () =>
      sql.get<{ newest: number | null }>("SELECT max(number) AS newest FROM alert_deliveries")?.newest ?? 0,
    giveUp: async ({ upToNumber, mostWaiting }, atMs) => {
      const rows = sql.all<DeliveryColumns>(TOO_MANY, channel, upToNumber, channel, mostWaiting).map(decode);
      const outcome = "waited too long, or too many wait";
      for (const { number } of rows) finish(number, { state: "given-up", outcome, atMs });
      return rows;
    },
  };
}

interface DeliveryColumns {
  delivery: number;
  tells: "begin" | "end";
  attempts: number;
  not_before_ms: number;
  id: string;
  severity: Severity;
  code: string;
  subject: string;
  text: string;
  strategy: string | null;
  run_id: string | null;
  raised_at_ms: number;
  over_at_ms: number | null;
}

const WAITING = `SELECT waits.number AS delivery, tells, attempts, not_before_ms, alerts.*
  FROM alert_deliveries AS waits JOIN alerts ON alerts.number = waits.alert
  WHERE waits.channel = ? AND waits.state = 'waiting'`;

const NEXT = `${WAITING} AND NOT EXISTS (SELECT 1 FROM alert_deliveries AS older WHERE older.channel = waits.channel
    AND older.subject = waits.subject AND older.state = 'waiting' AND older.number < waits.number)`;

/** What is critical, and what waits before it about the same subject. */
const BEFORE_CRITICAL = `EXISTS (SELECT 1 FROM alert_deliveries AS later JOIN alerts AS loud ON loud.number = later.alert
    WHERE later.channel = waits.channel AND later.subject = waits.subject AND later.state = 'waiting'
      AND loud.severity = 'critical')`;

/** Before any instant by which something is due: nothing passes another one then. */
const NEVER = -1;

/** Hundreds of warnings come together where a node is away, and a receiver may take one in three seconds. */
const FIRST = `ORDER BY not_before_ms > ?, not_before_ms <= ? AND ${BEFORE_CRITICAL} DESC, not_before_ms, delivery LIMIT 1`;

const TOO_MANY = `${WAITING} AND (waits.number <= ? AND over_at_ms IS NOT NULL
    OR waits.number NOT IN (SELECT kept.number FROM alert_deliveries AS kept JOIN alerts ON alerts.number = kept.alert
      WHERE kept.channel = ? AND kept.state = 'waiting' ORDER BY ${RANK} DESC, kept.number DESC LIMIT ?))
  ORDER BY delivery`;

function waitAgain(sql: Statements, channel: string): void {
  sql.run(
    `UPDATE alert_deliveries SET state = 'waiting', not_before_ms = 0, finished_at_ms = NULL
     WHERE alert IN (SELECT alerts.number FROM alerts JOIN alert_channels ON name = ?
         WHERE over_at_ms IS NULL AND ${IS_SENT})
       AND channel = ? AND tells = 'begin' AND state = 'given-up'`,
    channel,
    channel,
  );
  sql.run(
    `INSERT INTO alert_deliveries (channel, alert, tells, subject)
     SELECT name, number, 'begin', subject FROM alerts JOIN alert_channels ON name = ?
     WHERE over_at_ms IS NULL AND ${IS_SENT} ORDER BY number
     ON CONFLICT (alert, channel, tells) DO NOTHING`,
    channel,
  );
}

function finishOne(sql: Statements, number: number, { state, outcome, atMs }: DeliveryEnd): void {
  sql.run(
    "UPDATE alert_deliveries SET state = ?, outcome = ?, finished_at_ms = ? WHERE number = ? AND state = 'waiting'",
    state,
    outcome,
    atMs,
    number,
  );
  if (state === "sent") return;
  sql.run(
    `UPDATE alert_deliveries SET state = 'given-up', outcome = ?, finished_at_ms = ?
     WHERE tells = 'end' AND state = 'waiting' AND (alert, channel) IN (
       SELECT alert, channel FROM alert_deliveries WHERE number = ? AND tells = 'begin')`,
    "its beginning was not sent",
    atMs,
    number,
  );
}

function decode(row: DeliveryColumns): WaitingDelivery {
  return {
    number: row.delivery,
    tells: row.tells,
    alert: {
      id: row.id,
      severity: row.severity,
      code: row.code,
      subject: row.subject,
      text: row.text,
      strategy: row.strategy ?? undefined,
      runId: row.run_id ?? undefined,
      atMs: row.raised_at_ms,
    },
    overAtMs: row.over_at_ms ?? undefined,
    attempts: row.attempts,
    dueAt: row.not_before_ms,
  };
}
