import type { GapHistory, HistoryReader, RunHistory } from "../../adapters/sqlite/daemon/history-rows.ts";
import { SUBJECT } from "../../domain/run/alert.ts";
import { CommandFailure, EXIT } from "../exit-codes.ts";
import { findTarget, withHistory } from "../target.ts";
import { formatInstant, type Terminal } from "../terminal.ts";
import { runJson } from "./history.ts";
import { formatRetries, retryJson } from "./retries.ts";
import { checkTable, swapLines } from "./swap-lines.ts";

/** `swapd why <strategy> [--at T]`: what the strategy did at the slot before an instant, and every check with its numbers. */
export function why(
  strategy: string,
  options: { config?: string; json?: boolean; at?: string },
  terminal: Terminal,
): void {
  const atMs = options.at === undefined ? Date.now() : Date.parse(options.at);
  if (Number.isNaN(atMs)) {
    throw new CommandFailure(
      EXIT.usage,
      `--at ${JSON.stringify(options.at)} is no instant; write 2026-01-31T09:00:00Z`,
    );
  }
  const { answer, alerts } = withHistory(findTarget(options), (reader) => ({
    answer: explain(reader, strategy, atMs),
    alerts: reader.trueAlerts().filter((alert) => alert.strategy === strategy || alert.subject === SUBJECT.clock()),
  }));
  const standing = alerts.map(({ code, text }) => ({ code, text }));
  const lines = [...standing.map(({ code, text }) => `now: ${code}: ${text}`), answer.text];
  terminal.out(options.json === true ? JSON.stringify({ ...answer.json, alerts: standing }) : lines.join("\n\n"));
}

function explain(reader: HistoryReader, strategy: string, atMs: number): { json: object; text: string } {
  if (!reader.strategies().some((row) => row.id === strategy)) {
    const known = reader.strategies().map((row) => row.id);
    throw new CommandFailure(
      EXIT.usage,
      `no strategy ${JSON.stringify(strategy)}; known are ${known.join(", ") || "none"}`,
    );
  }
  const run = reader.runAt(strategy, atMs);
  const gap = reader.gapAt(strategy, atMs);
  if (gap !== undefined && (run === undefined || gap.lastSlotMs > run.slotMs)) {
    return { json: { strategy, gap }, text: describeGap(gap) };
  }
  if (run === undefined) {
    return { json: { strategy, run: null }, text: `${strategy} had no slot before ${formatInstant(atMs)}` };
  }
  const checks = run.swaps.map((swap) => ({ swap: swap.id, checks: reader.checks(swap.id) }));
  const retries = reader.retries(run.id);
  const said = sentence(
    run,
    checks.flatMap((entry) => entry.checks),
  );
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

function sentence(
  run: RunHistory,
  checks: readonly { code: string; passed: boolean; value: string; limit: string }[],
): string {
  const head = `${run.strategy} at ${formatInstant(run.slotMs)}: ${run.state}${run.reason === null ? "" : `, ${run.reason}`}${run.detail === null ? "" : ` (${run.detail})`}`;
  const told = [head, ...run.swaps.flatMap(swapLines)].join("\n");
  return checks.length === 0 ? told : `${told}\n\n${checkTable(checks)}`;
}
