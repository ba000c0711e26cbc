import type { Decoding } from "../../domain/guard/decoded-swap.ts";
import type { ClearanceReading } from "../../domain/run/events.ts";
import type { Swap } from "../../domain/run/run.ts";
import type { EngineContext } from "../engine-context.ts";
import { unexplainedOutflows } from "./outflows.ts";

/**
 * The block from which the fill of a swap that is about to be signed is looked for: a fork may put it as low as right above
 * the finalised block. Where no nonce distinguishes it from other outflows, one that is there already and that nobody
 * explained or accepted is in the way: nothing may be signed while a fork may put it beside the fill, or above it.
 */
export async function searchStart(
  context: EngineContext,
  swap: Swap,
  { decoding, head }: { readonly decoding: Decoding; readonly head: number },
): Promise<Pick<ClearanceReading, "fillFrom" | "inTheWay">> {
  const { chain } = context.deps;
  if (swap.mode !== "gasless") return { fillFrom: head };
  const finalized = Math.min((await chain.finalized()).number, head);
  if (decoding.ok && decoding.swap.nonce !== undefined) return { fillFrom: finalized };
  const range = { fromBlock: finalized + 1, toBlock: head };
  const older = await unexplainedOutflows(context, swap, { reads: chain, range });
  const last = older.findLast(({ isAccepted }) => !isAccepted)?.log;
  return {
    fillFrom: finalized + 1,
    ...(last && { inTheWay: { hash: last.transactionHash, block: last.blockNumber, finalized } }),
  };
}
