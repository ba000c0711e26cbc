import type { Configuration, WalletConfiguration } from "../../../config/configuration.ts";
import { parseUsd } from "../../../domain/money/price.ts";
import { nextWithoutEnd } from "../../../domain/schedule/ended-slots.ts";
import type { ZoneOffsets } from "../../../domain/schedule/schedule.ts";
import type { WaitingRun } from "../../../ports/listing.ts";
import type { StatusRows } from "../../../ports/read-model.ts";
import type { OpenAlert } from "../../../ports/true-alerts.ts";
import { lastSlotOf } from "../../last-slot.ts";
import { describeStanding } from "../../read-standing.ts";
import { version } from "../../version.ts";
import type { Health, Readiness } from "../health.ts";
import { dollarsOf, instantOf, instantOrNull } from "./describe-money.ts";
import { describeGap } from "./describe-run.ts";
import type { AnswerOf } from "./operations.ts";

type Status = AnswerOf<"getStatus">;
type Strategy = Status["strategies"][number];
type Mode = Status["operating"];

/** A page or client that was made for another one must not go on. */
export const API_VERSION = "1";

/** What a wallet is. */
export function kindOf({ key, proposals, paper }: WalletConfiguration, mode: Configuration["mode"]) {
  if (mode === "paper" || paper !== undefined) return "paper";
  if (proposals !== undefined) return "safe";
  return key === undefined ? "watched" : "key";
}

/** What a daemon is, by its configuration. */
export function describeDaemon(configuration: Configuration): AnswerOf<"getInfo"> {
  const { mode, network } = configuration;
  const { name, chainId, nativeSymbol, confirmations, explorer } = network;
  const wallets = [...configuration.wallets.values()];
  return {
    ...{ name: "swapd", version: version(), apiVersion: API_VERSION, mode },
    network: { name, chainId, nativeSymbol, confirmations, explorer: explorer ?? null },
    strategies: configuration.strategies.map(({ spec: { id, kind, wallet } }) => ({ id, kind, wallet: wallet.name })),
    wallets: wallets.map((wallet) => ({ name: wallet.name, address: wallet.address, kind: kindOf(wallet, mode) })),
    tokens: [...configuration.tokens.values()].map(({ token: { symbol, address, decimals } }) => ({
      ...{ symbol, address, decimals },
    })),
  };
}

/** What a status is described from. */
export interface StatusParts {
  readonly configuration: Configuration;
  readonly rows: StatusRows;
  readonly health: Health;
  readonly readiness: Readiness;
  readonly waiting: readonly WaitingRun[];
  readonly nowMs: number;
}

/** Most gaps that are shown. */
const MOST_GAPS = 100;

/** How the daemon is. */
export function describeStatus(parts: StatusParts): Status {
  const { configuration, rows, health, readiness, nowMs } = parts;
  const standing = rows.standing && describeStanding(rows.standing, configuration, { nowMs, isBeside: false });
  const { node, service, clock, database, signer } = readiness;
  const jump = rows.lastClockJump;
  return {
    at: instantOf(nowMs),
    mode: configuration.mode,
    operating: modeOf(standing?.mode),
    ...{ healthy: health.healthy, problems: [...health.problems], ready: readiness.ready },
    parts: {
      ...{ node: plain(node), service: plain(service), clock: plain(clock) },
      ...{ database: plain(database), signer: plain(signer) },
    },
    clockSkewMs: clock.skewMs,
    sending: configuration.network.submit.kind,
    strategies: describeStrategies(parts),
    swaps: { ...rows.swaps },
    caps: { day: capOf(standing?.day), month: capOf(standing?.month) },
    modes: rows.modes.map(describeMode),
    halts: rows.halts.map(({ account, reason, atMs }) => ({ account, reason, at: instantOf(atMs) })),
    waiting: parts.waiting.map(describeWaiting),
    alerts: rows.openAlerts.map(describeOpenAlert),
    channels: rows.channels.map(({ name, isBehind, waiting, sinceMs, outcome }) => ({
      ...{ name, isBehind, waiting, since: instantOrNull(sinceMs), outcome },
    })),
    gaps: rows.gaps
      .filter(({ state }) => state === null)
      .slice(0, MOST_GAPS)
      .map(describeGap),
    lastClockJump: jump === undefined ? null : { text: jump.text, at: instantOf(jump.atMs) },
  };
}

