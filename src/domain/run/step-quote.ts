import { consequenceOf } from "../guard/consequence.ts";
import { type DenialCode, isDenialCode } from "../guard/denial.ts";
import { smaller } from "../money/bigint.ts";
import type { Ppm } from "../money/fraction.ts";
import { isNative } from "../money/token.ts";
import type { SkipReason } from "../strategy/decision.ts";
import { SUBJECT } from "./alert.ts";
import type { Draft } from "./draft.ts";
import type { RunEvent } from "./events.ts";
import type { Evidence } from "./evidence.ts";
import { endAfterAnswer, refusalIn } from "./hold.ts";
import { plannedSize, takenBackProceeds } from "./proceeds.ts";
import type { UnsignedReason } from "./reasons.ts";
import { answered, LATEST_MS, retryLimits, waitAgain } from "./retry.ts";
import { type Run, type Swap, swapIdOf, windowEndOf } from "./run.ts";
import { assertSwapTransition } from "./states.ts";

type Quoted = Extract<RunEvent, { kind: "quoted" }>;
type QuoteRefused = Omit<Extract<RunEvent, { kind: "quote-refused" }>, "kind">;

/**
 * Begins (or begins again) the swap: sizes it, reserves it, and asks for a quote. A swap that is sized by what earlier
 * ones brought takes the measured amounts.
 */
export function beginSwap(draft: Draft, swapId: string, evidence: Evidence, waitMs: number): void {
  const amount = plannedSize(draft.run(), draft.swap(swapId));
  if (amount === undefined) {
    endUnsigned(draft, swapId, {
      reason: "below_minimum_trade",
      detail: "earlier swaps of the run brought too little",
    });
    return;
  }
  const windowEndsMs = turnEndOf(draft.run(), draft.swap(swapId), evidence);
  draft.amendSwap(swapId, { begun: true, windowEndsMs });
  answered(draft);
  reserve(draft, swapId, amount);
  askForQuote(draft, swapId, evidence, { gasless: wantsGasless(draft.swap(swapId)), waitMs });
}

/**
 * Until when a swap may be tried whose turn comes now, Unix milliseconds; undefined takes the run's window. A later one may
 * have waited for a person before it, so it has as long as any; but it comes to its turn no later than the end of the one
 * before it can be known, or an outage would let it trade on a decision of another time.
 */
function turnEndOf(run: Run, swap: Swap, evidence: Evidence): number | undefined {
  const { nowMs, turnEndsMs, pace } = evidence;
  if (swap.retryForSeconds !== undefined) return nowMs + swap.retryForSeconds * 1_000;
  if (swap.position === 0 || turnEndsMs === undefined) return undefined;
  const earlier = run.swaps.filter(({ position }) => position < swap.position);
  const endMs = Math.max(...earlier.map((before) => windowEndOf(run, before)));
  const latestMs = endMs + pace.maxLifetimeSeconds * 1_000 + LATEST_MS;
  return Math.min(turnEndsMs, latestMs + windowMsOf(swap, evidence));
}

/**
 * What a waiting swap will spend belongs to it from the moment it is there, so that no other strategy takes it in
 * between: what earlier swaps have brought so far is reserved for it, and follows what is measured until its turn comes.
 */
export function reserveProceeds(draft: Draft, swapId: string): void {
  const swap = draft.swap(swapId);
  if (swap.begun || swap.state !== "planned" || swap.planned.kind !== "proceeds") return;
  const amount = plannedSize(draft.run(), swap);
  if (amount !== undefined) reserve(draft, swapId, amount);
}

function reserve(draft: Draft, swapId: string, amount: bigint): void {
  const { sell, gross } = draft.swap(swapId);
  if (gross === amount) return;
  draft.record({ kind: "reserve", swapId, token: sell, amount });
  draft.amendSwap(swapId, { gross: amount });
}

/**
 * Asks the service, now or after a wait. Without a slippage of its own the question is a new one: what comes of it may be
 * asked for once more with a tighter one.
 * @throws InvalidTransition when the swap can take no quote any more: then nothing new may be begun with it
 */
