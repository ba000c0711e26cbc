import { ChainReadError } from "../../domain/chain-read-error.ts";
import type { Address } from "../../domain/money/address.ts";
import type { KnownChain } from "../../ports/reconciliation-store.ts";
import type { LookContext } from "./patient-chain.ts";
import { tokensOf } from "./read-back.ts";

/**
 * What a wallet begins with: what was done up to the newest block is accepted, and logs are read from the newest final one,
 * because a fork may move what lies between.
 */
export async function baselineNow(context: LookContext, wallet: Address): Promise<KnownChain> {
  const { chain } = context.deps;
  const [latest, newestFinal] = [await chain.latest(), await chain.finalized()];
  const block = Math.min(newestFinal.number, latest.number);
  const transactionCount = await chain.transactionCount(wallet, "latest");
  const baseline = { block: latest.number, transactionCount };
  return await knowledgeAt(context, { wallet, block, transactionCount, balances: new Map(), baseline }, block);
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
