import type { ListedTransition, Listing } from "../../../ports/listing.ts";
import type { Statements } from "../statements.ts";

/** Moves of runs and swaps in the order in which they were written. */
export function createListedTransitions(
  sql: Statements,
): Pick<Listing, "transition" | "transitionsAfter" | "newestTransition"> {
  return {
    transition: async (id) => {
      const row = sql.get<TransitionRow>(`${SELECT} WHERE transitions.id = ?`, id);
      return row === undefined ? undefined : decode(row);
    },
    transitionsAfter: async (id, limit) =>
      sql
        .all<TransitionRow>(`${SELECT} WHERE transitions.id > ? ORDER BY transitions.id LIMIT ?`, id, limit)
        .map(decode),
    newestTransition: async () => {
      const row = sql.get<TransitionRow>(`${SELECT} ORDER BY transitions.id DESC LIMIT 1`);
      return row === undefined ? undefined : decode(row);
    },
  };
}

interface TransitionRow {
  readonly number: number;
  readonly subject: string;
  readonly id: string;
  readonly from_state: string | null;
  readonly to_state: string;
  readonly reason: string | null;
  readonly detail: string | null;
  readonly at_ms: number;
  readonly run: string | null;
  readonly strategy: string | null;
}

const SELECT = `SELECT transitions.id AS number, subject, subject_id AS id, from_state, to_state, transitions.reason,
    transitions.detail, at_ms, coalesce(swaps.run_id, subject_id) AS run, runs.strategy
  FROM transitions LEFT JOIN swaps ON subject = 'swap' AND swaps.id = subject_id
    LEFT JOIN runs ON runs.id = coalesce(swaps.run_id, subject_id)`;

function decode(row: TransitionRow): ListedTransition {
  const { number, subject, id, from_state: from, to_state: to, reason, detail, at_ms: atMs, strategy } = row;
  return { number, subject, id, from, to, reason, detail, atMs, run: row.run ?? id, strategy };
}
