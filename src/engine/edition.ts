import { instantsBetween, nextInstant } from "../domain/schedule/next-instants.ts";
import type { Schedule, ZoneOffsets } from "../domain/schedule/schedule.ts";
import { startOfSlot } from "../domain/schedule/slot-jitter.ts";
import { newestInstant } from "../domain/schedule/slot-range.ts";
import { slotsBetween } from "../domain/schedule/slots.ts";
import type { StrategySpec } from "../domain/strategy/spec.ts";
import type { StrategyRow } from "../ports/daemon-rows.ts";
import type { LoadedStrategy } from "./engine-context.ts";

/**
 * Whether a row is of this very edition. Another text that says the same, as with a comment more, is no other edition.
 * The same text trades other tokens once the main file gives their symbols to other addresses: marks and amounts that are
 * remembered of the old ones must not meet prices of the new. And it trades for another account once a wallet's name
 * stands for another key: the row says whose halts and whose key are meant.
 */
export function isEditionOf(row: StrategyRow, { spec, specHash }: LoadedStrategy): boolean {
  if (row.kind !== spec.kind) return false;
  if (row.specHash !== specHash) return isSame(row.spec, spec);
  if (row.spec.wallet.address !== spec.wallet.address) return false;
  const [before, after] = [row.spec, spec].map((one) => [...new Set(tokensIn(one))].sort().join());
  return before === after;
}

/** Addresses of all tokens in a part of a spec, whatever its shape: an older release may have stored it. */
function tokensIn(part: unknown): readonly string[] {
  if (typeof part !== "object" || part === null) return [];
  if ("decimals" in part && "address" in part) return [String(part.address)];
  return Object.values(part).flatMap(tokensIn);
}

/**
 * The last slot that an edition no longer handles. Slots of the schedule before are none of it, but what was used up of
 * them ahead of its time (`swapd run`, `swapd skip`) is used up of its own. Where the instants stay what they were, a
 * slot that jitter still delays starts under it; and where the strategy was at work until now and makes up for late
 * slots as before, those that wait for their turn go on waiting.
 */
export function handledAtEdit(
  { spec: before, lastSlotMs }: StrategyRow,
  spec: StrategySpec,
  at: { readonly nowMs: number; readonly isAtWork: boolean },
  zones: ZoneOffsets,
): number {
  const { nowMs, isAtWork } = at;
  if (!keepsInstants(before, spec)) {
    const range = { afterMs: nowMs, untilMs: lastSlotMs };
    const ahead = slotsBetween(before.schedule, range, zones)?.count ?? 0;
    return ahead === 0 ? Math.max(lastSlotMs, nowMs) : usedUp(spec, { ahead, nowMs, lastSlotMs }, zones);
  }
  if (isAtWork && isSame(before.catchUp, spec.catchUp)) return lastSlotMs;
  const firstMs = nextInstant(spec.schedule, lastSlotMs, zones);
  if (firstMs === undefined || firstMs > nowMs) return lastSlotMs;
  const newestMs = newestInstant(spec.schedule, { fromMs: firstMs, untilMs: nowMs }, zones);
  return startOfSlot(spec, newestMs, zones) > nowMs ? newestMs - 1 : nowMs;
}

/** A clock that ran ahead may have handled thousands of slots; so many are never asked for. */
const MOST_USED_UP = 1_000;

/**
 * The last slot of a schedule that takes the place of one that an operator used up ahead of its time, under the schedule
 * before: its next one, and of several that were used up as many as lie no later than those.
 */
function usedUp(
  { schedule }: StrategySpec,
  { ahead, nowMs, lastSlotMs }: { readonly ahead: number; readonly nowMs: number; readonly lastSlotMs: number },
  zones: ZoneOffsets,
): number {
  const range = { afterMs: nowMs, untilMs: Number.POSITIVE_INFINITY };
  const slots = instantsBetween(schedule, range, zones, Math.min(ahead, MOST_USED_UP));
  return slots.filter((slotMs, index) => index === 0 || slotMs <= lastSlotMs).at(-1) ?? nowMs;
}

/** Whether slots lie where they lay before; jitter aside. */
export function keepsInstants(before: StrategySpec, spec: StrategySpec): boolean {
  return isSame(instantsOf(before.schedule), instantsOf(spec.schedule));
}

function instantsOf(schedule: Schedule): Schedule {
  return { ...schedule, jitterSeconds: undefined };
}

/** Whether two parts of specs say the same. One of them comes from a row, which keeps no fields that are undefined. */
function isSame(before: unknown, after: unknown): boolean {
  return canonical(before) === canonical(after);
}

function canonical(part: unknown): string | undefined {
  return JSON.stringify(part, (_key, value: unknown) => {
    if (typeof value === "bigint") return `${value}n`;
    if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
  });
}
