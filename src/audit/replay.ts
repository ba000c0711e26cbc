import { type Difference, difference } from "./report.ts";
import type { TransitionRow } from "./rows.ts";

/** What the history of one run or swap shows. */
export interface History {
  readonly last: string;
  /** something that can move money may have left the process */
  readonly everSigned: boolean;
  readonly everConfirmed: boolean;
}

/** The replayed histories, by run id and by swap id. */
export interface Histories {
  readonly runs: ReadonlyMap<string, History>;
  readonly swaps: ReadonlyMap<string, History>;
  readonly count: number;
  readonly differences: readonly Difference[];
}

type Moves = Readonly<Record<string, readonly string[]>>;

// Written from the description of the machines, not from the code that runs them.
// A run is one slot's record. A reorganisation can reopen every end that followed a fill; `skipped` traded nothing.
const RUN_MOVES: Moves = {
  "": ["due"],
  due: ["deciding", "skipped", "failed"],
  deciding: ["executing", "skipped", "failed"],
  executing: ["filled", "partial", "skipped", "failed", "parked"],
  parked: ["executing", "skipped", "failed"],
  filled: ["executing"],
  partial: ["executing"],
  failed: ["executing"],
  skipped: [],
};

// `reverted`, `expired` and `cancelled` follow a signature only; `skipped` and `denied` never do.
const UNSIGNED_ENDS = ["skipped", "denied"];
const CHAIN_ENDS = ["reverted", "expired", "cancelled"];
const SWAP_MOVES: Moves = {
  "": ["planned"],
  planned: ["quoted", ...UNSIGNED_ENDS],
  quoted: ["quoted", "cleared", ...UNSIGNED_ENDS],
  cleared: ["approving", "quoted", "signed", ...UNSIGNED_ENDS],
  approving: ["quoted", ...UNSIGNED_ENDS],
  signed: ["submitted", "mined", "unknown", ...CHAIN_ENDS],
  submitted: ["mined", "unknown", ...CHAIN_ENDS],
  unknown: ["submitted", "mined", ...CHAIN_ENDS],
  mined: ["confirmed", "final", "submitted", ...CHAIN_ENDS],
  confirmed: ["final", "submitted", ...CHAIN_ENDS],
  final: [],
  skipped: [],
  denied: [],
  reverted: [],
  expired: [],
  cancelled: [],
};

const SIGNED: ReadonlySet<string> = new Set([
  "signed",
  "submitted",
  "unknown",
  "mined",
  "confirmed",
  "final",
  ...CHAIN_ENDS,
]);

/** Walks through the whole history, oldest first, and checks every move against the machines. */
export function replay(rows: Iterable<TransitionRow>): Histories {
  const histories = { run: new Map<string, History>(), swap: new Map<string, History>() };
  const differences: Difference[] = [];
  let count = 0;
  for (const row of rows) {
    count += 1;
    const known = histories[row.subject];
    const before = known.get(row.subject_id);
    differences.push(...judge(row, before));
    known.set(row.subject_id, {
      last: row.to_state,
      everSigned: (before?.everSigned ?? false) || (row.subject === "swap" && SIGNED.has(row.to_state)),
      everConfirmed: (before?.everConfirmed ?? false) || (row.subject === "swap" && row.to_state === "confirmed"),
    });
  }
  return { runs: histories.run, swaps: histories.swap, count, differences };
}

function judge(row: TransitionRow, before: History | undefined): Difference[] {
  const found: Difference[] = [];
  const subject = `${row.subject} ${row.subject_id}`;
  const from = row.from_state ?? "";
  const fields = { transition: row.id, from: row.from_state, to: row.to_state };
  if (from !== (before?.last ?? "")) {
    const message = `The ${subject} moved from ${nameOf(from)}, but was ${nameOf(before?.last ?? "")} before.`;
    found.push(difference("TRANSITION_BROKEN", subject, message, { ...fields, before: before?.last }));
  }
  const moves = row.subject === "run" ? RUN_MOVES : SWAP_MOVES;
  if (!(moves[from] ?? []).includes(row.to_state)) {
    const message = `The ${subject} moved from ${nameOf(from)} to ${row.to_state}, which its machine does not have.`;
    found.push(difference("TRANSITION_ILLEGAL", subject, message, fields));
  }
  return found;
}

function nameOf(state: string): string {
  return state === "" ? "nothing" : state;
}

/** Checks the rows against the end of their histories. */
export function checkReplay(
  rows: { runs: Iterable<{ id: string; state: string }>; swaps: Iterable<{ id: string; state: string }> },
  histories: Histories,
): Difference[] {
  return [...compare("run", rows.runs, histories.runs), ...compare("swap", rows.swaps, histories.swaps)];
}

function compare(
  kind: "run" | "swap",
  rows: Iterable<{ id: string; state: string }>,
  histories: ReadonlyMap<string, History>,
): Difference[] {
  const found: Difference[] = [];
  const present = new Set<string>();
  for (const row of rows) {
    present.add(row.id);
    const last = histories.get(row.id)?.last;
    if (last === row.state) continue;
    const message = `The ${kind} ${row.id} is ${row.state}, but its history ends at ${last ?? "nothing"}.`;
    found.push(difference("STATE_NOT_REPLAYED", `${kind} ${row.id}`, message, { state: row.state, last }));
  }
  for (const [id, history] of histories) {
    if (present.has(id) || !history.everSigned) continue;
    const message = `The ${kind} ${id} was signed and its row is gone; only what signed nothing may be pruned.`;
    found.push(difference("SIGNED_ROW_MISSING", `${kind} ${id}`, message, { last: history.last }));
  }
  return found;
}
