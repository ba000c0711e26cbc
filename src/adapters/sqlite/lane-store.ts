import type { LaneListener } from "../../ports/lane-event.ts";
import type { LaneRowStore, Lanes } from "../../ports/lane-row-store.ts";
import type { IntentRow, LaneAccount } from "../../ports/lane-store.ts";
import type { LaneQuestion, LaneRows, LaneStore, OpenIntents, SigningRows } from "../../ports/lane-unit-of-work.ts";
import { writeLaneChanges } from "./lane-writers.ts";

/** Whether something may be signed for an intent now, while its account is not halted. */
type Signing = (intentId: string) => boolean;

/** Lanes on their rows. @param signing what those who ask for transactions say */
export function createLanes(rows: LaneRowStore, signing: Signing = () => true): Lanes {
  return {
    rows,
    store: (listener) => createLaneStore(rows, { signing, listener }),
    write: (changes, atMs) => writeLaneChanges(rows, changes, atMs),
  };
}

/**
 * The rows of lanes where their database has no other unit of work. A unit is over before its call returns, so units are
 * carried out in the order of their calls.
 */
function createLaneStore(
  rows: LaneRowStore,
  { signing, listener }: { readonly signing: Signing; readonly listener: LaneListener | undefined },
): LaneStore {
  const readToSign = (question: LaneQuestion): SigningRows => {
    const read = readLane(rows, question);
    const isWanted = read.intent === undefined || signing(read.intent.id);
    return { ...read, maySign: read.halt === undefined && isWanted };
  };
  return {
    open: async (account) => readOpen(rows, account),
    read: async (question) => readLane(rows, question),
    readToSign: async (question) => readToSign(question),
    commit: async ({ question, decide }) =>
      rows.transaction(() => {
        const { changes, atMs, value, event, refusal } = decide(readToSign(question));
        writeLaneChanges(rows, changes, atMs);
        if (event !== undefined) listener?.onIntent(event);
        if (refusal !== undefined) listener?.onRefused?.(refusal);
        return value;
      }),
  };
}

/** What is open of an account. */
export function readOpen(rows: LaneRowStore, { account, chainId }: LaneAccount): OpenIntents {
  const intents = rows.openIntents(account, chainId);
  const isAnyWaiting = intents.some(({ nonce }) => nonce === undefined);
  return { intents, cancelRequests: isAnyWaiting ? rows.waitingCancelRequests(account, chainId) : [] };
}

/** An account, and the intent that is asked for. */
export function readLane(rows: LaneRowStore, question: LaneQuestion): LaneRows {
  const { account, chainId } = question;
  const intent = readIntent(rows, question);
  return {
    intent,
    isArchived: intent === undefined && isArchivedNonce(rows, question),
    signings: intent === undefined ? [] : rows.signings(intent.id),
    attempts: intent === undefined ? [] : rows.attempts(intent.id),
    cancelRequest: intent === undefined ? undefined : rows.cancelRequest(intent.id),
    ...rows.account(account, chainId),
  };
}

function isArchivedNonce(rows: LaneRowStore, { account, chainId, intent: asked }: LaneQuestion): boolean {
  return asked !== undefined && "nonce" in asked && rows.isArchivedNonce(account, chainId, asked.nonce);
}

function readIntent(rows: LaneRowStore, { account, chainId, intent: asked }: LaneQuestion): IntentRow | undefined {
  if (asked === undefined) return undefined;
  if ("nonce" in asked) return rows.intentAt(account, chainId, asked.nonce);
  const found = rows.intent(asked.id);
  return found?.account === account && found.chainId === chainId ? found : undefined;
}
