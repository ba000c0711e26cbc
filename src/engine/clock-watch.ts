import { type Alert, SUBJECT } from "../domain/run/alert.ts";
import { formatDuration } from "../domain/time/format-duration.ts";
import type { BlockHead } from "../ports/chain.ts";
import type { Change, Decided } from "../ports/changes.ts";
import type { Answered } from "../ports/questions.ts";
import { commitAndNotify, raiseChange } from "./alerts.ts";
import type { EngineContext } from "./engine-context.ts";
import { nodeFault } from "./perform/node-fault.ts";
import { createWaker } from "./waker.ts";

/**
 * Checks this machine's clock against the chain's. Slots are instants of the wall clock: one that jumps ahead would
 * use up all slots in between, and one that is set back afterwards would leave the daemon silent until it is there again.
 *
 * The chain's time goes on from its newest block by the monotonic clock, which no one sets. So a node that stalls changes
 * nothing here, however old its newest block gets, and a jump shows at once, before any node is asked.
 */
export interface ClockWatch {
  /** Takes in the newest block that was read. */
  observe(head: BlockHead): void;
  /** Once a second, before anything is decided by the wall clock. @returns why it must not be, undefined when it may */
  check(): Promise<string | undefined>;
  /** What a check would find at this instant. */
  problem(): string | undefined;
  /** Milliseconds that the wall clock is ahead of the chain's time; undefined before the first block. */
  skewMs(): number | undefined;
  /** Reads newest blocks until the engine stops: now and then while the clocks agree, at each poll while they do not. */
  keepChecking(signal: AbortSignal): Promise<void>;
}

/** While the clocks agree a jump is noticed without asking, so that asking is for slow drift only. */
const POLL_EVERY_MS = 30_000;

/**
 * A head is believed until for so long there are only older ones, which go on for as long by their own time: then it was of
 * another chain, or of a fork. Nodes that stand still show the same again and again, which says nothing.
 */
const CONTRADICTED_MS = 60_000;

interface Seen {
  readonly number: number;
  readonly timestampMs: number;
  readonly monotonicMs: number;
}

/** Makes the watch of one life of the daemon. */
export function createClockWatch(context: EngineContext): ClockWatch {
  const { chain, clock, logger } = context.deps;
  const { slotClockSkewSeconds, pollMs } = context.settings.pace;
  const waker = createWaker(clock);
  let seen: Seen | undefined;
  /** of the heads that were older than what is believed: since when there are only such, and the oldest one's time */
  let doubt: { readonly sinceMs: number; readonly oldestMs: number } | undefined;
  let reported: string | undefined;
  let isFirstCheck = true;
  const skewMs = (): number | undefined =>
    seen === undefined ? undefined : clock.nowMs() - seen.timestampMs - (clock.monotonicMs() - seen.monotonicMs);
  const judge = (): string | undefined => {
    const skew = skewMs();
    if (seen === undefined || skew === undefined || Math.abs(skew) <= slotClockSkewSeconds * 1_000) return undefined;
    return describe(skew, { seen, nowMs: clock.nowMs(), bound: slotClockSkewSeconds });
  };
  const observe = ({ number, timestamp }: BlockHead): void => {
    const timestampMs = timestamp * 1_000;
    const monotonicMs = clock.monotonicMs();
    // By its time, because the height of another chain says nothing of this one. A node that lags behind shows nothing
    // new.
    if (seen !== undefined && timestampMs <= seen.timestampMs) {
      if (timestampMs === seen.timestampMs) return;
      const { sinceMs, oldestMs } = doubt ?? { sinceMs: monotonicMs, oldestMs: timestampMs };
      doubt = { sinceMs, oldestMs: Math.min(oldestMs, timestampMs) };
      const goesOnMs = Math.min(monotonicMs - sinceMs, timestampMs - doubt.oldestMs);
      if (goesOnMs < CONTRADICTED_MS) return;
    }
    doubt = undefined;
    seen = { number, timestampMs, monotonicMs };
  };
  return {
    observe,
    check: async () => {
      const found = judge();
      const before = reported;
      const isNews = isFirstCheck || (found === undefined) !== (before === undefined);
      if (found !== undefined && before === undefined) waker.wake();
      isFirstCheck = false;
      reported = found;
      await write(context, { found, isNews, mayBeBelieved: seen !== undefined && found === undefined });
      if (isNews && found === undefined && before !== undefined)
        logger.info({}, "this machine's clock and the chain's agree again");
      // It may have jumped meanwhile.
      return found ?? judge();
    },
    problem: judge,
    skewMs,
    keepChecking: async (signal) => {
      while (!signal.aborted) {
        await waker.wait(judge() === undefined ? POLL_EVERY_MS : pollMs, signal);
        if (signal.aborted) return;
        try {
          observe(await chain.latest());
        } catch (error) {
          // Nothing new is known of the chain's time: it goes on by the monotonic clock.
          logger.debug({ error: nodeFault(error) }, "the newest block could not be read");
        }
      }
    },
  };
}

