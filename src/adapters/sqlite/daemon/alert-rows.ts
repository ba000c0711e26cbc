import { SEVERITIES, SUBJECT } from "../../../domain/run/alert.ts";
import type { AlertRow, TrueWarning } from "../../../ports/alert-store.ts";
import type { SqlValue, Statements } from "../statements.ts";
import type { AlertStore, SingleRows } from "./row-store.ts";

/** Alerts that are over and settled are kept as long as so many newer ones are not there. */
const MOST_KEPT = 10_000;

/** Details come from services and nodes too: a row holds no more of them than this. */
const LONGEST_TEXT = 2_000;

/** How much a severity matters: what is less severe comes earlier in this text. */
export const RANK = `instr('${SEVERITIES.join(" ")}', severity)`;

/** Whether a channel sends an alert; where it is a message, whether it sends messages. */
export const IS_SENT = `CASE WHEN over_at_ms IS NULL THEN instr(severities, severity) > 0 ELSE tells_messages END
  AND NOT EXISTS (SELECT 1 FROM alert_channel_codes_off AS off WHERE off.channel = name AND off.code = alerts.code)`;

type AlertRows = AlertStore &
  Pick<
    SingleRows,
    | "warnings"
    | "raiseAlert"
    | "replaceAlert"
    | "rewordAlert"
    | "addMessage"
    | "endAlertsOfWants"
    | "endAlertsOfOthersOutside"
  >;

/**
 * The raising side. What is raised and what ends has a delivery for each channel that reports it, in the same commit.
 * @param atomically runs work in one transaction
 */
export function createAlertRows(sql: Statements, atomically: (work: () => void) => void): AlertRows {
  const insert = (alert: AlertRow, how: { conflict: string; overAtMs: number | null }): boolean => {
    let isNew = false;
    atomically(() => {
      isNew = insertAlert(sql, alert, how) > 0;
      if (!isNew) return;
      addDeliveries(sql, alert.id);
      forgetOld(sql);
    });
    return isNew;
  };
  return {
    raiseAlert: (alert) => insert(alert, { conflict: "(subject, code) WHERE over_at_ms IS NULL", overAtMs: null }),
    replaceAlert: ({ subject, code }, atMs) =>
      atomically(() => {
        const open = "subject = ? AND code = ? AND over_at_ms IS NULL";
        sql.run(
          `UPDATE alert_deliveries SET state = 'given-up', outcome = 'a newer one says it', finished_at_ms = ?
           WHERE state = 'waiting' AND alert IN (SELECT number FROM alerts WHERE ${open})`,
          ...[atMs, subject, code],
        );
        sql.run(`UPDATE alerts SET over_at_ms = ? WHERE ${open}`, atMs, subject, code);
      }),
    rewordAlert: ({ subject, code, ...said }) => {
      sql.run(
        "UPDATE alerts SET text = ? WHERE subject = ? AND code = ? AND over_at_ms IS NULL",
        ...[keptText(said), subject, code],
      );
    },
    addMessage: (message) => insert(message, { conflict: "(id)", overAtMs: message.atMs }),
    warnings: () =>
      sql
        .all<TrueWarning & { strategy: string | null }>(
          `SELECT subject, code, severity, strategy, raised_at_ms AS raisedAtMs FROM alerts
           WHERE over_at_ms IS NULL AND severity <> 'info'`,
        )
        .map((row) => ({ ...row, strategy: row.strategy ?? undefined })),
    trueWarnings: (strategyId, subjects) =>
      sql
        .all<TrueWarning & { strategy: string | null }>(
          // With OR in its place SQLite goes through all that are true.
          `SELECT subject, code, severity, strategy, raised_at_ms AS raisedAtMs FROM alerts
           WHERE severity <> 'info' AND number IN (
             SELECT number FROM alerts WHERE over_at_ms IS NULL AND strategy = ?
             UNION ALL SELECT number FROM alerts WHERE over_at_ms IS NULL AND subject IN (SELECT value FROM json_each(?)))`,
          strategyId,
          JSON.stringify(subjects),
        )
        .map((row) => ({ ...row, strategy: row.strategy ?? undefined })),
    ...createEndings(sql, atomically),
  };
}

function keptText({ text }: Pick<AlertRow, "text">): string {
  return text.length <= LONGEST_TEXT ? text : `${text.slice(0, LONGEST_TEXT)}...`;
}

