import type { AttemptRow, Visibility } from "../ports/lane-store.ts";
import type { LaneRows } from "../ports/lane-unit-of-work.ts";
import type { Known, LaneTurn } from "./lane-context.ts";

/** The same order with higher fees is for those alone that its first version was for. */
export function replacementVisibility({ signings }: LaneRows): Visibility {
  return signings.some(({ visibility }) => visibility === "private") ? "private" : "public";
}

/**
 * To whom a cancellation is shown. One of something private is private first: where it lands nobody has seen anything.
 * What private endpoints make of it cannot be known, because absence from a pool proves nothing: where no block has it
 * after so long, they are away, and everybody may see it. It is empty, and says no more than that nothing happens here.
 */
export function cancelVisibility(turn: LaneTurn, rows: Known<LaneRows>): Visibility {
  const { options } = turn;
  if (replacementVisibility(rows) === "public") return "public";
  const cancellations = rows.attempts.filter(({ kind }) => kind === "cancel");
  if (cancellations.some(({ visibility }) => visibility === "public")) return "public";
  if (isLeftAlone(turn, rows) || isKeptBack(turn, rows)) return "public";
  return isSentFor(turn, cancellations, options.cancelPubliclyAfterBlocks) ? "public" : "private";
}

/**
 * Whether a private transaction has nowhere to go for so long, because there is no endpoint for private sending any more:
 * one without a deadline would keep its nonce for ever.
 */
export function isLeftAlone(turn: LaneTurn, rows: LaneRows): boolean {
  const { options } = turn;
  if (hasEndpoint(turn, rows)) return false;
  return isSentFor(turn, rows.attempts, options.cancelPubliclyAfterBlocks);
}

/**
 * Whether private endpoints had a swap or its approval for so long that something else may be tried: no block has it,
 * whatever they say. What takes an allowance back has time.
 */
export function isKeptBack(turn: LaneTurn, rows: Known<LaneRows>): boolean {
  const { fallbackAfterBlocks } = turn.options;
  if (fallbackAfterBlocks === undefined || !mayFallBack(turn, rows)) return false;
  return isSentFor(turn, rows.attempts, fallbackAfterBlocks);
}

/** Whether an intent may be given up for something else that everybody sees; not where a person wanted its end. */
function mayFallBack({ options }: LaneTurn, rows: Known<LaneRows>): boolean {
  const { intent, cancelRequest } = rows;
  if (options.fallbackAfterBlocks === undefined || cancelRequest !== undefined) return false;
  return (intent.purpose === "swap" || intent.purpose === "approve") && replacementVisibility(rows) === "private";
}

/** Whether there are endpoints for what an intent is; what nobody gets is not raised. */
export function hasEndpoint({ options }: LaneTurn, rows: LaneRows): boolean {
  return replacementVisibility(rows) === "public" || options.visibility === "private";
}

function isSentFor({ latest }: LaneTurn, [first]: readonly AttemptRow[], blocks: number): boolean {
  return first?.firstBroadcastBlock !== undefined && latest.number - first.firstBroadcastBlock >= blocks;
}
