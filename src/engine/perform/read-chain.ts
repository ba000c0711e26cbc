import { ChainReadError } from "../../domain/chain-read-error.ts";
import type { GaslessObservation } from "../../domain/run/events.ts";
import { isPastDeadlines, type Swap } from "../../domain/run/run.ts";
import { isSwapEnd } from "../../domain/run/states.ts";
import type { AgreedChainReads, BlockHead, Receipt } from "../../ports/chain.ts";
import type { EngineContext } from "../engine-context.ts";
import type { EffectAnswer } from "./effect-answer.ts";
import { executionSeen } from "./executions.ts";
import { asShown, isShown, withOthers } from "./filled-beside.ts";
import { nodeFault } from "./node-fault.ts";
import { withRevocation } from "./order-revocation.ts";
import { type BlockRange, denyHiddenOutflow, logName, mayFill, orKeptBack, unexplainedOutflows } from "./outflows.ts";
import { receiptOf, withBlockTime } from "./receipt-of.ts";
import { standingFill } from "./standing-fill.ts";

/**
 * Looks up what became of a gasless swap, at the settlement that it was signed for. The chain alone decides; the service
 * is asked only where its signatures carry no nonce, and only to hold an end back. No end is believed of one endpoint: what
 * would end the swap without a fill, and free its money, is looked up once more through all of them, which have to agree.
 * Without a nonce the wallet's balance has to show the same; where it proves nothing, it is noted which endpoints did not
 * list the wallet's transfers. A fill that would be final, and that no fork could take back any more, has to be in a block
 * that all of them call final.
 */
export async function readChain(context: EngineContext, swap: Swap): Promise<EffectAnswer> {
  const { chain } = context.deps;
  try {
    const [latest, finalized] = await Promise.all([chain.latest(), chain.finalized()]);
    const seen = await observe(context, swap, { reads: chain, latest, finalized });
    const agreed = mayEndUnfilled(swap, seen) ? await observeForAll(context, swap) : seen;
    const observation = mayEndFilled(swap, agreed) ? await withFinalityOfAll(context, agreed) : agreed;
    return { kind: "observed", swapId: swap.id, observation: await withRevocation(context, swap, observation) };
  } catch (error) {
    return { kind: "observation-unavailable", swapId: swap.id, detail: nodeFault(error) };
  }
}

async function observeForAll(context: EngineContext, swap: Swap): Promise<GaslessObservation> {
  const reads = await context.deps.chain.agreed();
  const shown = new Set<string>();
  const noting: ObservationReads["reads"] = {
    ...reads,
    logs: async (filter) => {
      const logs = await reads.logs(filter);
      for (const log of logs) shown.add(logName(log));
      return logs;
    },
  };
  const finalized = await reads.finalized();
  const agreed = await observe(context, swap, { reads: noting, latest: reads.latest, finalized });
  if (!isFoundByOutflow(context, swap) || !mayEndUnfilled(swap, agreed)) return agreed;
  const isProved = await denyHiddenOutflow(context, swap, { reads, toBlock: reads.latest.number, shown });
  const unlistedBy = isProved ? [] : reads.unlistedBy();
  return unlistedBy.length === 0 ? agreed : { ...agreed, unlistedBy };
}

function isFoundByNonce({ deps }: EngineContext, { terms }: Swap): boolean {
  return terms?.nonce !== undefined && deps.service.profile.nonceRecord !== undefined;
}

/** Owners of a Safe move its tokens as they like: its executions are counted instead. */
function isFoundByOutflow(context: EngineContext, swap: Swap): boolean {
  return swap.proposal === undefined && !isFoundByNonce(context, swap);
}

/** The endpoints that are asked, and the blocks that it is about. */
interface ObservationReads {
  readonly reads: Pick<AgreedChainReads, "logs" | "call" | "allowance" | "receipt">;
  readonly latest: BlockHead;
  readonly finalized: BlockHead;
}

async function observe(context: EngineContext, swap: Swap, view: ObservationReads): Promise<GaslessObservation> {
  const { terms } = swap;
  if (terms === undefined) throw new Error(`swap ${swap.id} is looked up before it was bound`);
  const { reads, latest } = view;
  // The two may be of different instants or nodes: what is final beyond the blocks that are read proves nothing.
  const finalized = view.finalized.number > latest.number ? latest : view.finalized;
  const times = {
    latest: { number: latest.number, timestampSeconds: latest.timestamp },
    finalized: { number: finalized.number, timestampSeconds: finalized.timestamp },
  };
  // What has ended waits for its deadline alone: its logs are asked of nobody, who may keep them no more.
  if (isSwapEnd(swap.state)) return { ...times, fill: undefined, nonceUsed: undefined, ...NOTHING_OF_ORDERS };
  const range = { fromBlock: terms.fromBlock, toBlock: latest.number };
  const seen =
    swap.proposal === undefined
      ? await orderSeen(context, swap, { reads, range, finalized: finalized.number })
      : {
          ...NOTHING_OF_ORDERS,
          ...(await executionSeen(context, swap, { reads, range, finalized: finalized.number })),
        };
  const { fill = await standingFill(context, swap, { reads, endsInTime: isFoundByOutflow(context, swap) }), ...rest } =
    seen;
  return {
    ...times,
    fill: fill === undefined ? undefined : await wholeFill(context, swap, await timed(context, swap, fill)),
    ...rest,
  };
}

