import { describeAmount, describeDollars } from "../money/for-people.ts";
import { formatDuration } from "../time/format-duration.ts";
import { type Alert, SUBJECT } from "./alert.ts";
import type { Draft } from "./draft.ts";
import type { Evidence } from "./evidence.ts";
import { endAfterAnswer, type Hold, type HoldKind } from "./hold.ts";
import type { Swap } from "./run.ts";
import { askForQuote, endRefused, endUnsigned, retryOrEnd, wantsGasless, windowMsOf } from "./step-quote.ts";

/**
 * Holds a swap back that passed every check, where its strategy wants a person to approve it or to hear of it first. It
 * keeps its reservation, and is quoted and checked anew when it goes on: what a person approves is the run with its
 * amounts, never a quote. What was refused, or approved by nobody in time, ends.
 * @param usd what it sells, in dollars scaled by 1e18; without a price it needs an approval like a large one
 * @returns whether it is held back or was ended: then nothing may be signed for it now
 */
export function heldBack(draft: Draft, swap: Swap, usd: bigint | undefined, evidence: Evidence): boolean {
  if (endRefused(draft, swap.id, evidence)) return true;
  const [approval, announcement] = (["approval", "announcement"] as const).map((kind) =>
    evidence.holds?.find((hold) => hold.kind === kind),
  );
  // What waits for a person does not go on because its price fell meanwhile, or because its file was edited.
  if (approval !== undefined)
    return !isLetGo(draft, swap, approval, evidence) && awaitApproval(draft, swap, approval, evidence);
  const { approveWithinSeconds, announceSeconds } = evidence.spec;
  if (needsApproval(usd, evidence))
    return hold(draft, swap, { kind: "approval", seconds: approveWithinSeconds, usd }, evidence);
  if (announcement !== undefined)
    return !isLetGo(draft, swap, announcement, evidence) && awaitTime(draft, swap, announcement, evidence);
  return hold(draft, swap, { kind: "announcement", seconds: announceSeconds, usd }, evidence);
}

/** What has no price needs an approval like a large swap. */
function needsApproval(usd: bigint | undefined, { spec: { approveAboveUsd } }: Pick<Evidence, "spec">): boolean {
  return approveAboveUsd !== undefined && (usd === undefined || usd > approveAboveUsd);
}

/** What a swap waits for before anything is signed: a person's approval, or time after it was announced. */
export type SwapWait =
  | { readonly kind: "approval"; readonly aboveUsd: bigint }
  | { readonly kind: "announcement"; readonly seconds: number };

/** What a swap of a strategy waits for; undefined where it goes on at once. */
export function swapWait(usd: bigint | undefined, settings: Pick<Evidence, "spec">): SwapWait | undefined {
  const { approveAboveUsd = 0n, announceSeconds } = settings.spec;
  if (needsApproval(usd, settings)) return { kind: "approval", aboveUsd: approveAboveUsd };
  return announceSeconds === undefined ? undefined : { kind: "announcement", seconds: announceSeconds };
}

/** What a swap that signs nothing would wait for, were it signed; undefined where it would go on at once. */
export function wouldWaitFor(usd: bigint | undefined, evidence: Evidence): string | undefined {
  const wait = swapWait(usd, evidence);
  if (wait === undefined) return undefined;
  if (wait.kind === "approval")
    return `it would wait for an approval, which is needed above ${describeDollars(wait.aboveUsd)}`;
  return `it would be announced, and go on ${formatDuration(wait.seconds * 1_000)} later`;
}

/** An answer ends the wait: from then on the swap that waited has as long as any. @returns false where nobody has answered */
function isLetGo(draft: Draft, swap: Swap, { answer }: Hold, evidence: Evidence): boolean {
  const endsMs = endAfterAnswer(evidence.holds, swap.id, windowMsOf(swap, evidence));
  const { windowEndsMs } = draft.swap(swap.id);
  if (windowEndsMs !== undefined && windowEndsMs > endsMs) draft.amendSwap(swap.id, { windowEndsMs: endsMs });
  return answer !== undefined;
}

