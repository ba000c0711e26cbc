import type { CancelRequest, IntentRow } from "../ports/lane-store.ts";
import type { LaneDecided, LaneRows } from "../ports/lane-unit-of-work.ts";
import { commit, type Known, type LaneTurn } from "./lane-context.ts";
import { moveIntent } from "./moves.ts";

/**
 * Ends an intent of which nothing was signed, when a person cancelled it or its time is over by the chain; its nonce, if it
 * had one, is free again. A clock of ours that runs ahead ends nothing: it only keeps the intent from being signed.
 * @returns whether it is over, by the chain or by us
 */
export async function dropIfOver(
  turn: LaneTurn,
  { id, signBySeconds }: IntentRow,
  cancelRequest: CancelRequest | undefined,
): Promise<boolean> {
  const { deps, latest } = turn;
  const isLateHere = Math.floor(deps.clock.nowMs() / 1_000) > signBySeconds;
  if (cancelRequest === undefined && latest.timestamp <= signBySeconds) return isLateHere;
  await commit(turn, id, (rows) => dropped(turn, rows));
  return true;
}

/** Decides that it is dropped. */
export function dropped(turn: LaneTurn, rows: Known<LaneRows>): LaneDecided<IntentRow> {
  const { cancelRequest, intent } = rows;
  const reason =
    cancelRequest === undefined
      ? `it was to be signed until ${intent.signBySeconds}, now is ${turn.latest.timestamp}`
      : `${cancelRequest.by} cancelled it`;
  const event = {
    kind: "dropped",
    reason,
    ...(cancelRequest === undefined ? {} : { cancelledBy: cancelRequest.by }),
  } as const;
  return moveIntent(turn, rows, { move: { to: "dropped", fields: { nonce: undefined }, event, detail: reason } });
}