/** Writes what a check came to, and with it what a clock that ran ahead has left. */
async function write(
  { deps, settings }: EngineContext,
  { found, isNews, mayBeBelieved }: { found: string | undefined; isNews: boolean; mayBeBelieved: boolean },
): Promise<void> {
  const atMs = deps.clock.nowMs();
  const salesAfterMs = Math.ceil(atMs) + settings.pace.slotClockSkewSeconds * 1_000;
  const over = { kind: "alerts-over", subject: SUBJECT.clock() } as const;
  const said = found === undefined ? over : raiseChange(deps, alertOf(found));
  const question = { kind: "left-ahead", nowMs: atMs, salesAfterMs } as const;
  const decide = (left: Answered<"left-ahead">): Decided<string | undefined> => {
    const anew = mayBeBelieved ? countFromNow(left, salesAfterMs) : undefined;
    // Effects that were to wait a moment by a clock that ran ahead would wait until it is there again. It may have run
    // ahead for less than a second, or in an earlier life: only their rows show it.
    const hastened = left.isAnyEffectAhead ? [{ kind: "effects-hastened" } as const] : [];
    return { changes: [...hastened, ...(anew?.changes ?? []), ...(isNews ? [said] : [])], atMs, value: anew?.text };
  };
  // Nearly always there is nothing to write, and a unit of work would take the database's lock for that.
  if (decide(await deps.store.read(question)).changes.length === 0) return;
  const settled = await commitAndNotify(deps, { question, decide });
  if (settled !== undefined) deps.logger.warn({ clock: settled }, "sales of a time to come count from now on");
}

/**
 * Sales that a clock which ran ahead saw would count in the caps of a day and a month until it is there again, and nothing
 * would be traded. By a clock that the chain's agrees with they count from now on: never shorter than from their sale on.
 */
function countFromNow(
  { count, latestMs }: Answered<"left-ahead">,
  afterMs: number,
): { readonly text: string; readonly changes: readonly Change[] } | undefined {
  if (count === 0) return undefined;
  const text = `${count} sales that were seen by a clock that ran ahead, the latest at ${new Date(latestMs).toISOString()}, count in the caps of a day and a month from now on`;
  const event = { kind: "daemon-event", event: "clock-jump", detail: text } as const;
  return { text, changes: [{ kind: "sales-settled-anew", afterMs }, event] };
}

function alertOf(text: string): Alert {
  return { severity: "critical", code: "CLOCK_DISAGREES", subject: SUBJECT.clock(), text };
}

function describe(skewMs: number, { seen, nowMs, bound }: { seen: Seen; nowMs: number; bound: number }): string {
  const by = `${formatDuration(Math.abs(skewMs))} ${skewMs > 0 ? "ahead of" : "behind"}`;
  const [clock, block] = [nowMs, seen.timestampMs].map((ms) => new Date(ms).toISOString());
  return (
    `this machine's clock (${clock}) is ${by} the chain's time (block ${seen.number} of ${block}), more than ${formatDuration(bound * 1_000)}: ` +
    "no slot is run or passed over until they agree; set the clock, or check whether the RPC endpoint lags behind its chain"
  );
}
