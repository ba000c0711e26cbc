import type { CancelRequest, IntentRow } from "../ports/lane-store.ts";
import type { LaneDecided, LaneRows } from "../ports/lane-unit-of-work.ts";
import { accountOf, commit, isTooDear, type Known, type LaneParts, type LaneTurn, nothing } from "./lane-context.ts";
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
  return droppedFor(turn, rows, { reason, cancelledBy: cancelRequest?.by });
}

/**
 * Drops what got its nonce and may not be signed now, as while its strategy is halted or its fees are above a ceiling that
 * was lowered since, because something else may: there are no bytes of it that left us, and no block has its nonce. What may
 * be signed, and only waits for its key, stays.
 * @returns whether the account is free now
 */
export async function letGo(turn: LaneTurn, unsigned: readonly IntentRow[]): Promise<boolean> {
  const { deps, options } = turn;
  const reason = "nothing may be signed for it now, and something else waits for its nonce";
  for (const { id, nonce = 0 } of unsigned) {
    if ((await deps.chain.transactionCount(options.account, "latest")) > nonce) return false;
    const isFree = await commit(turn, id, (rows) => {
      const waiting = rows.signings.at(-1);
      const isDear = waiting !== undefined && isTooDear(turn, rows.intent, waiting);
      if ((rows.maySign && !isDear) || rows.intent.state !== "planned") return nothing(turn, false);
      return { ...droppedFor(turn, rows, { reason, cancelledBy: undefined }), value: true };
    });
    if (!isFree) return false;
    deps.logger.warn({ intentId: id, nonce, reason }, "a transaction that was not signed is let go");
  }
  return true;
}

function droppedFor(
  parts: LaneParts,
  rows: Known<LaneRows>,
  { reason, cancelledBy }: { readonly reason: string; readonly cancelledBy: string | undefined },
): LaneDecided<IntentRow> {
  const event = { kind: "dropped", reason, ...(cancelledBy === undefined ? {} : { cancelledBy }) } as const;
  return moveIntent(parts, rows, { move: { to: "dropped", fields: { nonce: undefined }, event, detail: reason } });
}

/** Ends what an earlier life left unsigned, where other rules hold now than those that it was checked by. */
export async function dropOutdated(parts: LaneParts): Promise<void> {
  const { deps, options } = parts;
  const { intents } = await deps.store.open(accountOf(options));
  for (const intent of intents.filter(({ state }) => state === "planned")) {
    const reason = await options.outdated?.(intent);
    if (reason === undefined) continue;
    deps.logger.warn({ intentId: intent.id, reason }, "what an earlier life left unsigned is not begun any more");
    await commit(parts, intent.id, (rows) => droppedFor(parts, rows, { reason, cancelledBy: undefined }));
  }
}
