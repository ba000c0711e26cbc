import { SEVERITIES, type Severity, SUBJECT } from "../../../domain/run/alert.ts";
import type { AlertOutbox, AlertRow, AlertStore, TrueWarning, WaitingAlert } from "../../../ports/alert-store.ts";
import type { SqliteDatabase } from "../../../storage/database.ts";
import { prepareStatements, type Statements } from "../statements.ts";
import type { SingleRows } from "./row-store.ts";

interface AlertColumns {
  id: string;
  severity: Severity;
  code: string;
  subject: string;
  text: string;
  strategy: string | null;
  run_id: string | null;
  raised_at_ms: number;
  attempts: number;
}

/** Alerts that are over and settled are kept as long as so many newer ones are not there. */
const MOST_KEPT = 10_000;

/** Details come from services and nodes too: a row holds no more of them than this. */
const LONGEST_TEXT = 2_000;

const INSERT = `INSERT INTO alerts
    (id, severity, code, subject, text, strategy, run_id, raised_at_ms, over_at_ms, state, not_before_ms)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0)`;

type AlertRows = AlertStore &
  Pick<SingleRows, "warnings" | "raiseAlert" | "addMessage" | "endAlertsOfWants" | "endAlertsOfOtherServices">;

/**
 * The raising side.
 * @param sendFrom the least severity that waits to be sent; undefined: nothing is sent, the log alone has it
 */
export function createAlertRows(sql: Statements, sendFrom: Severity | undefined): AlertRows {
  const insert = (alert: AlertRow, how: { conflict: string; overAtMs: number | null; isSent: boolean }): boolean => {
    const { overAtMs } = how;
    const isNew = sql.run(
      `${INSERT} ON CONFLICT ${how.conflict} DO NOTHING`,
      alert.id,
      alert.severity,
      alert.code,
      alert.subject,
      alert.text.length <= LONGEST_TEXT ? alert.text : `${alert.text.slice(0, LONGEST_TEXT)}...`,
      alert.strategy ?? null,
      alert.runId ?? null,
      alert.atMs,
      overAtMs,
      how.isSent ? "waiting" : "log-only",
    );
    if (isNew > 0) forgetOld(sql);
    return isNew > 0;
  };
  return {
    raiseAlert: (alert) => {
      const conflict = "(subject, code) WHERE over_at_ms IS NULL";
      return insert(alert, { conflict, overAtMs: null, isSent: isSent(alert.severity, sendFrom) });
    },
    addMessage: (message) =>
      insert(message, { conflict: "(id)", overAtMs: message.atMs, isSent: sendFrom !== undefined }),
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
          `SELECT subject, code, severity, strategy, raised_at_ms AS raisedAtMs FROM alerts
           WHERE over_at_ms IS NULL AND severity <> 'info'
             AND (strategy = ? OR subject IN (SELECT value FROM json_each(?)))`,
          strategyId,
          JSON.stringify(subjects),
        )
        .map((row) => ({ ...row, strategy: row.strategy ?? undefined })),
    ...createEndings(sql),
  };
}

function createEndings(sql: Statements): Pick<AlertRows, Extract<keyof AlertRows, `endAlerts${string}`>> {
  return {
    endAlerts: (subject, atMs) => {
      sql.run("UPDATE alerts SET over_at_ms = ? WHERE subject = ? AND over_at_ms IS NULL", atMs, subject);
    },
    endAlertsOfFills: (strategyId, atMs) => {
      sql.run(
        "UPDATE alerts SET over_at_ms = ? WHERE over_at_ms IS NULL AND strategy = ? AND subject LIKE ?",
        atMs,
        strategyId,
        SUBJECT.fill("%"),
      );
    },
    endAlertsOfWants: (strategyId, { raisedUntilMs, atMs }) => {
      sql.run(
        `UPDATE alerts SET over_at_ms = ? WHERE over_at_ms IS NULL AND strategy = ? AND (raised_at_ms <= ? OR raised_at_ms > ?)
           AND severity <> 'critical' AND (subject LIKE '% to % of %' OR subject LIKE 'funds of %')`,
        atMs,
        strategyId,
        raisedUntilMs,
        atMs,
      );
    },
    endAlertsOfOtherServices: (hosts, atMs) => {
      const subjects = hosts.flatMap((host) => [SUBJECT.service(host), SUBJECT.callsTo(host)]);
      sql.run(
        `UPDATE alerts SET over_at_ms = ? WHERE over_at_ms IS NULL AND strategy IS NULL
           AND (subject LIKE ? OR subject LIKE ?) AND subject NOT IN (SELECT value FROM json_each(?))`,
        atMs,
        SUBJECT.service("%"),
        SUBJECT.callsTo("%"),
        JSON.stringify(subjects),
      );
    },
    endAlertsOfOthers: (strategyIds, atMs) => {
      sql.run(
        `UPDATE alerts SET over_at_ms = ? WHERE over_at_ms IS NULL
           AND strategy IS NOT NULL AND strategy NOT IN (SELECT value FROM json_each(?))
           AND (subject LIKE '% to % of %'
             OR subject NOT LIKE 'run %' AND subject NOT LIKE 'swap %' AND subject NOT LIKE 'mode of %'
               AND subject NOT LIKE 'fill of %')`,
        atMs,
        JSON.stringify(strategyIds),
      );
    },
  };
}

