import type { Receipt } from "../ports/chain.ts";
import type { AttemptRow } from "../ports/lane-store.ts";
import type { LaneTurn } from "./lane-context.ts";

/** An attempt that is in a block of the canonical chain. */
export interface Mined {
  readonly attempt: AttemptRow;
  readonly receipt: Receipt & { readonly blockTimeSeconds: number };
}

/** A receipt counts for any attempt of the nonce, and only when its block is canonical: then it carries that block's time. */
export async function findMined({ deps }: LaneTurn, attempts: readonly AttemptRow[]): Promise<Mined | undefined> {
  for (const attempt of [...attempts].reverse()) {
    const receipt = await deps.chain.receipt(attempt.hash);
    if (receipt === undefined) continue;
    const block = await deps.chain.block(receipt.blockNumber);
    if (block?.hash === receipt.blockHash) {
      return { attempt, receipt: { ...receipt, blockTimeSeconds: block.timestamp } };
    }
  }
  return undefined;
}
