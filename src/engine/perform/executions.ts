import { ChainReadError } from "../../domain/chain-read-error.ts";
import { markCall, placeOf } from "../../domain/guard/once-mark.ts";
import { type Address, type Hex, wordOf } from "../../domain/money/address.ts";
import { loggedAmount, measureFill, TRANSFER_TOPIC } from "../../domain/run/measure-fill.ts";
import type { Swap, SwapProposal } from "../../domain/run/run.ts";
import { EXECUTION_SUCCESS, executedHash, executionsIn, MODULE_SUCCESS } from "../../domain/run/safe-executions.ts";
import type { AgreedChainReads, Receipt } from "../../ports/chain.ts";
import type { EngineContext } from "../engine-context.ts";
import type { FoundLog } from "../reconcile/read-back.ts";
import { type BlockRange, isKeptBackOpenly } from "./outflows.ts";
import { safeNonce } from "./read-safe.ts";
import { receiptOf } from "./receipt-of.ts";

/** What the chain shows of a proposal. */
export interface ExecutionSeen {
  readonly fill: Receipt | undefined;
  /** true: its nonce is used by something else in a final block; undefined: that is not proved */
  readonly nonceUsed: boolean | undefined;
}

interface View {
  readonly reads: Pick<AgreedChainReads, "logs" | "call" | "receipt">;
  /** from the block after the one whose nonce is known, to the newest */
  readonly range: BlockRange;
  readonly finalized: number;
}

/** keccak-256 of `ExecutionFailure(bytes32,uint256)`, of all versions alike. */
const FAILURE = "0x23428b18acfb3ea64b08dc0c1d296ea9c09702c09083ca5272e64d115b687d23";

/**
 * Looks up whether the owners executed a proposal. A Safe counts each of its executions and writes one event of it: where
 * the events since a known block are fewer than it counted, a node hides one, and nothing is believed.
 * @returns no fill where one was seen before and no logs so old are kept: it stands by its receipt, see `standingFill`
 * @throws ChainReadError where the nodes do not answer, or events and nonce do not belong together
 */
export async function executionSeen(context: EngineContext, swap: Swap, view: View): Promise<ExecutionSeen> {
  const { proposal } = swap;
  if (proposal === undefined) throw new Error(`swap ${swap.id} was proposed to nobody`);
  const nonce = await nonceAt(swap, view, view.range.toBlock);
  const { isBoundToNonce } = proposal;
  const own = await orUnlisted(swap, view, ownExecutions(context, swap, { proposal, view, nonce }));
  const fill = own.find(({ hash }) => hash === swap.fill?.hash) ?? own[0];
  if (fill !== undefined || !isBoundToNonce) return { fill, nonceUsed: undefined };
  if (nonce <= proposal.nonce) return { fill: undefined, nonceUsed: false };
  const isFinal = (await nonceAt(swap, view, view.finalized)) > proposal.nonce;
  return { fill, nonceUsed: isFinal ? true : undefined };
}

/** Where no logs so old are kept none is listed: a fill that was seen stands, and a place without its mark was not executed. */
async function orUnlisted(
  swap: Swap,
  { reads, range }: View,
  listed: Promise<readonly Receipt[]>,
): Promise<readonly Receipt[]> {
  try {
    return await listed;
  } catch (error) {
    if (!isKeptBackOpenly(error)) throw error;
    if (swap.fill === undefined && (await isMarked(reads, swap, range.toBlock))) throw error;
    return [];
  }
}

async function nonceAt({ wallet }: Swap, { reads }: View, block: number): Promise<bigint> {
  const nonce = await safeNonce(reads, wallet, block);
  if (nonce !== undefined) return nonce;
  throw new ChainReadError("malformed answer", `the Safe ${wallet} does not say its nonce in block ${block}`);
}

/** Providers answer for so many blocks at once. */
const PIECE = 2_000;

async function executions(
  { wallet }: Swap,
  { since }: SwapProposal,
  { view, nonce }: { readonly view: View; readonly nonce: bigint },
): Promise<readonly FoundLog[]> {
  const found = await eventsOf(wallet, [EXECUTION_SUCCESS, FAILURE], view);
  if (BigInt(found.length) === nonce - since.nonce) return found;
  const detail = `the Safe ${wallet} counts ${nonce - since.nonce} executions since block ${since.block}, and ${found.length} events are shown: a node hides some`;
  throw new ChainReadError("malformed answer", detail);
}

async function eventsOf(address: Address, kinds: readonly Hex[], { reads, range }: View): Promise<readonly FoundLog[]> {
  const found: FoundLog[] = [];
  for (let fromBlock = range.fromBlock; fromBlock <= range.toBlock; fromBlock += PIECE) {
    const piece = { fromBlock, toBlock: Math.min(fromBlock + PIECE - 1, range.toBlock) };
    for (const kind of kinds) found.push(...(await reads.logs({ address, topics: [kind], ...piece })));
  }
  return found;
}