export function askForQuote(
  draft: Draft,
  swapId: string,
  evidence: Evidence,
  ask: { gasless: boolean; waitMs: number; slippagePpm?: bigint },
): void {
  const swap = draft.swap(swapId);
  assertSwapTransition(swap.state, "quoted");
  if (swap.tightened && ask.slippagePpm === undefined) draft.amendSwap(swapId, { tightened: false });
  draft.effect(
    {
      kind: "FetchQuote",
      swapId,
      amount: String(swap.gross),
      gasless: ask.gasless,
      slippagePpm: String(ask.slippagePpm ?? slippageOf(swap, evidence)),
    },
    evidence.nowMs + ask.waitMs,
  );
}

/** The slippage that is asked for: the strategy's, and no more than an order may have that everybody sees. */
function slippageOf({ fallback }: Swap, { spec }: Evidence): Ppm {
  const { slippage } = spec.limits;
  return fallback === undefined ? slippage : smaller(slippage, fallback.slippage);
}

/** A quote came: it is kept, and the facts to check it against are read. */
export function stepQuoted(draft: Draft, event: Quoted, evidence: Evidence): void {
  draft.moveSwap(event.swapId, "quoted", {
    quote: event.quote,
    mode: event.gasless ? "gasless" : "self-executed",
    terms: undefined,
  });
  draft.effect({ kind: "ReadFacts", swapId: event.swapId }, evidence.nowMs);
}

/** A refusal without the service's own name for it: a page of a proxy or a firewall, the way to one, or a key that is refused. */
const UNNAMED = /^(?:HTTP_\d+|REDIRECTED)$/;

/**
 * No quote. A gasless refusal falls back to our own transaction where the strategy only prefers gasless, as long as
 * nothing is signed; a passing trouble, and what is no word of the service itself, is asked again inside the window; else
 * the swap ends with the reason.
 */
export function stepQuoteRefused(draft: Draft, event: QuoteRefused, evidence: Evidence): void {
  const swap = draft.swap(event.swapId);
  if (event.retryable) {
    retryOrEnd(draft, event.swapId, evidence, {
      reason: "quote_unavailable",
      detail: `${event.code}: ${event.message}`,
    });
    return;
  }
  if (isDenialCode(event.code)) {
    const mayPass = consequenceOf(event.code) === "retry";
    if (mayPass && askAgain(draft, event.swapId, evidence, { reason: event.code, detail: event.message })) return;
    denySwap(draft, event.swapId, { code: event.code, detail: event.message });
    return;
  }
  if (event.gasless && swap.gasless === "prefer") {
    askForQuote(draft, event.swapId, evidence, { gasless: false, waitMs: 0 });
    return;
  }
  const reason = event.gasless && swap.gasless === "only" ? "gasless_refused" : "quote_refused";
  const why = { reason, detail: `${event.code}: ${event.message}` } as const;
  if (UNNAMED.test(event.code)) retryOrEnd(draft, event.swapId, evidence, why);
  else endUnsigned(draft, event.swapId, why);
}

/** Asks again later inside the run's window, or ends the swap with the reason. Nothing was signed. */
export function retryOrEnd(
  draft: Draft,
  swapId: string,
  evidence: Evidence,
  why: { reason: UnsignedReason | SkipReason; detail: string },
): void {
  if (endRefused(draft, swapId, evidence)) return;
  if (!askAgain(draft, swapId, evidence, why)) endUnsigned(draft, swapId, why);
}

/** Ends what a person refused, whatever else it lacks. @returns false where nobody did */
export function endRefused(draft: Draft, swapId: string, { holds }: Evidence): boolean {
  const refusal = refusalIn(holds);
  if (refusal === undefined) return false;
  endUnsigned(draft, swapId, { reason: "refused_by_operator", detail: `refused by ${refusal.by}` });
  return true;
}

/** Asks again later. @returns false when the window is over: then nothing was asked */
export function askAgain(
  draft: Draft,
  swapId: string,
  evidence: Evidence,
  why: { reason: string; detail: string },
): boolean {
  const swap = draft.swap(swapId);
  const limits = retryLimits(evidence, why.reason, retryUntilMs(draft, swap, evidence));
  const waitMs = waitAgain(draft, evidence, { about: swapId, ...why }, limits);
  if (waitMs !== undefined) askForQuote(draft, swapId, evidence, { gasless: wantsGasless(swap), waitMs });
  return waitMs !== undefined;
}

/** Ends a swap of which nothing was signed, and gives its reservation back. */
export function endUnsigned(draft: Draft, swapId: string, why: { reason: string; detail: string }): void {
  draft.moveSwap(swapId, "skipped", { reason: why.reason }, why.detail);
  draft.record({ kind: "release", swapId });
}

