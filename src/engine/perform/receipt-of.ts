import { ChainReadError } from "../../domain/chain-read-error.ts";
import type { AgreedChainReads, Chain, Receipt } from "../../ports/chain.ts";
import type { FoundLog } from "../reconcile/read-back.ts";

/**
 * The receipt of a transaction whose event was seen: a node without the receipt lags, and must not make it seem as if
 * nothing had happened. One of another block means a fork, or is wrong; a fill in a block that never comes could not be
 * taken back.
 */
export async function receiptOf(
  reads: Pick<AgreedChainReads, "receipt">,
  log: Pick<FoundLog, "transactionHash" | "blockNumber">,
): Promise<Receipt> {
  const { transactionHash: hash, blockNumber } = log;
  const receipt = await reads.receipt(hash);
  if (receipt?.blockNumber === blockNumber) return receipt;
  const detail =
    receipt === undefined
      ? `no node has the receipt of ${hash}, whose event is seen`
      : `the receipt of ${hash} names block ${receipt.blockNumber}, and its event is in block ${blockNumber}`;
  throw new ChainReadError("malformed answer", detail);
}

/** With the time of its block, which is left out where the node has another block there by now. */
export async function withBlockTime(chain: Pick<Chain, "block">, receipt: Receipt): Promise<Receipt> {
  if (receipt.blockTimeSeconds !== undefined) return receipt;
  const block = await chain.block(receipt.blockNumber);
  return block?.hash === receipt.blockHash ? { ...receipt, blockTimeSeconds: block.timestamp } : receipt;
}
