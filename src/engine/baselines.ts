import type { Address } from "../domain/money/address.ts";
import type { Token } from "../domain/money/token.ts";
import type { BlockHead, Chain } from "../ports/chain.ts";
import type { BaselineRow } from "../ports/watch-questions.ts";
import { refusedAsUndefined } from "./perform/node-fault.ts";

type Reads = Pick<Chain, "finalized" | "balance" | "transactionCount">;

/**
 * What a wallet has of each token, for the audit and the books to count from.
 * @param tip the newest block that counts
 * @throws ChainReadError when the node does not answer, or no balance of the tip
 */
export async function readBaselines(
  chain: Reads,
  { wallet, tokens, tip }: { readonly wallet: Address; readonly tokens: readonly Token[]; readonly tip: BlockHead },
): Promise<readonly BaselineRow[]> {
  if (tokens.length === 0) return [];
  const settled = await settledBlock(chain, wallet, tip);
  const rows: BaselineRow[] = [];
  for (const { address, symbol, decimals } of tokens) {
    const final =
      settled === tip ? undefined : await chain.balance(address, wallet, settled.number).catch(refusedAsUndefined);
    const [{ number: blockNumber, timestamp: blockTimeSeconds }, balance] =
      final === undefined ? [tip, await chain.balance(address, wallet, tip.number)] : [settled, final];
    rows.push({ wallet, token: address, symbol, decimals, blockNumber, blockTimeSeconds, balance });
  }
  return rows;
}

/**
 * The newest final block: a deposit above it may come once more in a later block, and would count twice. Where the
 * wallet has sent something since, or no endpoint answers, the tip: what was sent before the first start is none of
 * ours.
 */
async function settledBlock(chain: Reads, wallet: Address, tip: BlockHead): Promise<BlockHead> {
  const newest = await chain.finalized();
  const final = newest.number < tip.number ? newest : tip;
  const before = await chain.transactionCount(wallet, final.number).catch(refusedAsUndefined);
  return before !== undefined && before === (await chain.transactionCount(wallet, tip.number)) ? final : tip;
}
