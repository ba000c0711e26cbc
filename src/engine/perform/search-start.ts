import type { Decoding } from "../../domain/guard/decoded-swap.ts";
import type { Swap } from "../../domain/run/run.ts";
import type { EngineContext } from "../engine-context.ts";
import { unexplainedOutflows } from "./outflows.ts";

/**
 * The block from which the fill of a swap that is about to be signed is looked for. A fork may put it as low as right
 * above the finalised block. Where no nonce distinguishes it from other outflows, those that are there already and that
 * nobody explains must stay below.
 */
export async function searchStart(
  context: EngineContext,
  swap: Swap,
  { decoding, head }: { readonly decoding: Decoding; readonly head: number },
): Promise<number> {
  const { chain } = context.deps;
  if (swap.mode !== "gasless") return head;
  const finalized = Math.min((await chain.finalized()).number, head);
  if (decoding.ok && decoding.swap.nonce !== undefined) return finalized;
  const range = { fromBlock: finalized + 1, toBlock: head };
  const older = await unexplainedOutflows(context, swap, { reads: chain, range });
  return Math.max(finalized, ...older.map(({ log }) => log.blockNumber)) + 1;
}
