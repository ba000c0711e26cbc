import { SUBJECT } from "../../domain/run/alert.ts";
import type { GapHistory, RunHistory, TransitionHistory } from "../../ports/history.ts";
import type { SlotHistory } from "../../ports/read-model.ts";
import { CommandFailure, EXIT } from "../exit-codes.ts";
import { isOfGap } from "../gap-or-run.ts";
import { assertKnown } from "../known-strategy.ts";
import { modeOfTarget, REHEARSAL_LINE } from "../mode-line.ts";
import { readInstant } from "../read-instant.ts";
import { findTargetToRead, nativeWordsOf, type ReadOptions, withReads } from "../target.ts";
import { formatInstant, type Terminal } from "../terminal.ts";
import { runJson } from "./history.ts";
import { formatRetries, retryJson } from "./retries.ts";
import { checkTable, swapLines } from "./swap-lines.ts";

/** `swapd why <strategy> [--at T]`: what the strategy did at the slot before an instant, and every check with its numbers. */
export async function why(
  strategy: string,
  options: ReadOptions & { json?: boolean; at?: string },
  terminal: Terminal,
): Promise<void> {
  const atMs = options.at === undefined ? Date.now() : readInstant(options.at)?.atMs;
  if (atMs === undefined) {
    throw new CommandFailure(
      EXIT.usage,
      `--at ${JSON.stringify(options.at)} is no instant; write 2026-01-31T09:00:00Z, or a day in UTC`,
    );
  }
  const target = findTargetToRead(options);
  const mode = modeOfTarget(target);
  const slot = await withReads(target, (reads) => reads.slotBefore({ strategy, atMs }));
  const answer = explain(slot, { strategy, atMs, nativeSymbol: nativeWordsOf(target) });
  const standing = slot.alerts
    .filter((alert) => alert.strategy === strategy || alert.subject === SUBJECT.clock())
    .map(({ code, text }) => ({ code, text }));
  const lines = [
    ...(options.rehearsal === true ? [REHEARSAL_LINE] : []),
    ...(mode === undefined ? [] : [mode.line]),
    ...standing.map(({ code, text }) => `now: ${code}: ${text}`),
    answer.text,
  ];
  terminal.out(
    options.json === true
      ? JSON.stringify({ mode: mode?.mode ?? null, ...answer.json, alerts: standing })
      : lines.join("\n\n"),
  );
}

/** What a strategy did at a slot, in words and as data. @throws CommandFailure 2 when there is no such strategy */
export function explain(
  { strategies, run: details, gap }: SlotHistory,
  asked: { readonly strategy: string; readonly atMs: number; readonly nativeSymbol: string },
): { json: object; text: string } {
  const { strategy, atMs } = asked;
  assertKnown(strategies, strategy);
  if (gap !== undefined && isOfGap(gap, { run: details?.run, atMs })) {
    return { json: { strategy, gap }, text: describeGap(gap) };
  }
  if (details === undefined) {
    return { json: { strategy, run: null }, text: `${strategy} had no slot before ${formatInstant(atMs)}` };
  }
  const { run, transitions, checks, retries } = details;
  const made = checks.flatMap((entry) => entry.checks);
  const lines = [...run.swaps.flatMap((swap) => swapLines(swap, asked.nativeSymbol)), ...ends(run, transitions)];
  const said = sentence(run, lines, made);
  return {
    json: { strategy, run: runJson(run), retries: retries.map(retryJson), checks },
    text: retries.length === 0 ? said : `${said}\n\n${formatRetries(retries)}`,
  };
}

function describeGap({ strategy, firstSlotMs, lastSlotMs, count, reason, state }: GapHistory): string {
  const [first, last] = [firstSlotMs, lastSlotMs].map(formatInstant);
  if (state === null) return `${strategy} had no run: ${count} slots from ${first} to ${last}: ${reason}`;
  const runs = count === 1 ? `the run of ${first}` : `${count} runs from ${first} to ${last}`;
  return `${strategy}: ${runs} ended ${state}: ${reason}; nothing was signed, and no more is kept of it`;
}

/** Why swaps of a run came to nothing: one that was refused before its checks ended has no table that says it. */
function ends(run: RunHistory, transitions: readonly TransitionHistory[]): readonly string[] {
  return run.swaps.flatMap(({ id, state, sold }) => {
    const end = transitions.findLast((move) => move.id === id && move.to === state);
    if (sold !== null || end === undefined || end.reason === null) return [];
    return [`${id}: ${state}, ${end.reason}${end.detail === null ? "" : `: ${end.detail}`}`];
  });
}

function sentence(
  run: RunHistory,
  lines: readonly string[],
  checks: readonly { code: string; passed: boolean; value: string; limit: string }[],
): string {
  const head = `${run.strategy} at ${formatInstant(run.slotMs)}: ${run.state}${run.reason === null ? "" : `, ${run.reason}`}${run.detail === null ? "" : ` (${run.detail})`}`;
  const reported = [head, ...lines].join("\n");
  return checks.length === 0 ? reported : `${reported}\n\n${checkTable(checks)}`;
}
