import { ChainReadError } from "../../domain/chain-read-error.ts";
import type { Hex } from "../../domain/money/address.ts";
import type { GaslessObservation } from "../../domain/run/events.ts";
import { TRANSFER_TOPIC } from "../../domain/run/measure-fill.ts";
import type { Swap } from "../../domain/run/run.ts";
import type { Receipt } from "../../ports/chain.ts";
import type { EngineContext } from "../engine-context.ts";
import type { EffectAnswer } from "./effect-answer.ts";
import { nodeFault } from "./node-fault.ts";

/**
 * Looks up what became of a gasless swap. The chain alone decides; the service is asked only where its signatures carry
 * no nonce, and only to hold an end back.
 */
export async function readChain(context: EngineContext, swap: Swap): Promise<EffectAnswer> {
  const { chain } = context.deps;
  const { terms } = swap;
  if (terms === undefined) throw new Error(`swap ${swap.id} is looked up before it was bound`);
  try {
    const [latest, newestFinal] = await Promise.all([chain.latest(), chain.finalized()]);
    // The two may be of different instants or nodes: what is final beyond the blocks that are looked through proves nothing.
    const finalized = newestFinal.number > latest.number ? latest : newestFinal;
    const range = { fromBlock: terms.fromBlock, toBlock: latest.number };
    const byNonce = terms.nonce !== undefined && context.deps.service.profile.nonceRecord !== undefined;
    const fill = byNonce ? await fillByNonce(context, swap, range) : await fillByOutflow(context, swap, range);
    const observation: GaslessObservation = {
      latest: { number: latest.number, timestampSeconds: latest.timestamp },
      finalized: { number: finalized.number, timestampSeconds: finalized.timestamp },
      fill: fill === undefined ? undefined : await withBlockTime(context, swap, fill),
      nonceUsed:
        fill === undefined && byNonce
          ? await nonceCancelled(context, swap, { ...range, finalized: finalized.number })
          : undefined,
      allowance: byNonce ? 0n : await allowanceAt(context, swap, finalized.number),
      serviceStatus: fill === undefined && !byNonce ? await serviceStatus(context, swap) : undefined,
    };
    return { kind: "observed", swapId: swap.id, observation };
  } catch (error) {
    return { kind: "observation-unavailable", swapId: swap.id, detail: nodeFault(error) };
  }
}

interface BlockRange {
  readonly fromBlock: number;
  readonly toBlock: number;
}

/** The settlement contract's own event names owner and nonce: at most one can exist. */
async function fillByNonce(context: EngineContext, swap: Swap, range: BlockRange): Promise<Receipt | undefined> {
  const { chain, service } = context.deps;
  const { nonceRecord } = service.profile;
  if (nonceRecord === undefined || swap.terms?.nonce === undefined) return undefined;
  const topics = nonceRecord.fillTopics(swap.wallet, swap.terms.nonce);
  const [log] = await chain.logs({ address: context.settings.router, topics, ...range });
  return log === undefined ? undefined : await receiptOf(context, log);
}

/** Without a nonce: while this swap alone may take the token, any outflow of it that is not another swap's is the fill. */
async function fillByOutflow(context: EngineContext, swap: Swap, range: BlockRange): Promise<Receipt | undefined> {
  const { chain, store } = context.deps;
  const owner: Hex = `0x${swap.wallet.slice(2).padStart(64, "0")}`;
  const logs = await chain.logs({ address: swap.sell.address, topics: [TRANSFER_TOPIC, owner], ...range });
  const foreign = logs.find((log) => !store.hashOfOther(log.transactionHash, swap.id));
  return foreign === undefined ? undefined : await receiptOf(context, foreign);
}

/** Its event was seen: a node without the receipt lags, and must not make it look as if nothing had happened. */
async function receiptOf(context: EngineContext, log: { readonly transactionHash: Hex }): Promise<Receipt> {
  const receipt = await context.deps.chain.receipt(log.transactionHash);
  if (receipt !== undefined) return receipt;
  throw new ChainReadError(
    "malformed answer",
    `no node has the receipt of ${log.transactionHash}, whose event is seen`,
  );
}

/** When its block was made, asked once for each block. Left out where the node has another block there by now. */
async function withBlockTime(context: EngineContext, swap: Swap, receipt: Receipt): Promise<Receipt> {
  const known = swap.fill?.blockHash === receipt.blockHash ? swap.fill.blockTimeSeconds : undefined;
  if (known !== undefined) return { ...receipt, blockTimeSeconds: known };
  const block = await context.deps.chain.block(receipt.blockNumber);
  return block?.hash === receipt.blockHash ? { ...receipt, blockTimeSeconds: block.timestamp } : receipt;
}

/**
 * Whether the nonce was cancelled. Unused at the latest block is enough for "unused at a finalised one". A used nonce
 * without a fill proves nothing, because a node may hide the fill: the contract's own event of the cancellation is asked
 * for, up to a finalised block.
 */
async function nonceCancelled(
  context: EngineContext,
  swap: Swap,
  at: BlockRange & { readonly finalized: number },
): Promise<boolean | undefined> {
  const { chain, service } = context.deps;
  const { nonceRecord } = service.profile;
  if (nonceRecord === undefined || swap.terms?.nonce === undefined) return undefined;
  const call = { to: context.settings.router, data: nonceRecord.usedCall(swap.wallet, swap.terms.nonce) };
  // At a stated block: a node that lags behind it has no answer, instead of an old one.
  const now = await chain.call(call, at.toBlock);
  if (now === undefined) return undefined;
  if (!nonceRecord.isUsed(now)) return false;
  const topics = nonceRecord.cancelTopics(swap.wallet, swap.terms.nonce);
  const { router } = context.settings;
  const logs = await chain.logs({ address: router, topics, fromBlock: at.fromBlock, toBlock: at.finalized });
  return logs.length > 0 ? true : undefined;
}

async function allowanceAt(context: EngineContext, swap: Swap, block: number): Promise<bigint> {
  const grant = { token: swap.sell.address, owner: swap.wallet, spender: context.settings.router };
  return await context.deps.chain.allowance(grant, block);
}

async function serviceStatus(context: EngineContext, swap: Swap): Promise<string | undefined> {
  if (swap.quote === undefined) return undefined;
  const record = await context.deps.service.swapRecord({ quoteId: swap.quote.id, hash: undefined });
  return "status" in record && typeof record.status === "string" ? record.status : undefined;
}