/** A proposal leaves no allowance behind, and no service follows it. */
const NOTHING_OF_ORDERS = { allowance: 0n, serviceStatus: undefined } as const;

type OrderSeen = Pick<GaslessObservation, "nonceUsed" | "allowance" | "serviceStatus" | "isUnexplained"> & {
  readonly fill: Receipt | undefined;
};

async function orderSeen(
  context: EngineContext,
  swap: Swap,
  { reads, range, finalized }: At & { readonly finalized: number },
): Promise<OrderSeen> {
  const byNonce = isFoundByNonce(context, swap);
  const { fill, isUnexplained } = byNonce
    ? { fill: await fillByNonce(context, swap, { reads, range }), isUnexplained: false }
    : await fillByOutflow(context, swap, { reads, range });
  return {
    fill,
    nonceUsed:
      fill === undefined && byNonce ? await nonceCancelled(context, swap, { reads, range, finalized }) : undefined,
    allowance: byNonce ? 0n : await allowanceAt(context, swap, { reads, block: finalized }),
    serviceStatus: fill === undefined && !byNonce ? await serviceStatus(context, swap) : undefined,
    ...(isUnexplained && { isUnexplained }),
  };
}

/** Whether this would end the swap without a fill: it was cancelled, or its time is over in a finalised block. */
function mayEndUnfilled(swap: Swap, observation: GaslessObservation): boolean {
  if (observation.fill !== undefined || isSwapEnd(swap.state)) return false;
  return observation.nonceUsed === true || isPastDeadlines(swap, observation.finalized.timestampSeconds);
}

/** Whether this would end the swap with its fill, or release what kept one open that has ended. */
function mayEndFilled(swap: Swap, { fill, finalized }: GaslessObservation): boolean {
  if (isSwapEnd(swap.state)) return isPastDeadlines(swap, finalized.timestampSeconds);
  return fill?.succeeded === true && fill.blockNumber <= finalized.number;
}

/**
 * The same with the newest block that all endpoints call final. A fill in it has to be shown by all that answer, in the same
 * block: finality goes by a number, and one that is on a fork counts the same ones.
 * @throws ChainReadError where they show another one, or none
 */
async function withFinalityOfAll(
  { deps: { chain } }: EngineContext,
  seen: GaslessObservation,
): Promise<GaslessObservation> {
  const reads = await chain.agreed();
  const { number, timestamp } = await reads.finalized();
  const finalized = { number, timestampSeconds: timestamp };
  const { fill } = seen;
  if (fill === undefined || fill.blockNumber > number) return { ...seen, finalized };
  const shown = await reads.receipt(fill.hash);
  if (shown?.blockHash === fill.blockHash && shown.succeeded)
    return {
      ...seen,
      finalized,
      fill: { ...fill, logs: shown.logs.length > fill.logs.length ? shown.logs : fill.logs },
    };
  const detail = `one node shows the fill ${fill.hash} in block ${fill.blockNumber}, which is final, and the others do not`;
  throw new ChainReadError("malformed answer", detail);
}

interface At {
  readonly reads: ObservationReads["reads"];
  readonly range: BlockRange;
}

/** The contract's own event names owner and nonce: one at most. Where no logs so old are kept, its nonce may show the end. */
async function fillByNonce(context: EngineContext, swap: Swap, { reads, range }: At): Promise<Receipt | undefined> {
  const { service } = context.deps;
  const { nonceRecord } = service.profile;
  if (nonceRecord === undefined || swap.terms?.nonce === undefined) return undefined;
  const topics = nonceRecord.fillTopics(swap.wallet, swap.terms.nonce);
  const address = swap.terms.contracts[nonceRecord.at];
  const [log] = (await orKeptBack(reads.logs({ address, topics, ...range }))) ?? [];
  return log === undefined ? undefined : await receiptOf(reads, log);
}

