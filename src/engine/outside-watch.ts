import { type Alert, SUBJECT } from "../domain/run/alert.ts";
import { formatDuration } from "../domain/time/format-duration.ts";
import type { BlockHead } from "../ports/chain.ts";
import type { ServiceRefusal } from "../ports/swap-service.ts";
import { raiseChange, writeAndNotify } from "./alerts.ts";
import type { Beginning } from "./beginning.ts";
import type { ClockWatch } from "./clock-watch.ts";
import type { EngineContext } from "./engine-context.ts";
import type { EffectAnswer } from "./perform/effect-answer.ts";
import { nodeFault } from "./perform/node-fault.ts";

/**
 * Whether nodes and service answer, whatever else the daemon does: a stop that cannot act must be reported also while
 * no run is due. Both are asked by themselves; the service hardly ever, because its answers to quotes show as much. The
 * alerts are rows, so that a start after a kill finds them open, and ends them with the first answer.
 */
export interface OutsideWatch {
  /** Takes in what an effect was answered. */
  hear(answer: EffectAnswer): void;
  /** Checks until the engine stops. */
  keepChecking(signal: AbortSignal): Promise<void>;
}

const CHECK_MS = 15_000;
/** What is away for so long is reported; shorter troubles pass by themselves. */
const PATIENCE_MS = 60_000;
/** Chains make blocks in seconds; without one for so long the node stands still, or the chain does. */
const OLDEST_BLOCK_SECONDS = 300;
/** The service is asked for nothing but its answer only when nothing else asked it for so long. */
const SILENCE_MS = 300_000;

const NOT_MADE: ReadonlySet<string> = new Set(["ABORTED", "CALLS_QUEUED"]);
const NOT_FOR_US: ReadonlySet<number> = new Set([401, 402, 403]);
/**
 * A page of an intermediary, a redirect, or an unreadable answer came in the service's place; or it cannot be called.
 */
const NOT_ITS_ANSWER = /^(?:HTTP_40[123]|ANSWER_(?:NOT_JSON|TOO_LARGE|MALFORMED)|REDIRECTED|BAD_URL)$/;

/** Calls that were not made say nothing about the service. */
export function wasMade({ code }: Pick<ServiceRefusal, "code">): boolean {
  return !NOT_MADE.has(code);
}

/** Whether a refusal says that the service does not serve us: our key, or another server that answers in its place. */
export function isNotForUs({ code, status }: Pick<ServiceRefusal, "code" | "status">): boolean {
  return NOT_FOR_US.has(status ?? 0) || NOT_ITS_ANSWER.test(code);
}

interface Contact {
  /** by the monotonic clock; undefined while it answers */
  failingSinceMs: number | undefined;
  heardMs: number;
  /** what was written down last; undefined: not known since the start */
  isAway: boolean | undefined;
  detail: string;
}

/**
 * Makes the watch of one life of the daemon. A node that answers, but not what a start needs, is as good as away. So is
 * one that stands still: by its own time prices stay fresh for ever, so that no trigger would be reached, unnoticed; and
 * one that shows no final block: without that nothing is sent, followed or looked up.
 */
