import { formatUnits } from "../domain/money/amount.ts";
import { DAY_MS, HOUR_MS } from "../domain/time/durations.ts";
import { type Difference, difference } from "./report.ts";
import { isFilled } from "./rows.ts";
import type { Snapshot } from "./snapshot.ts";

/**
 * Budgets and caps are checked against sums that the daemon keeps alongside its rows. Adds the rows up anew: a sum that says
 * something else lets a strategy sell more than it may, or less.
 */
export function checkTotals(snapshot: Snapshot): Difference[] {
  const { kept } = snapshot;
  if (kept === undefined) return [];
  const { totals, hours, days } = kept;
  const recorded = new Map([
    ...totals.map(({ kind, subject, item, source, amount }) => [nameOf(kind, subject, item, source), amount] as const),
    ...hours.map(({ hour_ms: hourMs, usd }) => [nameOf("dollars of the hour", hourMs), usd] as const),
    ...days.map(({ day_ms: dayMs, usd }) => [nameOf("dollars of the day", dayMs), usd] as const),
  ]);
  const counted = countAll(snapshot);
  return [...new Set([...recorded.keys(), ...counted.keys()])].flatMap((name) => {
    const [sum = 0n, rows = 0n] = [recorded.get(name), counted.get(name)];
    if (sum === rows) return [];
    const message = `The sum of "${name}" is kept as ${sum}, and its rows add up to ${rows}.`;
    return [difference("TOTAL_DIFFERS", name, message, { kept: sum, rows })];
  });
}

const QUARTER_MS = 900_000;

/**
 * Budgets of a day, week and month are checked against sums by time. What was archived before these were kept is in none
 * of them: a sum may lack that, and nothing else.
 */
export function checkSoldByTime({ kept, ledger }: Snapshot): Difference[] {
  if (kept?.sold === undefined) return [];
  const { archived } = kept;
  const recorded = new Map(
    kept.sold.map(({ strategy, length_ms: lengthMs, start_ms: startMs, token, amount, usd }) => [
      nameOf("sold", strategy, token, "in", lengthMs, "from", startMs),
      { amount, usd },
    ]),
  );
  const most = new Map<string, Sold>();
  const least = new Map<string, Sold>();
  for (const [swapId, row] of ledger) {
    const { state, strategy, token, settled_at_ms: atMs } = row;
    if (state !== "spent" || atMs === null) continue;
    for (const lengthMs of [0, QUARTER_MS, DAY_MS]) {
      const startMs = lengthMs === 0 ? 0 : atMs - (atMs % lengthMs);
      const name = nameOf("sold", strategy, token, "in", lengthMs, "from", startMs);
      most.set(name, sumOf(most.get(name), row));
      if (!archived.has(swapId)) least.set(name, sumOf(least.get(name), row));
    }
  }
  return [...new Set([...recorded.keys(), ...most.keys()])].flatMap((name) => {
    const sum = recorded.get(name) ?? NOTHING;
    const [low, high] = [least.get(name) ?? NOTHING, most.get(name) ?? NOTHING];
    const isRight = low.amount <= sum.amount && sum.amount <= high.amount && low.usd <= sum.usd && sum.usd <= high.usd;
    if (isRight) return [];
    const message = `The sum of "${name}" is kept as ${sum.amount} ($${formatUnits(sum.usd, 18)}), and its rows add up to ${high.amount} ($${formatUnits(high.usd, 18)}), in smallest units.`;
    return [difference("TOTAL_DIFFERS", name, message, { kept: sum.amount, rows: high.amount })];
  });
}

interface Sold {
  readonly amount: bigint;
  readonly usd: bigint;
}

const NOTHING: Sold = { amount: 0n, usd: 0n };

function sumOf(one: Sold = NOTHING, other: Sold): Sold {
  return { amount: one.amount + other.amount, usd: one.usd + other.usd };
}

/** Typed data is written down before it is signed and stays for ever; how often, the database counts. */
export function checkCountOfSignatures({ kept, signatures, differences }: Snapshot): Difference[] {
  const unreadable = differences.filter(({ subject }) => subject.startsWith("signatures ")).length;
  const rows = signatures.length + unreadable;
  if (kept === undefined || kept.signatures <= rows) return [];
  const message = `Typed data was about to be signed ${kept.signatures} times, and ${rows} of these are stored.`;
  return [difference("SIGNATURE_MISSING", "signatures", message, { counted: kept.signatures, rows })];
}

function nameOf(...parts: readonly (string | number)[]): string {
  return parts.filter((part) => part !== "").join(" ");
}

/** Adds to the sum of that name. */
type Add = (by: bigint, ...name: readonly (string | number)[]) => void;

function countAll(snapshot: Snapshot): ReadonlyMap<string, bigint> {
  const sums = new Map<string, bigint>();
  const add: Add = (by, ...name) => {
    sums.set(nameOf(...name), (sums.get(nameOf(...name)) ?? 0n) + by);
  };
  countRuns(snapshot, add);
  countLedger(snapshot, add);
  countSwaps(snapshot, add);
  return sums;
}

/** Runs that became gaps count on: their numbers are in the gaps. */
function countRuns({ runs, gaps }: Snapshot, add: Add): void {
  for (const { strategy, state } of runs) add(1n, "runs", strategy, state);
  for (const gap of gaps) {
    if (gap.state === null) continue;
    add(BigInt(gap.count), "runs", gap.strategy, gap.state);
    add(BigInt(gap.skipped_swaps), "swaps", "skipped");
    add(BigInt(gap.denied_swaps), "swaps", "denied");
  }
}

function countLedger({ ledger }: Snapshot, add: Add): void {
  for (const { state, strategy, token, amount, usd, settled_at_ms: atMs } of ledger.values()) {
    if (state === "released") continue;
    add(amount, "sold", strategy, token);
    if (state !== "spent" || atMs === null) continue;
    add(usd, "dollars of the hour", atMs - (atMs % HOUR_MS));
    add(usd, "dollars of the day", atMs - (atMs % DAY_MS));
  }
}

function countSwaps({ runs, swaps }: Snapshot, add: Add): void {
  const strategyOf = new Map(runs.map(({ id, strategy }) => [id, strategy]));
  for (const swap of swaps.values()) {
    add(1n, "swaps", swap.state);
    if (!isFilled(swap)) continue;
    const { wallet, recipient, sell_token: sell, buy_token: buy, sold, bought } = swap;
    add(sold ?? 0n, "paid", wallet, sell);
    add(bought ?? 0n, "received", recipient, buy, wallet);
    const strategy = strategyOf.get(swap.run_id);
    if (strategy !== undefined) add(bought ?? 0n, "bought", strategy, buy);
  }
}
