import { CEILING_WINDOWS_MS } from "../domain/guard/policy.ts";
import { DAY_MS } from "../domain/time/durations.ts";
import type { RetentionPlace, RetentionSlice } from "../ports/retention-store.ts";
import type { EngineContext, EngineSettings } from "./engine-context.ts";
import { nodeFault } from "./perform/node-fault.ts";

/** Nothing of it is urgent: what is old now was old for months. */
const POLL_EVERY_MS = 3_600_000;
/** A start has better things to do. */
const FIRST_CHECK_AFTER_MS = 60_000;
/** So long one turn goes on; the last run of it may take some milliseconds more. */
const SLICE_MS = 5;
/** In between all other work has a turn. */
const PAUSE_MS = 50;

/** Ceilings count what was sold in a month, and of its first hour by the rows. */
const CEILINGS_LOOKBACK_MS = CEILING_WINDOWS_MS.month + DAY_MS;

/** A digest counts the runs of its period, and is written once that is over: a day of a zone may have 25 hours. */
const DIGEST_LOOKBACK_MS = { day: 2 * DAY_MS, week: 8 * DAY_MS } as const;

/** What shows whether this machine's clock can be believed. */
interface Clocks {
  problem(): string | undefined;
}

/** Lets go of what is old, by the hour, until the engine stops. */
export async function keepLettingGo(context: EngineContext, signal: AbortSignal, clocks: Clocks): Promise<void> {
  const { clock, logger } = context.deps;
  for (let waitMs = FIRST_CHECK_AFTER_MS; !signal.aborted; waitMs = POLL_EVERY_MS) {
    await clock.sleep(waitMs, signal);
    if (signal.aborted) return;
    const went = await letGo(context, signal, clocks);
    if (went.pruned + went.archived > 0) logger.info(went, "old runs became gaps, or were archived");
  }
}

/**
 * Lets go of all that is old now, in turns. A stop or a kill between two turns, or within one, leaves the rest to the next
 * look: each turn is one transaction.
 * @returns how many runs became gaps, and how many were archived
 */
export async function letGo(
  context: EngineContext,
  signal: AbortSignal,
  clocks: Clocks,
): Promise<{ readonly pruned: number; readonly archived: number }> {
  const { deps } = context;
  const { store, clock } = deps;
  const went = { pruned: 0, archived: 0 };
  let after: RetentionPlace | undefined;
  const knownMs = await timeThatPassed(context, clocks);
  if (knownMs === undefined) return went;
  const { unsignedBeforeMs, signedBeforeMs } = retentionBounds(context.settings, knownMs);
  do {
    if (signal.aborted || clocks.problem() !== undefined) break;
    const endsAtMs = clock.monotonicMs() + SLICE_MS;
    const mayGoOn = (): boolean => clock.monotonicMs() < endsAtMs;
    const slice = { unsignedBeforeMs, signedBeforeMs, nowMs: clock.nowMs(), after, mayGoOn };
    const result = await store.letRunsGo(slice);
    if (result === undefined) break;
    went.pruned += result.pruned;
    went.archived += result.archived;
    // What stays costs room and nothing else: no reason to stop trading.
    for (const refused of result.refused)
      deps.logger.error({ ...refused }, "an old run cannot be removed: see `swapd db check`");
    after = result.last;
    await clock.sleep(PAUSE_MS, signal);
  } while (after !== undefined);
  await closeGaps(context, signal, knownMs);
  return went;
}

/** A gap that grows is joined by each slot, and the slots of hardly any strategy are further apart. */
const IDLE_MS = 8 * DAY_MS;

/** Closes gaps that nothing will be joined to any more, once a day. */
async function closeGaps({ deps }: EngineContext, signal: AbortSignal, knownMs: number): Promise<void> {
  const idle = { sinceMs: knownMs - IDLE_MS, atLeastOneSinceMs: knownMs - IDLE_MS - DAY_MS };
  while (!signal.aborted) {
    const { closed, refused } = await deps.store.closeIdleGaps(idle);
    if (refused !== undefined) deps.logger.error({ why: refused }, "old gaps cannot be closed: see `swapd db check`");
    if (closed === 0) return;
    await deps.clock.sleep(PAUSE_MS, signal);
  }
}

/** Before which instants runs go: kept as the configuration says, and as the policy and the digests look back. */
export function retentionBounds(
  { retentionMs, policy, notifications }: Pick<EngineSettings, "retentionMs" | "policy" | "notifications">,
  knownMs: number,
): Pick<RetentionSlice, "unsignedBeforeMs" | "signedBeforeMs"> {
  const digestsMs = (notifications.digest?.periods ?? []).map((period) => DIGEST_LOOKBACK_MS[period]);
  const lookbackMs = Math.max(retentionMs, policy.pauseAfter.withinSeconds * 1_000, DAY_MS, ...digestsMs);
  return {
    unsignedBeforeMs: knownMs - lookbackMs,
    signedBeforeMs: knownMs - Math.max(lookbackMs, CEILINGS_LOOKBACK_MS),
  };
}

/**
 * An instant that has passed by this machine's clock and by the chain's newest block: a clock that is years ahead would
 * else let everything go at once, and so would a node that shows such a block.
 */
async function timeThatPassed({ deps }: EngineContext, clocks: Clocks): Promise<number | undefined> {
  if (clocks.problem() !== undefined) return undefined;
  try {
    const { timestamp } = await deps.chain.latest();
    return Math.min(deps.clock.nowMs(), timestamp * 1_000);
  } catch (error) {
    deps.logger.debug({ error: nodeFault(error) }, "nothing old is let go while no block shows the time");
    return undefined;
  }
}
