import { DAY_MS, HOUR_MS } from "../../../domain/time/durations.ts";
import type { Access, AccessStore, ListedAccess, NewAccess } from "../../../ports/access.ts";
import type { SqliteDatabase } from "../../../storage/database.ts";
import { inTransaction } from "../../../storage/transaction.ts";
import { hasTable, prepareStatements, type Statements } from "../statements.ts";

/** Codes and logins that are over are forgotten after this. */
const KEPT_MS = 90 * DAY_MS;

/** Who may use the API, on a database that has this program's tables. */
export function createAccessStore(db: SqliteDatabase): AccessStore {
  const sql = prepareStatements(db);
  return {
    addCode: async (code, atMs) =>
      inTransaction(db, () => {
        sql.run("UPDATE access SET ended_at_ms = ? WHERE kind = 'code' AND ended_at_ms IS NULL", atMs);
        forgetOld(sql, atMs);
        insert(sql, "code", code, { atMs, untilMs: code.untilMs });
      }),
    isWaitedFor: async (hash, nowMs) => codeOf(sql, hash, nowMs) !== undefined,
    useCode: async ({ hash, login }, atMs) => inTransaction(db, () => useCode(sql, { hash, login }, atMs)),
    addToken: async (token, atMs) => inTransaction(db, () => addToken(sql, token, atMs)),
    revoke: async (name, atMs) => inTransaction(db, () => revoke(sql, name, atMs)),
    end: async (id, atMs) => {
      sql.run("UPDATE access SET ended_at_ms = ? WHERE id = ? AND ended_at_ms IS NULL", atMs, id);
    },
    list: async (nowMs) =>
      sql
        .all<AccessRow>(`SELECT * FROM access WHERE kind <> 'code' AND ${IN_FORCE} ORDER BY id`, nowMs)
        .map(decodeListed),
    find: async (hash, nowMs) => {
      const row = sql.get<AccessRow>(
        `SELECT * FROM access WHERE hash = ? AND kind <> 'code' AND ${IN_FORCE}`,
        hash,
        nowMs,
      );
      return row === undefined ? undefined : decode(row);
    },
    noteUse: async (id, atMs) => {
      const isOld = "id = ? AND ended_at_ms IS NULL AND coalesce(used_at_ms, 0) < ?";
      // A write of nothing takes the lock, too: most of the time nothing is to be noted.
      if (sql.get(`SELECT 1 FROM access WHERE ${isOld}`, id, atMs - HOUR_MS) === undefined) return;
      sql.run(`UPDATE access SET used_at_ms = ? WHERE ${isOld}`, atMs, id, atMs - HOUR_MS);
    },
    request: async (key, request, atMs) =>
      inTransaction(db, () => {
        const known = sql.get<{ asked: string; request_id: number }>(
          "SELECT asked, request_id FROM action_keys WHERE access_id = ? AND key = ?",
          key.accessId,
          key.key,
        );
        if (known !== undefined) return known.asked === key.asked ? { id: known.request_id } : "other-request";
        if (!haltsAll(request.arguments) && countWaiting(sql, request.madeBy) >= MOST_WAITING) return "too-many";
        const id = sql.insert(
          "INSERT INTO requests (command, arguments, made_by, made_at_ms) VALUES (?, ?, ?, ?)",
          request.command,
          JSON.stringify(request.arguments),
          request.madeBy,
          atMs,
        );
        sql.run(
          "INSERT INTO action_keys (access_id, key, asked, request_id) VALUES (?, ?, ?, ?)",
          key.accessId,
          key.key,
          key.asked,
          id,
        );
        return { id };
      }),
  };
}

/** What waits is taken in its order, and a halt of somebody else must not wait for thousands of requests. */
const MOST_WAITING = 50;

/** Never one too many: what it stops, every later one stops as well. Of single strategies there are any number. */
function haltsAll({ mode, scope }: Readonly<Record<string, unknown>>): boolean {
  return mode === "halted" && scope === "global";
}

function countWaiting(sql: Statements, madeBy: string): number {
  const text =
    "SELECT count(*) AS count FROM requests INDEXED BY requests_open WHERE taken_at_ms IS NULL AND made_by = ?";
  return sql.get<{ count: number }>(text, madeBy)?.count ?? 0;
}

/**
 * Ends all codes, logins and tokens of a copy that is restored: what was revoked since the copy was made must not come back.
 * @returns how many
 */