function insertAlert(sql: Statements, alert: AlertRow, how: { conflict: string; overAtMs: number | null }): number {
  return sql.run(
    `INSERT INTO alerts (id, severity, code, subject, text, strategy, run_id, raised_at_ms, over_at_ms)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT ${how.conflict} DO NOTHING`,
    alert.id,
    alert.severity,
    alert.code,
    alert.subject,
    keptText(alert),
    alert.strategy ?? null,
    alert.runId ?? null,
    alert.atMs,
    how.overAtMs,
  );
}

/** What is over at once is a message, which every channel sends that sends messages at all. */
function addDeliveries(sql: Statements, alertId: string): void {
  sql.run(
    `INSERT INTO alert_deliveries (channel, alert, tells, subject)
     SELECT name, number, 'begin', subject FROM alerts, alert_channels
     WHERE id = ? AND ${IS_SENT}`,
    alertId,
  );
}

/** The end of an alert is sent by the channels that send ends, where its beginning was sent or still waits. */
function addEnds(sql: Statements, alertNumber: number): void {
  sql.run(
    `INSERT INTO alert_deliveries (channel, alert, tells, subject)
     SELECT channel, alert, 'end', subject FROM alert_deliveries JOIN alert_channels ON name = channel
     WHERE alert = ? AND tells = 'begin' AND state <> 'given-up' AND tells_ends = 1`,
    alertNumber,
  );
}

function createEndings(
  sql: Statements,
  atomically: (work: () => void) => void,
): Pick<AlertRows, Extract<keyof AlertRows, `endAlerts${string}`>> {
  const end = (atMs: number, condition: string, ...values: SqlValue[]): void =>
    atomically(() => {
      const over = sql.all<{ number: number }>(
        `UPDATE alerts SET over_at_ms = ? WHERE over_at_ms IS NULL AND ${condition} RETURNING number`,
        atMs,
        ...values,
      );
      for (const { number } of over) addEnds(sql, number);
    });
  return {
    endAlerts: (subject, atMs) => end(atMs, "subject = ?", subject),
    endAlertsOfFills: (strategyId, atMs) => end(atMs, "strategy = ? AND subject LIKE ?", strategyId, SUBJECT.fill("%")),
    endAlertsOfWants: (strategyId, { raisedUntilMs, atMs }) =>
      end(
        atMs,
        `strategy = ? AND (raised_at_ms <= ? OR raised_at_ms > ?) AND severity <> 'critical'
           AND (subject LIKE '% to % of %' OR subject LIKE 'funds of %')`,
        strategyId,
        raisedUntilMs,
        atMs,
      ),
    endAlertsOfOthersOutside: ({ hosts, signed }, atMs) =>
      end(
        atMs,
        `strategy IS NULL AND (subject LIKE ? OR subject LIKE ? OR subject LIKE ? OR subject LIKE ?)
           AND subject NOT IN (SELECT value FROM json_each(?))`,
        ...[SUBJECT.service("%"), SUBJECT.callsTo("%"), SUBJECT.signer("%"), SUBJECT.signed("%")],
        JSON.stringify([
          ...hosts.flatMap((host) => [SUBJECT.service(host), SUBJECT.callsTo(host)]),
          ...signed.flatMap((wallet) => [SUBJECT.signer(wallet), SUBJECT.signed(wallet)]),
        ]),
      ),
    endAlertsOfOthers: (strategyIds, atMs) =>
      end(
        atMs,
        `strategy IS NOT NULL AND strategy NOT IN (SELECT value FROM json_each(?))
           AND (subject LIKE '% to % of %'
             OR subject NOT LIKE 'run %' AND subject NOT LIKE 'swap %' AND subject NOT LIKE 'mode of %'
               AND subject NOT LIKE 'fill of %' AND subject NOT LIKE 'wait of %' AND subject NOT LIKE 'proposal of %'
               AND subject NOT LIKE 'delivery of %')`,
        JSON.stringify(strategyIds),
      ),
  };
}

function forgetOld(sql: Statements): void {
  sql.run(
    `DELETE FROM alerts WHERE number <= (SELECT max(number) FROM alerts) - ? AND over_at_ms IS NOT NULL
       AND NOT EXISTS (SELECT 1 FROM alert_deliveries WHERE alert = alerts.number AND state = 'waiting')`,
    MOST_KEPT,
  );
}
