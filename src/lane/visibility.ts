import type { Visibility } from "../ports/lane-store.ts";
import type { LaneRows } from "../ports/lane-unit-of-work.ts";
import type { LaneTurn } from "./lane-context.ts";

/** The same order with higher fees is for those alone that its first version was for. */
export function replacementVisibility({ signings }: LaneRows): Visibility {
  return signings.some(({ visibility }) => visibility === "private") ? "private" : "public";
}

/**
 * To whom a cancellation is shown. One of something private is private first: where it lands nobody has seen anything.
 * What private endpoints make of it cannot be known, because absence from a pool proves nothing: where no block has it
 * after so long, they are away, and everybody may see it. It is empty, and says no more than that nothing happens here.
 */
export function cancelVisibility({ options, latest }: LaneTurn, rows: LaneRows): Visibility {
  if (replacementVisibility(rows) === "public") return "public";
  const cancellations = rows.attempts.filter(({ kind }) => kind === "cancel");
  if (cancellations.some(({ visibility }) => visibility === "public")) return "public";
  const since = cancellations.at(0)?.firstBroadcastBlock;
  const isAway = since !== undefined && latest.number - since >= options.cancelPubliclyAfterBlocks;
  return isAway ? "public" : "private";
}
