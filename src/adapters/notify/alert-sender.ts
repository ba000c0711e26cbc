import type { AlertOutbox, WaitingAlert } from "../../ports/alert-store.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Logger } from "../../ports/logger.ts";
import type { Delivery } from "./webhook.ts";

/** How long and how often alerts are sent again. */
export interface AlertSenderOptions {
  readonly shortestRetryMs: number;
  readonly longestRetryMs: number;
  readonly mostAttempts: number;
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

/** What tells the pauses of a receiver that takes nothing: how often in a row it did not. */
interface Pause {
  refusals: number;
  untilMs: number;
}

/**
 * Starts the sender: one request at a time, the longest waiting alert first. Attempts are counted before they are made,
 * so that a kill repeats an alert rather than losing it. A receiver that takes nothing is asked less and less often.
 */
export function startAlertSender(options: AlertSenderOptions, deps: AlertSenderDeps): AlertSender {
  const { clock, logger } = deps;
  const stopping = new AbortController();
  const givingUp = new AbortController();
  let sleeper = new AbortController();
  const pause: Pause = { refusals: 0, untilMs: 0 };
  const sleep = async (durationMs: number): Promise<void> => {
    await clock.sleep(durationMs, AbortSignal.any([sleeper.signal, stopping.signal]));
    if (sleeper.signal.aborted) sleeper = new AbortController();
  };
  const loop = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      try {
        dropTooMany(options, deps);
        const isSent = clock.monotonicMs() >= pause.untilMs && (await sendNext(options, deps, pause, givingUp.signal));
        if (!isSent) await sleep(untilNextMs(deps, pause));
      } catch (error) {
        // The database may be busy or full: the rows wait, and swaps go on.
        logger.error({ error }, "alerts cannot be sent now; they wait");
        await sleep(options.longestRetryMs);
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

function dropTooMany(options: AlertSenderOptions, { outbox, clock, logger }: AlertSenderDeps): void {
  const nowMs = clock.nowMs();
  const { mostWaiting, longestAgeMs } = options;
  for (const alert of outbox.giveUp({ raisedBeforeMs: nowMs - longestAgeMs, mostWaiting }, nowMs)) {
    const fields = { alertId: alert.id, code: alert.code, subject: alert.subject, mostWaiting };
    logger.error(fields, "an alert was not sent: it waited too long, or too many wait");
  }
}

/** @returns whether an alert was there to be sent and the receiver was asked */
async function sendNext(
  options: AlertSenderOptions,
  deps: AlertSenderDeps,
  pause: Pause,
  signal: AbortSignal,
): Promise<boolean> {
  const { outbox, clock, logger } = deps;
  const nowMs = clock.nowMs();
  const alert = outbox.nextAlert(nowMs);
  if (alert === undefined) return false;
  outbox.beginAttempt(alert.id, nowMs + retryDelayMs(options, alert.attempts));
  const { taken, detail } = await deps.deliver(alert, { nowMs, signal });
  const fields = { alertId: alert.id, code: alert.code, attempt: alert.attempts + 1, outcome: detail };
  if (taken) {
    pause.refusals = 0;
    outbox.finishAlert(alert.id, { state: "sent", outcome: detail, atMs: clock.nowMs() });
    logger.info(fields, "alert sent");
    return true;
  }
  pause.untilMs = clock.monotonicMs() + retryDelayMs(options, pause.refusals);
  pause.refusals += 1;
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

function untilNextMs({ outbox, clock }: AlertSenderDeps, pause: Pause): number {
  const nextMs = outbox.nextAlertMs();
  if (nextMs === undefined) return LONGEST_WAIT_MS;
  const waitMs = Math.max(nextMs - clock.nowMs(), pause.untilMs - clock.monotonicMs(), 1);
  return Math.min(waitMs, LONGEST_WAIT_MS);
}