/**
 * The execution of exactly what was proposed, by its hash. Owners may execute the calls with another nonce, under another
 * hash, or have a module execute them, under none: where the mark of its place stands, what sold exactly the amount, and
 * brought the minimum, is one, else what made the mark.
 */
async function ownExecutions(
  context: EngineContext,
  swap: Swap,
  { proposal, view, nonce }: { readonly proposal: SwapProposal; readonly view: View; readonly nonce: bigint },
): Promise<readonly Receipt[]> {
  const { reads, range } = view;
  const logs = nonce === proposal.since.nonce ? [] : await executions(swap, proposal, { view, nonce });
  const successes = logs.filter(({ topics }) => topics[0] === EXECUTION_SUCCESS);
  const byHash = successes.filter((log) => executedHash(log) === swap.signatures?.swapDigest);
  if (byHash.length > 0) return await Promise.all(byHash.map((log) => receiptOf(reads, log)));
  if (!(await isMarked(reads, swap, range.toBlock))) return [];
  const free = await withoutFills(context, swap, successes);
  const receipts = await receiptsOf(reads, free);
  const like = receipts.filter((receipt) => isSameExchange(context, swap, receipt));
  if (like.length === 1) return like;
  const byModules = await withoutFills(context, swap, await eventsOf(swap.wallet, [MODULE_SUCCESS], view));
  return await firstMarked(context, swap, { reads, logs: [...free, ...byModules] });
}

/** What is the fill of another swap is not this one's, however much alike: a stranger may have made this one's mark. */
async function withoutFills(
  { deps: { store } }: EngineContext,
  { id, wallet, sell }: Swap,
  logs: readonly FoundLog[],
): Promise<readonly FoundLog[]> {
  const hashes = [...new Set(logs.map(({ transactionHash }) => transactionHash))];
  const { ofOthers } = await store.read({
    kind: "outflows",
    ...{ swap: { id, wallet, token: sell.address }, hashes, keys: [] },
  });
  return logs.filter(({ transactionHash }) => !ofOthers.has(transactionHash));
}

/** Owners execute several at once, too: of each transaction one receipt. */
async function receiptsOf(reads: View["reads"], logs: readonly FoundLog[]): Promise<readonly Receipt[]> {
  const byTransaction = new Map(logs.map((log) => [log.transactionHash, log]));
  return await Promise.all([...byTransaction.values()].map((log) => receiptOf(reads, log)));
}

/**
 * Owners may have put more into the batch, or another place sold as much: the execution is the one with whose block the
 * mark stands, and not before it. A stranger may make a mark, too, and is no owner.
 */
async function firstMarked(
  context: EngineContext,
  swap: Swap,
  { reads, logs }: { readonly reads: View["reads"]; readonly logs: readonly FoundLog[] },
): Promise<readonly Receipt[]> {
  const blocks = [...new Set(logs.map(({ blockNumber }) => blockNumber))].sort((one, other) => one - other);
  let [low, high] = [0, blocks.length];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (await isMarked(reads, swap, blocks[middle] ?? 0)) high = middle;
    else low = middle + 1;
  }
  const block = blocks[low];
  if (block === undefined || (await isMarked(reads, swap, block - 1))) return [];
  const receipts = await receiptsOf(
    reads,
    logs.filter(({ blockNumber }) => blockNumber === block),
  );
  const found = receipts.find((receipt) => isSameExchange(context, swap, receipt)) ?? receipts[0];
  return found === undefined ? [] : [found];
}

/** Whether a proposal of the swap's place was executed: what makes its mark reverts from then on. */
export async function isMarked(
  reads: Pick<AgreedChainReads, "call">,
  swap: Pick<Swap, "id" | "wallet">,
  block: number,
): Promise<boolean> {
  const { to, data } = markCall(swap.wallet, placeOf(swap));
  return (await reads.call({ to, data }, block)) === undefined;
}

/** Whether an execution of the Safe in a transaction sold exactly the amount, and brought the minimum. */
function isSameExchange({ settings }: EngineContext, swap: Swap, receipt: Receipt): boolean {
  return executionsIn(receipt.logs, swap.wallet).some(({ logs }) => {
    const out = logs
      .filter(({ address, topics }) => address === swap.sell.address && topics[0] === TRANSFER_TOPIC)
      .filter(({ topics }) => topics[1] === wordOf(swap.wallet))
      .reduce((sum, { data }) => sum + loggedAmount(data), 0n);
    const measured = measureFill({ ...receipt, logs }, swap, { wrapped: settings.wrappedNative, value: 0n });
    return out === swap.gross && measured.assumed !== true;
  });
}
