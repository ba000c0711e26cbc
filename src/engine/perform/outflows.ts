import type { Hex } from "../../domain/money/address.ts";
import { TRANSFER_TOPIC } from "../../domain/run/measure-fill.ts";
import type { Swap } from "../../domain/run/run.ts";
import type { Chain } from "../../ports/chain.ts";
import type { EngineContext } from "../engine-context.ts";

/** Both ends belong to it. */
export interface BlockRange {
  readonly fromBlock: number;
  readonly toBlock: number;
}

type LogReads = Pick<Chain, "logs">;

/** Where the sold token left the wallet, and no other swap and no transaction of ours is the reason. */
export async function unexplainedOutflows(
  context: EngineContext,
  swap: Swap,
  { reads, range }: { readonly reads: LogReads; readonly range: BlockRange },
): ReturnType<LogReads["logs"]> {
  if (range.fromBlock > range.toBlock) return [];
  const { store } = context.deps;
  const owner: Hex = `0x${swap.wallet.slice(2).padStart(64, "0")}`;
  const logs = await reads.logs({ address: swap.sell.address, topics: [TRANSFER_TOPIC, owner], ...range });
  return logs.filter((log) => !store.hashOfOther(log.transactionHash, swap.id));
}
