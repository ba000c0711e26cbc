import { type Run, swapOf } from "../../../domain/run/run.ts";
import type { CalendarPeriod } from "../../../domain/schedule/calendar-period.ts";
import { DAY_MS } from "../../../domain/time/durations.ts";
import type { Counted, DigestFill, DigestMark } from "../../../ports/watch-questions.ts";
import { type StoredCost, toCostRow } from "../lane-codec.ts";
import type { Statements } from "../statements.ts";
import { readHead } from "./history-chain.ts";
import type { RowStore } from "./row-store.ts";

/**
 * A gap joins slots until it is closed, eight days after it was written down last and a day later at most: so long it is
 * known how many of its slots were told. A strategy that is due once a week joins one of a week ago.
 */
const MARGIN_MS = 10 * DAY_MS;

/** Rows of what digests are made of, and of how far they have come. */
export function createDigestRows(
  sql: Statements,
): Pick<
  RowStore,
  | "digestMark"
  | "saveDigestMark"
  | "keepDigestMarks"
  | "newestTransition"
  | "newestLaneTransition"
  | "filledSince"
  | "paidSince"
  | "endsSince"
  | "gapsSince"
  | "historyHead"
> {
  return {
    digestMark: (period) => {
      const row = sql.get<MarkColumns>("SELECT until_ms, last_transition, gaps FROM digests WHERE period = ?", period);
      if (row === undefined) return undefined;
      const { [LANE]: lastLaneTransition, ...gaps } = JSON.parse(row.gaps);
      return { untilMs: row.until_ms, lastTransition: row.last_transition, lastLaneTransition, gaps };
    },
    saveDigestMark: (period, { untilMs, lastTransition, lastLaneTransition, gaps }) => {
      sql.run(
        `INSERT INTO digests (period, until_ms, last_transition, gaps) VALUES (?, ?, ?, ?)
         ON CONFLICT (period) DO UPDATE SET
           until_ms = excluded.until_ms, last_transition = excluded.last_transition, gaps = excluded.gaps`,
        period,
        untilMs,
        lastTransition,
        JSON.stringify({ ...gaps, [LANE]: lastLaneTransition }),
      );
    },
    keepDigestMarks: (periods) => {
      sql.run("DELETE FROM digests WHERE period NOT IN (SELECT value FROM json_each(?))", JSON.stringify(periods));
    },
    newestTransition: () => sql.get<{ id: number }>("SELECT id FROM transitions ORDER BY id DESC LIMIT 1")?.id ?? 0,
    newestLaneTransition: () =>
      sql.get<{ id: number }>("SELECT id FROM lane_transitions ORDER BY id DESC LIMIT 1")?.id ?? 0,
    paidSince: (laneTransition) =>
      sql
        .all<StoredCost>(PAID_SINCE, laneTransition)
        .map(toCostRow)
        .map(({ gasUsed, gasPrice, dataFee }) => gasUsed * gasPrice + (dataFee ?? 0n)),
    filledSince: (transition) =>
      sql
        .allNamed<{ runId: string; swapId: string }>(FILLED_SINCE, { since: transition })
        .map(({ runId, swapId }) => ({ runId, swapId })),
    endsSince: (transition) =>
      sql.all<Counted>(
        `SELECT coalesce(reason, to_state) AS reason, count(*) AS count FROM transitions INDEXED BY transitions_of_ends
         WHERE id > ? AND subject = 'run' AND to_state IN ('skipped', 'failed') GROUP BY 1 ORDER BY 2 DESC, 1`,
        transition,
      ),
    gapsSince: (atMs) =>
      sql.all(
        `SELECT id, reason, count FROM gaps INDEXED BY gaps_open
         WHERE closed IS NULL AND recorded_at_ms >= ? AND state IS NULL`,
        atMs - MARGIN_MS,
      ),
    historyHead: () => readHead(sql),
  };
}

/** Beside the numbers of gaps, in their column: how far the moves of transactions were told. */
const LANE = "lane";

