import type { Severity } from "../../domain/run/alert.ts";
import type { AlertOutbox, WaitingAlert } from "../../ports/alert-store.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Logger } from "../../ports/logger.ts";
import { isStorageFault } from "../../storage/storage-fault.ts";
import type { Delivery } from "./webhook.ts";

/** How long and how often alerts are sent again. */
export interface AlertSenderOptions {
  readonly shortestRetryMs: number;
  readonly longestRetryMs: number;
  /** one that was refused so often is tried once more whenever the receiver takes something again, while it is true */
  readonly mostAttempts: number;
  /** the least severity that is sent */
  readonly minimum: Severity;
  /** an alert that is true no more is sent for so long */
  readonly longestAgeMs: number;
  /** alerts that wait; of more than these the oldest give way */
  readonly mostWaiting: number;
  /** a stop waits so long for the request under way */
  readonly stopWithinMs: number;
}

export interface AlertSenderDeps {
  readonly outbox: AlertOutbox;
  readonly clock: Clock;
  readonly logger: Logger;
  deliver(alert: WaitingAlert, at: { nowMs: number; signal: AbortSignal }): Promise<Delivery>;
}

/** Delivers alerts beside everything else: nothing waits for it. */
export interface AlertSender {
  /** There may be something to send. */
  wake(): void;
  stop(): Promise<void>;
}

/** When nothing wakes the sender, it still looks so often: a row may have been written by another hand. */
const LONGEST_WAIT_MS = 60_000;

/** What one life of the sender remembers. Its clock is the monotonic one: a wall clock that is set holds nothing up. */
interface Memory {
  /** how often in a row the receiver took nothing, and until when it is left alone */
  refusals: number;
  pausedUntilMs: number;
  /** taken by the receiver, and not yet written down as sent: it must not be sent again */
  readonly taken: Map<string, string>;
  /** the newest alert at some instants, the oldest first: what was there so long ago is given up */
  readonly newest: { readonly atMs: number; readonly number: number }[];
}

/**
 * Starts the sender: one request at a time, the longest waiting alert first. Attempts are counted before they are made,
 * so that a kill repeats an alert rather than losing it. A receiver that takes nothing is asked less and less often.
 */
export function startAlertSender(options: AlertSenderOptions, deps: AlertSenderDeps): AlertSender {
  const { clock, logger, outbox } = deps;
  const stopping = new AbortController();
  const givingUp = new AbortController();
  let sleeper = new AbortController();
  const memory: Memory = { refusals: 0, pausedUntilMs: 0, taken: new Map(), newest: [] };
  const sleep = async (durationMs: number): Promise<void> => {
    await clock.sleep(durationMs, AbortSignal.any([sleeper.signal, stopping.signal]));
    if (sleeper.signal.aborted) sleeper = new AbortController();
  };
  let isBegun = false;
  const loop = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      try {
        if (!isBegun) outbox.makeAllDue();
        if (!isBegun) outbox.waitAgain(options.minimum);
        isBegun = true;
        settleTaken(deps, memory);
        dropTooMany(options, deps, memory);
        const mayAsk = clock.monotonicMs() >= memory.pausedUntilMs;
        if (!mayAsk || !(await sendNext(options, deps, memory, givingUp.signal))) {
          await sleep(untilNextMs(deps, memory));
        }
      } catch (error) {
        if (!isStorageFault(error)) throw error;
        // The database may be busy or full: the rows wait, and swaps go on.
        logger.error({ error }, "alerts cannot be sent now; they wait");
        await sleep(Math.min(options.longestRetryMs, LONGEST_WAIT_MS));
      }
    }
  };
  const running = loop();
  return {
    wake: () => sleeper.abort(),
    stop: async () => {
      stopping.abort();
      const stopped = new AbortController();
      void clock.sleep(options.stopWithinMs, stopped.signal).then(() => givingUp.abort());
      await running;
      stopped.abort();
    },
  };
}

/** Writes down what the receiver has: as long as that fails, nothing else is sent. */
function settleTaken({ outbox, clock, logger }: AlertSenderDeps, { taken }: Memory): void {
  for (const [id, outcome] of taken) {
    outbox.finishAlert(id, { state: "sent", outcome, atMs: clock.nowMs() });
    taken.delete(id);
    logger.info({ alertId: id, outcome }, "alert sent");
  }
}

/** So finely the age of alerts is known. */
const AGES = 24;

function dropTooMany(
  options: AlertSenderOptions,
  { outbox, clock, logger }: AlertSenderDeps,
  { newest }: Memory,
): void {
  const { mostWaiting, longestAgeMs } = options;
  const now = clock.monotonicMs();
  const last = newest.at(-1);
  if (last === undefined || now - last.atMs >= longestAgeMs / AGES) {
    newest.push({ atMs: now, number: outbox.newestNumber() });
  }
  let upToNumber = 0;
  while (newest[0] !== undefined && now - newest[0].atMs >= longestAgeMs) upToNumber = newest.shift()?.number ?? 0;
  for (const alert of outbox.giveUp({ upToNumber, mostWaiting }, clock.nowMs())) {
    const fields = { alertId: alert.id, code: alert.code, subject: alert.subject, mostWaiting };
    logger.error(fields, "an alert was not sent: it waited too long, or too many wait");
  }
}

/** @returns whether an alert was there to be sent and the receiver was asked */
async function sendNext(
  options: AlertSenderOptions,
  deps: AlertSenderDeps,
  memory: Memory,
  signal: AbortSignal,
): Promise<boolean> {
  const { outbox, clock, logger } = deps;
  const now = clock.monotonicMs();
  const alert = outbox.nextAlert(now);
  if (alert === undefined) return false;
  outbox.beginAttempt(alert.id, now + retryDelayMs(options, alert.attempts));
  const { taken, detail } = await deps.deliver(alert, { nowMs: clock.nowMs(), signal });
  if (taken) {
    if (memory.refusals > 0) outbox.waitAgain(options.minimum);
    memory.refusals = 0;
    memory.taken.set(alert.id, detail);
    settleTaken(deps, memory);
    return true;
  }
  const fields = { alertId: alert.id, code: alert.code, attempt: alert.attempts + 1, outcome: detail };
  memory.pausedUntilMs = clock.monotonicMs() + retryDelayMs(options, memory.refusals);
  memory.refusals += 1;
  if (alert.attempts + 1 >= options.mostAttempts) {
    outbox.finishAlert(alert.id, { state: "given-up", outcome: detail, atMs: clock.nowMs() });
    logger.error(fields, "an alert was not sent: its receiver took it at no attempt");
  } else {
    outbox.noteOutcome(alert.id, detail);
    logger.warn(fields, "the receiver did not take an alert; it is sent again later");
  }
  return true;
}

/** Doubles from the shortest to the longest. */
function retryDelayMs({ shortestRetryMs, longestRetryMs }: AlertSenderOptions, before: number): number {
  return Math.min(longestRetryMs, shortestRetryMs * 2 ** Math.min(before, 30));
}

function untilNextMs({ outbox, clock }: AlertSenderDeps, { pausedUntilMs }: Memory): number {
  const next = outbox.nextAlertMs();
  if (next === undefined) return LONGEST_WAIT_MS;
  const now = clock.monotonicMs();
  const waitMs = Math.max(next - now, pausedUntilMs - now, 1);
  return Math.min(waitMs, LONGEST_WAIT_MS);
}