/**
 * Without a nonce: while this swap alone may take the token, an outflow of it that is not another swap's is the fill,
 * where it may be ({@link mayFill}) and no person accepted it before. Of several, the one that shows the whole exchange.
 * @returns with it whether another outflow is left that is neither explained nor accepted, and that a person can accept
 */
async function fillByOutflow(
  context: EngineContext,
  swap: Swap,
  { reads, range }: At,
): Promise<{ readonly fill: Receipt | undefined; readonly isUnexplained: boolean }> {
  const outflows = await orSeenBefore(swap, unexplainedOutflows(context, swap, { reads, range }));
  const own: Receipt[] = [];
  let isUnexplained = false;
  for (const taken of Map.groupBy(outflows, ({ log }) => log.transactionHash).values()) {
    const logs = taken.map(({ log }) => log);
    const [first] = logs;
    if (first === undefined) continue;
    // What a person accepted is counted already.
    if (first.transactionHash !== swap.fill?.hash && taken.every(({ isAccepted }) => isAccepted)) continue;
    const receipt = await timed(context, swap, await receiptOf(reads, first));
    assertTimed(receipt, swap);
    if (mayFill(swap, receipt, logs)) own.push(receipt);
    else isUnexplained ||= taken.some(({ isAccepted, isReported }) => isReported && !isAccepted);
  }
  const fill = own.find((receipt) => isShown(context, swap, receipt)) ?? own[0];
  return { fill, isUnexplained: fill === undefined && isUnexplained };
}

/** A fill that is believed without the time of its block could not be taken back once that shows that it is none. */
function assertTimed({ hash, blockNumber, blockTimeSeconds }: Receipt, { sell }: Swap): void {
  if (blockTimeSeconds !== undefined) return;
  const detail = `${hash} took ${sell.symbol} in block ${blockNumber}, which a node does not show: it is looked for again`;
  throw new ChainReadError("malformed answer", detail);
}

async function wholeFill(context: EngineContext, swap: Swap, receipt: Receipt): Promise<Receipt> {
  return await asShown(context, swap, await withOthers(context, swap, receipt));
}

/** When its block was made is asked once for each block. */
async function timed({ deps: { chain } }: EngineContext, { fill }: Swap, receipt: Receipt): Promise<Receipt> {
  const known = fill?.blockHash === receipt.blockHash ? fill.blockTimeSeconds : undefined;
  return known === undefined ? await withBlockTime(chain, receipt) : { ...receipt, blockTimeSeconds: known };
}

/**
 * Whether the nonce was cancelled. Unused at the latest block is enough for "unused at a finalised one". A used nonce
 * without a fill proves nothing, because a node may hide the fill: the contract's own event of the cancellation is asked
 * for, up to a finalised block.
 */
async function nonceCancelled(
  context: EngineContext,
  swap: Swap,
  { reads, range, finalized }: At & { readonly finalized: number },
): Promise<boolean | undefined> {
  const { service } = context.deps;
  const { nonceRecord } = service.profile;
  if (nonceRecord === undefined || swap.terms?.nonce === undefined) return undefined;
  const contract = swap.terms.contracts[nonceRecord.at];
  const call = { to: contract, data: nonceRecord.usedCall(swap.wallet, swap.terms.nonce) };
  // At a stated block: a node that lags behind it has no answer, instead of an old one.
  const now = await reads.call(call, range.toBlock);
  if (now === undefined) return undefined;
  if (!nonceRecord.isUsed(now)) return false;
  const topics = nonceRecord.cancelTopics(swap.wallet, swap.terms.nonce);
  const filter = { address: contract, topics, fromBlock: range.fromBlock, toBlock: finalized };
  return (await orSeenBefore(swap, reads.logs(filter))).length > 0 ? true : undefined;
}

/** A fill that was seen stands by its receipt where no logs so old are kept, see {@link standingFill}. */
async function orSeenBefore<Log>({ fill }: Swap, logs: Promise<readonly Log[]>): Promise<readonly Log[]> {
  return fill === undefined ? await logs : ((await orKeptBack(logs)) ?? []);
}

async function allowanceAt(
  context: EngineContext,
  swap: Swap,
  at: { readonly reads: ObservationReads["reads"]; readonly block: number },
): Promise<bigint> {
  const grant = {
    token: swap.sell.address,
    owner: swap.wallet,
    spender: (swap.terms ?? context.settings).contracts.spender,
  };
  return await at.reads.allowance(grant, at.block);
}

async function serviceStatus(context: EngineContext, swap: Swap): Promise<string | undefined> {
  if (swap.quote === undefined) return undefined;
  const record = await context.deps.service.swapRecord({ quoteId: swap.quote.id, hash: undefined });
  return "status" in record && typeof record.status === "string" ? record.status : undefined;
}
