import type { AlertOutbox, WaitingDelivery } from "../../ports/alert-store.ts";
import type { Clock } from "../../ports/clock.ts";
import type { LogFields, Logger } from "../../ports/logger.ts";
import { isStorageFault } from "../../storage/storage-fault.ts";
import type { Delivery } from "./post.ts";

/** How long and how often messages are sent again. */
export interface AlertSenderOptions {
  readonly shortestRetryMs: number;
  /** and so often what was given up is tried once more while it is true; a receiver that asks for more is asked sooner */
  readonly longestRetryMs: number;
  /** one that was not taken so often is given up */
  readonly mostAttempts: number;
  /** what is true no more is sent for so long */
  readonly longestAgeMs: number;
  /** messages that wait; of more than these the least severe and oldest give way */
  readonly mostWaiting: number;
  /** a stop waits so long for the request under way */
  readonly stopWithinMs: number;
}

export interface AlertSenderDeps {
  /** the name of the channel */
  readonly channel: string;
  readonly outbox: AlertOutbox;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Whether nothing but what is critical is sent now, by the wall clock; the rest waits. Default: never */
  isQuiet?(nowMs: number): boolean;
  deliver(waiting: WaitingDelivery, at: { nowMs: number; signal: AbortSignal }): Promise<Delivery>;
}

/** Delivers to one channel in the background: nothing waits for it, other channels neither. */
export interface AlertSender {
  /** There may be something to send. */
  wake(): void;
  stop(): Promise<void>;
}

/** When nothing wakes the sender, it still checks so often: another process may have written a row. */
const LONGEST_WAIT_MS = 60_000;

/** What one life of the sender remembers. Its clock is the monotonic one: a wall clock that is set delays nothing. */
interface Memory {
  /** how often in a row the receiver took nothing, and until when it is left alone */
  refusals: number;
  pausedUntilMs: number;
  /** when what is still true was last made to wait again; undefined before the first time */
  polledAtMs: number | undefined;
  /** taken by the receiver, and not yet written down as sent: it must not be sent again */
  readonly taken: Map<WaitingDelivery, string>;
  /** the newest delivery at some instants, the oldest first: what was there so long ago is given up */
  readonly newest: { readonly atMs: number; readonly number: number }[];
}

/**
 * Starts the sender of a channel: one request at a time, of each subject the oldest first. Attempts are counted before
 * they are made, so that a kill repeats a message rather than losing it. A receiver that takes nothing is asked less and
 * less often.
 */
