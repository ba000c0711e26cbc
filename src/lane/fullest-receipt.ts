import { ChainReadError } from "../domain/chain-read-error.ts";
import type { LaneChain, Receipt } from "../ports/chain.ts";

/**
 * The same receipt with the most logs of all endpoints that answer: one leaves some out, and none adds any. The one that
 * is there stays where they say different things of the transaction, or do not answer.
 */
export async function fullestReceipt(chain: Pick<LaneChain, "agreed">, receipt: Receipt): Promise<Receipt> {
  try {
    const other = await (await chain.agreed()).receipt(receipt.hash);
    const isSame = other?.blockHash === receipt.blockHash && other.succeeded === receipt.succeeded;
    return isSame && other.logs.length > receipt.logs.length ? other : receipt;
  } catch (error) {
    if (error instanceof ChainReadError) return receipt;
    throw error;
  }
}
