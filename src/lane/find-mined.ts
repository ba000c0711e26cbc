import type { Receipt } from "../ports/chain.ts";
import type { AttemptRow } from "../ports/lane-store.ts";
import type { LaneTurn } from "./lane-context.ts";

/** An attempt that is in a block of the canonical chain. */
export interface Mined {
  readonly attempt: AttemptRow;
  readonly receipt: Receipt & { readonly blockTimeSeconds: number };
  /** whether all endpoints that answer show this receipt, in a block that they all call final */
  readonly isFinal: boolean;
}

/**
 * A receipt counts for any attempt of the nonce, and only when its block is canonical: then it carries that block's time.
 * @param agreement where given, receipts are read of all endpoints
 */
export async function findMined(
  { deps: { chain } }: Pick<LaneTurn, "deps">,
  attempts: readonly AttemptRow[],
  agreement?: Awaited<ReturnType<LaneTurn["agreement"]>>,
): Promise<Mined | undefined> {
  for (const attempt of [...attempts].reverse()) {
    const receipt = await (agreement?.reads ?? chain).receipt(attempt.hash);
    if (receipt === undefined) continue;
    const block = await chain.block(receipt.blockNumber);
    if (block?.hash !== receipt.blockHash) continue;
    const isFinal = agreement !== undefined && receipt.blockNumber <= agreement.finalized.number;
    return { attempt, receipt: { ...receipt, blockTimeSeconds: block.timestamp }, isFinal };
  }
  return undefined;
}