export function startAlertSender(options: AlertSenderOptions, deps: AlertSenderDeps): AlertSender {
  const { clock, logger, outbox, channel } = deps;
  const stopping = new AbortController();
  const givingUp = new AbortController();
  let sleeper = new AbortController();
  const memory: Memory = { refusals: 0, pausedUntilMs: 0, polledAtMs: undefined, taken: new Map(), newest: [] };
  const sleep = async (durationMs: number): Promise<void> => {
    await clock.sleep(durationMs, AbortSignal.any([sleeper.signal, stopping.signal]));
    if (sleeper.signal.aborted) sleeper = new AbortController();
  };
  /** @returns how long to wait before the next turn, undefined when there may be more to send */
  const takeTurn = async (): Promise<number | undefined> => {
    try {
      if (memory.polledAtMs === undefined) await outbox.makeAllDue();
      await tryAgainWhatIsTrue(options, deps, memory);
      await settleTaken(deps, memory);
      await dropTooMany(options, deps, memory);
      const mayAsk = clock.monotonicMs() >= memory.pausedUntilMs;
      if (mayAsk && (await sendNext(options, deps, memory, givingUp.signal))) return undefined;
      return await untilNextMs(deps, memory);
    } catch (error) {
      if (!isStorageFault(error)) throw error;
      // The database may be busy or full: the rows wait, and swaps go on.
      logger.error({ channel, error }, "alerts cannot be sent now; they wait");
      return Math.min(options.longestRetryMs, LONGEST_WAIT_MS);
    }
  };
  const loop = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const pauseMs = await takeTurn();
      if (pauseMs !== undefined) await sleep(pauseMs);
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

/** At the start, and as often as the longest pause is long. */
async function tryAgainWhatIsTrue(
  { longestRetryMs }: AlertSenderOptions,
  { outbox, clock }: AlertSenderDeps,
  memory: Memory,
): Promise<void> {
  const now = clock.monotonicMs();
  if (memory.polledAtMs !== undefined && now - memory.polledAtMs < longestRetryMs) return;
  await outbox.waitAgain();
  memory.polledAtMs = now;
}

/** Writes down what the receiver has: as long as that fails, nothing else is sent. */
async function settleTaken({ outbox, clock, logger, channel }: AlertSenderDeps, { taken }: Memory): Promise<void> {
  for (const [waiting, outcome] of taken) {
    await outbox.finish(waiting.number, { state: "sent", outcome, atMs: clock.nowMs() });
    taken.delete(waiting);
    logger.info({ ...fieldsOf(channel, waiting), outcome }, "alert sent");
  }
}

/** So finely the age of messages is known. */
const AGES = 24;

async function dropTooMany(
  options: AlertSenderOptions,
  { outbox, clock, logger, channel }: AlertSenderDeps,
  { newest }: Memory,
): Promise<void> {
  const { mostWaiting, longestAgeMs } = options;
  const now = clock.monotonicMs();
  const last = newest.at(-1);
  if (last === undefined || now - last.atMs >= longestAgeMs / AGES) {
    newest.push({ atMs: now, number: await outbox.newestNumber() });
  }
  let upToNumber = 0;
  while (newest[0] !== undefined && now - newest[0].atMs >= longestAgeMs) upToNumber = newest.shift()?.number ?? 0;
  for (const waiting of await outbox.giveUp({ upToNumber, mostWaiting }, clock.nowMs())) {
    const fields = { ...fieldsOf(channel, waiting), subject: waiting.alert.subject, mostWaiting };
    logger.error(fields, "an alert was not sent: it waited too long, or too many wait");
  }
}

/** @returns whether something was there to be sent and the receiver was asked */
async function sendNext(
  options: AlertSenderOptions,
  deps: AlertSenderDeps,
  memory: Memory,
  signal: AbortSignal,
): Promise<boolean> {
  const { outbox, clock } = deps;
  const now = clock.monotonicMs();
  const waiting = await nextOf(deps, memory);
  if (waiting === undefined || waiting.dueAt > now) return false;
  await outbox.beginAttempt(waiting.number, now + retryDelayMs(options, waiting.attempts));
  const delivery = await deps.deliver(waiting, { nowMs: clock.nowMs(), signal });
  if (delivery.kind !== "delivered") {
    await noteNotTaken(options, deps, { memory, waiting, delivery });
    return true;
  }
  const isBack = memory.refusals > 0;
  memory.refusals = 0;
  memory.taken.set(waiting, delivery.detail);
  await settleTaken(deps, memory);
  if (isBack) await hearAll(deps);
  return true;
}

/** A receiver that is back gets what was given up and is still true, and what earlier attempts put off. */
async function hearAll({ outbox }: AlertSenderDeps): Promise<void> {
  await outbox.waitAgain();
  await outbox.makeAllDue();
}

async function noteNotTaken(
  options: AlertSenderOptions,
  { outbox, clock, logger, channel }: AlertSenderDeps,
  came: {
    readonly memory: Memory;
    readonly waiting: WaitingDelivery;
    readonly delivery: Exclude<Delivery, { kind: "delivered" }>;
  },
): Promise<void> {
  const { memory, waiting, delivery } = came;
  const { detail, kind } = delivery;
  const fields = { ...fieldsOf(channel, waiting), attempt: waiting.attempts + 1, outcome: detail };
  const askedForMs = kind === "later" ? Math.min(delivery.afterMs ?? 0, options.longestRetryMs) : 0;
  memory.pausedUntilMs = clock.monotonicMs() + Math.max(retryDelayMs(options, memory.refusals), askedForMs);
  memory.refusals += 1;
  if (kind === "refused" || waiting.attempts + 1 >= options.mostAttempts) {
    await outbox.finish(waiting.number, { state: "given-up", outcome: detail, atMs: clock.nowMs() });
    logger.error(fields, "an alert was not sent: its receiver took it at no attempt");
  } else {
    await outbox.noteOutcome(waiting.number, detail);
    logger.warn(fields, "the receiver did not take an alert; it is sent again later");
  }
}

function fieldsOf(channel: string, { alert, tells }: WaitingDelivery): LogFields {
  return { channel, alertId: alert.id, code: alert.code, tells };
}

/** Where nothing is taken, each so many-th attempt is what waits longest, critical or not. */
const TURN_OF_OTHERS = 3;

/** Doubles from the shortest to the longest. */
function retryDelayMs({ shortestRetryMs, longestRetryMs }: AlertSenderOptions, before: number): number {
  return Math.min(longestRetryMs, shortestRetryMs * 2 ** Math.min(before, 30));
}

/** A receiver may never take a certain message, as a mail that looks like spam: now and then another one has its turn. */
async function nextOf(
  { outbox, clock, isQuiet }: AlertSenderDeps,
  { refusals }: Memory,
): Promise<WaitingDelivery | undefined> {
  const now = refusals % TURN_OF_OTHERS === TURN_OF_OTHERS - 1 ? undefined : clock.monotonicMs();
  return await outbox.next(isQuiet?.(clock.nowMs()) === true, now);
}

/** The end of quiet hours is seen with the next look, within a minute. */
async function untilNextMs(deps: AlertSenderDeps, memory: Memory): Promise<number> {
  const { clock } = deps;
  const { pausedUntilMs } = memory;
  const next = await nextOf(deps, memory);
  if (next === undefined) return LONGEST_WAIT_MS;
  const now = clock.monotonicMs();
  const waitMs = Math.max(next.dueAt - now, pausedUntilMs - now, 1);
  return Math.min(waitMs, LONGEST_WAIT_MS);
}
