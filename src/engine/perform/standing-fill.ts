import { ChainReadError } from "../../domain/chain-read-error.ts";
import { isPastDeadlines, type Swap } from "../../domain/run/run.ts";
import type { AgreedChainReads, Receipt } from "../../ports/chain.ts";
import type { EngineContext } from "../engine-context.ts";

/**
 * The fill that was seen of an order, of which no log is shown now. It is taken back with its block only: as long as the
 * chain has the same block there, its receipt shows it all the same, where a node keeps no logs so old; without that a node
 * hides it, and all endpoints that answer may be that one. A block above the tip of the one that answers is unknown to it,
 * and proves nothing: the node is behind.
 * @param endsInTime what was taken for the fill and stands after the order's deadlines is none
 * @returns undefined where none was seen, or the chain took it back
 * @throws ChainReadError where the block stands without its receipt, or no endpoint shows what stands there
 */
export async function standingFill(
  { deps: { chain } }: EngineContext,
  swap: Swap,
  { reads, endsInTime }: { readonly reads: Pick<AgreedChainReads, "receipt">; readonly endsInTime: boolean },
): Promise<Receipt | undefined> {
  const { fill } = swap;
  if (fill === undefined) return undefined;
  const block = await chain.block(fill.blockNumber);
  if (block !== undefined && block.hash !== fill.blockHash) return undefined;
  if (block !== undefined && endsInTime && isPastDeadlines(swap, block.timestamp)) return undefined;
  const receipt = block === undefined ? undefined : await reads.receipt(fill.hash);
  if (receipt?.blockHash === fill.blockHash) return receipt;
  const detail = `block ${fill.blockNumber}, in which the swap was filled, ${block === undefined ? "is not shown" : "stands"}, and a node shows no fill of it`;
  throw new ChainReadError("malformed answer", detail);
}
