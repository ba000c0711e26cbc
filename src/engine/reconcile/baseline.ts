import { ChainReadError } from "../../domain/chain-read-error.ts";
import type { Address } from "../../domain/money/address.ts";
import { loggedAmount } from "../../domain/run/measure-fill.ts";
import type { AgreedChainReads } from "../../ports/chain.ts";
import type { KnownChain } from "../../ports/reconciliation-store.ts";
import { refusedAsUndefined } from "../perform/node-fault.ts";
import type { ScanContext } from "./patient-chain.ts";
import { type FoundLog, type Moves, type Range, tokensOf } from "./read-back.ts";

/** Balances by token, in its smallest unit. */
type Balances = ReadonlyMap<Address, bigint>;

/**
 * What a wallet begins with: what was done up to the newest block that all endpoints have is accepted, and logs are
 * read from the newest final one, because a fork may move what lies between. All later checks count from here, so that
 * no single node is trusted for it.
 * @throws ChainReadError when no endpoint answers, or those that do count differently: there is no baseline yet
 */
export async function baselineNow(context: ScanContext, wallet: Address): Promise<KnownChain> {
  const agreed = await context.deps.chain.agreed();
  const tip = agreed.latest.number;
  const block = Math.min((await agreed.finalized()).number, tip);
  const transactionCount = await countNow(context, wallet, agreed);
  const baseline = { block: tip, transactionCount };
  const known = { wallet, block, transactionCount, balances: new Map(), baseline };
  return await knowledgeAt(context, known, block, { agreed });
}

/**
 * The same baseline, with what the wallet has by now, whatever moved it.
 * @throws ChainReadError when no endpoint answers
 */
export async function balancesNow(context: ScanContext, before: KnownChain): Promise<KnownChain> {
  const agreed = await context.deps.chain.agreed();
  const block = Math.min((await agreed.finalized()).number, agreed.latest.number);
  if (block <= before.block) return before;
  return await knowledgeAt(context, before, block, { agreed, expected: before.balances });
}

/**
 * How many transactions of the wallet all endpoints count. What one that is ahead of the others counts is no difference to
 * be noticed either: it is waited for, as long as its block needs to reach them.
 * @throws ChainReadError where they do not say the same
 */
export async function countNow(
  { deps: { chain } }: ScanContext,
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

/** What the wallet has at the end of some blocks by what it had before them and by the transfers in them. */
export function balancesBy(before: Balances, { into, out }: Moves, { fromBlock, toBlock }: Range): Balances {
  const moved = (logs: readonly FoundLog[], token: Address): bigint =>
    logs
      .filter((log) => log.address === token && log.blockNumber >= fromBlock && log.blockNumber <= toBlock)
      .reduce((sum, { data }) => sum + loggedAmount(data), 0n);
  return new Map([...before].map(([token, amount]) => [token, amount + moved(into, token) - moved(out, token)]));
}

/**
 * Balances of the block itself: later losses are counted against them. One node's answer is taken where it is the
 * expected one; else all endpoints are asked, because no later check would find the mistake. Where they keep no state
 * so old, or say different things, the expected balance stays.
 * @throws ChainReadError when no endpoint answers
 */
export async function knowledgeAt(
  context: ScanContext,
  known: KnownChain,
  block: number,
  { agreed, expected = new Map() }: { readonly agreed: AgreedChainReads; readonly expected?: Balances },
): Promise<KnownChain> {
  const { chain } = context.deps;
  const balanceOf = async (address: Address): Promise<bigint | undefined> => {
    const reported = (): Promise<bigint | undefined> =>
      chain.balance(address, known.wallet, block).catch(refusedAsUndefined);
    const balance = expected.get(address);
    if (balance !== undefined && (await reported()) === balance) return balance;
    const said = await agreedBalance(agreed, known.wallet, { token: address, block });
    // Where they agree on nothing, an endpoint that is away is distinguished from those that keep nothing so old.
    if (said === undefined && balance === undefined) await reported();
    return said ?? balance;
  };
  const read = await Promise.all(
    tokensOf(context).map(async ({ address }) => [address, await balanceOf(address)] as const),
  );
  const balances = new Map(read.flatMap(([address, balance]) => (balance === undefined ? [] : [[address, balance]])));
  return { ...known, block, balances };
}

/** @returns undefined where the endpoints do not say one thing, or keep nothing so old */
export async function agreedBalance(
  agreed: Pick<AgreedChainReads, "balance">,
  wallet: Address,
  { token, block }: { readonly token: Address; readonly block: number },
): Promise<bigint | undefined> {
  return await agreed.balance(token, wallet, block).catch((error: unknown) => {
    if (error instanceof ChainReadError) return undefined;
    throw error;
  });
}