interface MarkColumns {
  readonly until_ms: number;
  readonly last_transition: number;
  readonly gaps: string;
}

/**
 * Swaps that were filled since a move and are now: a reorganisation may take a fill back, or fill again what was filled by
 * then and told.
 */
const FILLED_SINCE = `SELECT swaps.run_id AS runId, swaps.id AS swapId
  FROM transitions AS moves INDEXED BY transitions_of_fills JOIN swaps ON swaps.id = moves.subject_id
  WHERE moves.id > @since AND moves.subject = 'swap' AND moves.to_state = 'confirmed'
    AND swaps.state IN ('confirmed', 'final')
    AND NOT EXISTS (SELECT 1 FROM transitions AS later WHERE later.subject_id = moves.subject_id
      AND later.to_state = 'confirmed' AND later.id > moves.id)
    AND NOT EXISTS (SELECT 1 FROM transitions AS told WHERE told.subject_id = moves.subject_id
      AND told.to_state IN ('confirmed', 'final') AND told.id = (SELECT max(id) FROM transitions AS earlier
        WHERE earlier.subject_id = moves.subject_id AND earlier.id <= @since))
  ORDER BY moves.id`;

/** What is paid for others is no wallet's. As of fills, a reorganisation may confirm one again. */
const PAID_SINCE = `SELECT lane_costs.* FROM lane_transitions AS moves
    JOIN lane_intents ON lane_intents.id = moves.intent_id JOIN lane_costs ON lane_costs.intent_id = moves.intent_id
  WHERE moves.id > ? AND moves.attempt_hash IS NULL AND moves.to_state = 'confirmed' AND lane_intents.purpose <> 'relay'
    AND NOT EXISTS (SELECT 1 FROM lane_transitions AS earlier WHERE earlier.intent_id = moves.intent_id
      AND earlier.attempt_hash IS NULL AND earlier.to_state = 'confirmed' AND earlier.id < moves.id)`;

/** What the next digest of a period is made of, and what was counted up to now. */
export function readDigest(rows: RowStore, period: CalendarPeriod, nowMs: number) {
  const last = rows.digestMark(period);
  const newest = rows.newestTransition();
  const newestOfLane = rows.newestLaneTransition();
  const gaps = rows.gapsSince(last?.untilMs ?? nowMs);
  const since = last?.lastTransition ?? newest;
  const paid = rows.paidSince(last?.lastLaneTransition ?? newestOfLane);
  return {
    last,
    next: {
      ...{ lastTransition: newest, lastLaneTransition: newestOfLane },
      gaps: Object.fromEntries(gaps.map(({ id, count }) => [String(id), count])),
    },
    fills: rows.filledSince(since).flatMap(({ runId, swapId }) => {
      const run = rows.run(runId);
      return run === undefined ? [] : [fillOf(run, swapId)];
    }),
    gas: { transactions: paid.length, cost: paid.reduce((sum, cost) => sum + cost, 0n) },
    ends: rows.endsSince(since),
    gaps: newSlots(gaps, last),
    warnings: rows.warnings(),
    head: rows.historyHead(),
  };
}

function fillOf(run: Run, swapId: string): DigestFill {
  const { sell, buy, mode, fill, terms } = swapOf(run, swapId);
  return {
    ...{ strategyId: run.strategyId, sell, buy, mode },
    ...{ sold: fill?.sold ?? 0n, bought: fill?.bought ?? 0n },
    swapFee: terms?.swapFee ?? 0n,
  };
}

/** Of a gap that has grown what it grew by. */
function newSlots(
  gaps: readonly (Counted & { readonly id: number })[],
  last: DigestMark | undefined,
): readonly Counted[] {
  const counts = new Map<string, number>();
  for (const { id, reason, count } of gaps) {
    const grown = count - (last?.gaps[String(id)] ?? 0);
    if (grown > 0) counts.set(reason, (counts.get(reason) ?? 0) + grown);
  }
  return [...counts].map(([reason, count]) => ({ reason, count }));
}
