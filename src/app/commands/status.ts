import type { HistoryReader } from "../../adapters/sqlite/daemon/history-rows.ts";
import { readServiceCounts } from "../service-counts.ts";
import { findTarget, type Target, withHistory } from "../target.ts";
import { formatInstant, formatTable, type Terminal } from "../terminal.ts";

/** `swapd status`: strategies, modes, and how many swaps are in which state. */
export async function status(
  options: { config?: string; json?: boolean; service?: boolean },
  terminal: Terminal,
): Promise<void> {
  const target = findTarget(options);
  const serviceCounts = options.service === true ? await readServiceCounts(target) : undefined;
  const document = { ...withHistory(target, (reader) => read(reader, target)), serviceCounts };
  if (options.json === true) {
    terminal.out(JSON.stringify(document));
    return;
  }
  const strategies = document.strategies.map((strategy) => [
    strategy.id,
    strategy.kind,
    strategy.lastSlot,
    counts(strategy.runs),
  ]);
  const modes = document.modes.map((mode) => [mode.scope, mode.mode, mode.setBy, mode.at, mode.reason]);
  const parts = [
    `database ${document.database}; last event: ${document.lastEvent ?? "none"}`,
    formatTable([["STRATEGY", "KIND", "LAST SLOT (UTC)", "RUNS"], ...strategies]),
    `swaps: ${counts(document.swaps) || "none"}`,
  ];
  for (const [wallet, answer] of Object.entries(document.serviceCounts ?? {})) {
    parts.push(`the service counts for ${wallet}: ${typeof answer === "string" ? answer : counts(answer)}`);
  }
  for (const { code, text, at } of document.alerts) parts.push(`${code} since ${at}: ${text}`);
  if (document.halts.length > 0) {
    const halts = document.halts.map((halt) => [halt.account, halt.at, halt.reason]);
    parts.push(formatTable([["HALTED ACCOUNT", "SINCE", "WHY (`swapd resume` releases it)"], ...halts]));
  }
  if (document.unsentAlerts.length > 0) {
    const alerts = document.unsentAlerts
      .slice(0, 10)
      .map((alert) => [alert.code, alert.subject, alert.at, alert.state, String(alert.attempts), alert.outcome ?? "-"]);
    const heading = [
      `UNSENT ALERTS (${document.unsentAlerts.length})`,
      "ABOUT",
      "SINCE",
      "STATE",
      "TRIES",
      "LAST ANSWER",
    ];
    parts.push(formatTable([heading, ...alerts]));
  }
  if (modes.length > 0) parts.push(formatTable([["SCOPE", "MODE", "SET BY", "AT", "WHY"], ...modes]));
  if (document.gaps.length > 0) {
    const gaps = document.gaps
      .slice(0, 10)
      .map((gap) => [gap.strategy, gap.first, gap.last, String(gap.count), gap.reason]);
    parts.push(formatTable([["SLOTS WITHOUT A RUN", "FIRST", "LAST", "COUNT", "WHY"], ...gaps]));
  }
  terminal.out(parts.join("\n\n"));
}

function read(reader: HistoryReader, target: Target) {
  const event = reader.lastEvent();
  return {
    database: target.database,
    lastEvent: event === undefined ? null : `${event.kind} ${formatInstant(event.atMs)}`,
    strategies: reader.strategies().map(({ id, kind, lastSlotMs, runs }) => ({
      id,
      kind,
      lastSlot: formatInstant(lastSlotMs),
      runs,
    })),
    swaps: reader.swapStates(),
    modes: reader.modes().map(({ scope, mode, setBy, reason, atMs }) => ({
      scope,
      mode,
      setBy,
      reason,
      at: formatInstant(atMs),
    })),
    halts: reader.halts().map(({ account, reason, atMs }) => ({ account, reason, at: formatInstant(atMs) })),
    alerts: reader.trueAlerts().map(({ raisedAtMs, ...alert }) => ({ ...alert, at: formatInstant(raisedAtMs) })),
    unsentAlerts: reader
      .unsentAlerts()
      .map(({ raisedAtMs, ...alert }) => ({ ...alert, at: formatInstant(raisedAtMs) })),
    gaps: reader.gaps().map((gap) => ({
      strategy: gap.strategy,
      first: formatInstant(gap.firstSlotMs),
      last: formatInstant(gap.lastSlotMs),
      count: gap.count,
      reason: gap.reason,
    })),
  };
}

function counts(states: Readonly<Record<string, number>>): string {
  return Object.entries(states)
    .map(([state, count]) => `${count} ${state}`)
    .join(", ");
}
