import type { Check } from "../../../domain/guard/check.ts";
import type { CheckHistory } from "../../../ports/history.ts";
import { hasColumn, type Statements } from "../statements.ts";
import { pack, unpack } from "./pack.ts";

/** Code, 1 for passed, value, bound. */
type StoredCheck = readonly [string, 0 | 1, string, string];

/** Keeps the checks of a swap's newest decision; those before are in the steps that made them. */
export function writeChecks(sql: Statements, swapId: string, checks: readonly Check[], atMs: number): void {
  const stored = checks.map(
    ({ code, ok, subject, value, limit }): StoredCheck => [code, ok ? 1 : 0, `${subject}: ${value}`, limit],
  );
  sql.run(
    `INSERT INTO checks (swap_id, at_ms, body) VALUES (?, ?, ?)
     ON CONFLICT (swap_id) DO UPDATE SET at_ms = excluded.at_ms, body = excluded.body`,
    swapId,
    atMs,
    pack(JSON.stringify(stored)),
  );
}

/** The newest checks of a swap in their order, also in a database that no daemon of this release has opened yet. */
export function readChecks(sql: Statements, swapId: string): readonly CheckHistory[] {
  const isOlder = hasColumn(sql, "checks", "position");
  const row = sql.get<StoredChecks>(isOlder ? SINGLE_ROWS : ONE_ROW, swapId);
  return row === undefined ? [] : decodeChecks(row);
}

/** A row of `checks`; its body is plain text where they were single rows, and in an archive. */
export interface StoredChecks {
  readonly swap_id: string;
  readonly at_ms: number;
  readonly body: string | Uint8Array;
}

/** The checks of a row, in their order. */
export function decodeChecks({ swap_id: swapId, at_ms: atMs, body }: StoredChecks): readonly CheckHistory[] {
  const stored = JSON.parse(typeof body === "string" ? body : unpack(body)) as readonly StoredCheck[];
  return stored.map(([code, passed, value, limit]) => ({ swapId, atMs, code, passed: passed === 1, value, limit }));
}

const ONE_ROW = "SELECT swap_id, at_ms, body FROM checks WHERE swap_id = ?";

const SINGLE_ROWS = `SELECT swap_id, at_ms,
    json_group_array(json_array(code, passed, value, bound) ORDER BY position) AS body
  FROM checks WHERE swap_id = ? GROUP BY at_ms ORDER BY at_ms DESC LIMIT 1`;
