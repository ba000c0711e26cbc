import type { ModeRow, OperatingMode } from "../../../domain/run/operating-mode.ts";
import type { EndedSlots } from "../../../domain/schedule/ended-slots.ts";
import type { StrategySpec } from "../../../domain/strategy/spec.ts";
import type { GapRow } from "../../../ports/daemon-rows.ts";
import type { Statements } from "../statements.ts";
import { createBaselineRows } from "./baseline-rows.ts";
import { decodeJson, encodeJson } from "./codec.ts";
import { createDrawdownRows } from "./drawdown-rows.ts";
import { createLotOrderRows } from "./lot-order-rows.ts";
import type { OperationStore } from "./operation-store.ts";
import { createPriceRows } from "./price-rows.ts";
import type { RowStore } from "./row-store.ts";
import { createSameEndRows } from "./same-end-rows.ts";
import { readSpec } from "./stored-spec.ts";

interface ModeColumns {
  scope: string;
  mode: string;
  set_by: string;
  reason: string;
  at_ms: number;
}

type OtherRows =
  | keyof ReturnType<typeof createDrawdownRows>
  | keyof ReturnType<typeof createPriceRows>
  | "saveSameEnds"
  | "sameEndsOf"
  | "answerOpenRequests"
  | keyof ReturnType<typeof createBaselineRows>
  | "identity"
  | "saveIdentity"
  | "noteAlive";

/** Rows of the daemon's own life: identity, strategies, modes, gaps, baselines, requests. */
export function createOperationRows(sql: Statements): Pick<RowStore, keyof OperationStore | OtherRows> {
  return {
    ...createModeRows(sql),
    ...createStrategyRows(sql),
    ...createGoneRows(sql),
    ...createRequestRows(sql),
    ...createLotOrderRows(sql),
    ...createPriceRows(sql),
    ...createDrawdownRows(sql),
    ...createSameEndRows(sql),
    ...createBaselineRows(sql),
    identity: () => {
      const row = sql.get<{ network: string; chain_id: number }>("SELECT network, chain_id FROM identity");
      return row === undefined ? undefined : { network: row.network, chainId: row.chain_id };
    },
    saveIdentity: ({ network, chainId, atMs }) => {
      sql.run(
        "INSERT INTO identity (one, network, chain_id, created_at_ms) VALUES (1, ?, ?, ?) ON CONFLICT DO NOTHING",
        network,
        chainId,
        atMs,
      );
    },
    lastAliveMs: () => sql.get<{ at: number | null }>("SELECT alive_at_ms AS at FROM identity")?.at ?? undefined,
    noteAlive: (atMs) => {
      sql.run("UPDATE identity SET alive_at_ms = ?", atMs);
    },
    addDaemonEvent: (kind, detail, atMs) => {
      sql.run("INSERT INTO daemon_events (kind, detail, at_ms) VALUES (?, ?, ?)", kind, detail, atMs);
    },
  };
}

function createModeRows(sql: Statements): Pick<OperationStore, "mode" | "modes" | "setMode"> {
  const decode = (row: ModeColumns): ModeRow => ({
    scope: row.scope,
    mode: row.mode as OperatingMode,
    setBy: row.set_by,
    reason: row.reason,
    atMs: row.at_ms,
  });
  return {
    mode: (scope) => {
      const row = sql.get<ModeColumns>("SELECT * FROM modes WHERE scope = ?", scope);
      return row === undefined ? undefined : decode(row);
    },
    modes: () => sql.all<ModeColumns>("SELECT * FROM modes ORDER BY scope").map(decode),
    setMode: (row) => {
      sql.run(
        `INSERT INTO modes (scope, mode, set_by, reason, at_ms) VALUES (?, ?, ?, ?, ?)
         ON CONFLICT (scope) DO UPDATE SET
           mode = excluded.mode, set_by = excluded.set_by, reason = excluded.reason, at_ms = excluded.at_ms`,
        row.scope,
        row.mode,
        row.setBy,
        row.reason,
        row.atMs,
      );
    },
  };
}

function createGoneRows(
  sql: Statements,
): Pick<OperationStore, "markGone" | "goneStrategies" | "comeBack" | "strategyIds"> {
  return {
    strategyIds: () => sql.all<{ id: string }>("SELECT id FROM strategies").map(({ id }) => id),
    markGone: (strategyIds) => {
      sql.run(
        "UPDATE strategies SET is_gone = 1 WHERE is_gone = 0 AND id NOT IN (SELECT value FROM json_each(?))",
        JSON.stringify(strategyIds),
      );
    },
    goneStrategies: () =>
      new Set(sql.all<{ id: string }>("SELECT id FROM strategies WHERE is_gone = 1").map(({ id }) => id)),
    comeBack: (strategyId, lastSlotMs) => {
      sql.run("UPDATE strategies SET is_gone = 0, last_slot_ms = ? WHERE id = ?", lastSlotMs, strategyId);
    },
  };
}

/** Only a strategy that came further than it is now has any: its schedule was edited since. */
const ENDED_AHEAD = `WITH ahead AS (
    SELECT id, min(last_slot_ms, @fromMs) AS from_ms FROM strategies
    WHERE id IN (SELECT value FROM json_each(@ids)) AND furthest_slot_ms > min(last_slot_ms, @fromMs)
  )
  SELECT strategy, first_slot_ms AS firstMs, last_slot_ms AS lastMs
  FROM ahead CROSS JOIN gaps ON strategy = ahead.id AND last_slot_ms > from_ms
  UNION ALL SELECT strategy, slot_ms, slot_ms FROM ahead CROSS JOIN runs ON strategy = ahead.id AND slot_ms > from_ms
  ORDER BY strategy, firstMs`;

