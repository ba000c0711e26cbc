import type { Address } from "../../domain/money/address.ts";
import { toAddress } from "../../domain/money/address.ts";
import { HOUR_MS, MINUTE_MS } from "../../domain/time/durations.ts";
import { formatDuration } from "../../domain/time/format-duration.ts";
import type { IntentHistory } from "../../ports/history.ts";
import type { Counts, ReadModel } from "../../ports/read-model.ts";
import { formatInstant } from "../terminal.ts";
import { fine, type Judged } from "./diagnosis.ts";

/** The rows of the lanes, and what waits for their end. */
export interface LaneRows extends Awaited<ReturnType<ReadModel["transactions"]>> {
  readonly counts: Pick<Counts, "swaps" | "unknownSinceMs">;
}

/** A transaction that is out for so long waits for its fees, or for an earlier nonce. */
const SLOW_MS = 10 * MINUTE_MS;
/** Nothing is unknown for so long where blocks become final. */
const LONG_UNKNOWN_MS = HOUR_MS;

/**
 * Judges what is out.
 * @param counted how many transactions of each account are in blocks, as far as the chain could be asked
 */
export function judgeLanes(
  { intents, halts, counts, rights }: LaneRows,
  { nowMs, counted }: { readonly nowMs: number; readonly counted: ReadonlyMap<Address, number> },
): readonly Judged[] {
  const judged: Judged[] = halts.map(({ account, reason, atMs }) => ({
    what: `account ${account}`,
    state: "error",
    found: `signs nothing since ${formatInstant(atMs)}: ${reason}`,
    mend: "swapd resume",
  }));
  const open = intents.filter(({ state }) => state !== "final" && state !== "dropped");
  judged.push(...open.map((intent) => judgeIntent(intent, { nowMs, count: counted.get(toAddress(intent.account)) })));
  judged.push(...judgeUnknown({ counts, rights }, nowMs));
  return judged.length === 0 ? [fine("transactions", "none is out, no swap is unknown, no account is halted")] : judged;
}

function judgeIntent(
  { id, purpose, nonce, state, createdAtMs, attempts, cancelledBy }: IntentHistory,
  { nowMs, count }: { readonly nowMs: number; readonly count: number | undefined },
): Judged {
  const what = `transaction ${id}`;
  const ageMs = Math.max(0, nowMs - createdAtMs);
  const signed = attempts.length === 0 ? "not signed yet" : `signed ${attempts.length} times`;
  const cancelled = cancelledBy === null ? "" : `, its cancellation was asked for by ${cancelledBy}`;
  const place = nonce === null ? "no nonce yet" : `nonce ${nonce}`;
  const found = `for ${purpose}: ${place}, ${state}, ${signed}, ${formatDuration(ageMs)} old${cancelled}`;
  // A nonce below those that came before it cannot come into a block, whatever it pays.
  if (nonce !== null && count !== undefined && count < nonce && attempts.length > 0) {
    const why = `${found}; the chain waits for nonce ${count} first`;
    return { what, state: "error", found: why, mend: "swapd tx list" };
  }
  if (ageMs <= SLOW_MS || state === "mined" || state === "confirmed") return fine(what, found);
  return { what, state: "warning", found, mend: `swapd tx cancel ${id}` };
}

function judgeUnknown({ counts, rights }: Pick<LaneRows, "counts" | "rights">, nowMs: number): readonly Judged[] {
  const count = counts.swaps.unknown ?? 0;
  if (count === 0) return [];
  const sinceMs = counts.unknownSinceMs ?? nowMs;
  const lasts = Math.max(0, nowMs - sinceMs);
  const oldest = rights.find(({ state }) => state === "unknown")?.swap;
  const state = lasts > LONG_UNKNOWN_MS ? "error" : "warning";
  const found = `${count}, the oldest for ${formatDuration(lasts)}: their money stays reserved until the chain answers`;
  return [
    { what: "unknown swaps", state, found, mend: oldest === undefined ? "swapd history" : `swapd show ${oldest}` },
  ];
}