/** Without a price nothing is traded, so a person is notified although it may pass by itself. */
const LACKS_PRICE: ReadonlySet<DenialCode> = new Set(["REFERENCE_MISSING", "REFERENCE_DIVERGES", "SEQUENCER_DOWN"]);

/** Lets a swap pass over because a limit binds: nothing was signed, its money is free, and a person can read why. */
export function skipSwap(draft: Draft, swapId: string, denial: { code: DenialCode; detail: string }): void {
  const { code, detail } = denial;
  endUnsigned(draft, swapId, { reason: code, detail });
  const severity = consequenceOf(code) === "skip" || LACKS_PRICE.has(code) ? "warning" : "info";
  const subject = SUBJECT.pair(draft.run().strategyId, draft.swap(swapId));
  draft.record({ kind: "alert", severity, code, subject, text: `swap ${swapId} was skipped: ${detail}` });
}

/** Denies a swap for good: nothing was signed, its money is free, and a person is notified. */
export function denySwap(draft: Draft, swapId: string, denial: { code: DenialCode; detail: string }): void {
  const { code, detail } = denial;
  draft.moveSwap(swapId, "denied", { reason: code }, detail);
  draft.record({ kind: "release", swapId });
  const subject = SUBJECT.pair(draft.run().strategyId, draft.swap(swapId));
  draft.record({ kind: "alert", severity: "warning", code, subject, text: `swap ${swapId} was denied: ${detail}` });
}

/** What of a fresh attempt at a place is not as it was of the earlier one. */
type Anew = Pick<Swap, "fallback" | "windowEndsMs">;

/**
 * Tries the place again with a fresh swap, when the earlier attempt can no longer happen and the window is open: it ended
 * before anything was signed, an empty transaction has its nonce in a final block, or nobody executed what was proposed.
 */
export function tryAgain(
  draft: Draft,
  ended: Swap,
  evidence: Evidence,
  { anew = ended, ...why }: { reason: string; detail: string; anew?: Anew },
): void {
  const attempt = ended.attempt + 1;
  const swap: Swap = {
    ...ended,
    id: swapIdOf(draft.run(), { position: ended.position, attempt }),
    attempt,
    state: "planned",
    reason: undefined,
    mode: undefined,
    quote: undefined,
    terms: undefined,
    intentId: undefined,
    approvals: 0,
    tightened: false,
    signatures: undefined,
    proposal: undefined,
    serviceSwapId: undefined,
    fallback: anew.fallback,
    windowEndsMs: anew.windowEndsMs,
  };
  const limits = retryLimits(evidence, why.reason, retryUntilMs(draft, swap, evidence));
  const waitMs = waitAgain(draft, evidence, { about: ended.id, ...why }, limits);
  if (waitMs === undefined) return;
  draft.addSwap(swap);
  if (swap.gross !== undefined) {
    draft.record({ kind: "reserve", swapId: swap.id, token: swap.sell, amount: swap.gross });
  }
  askForQuote(draft, swap.id, evidence, { gasless: wantsGasless(swap), waitMs });
}

/** Whether the first question for this swap asks for gasless execution. The native token has no permit. */
export function wantsGasless(swap: Pick<Swap, "gasless" | "sell" | "fallback">): boolean {
  if (swap.fallback !== undefined) return false;
  return swap.gasless === "only" || (swap.gasless === "prefer" && !isNative(swap.sell));
}

/** What waits for its proceeds to come back waits as long as that takes: they are looked up until the chain answers. */
function retryUntilMs(draft: Draft, swap: Swap, evidence: Evidence): number {
  const isWaiting = takenBackProceeds(draft.run(), swap) !== undefined;
  if (isWaiting) return Number.POSITIVE_INFINITY;
  const answerEndsMs = endAfterAnswer(evidence.holds, swap.id, windowMsOf(swap, evidence));
  return Math.min(windowEndOf(draft.run(), swap), answerEndsMs);
}

/** How long a swap may be tried from its turn on, in milliseconds. */
export function windowMsOf({ retryForSeconds }: Pick<Swap, "retryForSeconds">, { spec }: Evidence): number {
  return (retryForSeconds ?? spec.retryForSeconds) * 1_000;
}
