import type { Configuration } from "../../config/configuration.ts";
import { describeDollars } from "../../domain/money/for-people.ts";
import type { FillHistory, ReadModel } from "../../ports/read-model.ts";
import { readStatus, type StatusDocument } from "../commands/status-document.ts";
import { explain } from "../commands/why.ts";
import { CommandFailure } from "../exit-codes.ts";

/** What is read for an answer. */
export interface AnswerSources {
  /** as it is in force: edited strategies are taken over while the daemon runs */
  configuration(): Configuration;
  readonly reads: ReadModel;
  nowMs(): number;
}

/** A phone shows so many lines of a list. */
const MOST_LISTED = 12;
const MOST_FILLS = 1_000;

/** How it stands, in a few lines. */
export async function statusAnswer({ reads, ...sources }: AnswerSources): Promise<string> {
  const configuration = sources.configuration();
  const { database } = configuration;
  const document = await readStatus(reads, { database, settings: configuration });
  const { mode, operating, sold, openAlerts, openAlertCount, strategies, swaps, waitsFor } = document;
  const open = Object.entries(swaps).filter(([state]) => OPEN.has(state));
  const lines = [
    `${configuration.network.name}, ${mode ?? "mode unknown"}, operating mode ${operating ?? "unknown"}`,
    ...waitsFor.map(({ text }) => `waits: ${text}`),
    ...(sold === null ? [] : [`sold in 24 hours ${sold.day.soldUsd} USD of ${sold.day.limitUsd ?? "no limit"}`]),
    `open swaps: ${open.map(([state, count]) => `${count} ${state}`).join(", ") || "none"}`,
    ...othersFirst(strategies, operating)
      .slice(0, MOST_LISTED)
      .map(({ id, standing }) => `${id}: ${standing?.mode ?? "-"}, next slot ${standing?.nextSlot ?? "-"}`),
    ...(strategies.length > MOST_LISTED ? [`and ${strategies.length - MOST_LISTED} strategies more`] : []),
    ...openAlerts.slice(0, MOST_LISTED).map(({ code, subject, at }) => `${code} (${subject}) since ${at}`),
    ...(openAlertCount > MOST_LISTED ? [`and ${openAlertCount - MOST_LISTED} alerts more`] : []),
  ];
  return lines.join("\n");
}

/** A list on a phone has an end: a strategy that was stopped by itself is not behind it. */
function othersFirst(strategies: StatusDocument["strategies"], operating: string | null): StatusDocument["strategies"] {
  const isOther = ({ standing }: (typeof strategies)[number]) => standing !== null && standing.mode !== operating;
  return [...strategies.filter(isOther), ...strategies.filter((one) => !isOther(one))];
}

const OPEN = new Set(["signed", "submitted", "mined", "unknown", "approving"]);

/** What a strategy did at its last slot, and why. */
export async function whyAnswer({ configuration, reads, nowMs }: AnswerSources, strategy: string): Promise<string> {
  const atMs = nowMs();
  const slot = await reads.slotBefore({ strategy, atMs });
  try {
    return explain(slot, { strategy, atMs, nativeSymbol: configuration().network.nativeSymbol }).text;
  } catch (error) {
    if (error instanceof CommandFailure) return error.message;
    throw error;
  }
}

/** What fills brought against the reference prices that they were decided by; what is held since is not valued. */
export async function profitAnswer({ reads }: AnswerSources): Promise<string> {
  const fills = await reads.fills(MOST_FILLS);
  if (fills.length === 0) return "no fill has reference prices yet";
  const [sold, bought] = [sumOf(fills, "sold"), sumOf(fills, "bought")];
  const difference = bought - sold;
  const bps = sold === 0n ? 0n : (difference * 10_000n) / sold;
  const sign = difference < 0n ? "-" : "+";
  const size = difference < 0n ? -difference : difference;
  return [
    `the last ${fills.length} fills sold ${describeDollars(sold)} and bought ${describeDollars(bought)}, by the prices of their decisions: ${sign}${describeDollars(size)} (${bps} bps), gas apart`,
    "what the bought tokens are worth since is not in it",
  ].join("\n");
}

/** Dollars (1e-18), rounded down. */
function sumOf(fills: readonly FillHistory[], side: "sold" | "bought"): bigint {
  return fills.reduce((sum, { [side]: { raw, decimals, usd } }) => sum + (raw * usd) / 10n ** BigInt(decimals), 0n);
}