export function createOutsideWatch(
  context: EngineContext,
  { beginning, clocks }: { readonly beginning: Pick<Beginning, "fault">; readonly clocks: Pick<ClockWatch, "problem"> },
): OutsideWatch {
  const { chain, service, clock } = context.deps;
  const faultOf = async (head: BlockHead): Promise<string | undefined> => {
    // By a wrong clock the age would be wrong, too; that is reported by itself.
    const age = clocks.problem() === undefined ? tooOld(head, clock.nowMs()) : undefined;
    const fault = beginning.fault() ?? age;
    if (fault === undefined) await chain.finalized();
    return fault;
  };
  const [node, quotes] = [newContact(clock.monotonicMs()), newContact(clock.monotonicMs())];
  const note = (what: Contact, fault: string | undefined): void => {
    what.heardMs = clock.monotonicMs();
    what.failingSinceMs = fault === undefined ? undefined : (what.failingSinceMs ?? what.heardMs);
    what.detail = fault ?? "";
  };
  const say = async (what: Contact, alert: Omit<Alert, "severity">): Promise<void> => {
    const sinceMs = what.failingSinceMs;
    const isAway = sinceMs !== undefined && clock.monotonicMs() - sinceMs >= PATIENCE_MS;
    if (sinceMs !== undefined && !isAway) return;
    const isNew = what.isAway !== isAway;
    what.isAway = isAway;
    if (isNew) await write(context, { ...alert, severity: "critical" }, isAway);
  };
  const checkService = async (): Promise<void> => {
    const [wallet] = context.deps.signers.keys();
    const isQuiet = clock.monotonicMs() - quotes.heardMs >= SILENCE_MS;
    if (wallet === undefined || !(isQuiet || quotes.failingSinceMs !== undefined || quotes.isAway === undefined))
      return;
    const answer = await service.statusCounts(wallet);
    if (isRefusal(answer)) hearRefusal(answer);
    else note(quotes, undefined);
  };
  const hearRefusal = ({ code, message, status, retryable }: ServiceRefusal): void => {
    if (!wasMade({ code })) return;
    const isAway = retryable || isNotForUs({ code, status });
    // The refusal of a quote may be one of our key: whether the service serves us is asked by itself then.
    if (isAway || status !== undefined) note(quotes, isAway ? `${code}: ${message}` : undefined);
  };
  const keepDoing = async (signal: AbortSignal, check: () => Promise<void>): Promise<void> => {
    while (!signal.aborted) {
      await check();
      await clock.sleep(CHECK_MS, signal);
    }
  };
  return {
    hear: (answer) => {
      if (answer.kind === "quoted" || answer.kind === "submission-accepted") note(quotes, undefined);
      if (answer.kind === "quote-refused") hearRefusal({ ...answer, kind: "refused", status: undefined });
    },
    // Apart, because a check of the service may wait for its rate limit.
    keepChecking: async (signal) => {
      await Promise.all([
        keepDoing(signal, async () => {
          note(node, await chain.latest().then(faultOf).catch(nodeFault));
          if (!signal.aborted) await say(node, nodeAway(node.detail));
        }),
        keepDoing(signal, async () => {
          await checkService();
          if (!signal.aborted) await say(quotes, serviceAway(quotes.detail));
        }),
      ]);
    },
  };
}

function newContact(heardMs: number): Contact {
  return { failingSinceMs: undefined, heardMs, isAway: undefined, detail: "" };
}

/** Why a newest block cannot be the chain's own newest one, by a clock that is right; undefined: it may be. */
export function tooOld(
  { number, timestamp }: BlockHead,
  nowMs: number,
  oldestSeconds: number = OLDEST_BLOCK_SECONDS,
): string | undefined {
  const ageSeconds = Math.floor(nowMs / 1_000) - timestamp;
  return ageSeconds > oldestSeconds
    ? `the newest block ${number} is ${formatDuration(ageSeconds * 1_000)} old`
    : undefined;
}

/** Whether a service gave no answer to work with. */
export function isRefusal(answer: object): answer is ServiceRefusal {
  return "kind" in answer && answer.kind === "refused";
}

/**
 * The alert and its end are rows: what is reported already is not reported twice, and what ended during a downtime is
 * ended.
 */
async function write({ deps }: EngineContext, alert: Alert, isAway: boolean): Promise<void> {
  const over = { kind: "alerts-over", subject: alert.subject } as const;
  await writeAndNotify(deps, [isAway ? raiseChange(deps, alert) : over]);
}

function nodeAway(detail: string): Omit<Alert, "severity"> {
  const text = `no RPC endpoint is of use, so nothing is traded, stops neither, and what is signed is not followed: ${detail}`;
  return { code: "NODE_UNREACHABLE", subject: SUBJECT.node(), text };
}

function serviceAway(detail: string): Omit<Alert, "severity"> {
  const text = `the swap service does not serve us, so nothing is traded, stops neither: ${detail}`;
  return { code: "SERVICE_UNREACHABLE", subject: SUBJECT.quotes(), text };
}
