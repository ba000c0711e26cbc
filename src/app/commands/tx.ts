import { systemClock } from "../../adapters/clock/system-clock.ts";
import { formatUnits } from "../../domain/money/amount.ts";
import { formatDuration } from "../../domain/time/format-duration.ts";
import type { AttemptHistory, IntentHistory } from "../../ports/history.ts";
import { sayMode } from "../mode-line.ts";
import { findTarget, withReads } from "../target.ts";
import { formatInstant, formatTable, type Terminal } from "../terminal.ts";

const GWEI_DECIMALS = 9;

/** `swapd tx list`: the wallets' own transactions, newest first: all that are open, and the newest of those that are over. */
export async function listTransactions(
  options: { config?: string; json?: boolean; limit: number },
  terminal: Terminal,
): Promise<void> {
  const target = findTarget(options);
  sayMode(target, options, terminal);
  const { intents, halts } = await withReads(target, (reads) => reads.transactions(options.limit));
  const nowMs = systemClock.nowMs();
  if (options.json === true) {
    const stopped = halts.map(({ account, reason, atMs }) => ({ account, reason, at: formatInstant(atMs) }));
    terminal.out(JSON.stringify({ transactions: intents.map((one) => intentJson(one, nowMs)), halts: stopped }));
    return;
  }
  const parts = [intents.length === 0 ? "no transactions yet" : table(intents, nowMs)];
  if (halts.length > 0) {
    const rows = halts.map((halt) => [halt.account, formatInstant(halt.atMs), halt.reason]);
    parts.push(formatTable([["HALTED ACCOUNT", "SINCE", "WHY (`swapd resume` releases it)"], ...rows]));
  }
  terminal.out(parts.join("\n\n"));
}

function intentJson({ createdAtMs, attempts, ...intent }: IntentHistory, nowMs: number): object {
  return {
    ...intent,
    createdAt: formatInstant(createdAtMs),
    ageSeconds: ageOf(createdAtMs, nowMs),
    attempts: attempts.map(({ signedAtMs, ...attempt }) => ({ ...attempt, signedAt: formatInstant(signedAtMs) })),
  };
}

function table(intents: readonly IntentHistory[], nowMs: number): string {
  const heading = ["TRANSACTION", "FOR", "NONCE", "STATE", "AGE", "ATTEMPT", "SENT", "GWEI PER GAS", "HASH"];
  return formatTable([heading, ...intents.flatMap((intent) => rowsOf(intent, nowMs))]);
}

function rowsOf(intent: IntentHistory, nowMs: number): string[][] {
  const { id, purpose, nonce, outcome, cancelledBy, attempts } = intent;
  const notes = [
    ...(outcome === null ? [] : [outcome]),
    ...(cancelledBy === null ? [] : [`cancelled by ${cancelledBy}`]),
  ];
  const state = notes.length === 0 ? intent.state : `${intent.state} (${notes.join(", ")})`;
  const head = [
    id,
    purpose,
    nonce === null ? "-" : String(nonce),
    state,
    formatDuration(Math.max(0, nowMs - intent.createdAtMs)),
  ];
  if (attempts.length === 0) return [[...head, "not signed", "-", "-", "-"]];
  return attempts.map((attempt, index) => [...(index === 0 ? head : ["", "", "", "", ""]), ...attemptCells(attempt)]);
}

function attemptCells({ kind, state, visibility, maxFeePerGas, hash }: AttemptHistory): string[] {
  return [
    `${kind} ${state}`,
    visibility === "private" ? "privately" : "publicly",
    formatUnits(BigInt(maxFeePerGas), GWEI_DECIMALS),
    hash,
  ];
}

function ageOf(createdAtMs: number, nowMs: number): number {
  return Math.max(0, Math.floor((nowMs - createdAtMs) / 1_000));
}
