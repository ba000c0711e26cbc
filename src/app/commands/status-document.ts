import { createHistoryReader, type HistoryReader } from "../../adapters/sqlite/daemon/history-rows.ts";
import { lookAtClaim } from "../../storage/claim.ts";
import type { SqliteDatabase } from "../../storage/database.ts";
import { readStanding, type StandingSettings, type StrategyStanding } from "../read-standing.ts";
import type { readServiceCounts } from "../service-counts.ts";
import { formatInstant } from "../terminal.ts";

/** All that `swapd status` tells of a database. */
export type StatusDocument = ReturnType<typeof readStatus> & {
  readonly serviceCounts?: Awaited<ReturnType<typeof readServiceCounts>> | undefined;
};

/** What stands in the way of all trading while it is true. */
const WAITED_FOR = new Set([
  "NODE_UNREACHABLE",
  "SERVICE_UNREACHABLE",
  "SERVICE_HOLDS_US_BACK",
  "ENDPOINTS_UNABLE",
  "CLOCK_DISAGREES",
  "DATABASE_UNCHECKED",
]);

/** Reads it from an open database, of any release. */
export function readStatus(
  db: SqliteDatabase,
  about: { readonly database: string; readonly settings: StandingSettings | undefined },
) {
  const reader = createHistoryReader(db);
  const claim = lookAtClaim(about.database);
  const standing = readStanding(db, about.settings, Date.now());
  const openAlerts = reader
    .openAlerts()
    .map(({ raisedAtMs, ...alert }) => ({ ...alert, at: formatInstant(raisedAtMs) }));
  const jump = reader.lastClockJump();
  const configuredMode = about.settings?.mode ?? null;
  return {
    daemon: {
      running: claim.kind === "unknown" ? null : claim.kind === "held",
      holder: claim.kind === "held" ? (claim.holder ?? null) : null,
      lastAlive: standing?.lastAlive ?? null,
    },
    // A running daemon has the mode of its start: the file may say another one since.
    mode: (claim.kind === "free" ? undefined : reader.startedMode()) ?? configuredMode,
    configuredMode,
    operating: standing?.mode ?? null,
    waitsFor: openAlerts.filter(({ code }) => WAITED_FOR.has(code)).map(({ text, at }) => ({ text, since: at })),
    lastClockJump: jump === undefined ? null : { text: jump.text, at: formatInstant(jump.atMs) },
    sold: standing === undefined ? null : { day: standing.day, month: standing.month },
    balances: standing?.balances ?? [],
    ...readRows(reader, about.database, standing?.strategies),
    openAlerts,
  };
}

function readRows(
  reader: HistoryReader,
  database: string,
  standings: ReadonlyMap<string, StrategyStanding> | undefined,
) {
  const event = reader.lastEvent();
  return {
    database,
    lastEvent: event === undefined ? null : `${event.kind} ${formatInstant(event.atMs)}`,
    strategies: reader.strategies().map(({ id, kind, lastSlotMs, runs }) => ({
      id,
      kind,
      lastSlot: formatInstant(lastSlotMs),
      runs,
      standing: standings?.get(id) ?? null,
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
    channels: reader
      .channels()
      .map(({ sinceMs, ...channel }) => ({ ...channel, since: sinceMs === null ? null : formatInstant(sinceMs) })),
    unsentAlerts: reader
      .unsentAlerts()
      .map(({ raisedAtMs, ...alert }) => ({ ...alert, at: formatInstant(raisedAtMs) })),
    gaps: reader
      .gaps()
      .filter(({ state }) => state === null)
      .map((gap) => ({
        strategy: gap.strategy,
        first: formatInstant(gap.firstSlotMs),
        last: formatInstant(gap.lastSlotMs),
        count: gap.count,
        reason: gap.reason,
      })),
  };
}