function isSent(severity: Severity, sendFrom: Severity | undefined): boolean {
  return sendFrom !== undefined && SEVERITIES.indexOf(severity) >= SEVERITIES.indexOf(sendFrom);
}

function forgetOld(sql: Statements): void {
  sql.run(
    `DELETE FROM alerts WHERE number <= (SELECT max(number) FROM alerts) - ? AND over_at_ms IS NOT NULL
       AND state <> 'waiting'`,
    MOST_KEPT,
  );
}

/** The sending side, on the database of the daemon. */
export function createAlertOutbox(db: SqliteDatabase): AlertOutbox {
  const sql = prepareStatements(db);
  return {
    makeAllDue: () => {
      sql.run("UPDATE alerts SET not_before_ms = 0 WHERE state = 'waiting' AND not_before_ms <> 0");
    },
    waitAgain: (minimum) => {
      sql.run(
        `UPDATE alerts SET state = 'waiting', not_before_ms = 0, finished_at_ms = NULL
         WHERE over_at_ms IS NULL AND state IN ('given-up', 'log-only')
           AND severity IN (SELECT value FROM json_each(?))`,
        JSON.stringify(SEVERITIES.slice(SEVERITIES.indexOf(minimum))),
      );
    },
    nextAlert: (now) => {
      const row = sql.get<AlertColumns>(
        "SELECT * FROM alerts WHERE state = 'waiting' AND not_before_ms <= ? ORDER BY not_before_ms, number LIMIT 1",
        now,
      );
      return row === undefined ? undefined : decode(row);
    },
    nextAlertMs: () =>
      sql.get<{ at: number | null }>("SELECT min(not_before_ms) AS at FROM alerts WHERE state = 'waiting'")?.at ??
      undefined,
    beginAttempt: (id, retryAt) => {
      sql.run("UPDATE alerts SET attempts = attempts + 1, not_before_ms = ? WHERE id = ?", Math.ceil(retryAt), id);
    },
    noteOutcome: (id, outcome) => {
      sql.run("UPDATE alerts SET outcome = ? WHERE id = ?", outcome, id);
    },
    finishAlert: (id, { state, outcome, atMs }) => {
      sql.run(
        "UPDATE alerts SET state = ?, outcome = ?, finished_at_ms = ? WHERE id = ? AND state = 'waiting'",
        state,
        outcome,
        atMs,
        id,
      );
    },
    newestNumber: () => sql.get<{ newest: number | null }>("SELECT max(number) AS newest FROM alerts")?.newest ?? 0,
    giveUp: ({ upToNumber, mostWaiting }, atMs) =>
      sql
        .all<AlertColumns>(
          `UPDATE alerts SET state = 'given-up', finished_at_ms = ? WHERE state = 'waiting'
             AND (number <= ? AND over_at_ms IS NOT NULL
             OR number NOT IN (SELECT number FROM alerts WHERE state = 'waiting'
               ORDER BY CASE severity WHEN 'critical' THEN 0 WHEN 'warning' THEN 1 ELSE 2 END, number DESC LIMIT ?))
           RETURNING *`,
          atMs,
          upToNumber,
          mostWaiting,
        )
        .map(decode),
  };
}

function decode(row: AlertColumns): WaitingAlert & AlertRow {
  return {
    id: row.id,
    severity: row.severity,
    code: row.code,
    subject: row.subject,
    text: row.text,
    strategy: row.strategy ?? undefined,
    runId: row.run_id ?? undefined,
    atMs: row.raised_at_ms,
    attempts: row.attempts,
  };
}
