import { ChainReadError } from "../../domain/chain-read-error.ts";
import type { Address } from "../../domain/money/address.ts";
import type { AgreedChainReads } from "../../ports/chain.ts";
import type { KnownChain } from "../../ports/reconciliation-store.ts";
import type { LookContext } from "./patient-chain.ts";
import { tokensOf } from "./read-back.ts";

/**
 * What a wallet begins with: what was done up to the newest block that all endpoints have is accepted, and logs are read
 * from the newest final one, because a fork may move what lies between. All later looks count from here, so that no single
 * node's word is taken for it.
 * @throws ChainReadError when no endpoint answers, or those that do count differently: there is no baseline yet
 */
export async function baselineNow(context: LookContext, wallet: Address): Promise<KnownChain> {
  const agreed = await context.deps.chain.agreed();
  const tip = agreed.latest.number;
  const block = Math.min((await agreed.finalized()).number, tip);
  const transactionCount = await countNow(context, wallet, agreed);
  const baseline = { block: tip, transactionCount };
  return await knowledgeAt(context, { wallet, block, transactionCount, balances: new Map(), baseline }, block);
}

/**
 * How many transactions of the wallet all endpoints count. What one that is ahead of the others counts is no difference to
 * be told of either: it is waited for, as long as its block needs to reach them.
 * @throws ChainReadError where they do not say the same
 */
export async function countNow(
  { deps: { chain } }: LookContext,
  wallet: Address,
  agreed: Pick<AgreedChainReads, "latest" | "transactionCount">,
): Promise<number> {
  const { number } = agreed.latest;
  const count = await agreed.transactionCount(wallet, number);
  const ahead = await chain.latest(number + 1);
  if (ahead.number <= number) return count;
  const newest = await chain.transactionCount(wallet, ahead.number);
  if (newest === count) return count;
  const message = `the RPC endpoints count ${count} transactions of ${wallet} in block ${number}, and ${newest} in block ${ahead.number}`;
  throw new ChainReadError("disagreement", message);
}

/** Balances of the block itself, where the node still has that state: later losses are held against them. */
export async function knowledgeAt(context: LookContext, known: KnownChain, block: number): Promise<KnownChain> {
  const balances = new Map<Address, bigint>();
  for (const { address } of tokensOf(context)) {
    const balance = await context.deps.chain.balance(address, known.wallet, block).catch(refusedAsUndefined);
    if (balance !== undefined) balances.set(address, balance);
  }
  return { ...known, block, balances };
}

function refusedAsUndefined(error: unknown): undefined {
  if (error instanceof ChainReadError && error.code !== "unreachable") return undefined;
  throw error;
}
