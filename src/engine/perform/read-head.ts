import { ChainReadError } from "../../domain/chain-read-error.ts";
import type { Address } from "../../domain/money/address.ts";
import type { BlockHead } from "../../ports/chain.ts";
import type { EngineContext } from "../engine-context.ts";

/**
 * The newest block, of a node that has seen what the rows know of the wallets: balances of before their last fill or own
 * transaction would be traded a second time, or pass for a deposit. A fill that a reorganisation took back is in no row
 * any more, and a shorter chain grows past the others.
 * @throws ChainReadError where every node that answers is behind
 */
export async function readHead(context: EngineContext, ...wallets: readonly Address[]): Promise<BlockHead> {
  return await headFrom(context, await context.deps.store.read({ kind: "newest-block", wallets }));
}

/** The same where the block is known already that the rows know the wallets of. */
export async function headFrom({ deps: { chain } }: EngineContext, known: number): Promise<BlockHead> {
  const head = await chain.latest(known);
  if (head.number >= known) return head;
  const blocks = known - head.number;
  const detail = `the node is ${blocks} blocks behind the wallet's last fill or transaction, in block ${known}`;
  throw new ChainReadError("unreachable", detail);
}