/** Who let the swap go on, for its history; undefined where nobody was asked. */
export function approvedBy({ holds = [] }: Evidence): string | undefined {
  const answer = holds.findLast((hold) => hold.answer?.decision === "approved")?.answer;
  return answer === undefined ? undefined : `approved by ${answer.by}`;
}

function awaitApproval(draft: Draft, swap: Swap, approval: Hold, evidence: Evidence): true {
  if (!waits(draft, swap, approval, evidence)) {
    endUnsigned(draft, swap.id, { reason: "not_approved", detail: "nobody approved it in time" });
  }
  return true;
}

/** What no channel has taken is asked for within the window: its time begins once people can hear of it. */
function awaitTime(draft: Draft, swap: Swap, announcement: Hold, evidence: Evidence): boolean {
  const { swapId, told, windowEndsMs } = announcement;
  if (told === "late" && swapId === swap.id) draft.amendSwap(swap.id, { windowEndsMs });
  if (waits(draft, swap, announcement, evidence)) return true;
  if (told !== "never") return false;
  retryOrEnd(draft, swap.id, evidence, { reason: "not_announced", detail: "no channel has taken the announcement" });
  return true;
}

/** Asks for the next quote when the wait is over. @returns false when there is nothing left to wait for */
function waits(draft: Draft, swap: Swap, { untilMs }: Pick<Hold, "untilMs">, evidence: Evidence): boolean {
  const waitMs = untilMs - evidence.nowMs;
  if (waitMs > 0) askForQuote(draft, swap.id, evidence, { gasless: wantsGasless(swap), waitMs });
  return waitMs > 0;
}

interface Beginning {
  readonly kind: HoldKind;
  readonly seconds: number | undefined;
  readonly usd: bigint | undefined;
}

/** @returns whether it waits now: not where the strategy asks for no wait */
function hold(draft: Draft, swap: Swap, { kind, seconds, usd }: Beginning, evidence: Evidence): boolean {
  if (seconds === undefined) return false;
  const untilMs = evidence.nowMs + seconds * 1_000;
  const windowEndsMs = untilMs + windowMsOf(swap, evidence);
  draft.amendSwap(swap.id, { windowEndsMs });
  draft.record({ kind: "hold", hold: { kind, swapId: swap.id, untilMs, windowEndsMs, answer: undefined } });
  const time = formatDuration(seconds * 1_000);
  draft.record({ kind: "alert", ...alertOf(draft, swap, { kind, time, usd }) });
  const [reason, detail] =
    kind === "approval"
      ? ["awaits_approval", `it ends if nobody approves it within ${time}`]
      : ["announced", `it goes on ${time} after it was announced`];
  draft.record({ kind: "retry", about: swap.id, reason, detail, nextMs: untilMs });
  return waits(draft, swap, { untilMs }, evidence);
}

function alertOf(
  draft: Draft,
  { gross, sell, buy, quote }: Swap,
  { kind, time, usd }: Pick<Beginning, "kind" | "usd"> & { readonly time: string },
): Alert {
  const { id, strategyId } = draft.run();
  const value = usd === undefined ? "" : ` (${describeDollars(usd)})`;
  const bought = quote === undefined ? buy.symbol : `about ${describeAmount(quote.amountOut, buy)}`;
  const trade = `${describeAmount(gross ?? 0n, sell)}${value} for ${bought}`;
  const [code, said] =
    kind === "approval"
      ? [
          "APPROVAL_NEEDED",
          `wants to sell ${trade}: within ${time} approve it with: swapd approve ${id}; or refuse it with: swapd skip ${id}`,
        ]
      : [
          "SWAP_ANNOUNCED",
          `will sell ${trade} in ${time}; stop it with: swapd skip ${id}; or let it go on at once with: swapd approve ${id}`,
        ];
  return { severity: "warning", code, subject: SUBJECT.hold(id), text: `${strategyId} ${said}` };
}