function createStrategyRows(
  sql: Statements,
): Pick<OperationStore, "strategy" | "saveStrategy" | "lastSlots" | "endedAhead" | "setLastSlot" | "addGap"> {
  // With each step of a run its strategy is read, whose edition seldom changes.
  const editions = new Map<string, { readonly text: string; readonly spec: StrategySpec }>();
  const specOf = ({ id, spec: text }: { id: string; spec: string }): StrategySpec => {
    const known = editions.get(id);
    if (known?.text === text) return known.spec;
    const spec = readSpec(decodeJson(text));
    editions.set(id, { text, spec });
    return spec;
  };
  return {
    strategy: (id) => {
      const row = sql.get<{
        id: string;
        kind: string;
        spec_hash: string;
        spec: string;
        memory: string;
        last_slot_ms: number;
      }>("SELECT id, kind, spec_hash, spec, memory, last_slot_ms FROM strategies WHERE id = ?", id);
      if (row === undefined) return undefined;
      return {
        id: row.id,
        kind: row.kind,
        specHash: row.spec_hash,
        spec: specOf(row),
        memory: row.memory,
        lastSlotMs: row.last_slot_ms,
      };
    },
    saveStrategy: (row, atMs) => {
      sql.run(
        `INSERT INTO strategies (id, kind, spec_hash, spec, memory, memory_at_ms, last_slot_ms) VALUES (?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT (id) DO UPDATE SET kind = excluded.kind, spec_hash = excluded.spec_hash, spec = excluded.spec,
           memory = excluded.memory, memory_at_ms = excluded.memory_at_ms, last_slot_ms = excluded.last_slot_ms`,
        row.id,
        row.kind,
        row.specHash,
        encodeJson(row.spec),
        row.memory,
        atMs,
        row.lastSlotMs,
      );
    },
    lastSlots: (strategyIds) => {
      const rows = sql.all<{ id: string; last_slot_ms: number }>(
        "SELECT id, last_slot_ms FROM strategies WHERE id IN (SELECT value FROM json_each(?))",
        JSON.stringify(strategyIds),
      );
      return new Map(rows.map((row) => [row.id, row.last_slot_ms]));
    },
    endedAhead: (strategyIds, fromMs = Number.MAX_SAFE_INTEGER) => {
      const asked = { ids: JSON.stringify(strategyIds), fromMs };
      const rows = sql.allNamed<EndedSlots & { strategy: string }>(ENDED_AHEAD, asked);
      return Map.groupBy(rows, ({ strategy }) => strategy);
    },
    setLastSlot: (strategyId, lastSlotMs) => {
      sql.run("UPDATE strategies SET last_slot_ms = ? WHERE id = ?", lastSlotMs, strategyId);
    },
    addGap: (gap, joinsAtMs, atMs) => addGap(sql, gap, { joinsAtMs, atMs }),
  };
}

function addGap(sql: Statements, gap: GapRow, when: { joinsAtMs: number; atMs: number }): void {
  const { joinsAtMs, atMs } = when;
  const joined = sql.run(
    `UPDATE gaps SET last_slot_ms = ?, count = count + ?, recorded_at_ms = ?
     WHERE strategy = ? AND reason = ? AND last_slot_ms = ? AND state IS NULL
       AND closed IS NULL`,
    gap.lastSlotMs,
    gap.count,
    atMs,
    gap.strategy,
    gap.reason,
    joinsAtMs,
  );
  if (joined > 0) return;
  sql.run(
    `INSERT INTO gaps (strategy, first_slot_ms, last_slot_ms, count, reason, recorded_at_ms)
     VALUES (?, ?, ?, ?, ?, ?)`,
    gap.strategy,
    gap.firstSlotMs,
    gap.lastSlotMs,
    gap.count,
    gap.reason,
    atMs,
  );
}

function createRequestRows(
  sql: Statements,
): Pick<
  RowStore,
  "addRequest" | "newestRequest" | "openRequests" | "answerRequest" | "answerOpenRequests" | "answerOf"
> {
  return {
    addRequest: (request) =>
      sql.insert(
        "INSERT INTO requests (command, arguments, made_by, made_at_ms) VALUES (?, ?, ?, ?)",
        request.command,
        JSON.stringify(request.arguments),
        request.madeBy,
        request.madeAtMs,
      ),
    newestRequest: () => sql.get<{ id: number }>("SELECT id FROM requests ORDER BY id DESC LIMIT 1")?.id ?? 0,
    openRequests: () =>
      sql
        .all<{ id: number; command: string; arguments: string; made_by: string; made_at_ms: number }>(
          "SELECT id, command, arguments, made_by, made_at_ms FROM requests WHERE taken_at_ms IS NULL ORDER BY id LIMIT 100",
        )
        .map((row) => ({
          id: row.id,
          command: row.command,
          arguments: JSON.parse(row.arguments) as Record<string, string>,
          madeBy: row.made_by,
          madeAtMs: row.made_at_ms,
        })),
    answerOf: (id) =>
      sql.get<{ answer: string | null }>("SELECT answer FROM requests WHERE id = ?", id)?.answer ?? undefined,
    answerOpenRequests: (answer, atMs) => {
      sql.run("UPDATE requests SET taken_at_ms = ?, answer = ? WHERE taken_at_ms IS NULL", atMs, answer);
    },
    answerRequest: (id, answer, atMs) => {
      sql.run("UPDATE requests SET taken_at_ms = ?, answer = ? WHERE id = ? AND taken_at_ms IS NULL", atMs, answer, id);
    },
  };
}
