import { z } from "zod";
import { type BodyRow, parseOrUndefined } from "./bodies.ts";
import { type Difference, difference } from "./report.ts";
import { endedUnfilled, isFilled, type SwapRow } from "./rows.ts";
import { proposalsIn } from "./safes.ts";
import type { Snapshot } from "./snapshot.ts";

/**
 * What a careful daemon writes more than once, checked against each other: a row that was changed or deleted by hand leaves
 * the other one behind.
 */
export function checkTraces(snapshot: Snapshot): Difference[] {
  const runs = new Set(snapshot.runs.map(({ id }) => id));
  const signed = new Set(
    snapshot.signatures.flatMap((row) => (row.kind === "swap" && row.signature !== null ? [row.swap_id] : [])),
  );
  const own = new Set<string>(snapshot.attempts.map(({ hash }) => hash));
  const proposed = proposalsIn(snapshot);
  return [
    ...[...snapshot.swaps.values()].flatMap((swap) => [
      ...checkRun(swap, runs),
      // What a Safe's owners executed is looked at with their proposals.
      ...(proposed.has(swap.id) ? [] : checkMode(swap, { signed, own })),
      ...checkValue(swap, snapshot),
      ...checkChecks(swap, snapshot),
    ]),
    ...snapshot.bodies.flatMap(checkBody),
    ...checkLive(snapshot),
    ...checkMemories(snapshot),
  ];
}

function checkRun(swap: SwapRow, runs: ReadonlySet<string>): Difference[] {
  if (runs.has(swap.run_id)) return [];
  const message = `Swap ${swap.id} belongs to run ${swap.run_id}, which has no row.`;
  return [difference("RUN_MISSING", `swap ${swap.id}`, message, { run: swap.run_id })];
}

/** A gasless fill was allowed by a stored signature, and one of our own is a transaction of ours. */
function checkMode(
  swap: SwapRow,
  known: { readonly signed: ReadonlySet<string>; readonly own: ReadonlySet<string> },
): Difference[] {
  if (!isFilled(swap) || swap.hash === null) return [];
  const isOwn = known.own.has(swap.hash);
  const subject = `swap ${swap.id}`;
  const fields = { mode: swap.mode, hash: swap.hash };
  if (isOwn !== (swap.mode === "self-executed")) {
    const message = `Swap ${swap.id} is recorded as ${swap.mode ?? "nothing"}, and its transaction is ${isOwn ? "" : "not "}one of ours.`;
    return [difference("MODE_DIFFERS", subject, message, fields)];
  }
  if (isOwn || known.signed.has(swap.id)) return [];
  const message = `Swap ${swap.id} was filled without a transaction of ours, and no signature of it is stored.`;
  return [difference("SIGNATURE_MISSING", subject, message, fields)];
}

/** What the daemon goes on with is in the body; people and reports read the columns. */
function checkBody(row: BodyRow): Difference[] {
  const subject = `swap ${row.id}`;
  if (row.readable === 0) return [difference("BODY_DIFFERS", subject, `The body of swap ${row.id} is no JSON.`)];
  const pairs = [
    ["amount_out_min", row.body_amount_out_min, row.amount_out_min],
    ["quote_id", row.body_quote_id, row.quote_id],
  ] as const;
  return pairs.flatMap(([field, body, column]) => {
    if (body === null || body === column) return [];
    const message = `The column ${field} of swap ${row.id} says ${column ?? "nothing"}; its body says ${body}.`;
    return [difference("BODY_DIFFERS", subject, message, { field, body, column })];
  });
}

/** Nothing is cleared without a price, so what may be signed counts towards the caps of a day and a month. */
function checkValue(swap: SwapRow, { ledger, histories }: Snapshot): Difference[] {
  const row = ledger.get(swap.id);
  if (row === undefined || row.state === "released" || row.usd > 0n) return [];
  if (histories.swaps.get(swap.id)?.everSigned !== true) return [];
  const message = `Swap ${swap.id} counts for no dollars in the ledger, so it is missing from the caps of its day and month.`;
  return [difference("LEDGER_UNVALUED", `swap ${swap.id}`, message, { state: row.state, amount: row.amount })];
}

/** Nothing is signed but after checks, which are written down with their values. */
function checkChecks({ id }: SwapRow, { unchecked, histories }: Snapshot): Difference[] {
  if (!unchecked.has(id) || histories.swaps.get(id)?.everSigned !== true) return [];
  const message = `Swap ${id} was signed, and none of the checks before it is stored.`;
  return [difference("CHECKS_MISSING", `swap ${id}`, message)];
}

/** A right is closed with the end of its swap; only a signature without a nonce may be held for longer. */
function checkLive({ capabilities, swaps, signatures }: Snapshot): Difference[] {
  const proposed = proposalsIn({ signatures });
  return capabilities.flatMap(({ live, swap_id }) => {
    const swap = swaps.get(swap_id);
    if (!live || swap === undefined || !(swap.state === "final" || endedUnfilled(swap))) return [];
    if ((swap.mode === "gasless" && swap.nonce === null) || proposed.has(swap_id)) return [];
    const message = `The right of swap ${swap_id} is live, although the swap ended ${swap.state}: its token stays barred.`;
    return [difference("CAPABILITY_LEFT", `swap ${swap_id}`, message, { state: swap.state })];
  });
}

const memory = z.object({ version: z.number().int() });

function checkMemories({ strategies }: Snapshot): Difference[] {
  return strategies.flatMap(({ id, memory: text }) => {
    if (memory.safeParse(parseOrUndefined(text)).success) return [];
    const message = `The memory of strategy ${id} cannot be read: what it holds, waits for or has fired is lost.`;
    return [difference("MEMORY_LOST", `strategy ${id}`, message)];
  });
}
