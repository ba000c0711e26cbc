import type { IntentRow } from "../ports/lane-store.ts";
import type { LaneDecided, LaneRows } from "../ports/lane-unit-of-work.ts";
import { type Fees, firstFees } from "./fees.ts";
import { haltAccount } from "./halt-account.ts";
import { accountOf, commit, feeCapOf, isSaidAgain, type LaneTurn, nothing, passCrashPoint } from "./lane-context.ts";
import { signingOf } from "./sign-attempt.ts";

/** What an account has, and what nodes suggest as a tip: wei, and wei per gas. */
export interface Means {
  readonly balance: bigint;
  readonly priorityFee: bigint;
}

/** Reads the means of a turn's account. */
export async function readMeans({ deps: { chain }, options: { account } }: LaneTurn): Promise<Means> {
  return { balance: await chain.nativeBalance(account), priorityFee: await chain.priorityFee() };
}

/** What a waiting intent is first signed with. @returns undefined while gas costs more than it may pay, or than there is */
export function affordableFees(turn: LaneTurn, intent: IntentRow, { balance, priorityFee }: Means): Fees | undefined {
  const { baseFeePerGas } = turn.latest;
  const { logger } = turn.deps;
  const cap = feeCapOf(turn, intent);
  const fees = firstFees({ baseFeePerGas, priorityFee }, cap);
  if (fees === undefined) {
    logger.warn(
      { intentId: intent.id, baseFee: baseFeePerGas, cap },
      "gas costs more than the next transaction may pay",
    );
    return undefined;
  }
  const cost = intent.value + intent.gasLimit * fees.maxFeePerGas;
  if (balance >= cost) return fees;
  logger.warn({ intentId: intent.id, balance, cost }, "the account cannot pay for its next transaction");
  return undefined;
}

/**
 * Writes what fills a gap with its nonce down, and what is to be signed for it: its next turn signs that, or drops it.
 * It is empty, and all of ours waits for it: everybody may see it.
 */
export function begunFiller(turn: LaneTurn, intent: IntentRow, fees: Fees): LaneDecided<boolean> {
  return {
    changes: [
      { kind: "intent", intent, detail: `nonce ${intent.nonce} is missing` },
      { kind: "signing", signing: signingOf(turn, intent, { kind: "original", fees, visibility: "public" }) },
    ],
    atMs: intent.createdAtMs,
    value: true,
  };
}

/** Gives a waiting intent a nonce and writes down what is to be signed. @returns whether it did */
export async function beginIntent(turn: LaneTurn, waiting: IntentRow, fees: Fees): Promise<boolean> {
  const { id } = waiting;
  const visibility = (await turn.options.visibilityOf?.(waiting)) ?? turn.options.visibility ?? "public";
  const next = await nextNonce(turn);
  if (next === undefined) return false;
  const isBegun = await commit(turn, id, (rows) => {
    const { intent } = rows;
    const isWaiting = intent.state === "planned" && intent.nonce === undefined && rows.cancelRequest === undefined;
    // While the chain was read, a person may have halted everything, cancelled this, or accepted what others sent.
    if (!rows.maySign || !isWaiting || !next.isOf(rows)) return nothing(turn, false);
    const { nonce } = next;
    return {
      changes: [
        { kind: "nonce-given", intentId: id, nonce },
        { kind: "signing", signing: signingOf(turn, { ...intent, nonce }, { kind: "original", fees, visibility }) },
      ],
      atMs: turn.deps.clock.nowMs(),
      value: true,
    };
  });
  if (isBegun) passCrashPoint(turn.deps, "lane.reserve.after");
  return isBegun;
}

/** A nonce that is certain as long as the rows are those that it was derived from. */
interface NextNonce {
  readonly nonce: number;
  isOf(rows: LaneRows): boolean;
}

/**
 * The next nonce comes from the rows, checked against the chain. When a finalised block counts transactions that
 * neither the rows know nor a person accepted, and a later one still does, another program uses the key: the account is
 * halted. The first nonce of all comes from the chain, where all endpoints have to agree on it.
 * @returns undefined while it is not certain
 */
async function nextNonce(turn: LaneTurn): Promise<NextNonce | undefined> {
  const { deps, options, suspicions } = turn;
  const { store, chain, logger } = deps;
  const { account } = options;
  const count = await chain.transactionCount(account, "latest");
  const { highestNonce: highest, acceptedCount: accepted } = await store.read(accountOf(options));
  const isOf = (rows: LaneRows): boolean => rows.highestNonce === highest && rows.acceptedCount === accepted;
  const what = "the chain counts more transactions than the rows";
  if (highest === undefined) {
    const agreed = await chain.agreed();
    const isAgreed = (await agreed.transactionCount(account, agreed.latest.number)) === count;
    return isAgreed ? { nonce: count, isOf } : undefined;
  }
  const next = Math.max(highest + 1, accepted);
  if (count <= next) {
    suspicions.delete(what);
    return { nonce: next, isOf };
  }
  const agreed = await chain.agreed();
  const finalized = await agreed.finalized();
  const final = await agreed.transactionCount(account, finalized.number);
  if (final <= next || !isSaidAgain(turn, what, finalized.number)) {
    logger.warn({ account, count, known: next, final }, `${what}; nothing is signed until finalised blocks show why`);
    return undefined;
  }
  const reason = `finalised blocks count ${final} transactions of this account, the rows know ${next}`;
  await haltAccount(turn, { reason: `${reason}: another program uses its key`, count: () => final, isTrueOf: isOf });
  return undefined;
}