/** Where each strategy stands, those that only have rows included. */
export function describeStrategies({
  configuration,
  rows,
  nowMs,
}: Pick<StatusParts, "configuration" | "rows" | "nowMs">): Strategy[] {
  const standing = rows.standing && describeStanding(rows.standing, configuration, { nowMs, isBeside: false });
  const known = new Map(rows.strategies.map((row) => [row.id, row]));
  const configured = configuration.strategies.map(({ spec }) => ({ id: spec.id, kind: spec.kind as string }));
  const ids = new Set(configured.map(({ id }) => id));
  return [...configured, ...rows.strategies.filter(({ id }) => !ids.has(id))].map(({ id, kind }) => {
    const row = known.get(id);
    const own = standing?.strategies.get(id);
    return {
      ...{ id, kind, mode: modeOf(own?.mode), inForce: ids.has(id) },
      lastSlot: instantOrNull(row && lastSlotOf(row, rows.gaps)),
      nextSlot: own?.nextSlot ?? null,
      runs: { ...row?.runs },
      sold: [...(own?.sold ?? [])],
      budgets: (own?.budgets ?? []).map((line) => ({ ...line })),
    };
  });
}

/** The next slots of a strategy by its configuration. */
export function nextSlotsOf(
  { spec }: Configuration["strategies"][number],
  { zones, ended, ...from }: Parameters<typeof nextWithoutEnd>[1] & { readonly zones: ZoneOffsets },
  most: number,
): readonly string[] {
  const slots: string[] = [];
  let afterMs = from.afterMs;
  while (slots.length < most) {
    const slotMs = nextWithoutEnd(spec.schedule, { afterMs, ended }, zones);
    if (slotMs === undefined) break;
    slots.push(instantOf(slotMs));
    afterMs = slotMs;
  }
  return slots;
}

/** A mode as a text of a row. */
function modeOf(text: string | undefined): Mode {
  return text === "paused" || text === "exits-only" || text === "halted" ? text : "active";
}

/** A mode that is not active. */
export function describeMode({
  scope,
  mode,
  setBy: by,
  reason,
  atMs,
}: StatusRows["modes"][number]): Status["modes"][number] {
  return { scope, mode: modeOf(mode), by, reason, at: instantOf(atMs) };
}

/** A run that waits for a person. */
export function describeWaiting({ sinceMs, untilMs, ...run }: WaitingRun): Status["waiting"][number] {
  return { ...run, since: instantOf(sinceMs), until: instantOf(untilMs) };
}

/** An alert that is true now. */
export function describeOpenAlert({ raisedAtMs, ...alert }: OpenAlert): Status["alerts"][number] {
  const { severity, code, subject, text, strategy } = alert;
  return { severity, code, subject, text, strategy, at: instantOf(raisedAtMs) };
}

function plain({ ready, reason, since }: Readiness["node"]): Status["parts"]["node"] {
  return { ready, reason, since };
}

function capOf(cap: { readonly soldUsd: string; readonly limitUsd: string | null } | undefined): Status["caps"]["day"] {
  const { soldUsd, limitUsd } = cap ?? { soldUsd: "0", limitUsd: null };
  return { soldUsd, limitUsd, leftUsd: limitUsd === null ? null : leftOf(soldUsd, limitUsd) };
}

function leftOf(soldUsd: string, limitUsd: string): string {
  const [sold, limit] = [parseUsd(soldUsd), parseUsd(limitUsd)];
  return sold === undefined || limit === undefined || sold > limit ? "0" : dollarsOf(limit - sold);
}
