import { SUBJECT } from "../../domain/run/alert.ts";
import { hostOf } from "../../net/secret.ts";
import type { ReadModel, StatusRows } from "../../ports/read-model.ts";
import { checkClaim } from "../../storage/claim.ts";
import { lastSlotOf } from "../last-slot.ts";
import { keysElsewhere } from "../open-signers.ts";
import { describeStanding, type StandingSettings, type StrategyStanding, standingQuestion } from "../read-standing.ts";
import type { readServiceCounts } from "../service-counts.ts";
import { formatInstant } from "../terminal.ts";

/** All that `swapd status` reports of a database. */
export type StatusDocument = Awaited<ReturnType<typeof readStatus>> & {
  readonly serviceCounts?: Awaited<ReturnType<typeof readServiceCounts>> | undefined;
};

/** What stands in the way of all trading, or of a wallet's, while it is true. */
const WAITED_FOR = new Set([
  "NODE_UNREACHABLE",
  "SERVICE_UNREACHABLE",
  "SERVICE_HOLDS_US_BACK",
  "ENDPOINTS_UNABLE",
  "CLOCK_DISAGREES",
  "DATABASE_UNCHECKED",
  "SIGNER_AWAY",
]);

/** Reads it from an open database, of any release. */
export async function readStatus(
  reads: Pick<ReadModel, "status">,
  about: { readonly database: string; readonly settings: StandingSettings | undefined },
) {
  const claim = checkClaim(about.database);
  const nowMs = Date.now();
  const rows = await reads.status(standingQuestion(about.settings, nowMs));
  const at = { nowMs, isBeside: claim.kind !== "free" };
  const standing = rows.standing === undefined ? undefined : describeStanding(rows.standing, about.settings, at);
  const openAlerts = rows.openAlerts.map(({ raisedAtMs, ...alert }) => ({ ...alert, at: formatInstant(raisedAtMs) }));
  const jump = rows.lastClockJump;
  const configuredMode = about.settings?.mode ?? null;
  return {
    daemon: {
      running: claim.kind === "unknown" ? null : claim.kind === "held",
      holder: claim.kind === "held" ? (claim.holder ?? null) : null,
      lastAlive: standing?.lastAlive ?? null,
      /** why the last start ended; null while a daemon runs, where none failed, and where the database could not be written */
      ended: endOf(rows.lastEvent, claim.kind),
    },
    // A running daemon has the mode of its start: the file may say another one since.
    mode: (claim.kind === "free" ? undefined : rows.startedMode) ?? configuredMode,
    configuredMode,
    /** where transactions go by the configuration: to endpoints that it names, to relays of the network book, or publicly */
    sending: about.settings?.network.submit.kind ?? null,
    operating: standing?.mode ?? null,
    /** edited files that the running daemon goes on without: what they name applies later, if at all */
    untaken: standing?.untaken ?? null,
    waitsFor: [
      ...(claim.kind === "held" ? notBegun(rows, about.settings) : []),
      ...openAlerts.filter(({ code }) => WAITED_FOR.has(code)).map(({ text, at }) => ({ text, since: at })),
    ],
    signers: describeSigners(about.settings, rows),
    lastClockJump: jump === undefined ? null : { text: jump.text, at: formatInstant(jump.atMs) },
    sold: standing === undefined ? null : { day: standing.day, month: standing.month },
    balances: standing?.balances ?? [],
    ...describeRows(rows, about.database, standing?.strategies),
    openAlerts,
    /** with those that the list has no place for */
    openAlertCount: rows.alertCounts.reduce((sum, { count }) => sum + count, 0),
  };
}

/** Strategies stand in the rows from when the node answered for the first time: until then nothing else tells of the wait. */
function notBegun({ strategies, lastEvent }: StatusRows, settings: StandingSettings | undefined) {
  if (strategies.length > 0 || lastEvent === undefined || (settings?.strategies.length ?? 0) === 0) return [];
  const text = "no strategy has begun: the daemon waits for its node; its log and /readyz say why";
  return [{ text, since: formatInstant(lastEvent.atMs) }];
}

function endOf(event: StatusRows["lastEvent"], claim: ReturnType<typeof checkClaim>["kind"]) {
  return claim !== "held" && event?.kind === "ended" ? { text: event.detail, at: formatInstant(event.atMs) } : null;
}

/** Who signs elsewhere for which wallet, and since when one does not. */
function describeSigners(settings: StandingSettings | undefined, { openAlerts }: StatusRows) {
  if (settings === undefined) return [];
  return [...keysElsewhere(settings)].map(([wallet, key]) => {
    const away = openAlerts.find(({ code, subject }) => code === "SIGNER_AWAY" && subject === SUBJECT.signer(wallet));
    const awaySince = away === undefined ? null : formatInstant(away.raisedAtMs);
    return { wallet, host: hostOf(key.url), awaySince };
  });
}

function describeRows(
  rows: StatusRows,
  database: string,
  standings: ReadonlyMap<string, StrategyStanding> | undefined,
) {
  const event = rows.lastEvent;
  return {
    database,
    lastEvent: event === undefined ? null : `${event.kind} ${formatInstant(event.atMs)}`,
    strategies: rows.strategies.map((row) => {
      const { id, kind, runs } = row;
      const lastMs = lastSlotOf(row, rows.gaps);
      const lastSlot = lastMs === undefined ? null : formatInstant(lastMs);
      return { id, kind, lastSlot, runs, standing: standings?.get(id) ?? null };
    }),
    swaps: rows.swaps,
    modes: rows.modes.map(({ scope, mode, setBy, reason, atMs }) => ({
      scope,
      mode,
      setBy,
      reason,
      at: formatInstant(atMs),
    })),
    halts: rows.halts.map(({ account, reason, atMs }) => ({ account, reason, at: formatInstant(atMs) })),
    alerts: rows.trueAlerts.map(({ raisedAtMs, ...alert }) => ({ ...alert, at: formatInstant(raisedAtMs) })),
    channels: rows.channels.map(({ sinceMs, ...channel }) => ({
      ...channel,
      since: sinceMs === null ? null : formatInstant(sinceMs),
    })),
    unsentAlerts: rows.unsentAlerts.map(({ raisedAtMs, ...alert }) => ({ ...alert, at: formatInstant(raisedAtMs) })),
    gaps: rows.gaps
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