export function endAllAccess(db: SqliteDatabase, atMs: number): number {
  const sql = prepareStatements(db);
  if (!hasTable(sql, "access")) return 0;
  return sql.run("UPDATE access SET ended_at_ms = ? WHERE ended_at_ms IS NULL", atMs);
}

interface AccessRow {
  readonly id: number;
  readonly kind: "login" | "token";
  readonly name: string;
  readonly scope: Access["scope"];
  readonly made_by: string;
  readonly made_at_ms: number;
  readonly until_ms: number | null;
  readonly used_at_ms: number | null;
}

const IN_FORCE = "ended_at_ms IS NULL AND coalesce(until_ms, 9007199254740991) > ?";

function codeOf(sql: Statements, hash: string, nowMs: number): AccessRow | undefined {
  return sql.get<AccessRow>(`SELECT * FROM access WHERE hash = ? AND kind = 'code' AND ${IN_FORCE}`, hash, nowMs);
}

function useCode(
  sql: Statements,
  { hash, login }: Parameters<AccessStore["useCode"]>[0],
  atMs: number,
): Access | undefined {
  const code = codeOf(sql, hash, atMs);
  if (code === undefined) return undefined;
  sql.run("UPDATE access SET used_at_ms = ?, ended_at_ms = ? WHERE id = ?", atMs, atMs, code.id);
  const given = { name: `${code.name}-${code.id}`, scope: code.scope, hash: login.hash, madeBy: code.made_by };
  const id = insert(sql, "login", given, { atMs, untilMs: login.untilMs });
  return { id, kind: "login", name: given.name, scope: code.scope, untilMs: login.untilMs };
}

function addToken(sql: Statements, token: Parameters<AccessStore["addToken"]>[0], atMs: number): boolean {
  const named = "name = ? AND kind = 'token' AND ended_at_ms IS NULL";
  // One whose time is over gives its name back.
  sql.run(`UPDATE access SET ended_at_ms = ? WHERE ${named} AND until_ms <= ?`, atMs, token.name, atMs);
  if (sql.get(`SELECT 1 FROM access WHERE ${named}`, token.name) !== undefined) return false;
  insert(sql, "token", token, { atMs, untilMs: token.untilMs ?? null });
  return true;
}

const HALTS = "coalesce(arguments ->> '$.mode', '') = 'halted'";
/** A no to a run. What passes over a strategy's next slot uses that up, and stops nothing. */
const REFUSES_A_RUN = `command = 'skip'
  AND (arguments ->> '$.run' IS NOT NULL OR coalesce(arguments ->> '$.strategy', '') GLOB 'run_*')`;

/** What he asked for and the daemon has not taken yet is not done either, unless it stops something: a halt, or a no to a run. */
function revoke(sql: Statements, name: string, atMs: number): boolean {
  const named = "name = ? AND kind <> 'code' AND ended_at_ms IS NULL";
  sql.run(
    `UPDATE requests SET answer = ?, taken_at_ms = ?
     WHERE answer IS NULL AND NOT (${REFUSES_A_RUN}) AND NOT (${HALTS})
       AND id IN (SELECT request_id FROM action_keys WHERE access_id IN (SELECT id FROM access WHERE ${named}))`,
    ...[`refused: ${name}, who asked, was revoked before it was taken`, atMs, name],
  );
  return sql.run(`UPDATE access SET ended_at_ms = ? WHERE ${named}`, atMs, name) > 0;
}

function insert(
  sql: Statements,
  kind: "code" | "login" | "token",
  { name, scope, hash, madeBy }: NewAccess,
  { atMs, untilMs }: { readonly atMs: number; readonly untilMs: number | null },
): number {
  return sql.insert(
    "INSERT INTO access (kind, name, scope, hash, made_by, made_at_ms, until_ms) VALUES (?, ?, ?, ?, ?, ?, ?)",
    ...[kind, name, scope, hash, madeBy, atMs, untilMs],
  );
}

/** Those that asked for something stay: their requests name them. */
function forgetOld(sql: Statements, atMs: number): void {
  sql.run(
    `DELETE FROM access WHERE kind <> 'token' AND until_ms < ?
     AND NOT EXISTS (SELECT 1 FROM action_keys WHERE access_id = access.id)`,
    atMs - KEPT_MS,
  );
}

function decode({ id, kind, name, scope, until_ms: untilMs }: AccessRow): Access {
  return { id, kind, name, scope, untilMs: untilMs ?? undefined };
}

function decodeListed(row: AccessRow): ListedAccess {
  return { ...decode(row), madeBy: row.made_by, madeAtMs: row.made_at_ms, usedAtMs: row.used_at_ms ?? undefined };
}
