import { ChainReadError } from "../../domain/chain-read-error.ts";
import { type Address, type Hex, wordOf } from "../../domain/money/address.ts";
import { formatAmount } from "../../domain/money/amount.ts";
import { loggedAmount, TRANSFER_TOPIC } from "../../domain/run/measure-fill.ts";
import { isPastDeadlines, type Swap } from "../../domain/run/run.ts";
import type { AgreedChainReads, Chain, Receipt } from "../../ports/chain.ts";
import type { EngineContext } from "../engine-context.ts";
import { outflowKey, type PlacedLog, placed } from "../reconcile/move-keys.ts";
import type { FoundLog } from "../reconcile/read-back.ts";

/** Both ends belong to it. */
export interface BlockRange {
  readonly fromBlock: number;
  readonly toBlock: number;
}

type LogReads = Pick<Chain, "logs">;

/** Where a token left a wallet, with its place in its transaction. */
export interface Outflow extends PlacedLog {
  /** it was found, and settled by a person */
  readonly isAccepted: boolean;
  /** a check finds it, so that a person can settle it */
  readonly isReported: boolean;
}

/**
 * Where the sold token left the wallet, and no other swap and no transaction of ours is the reason, in the order of the
 * chain. Tokens let anybody write a transfer of nothing out of any wallet.
 */
export async function unexplainedOutflows(
  context: EngineContext,
  swap: Swap,
  { reads, range }: { readonly reads: LogReads; readonly range: BlockRange },
): Promise<readonly Outflow[]> {
  if (range.fromBlock > range.toBlock) return [];
  const logs = await reads.logs({
    address: swap.sell.address,
    topics: [TRANSFER_TOPIC, wordOf(swap.wallet)],
    ...range,
  });
  const taken = placed(logs.filter(({ data }) => loggedAmount(data) > 0n));
  if (taken.length === 0) return [];
  const named = taken.map((outflow) => ({ ...outflow, key: outflowKey(swap.wallet, outflow) }));
  const {
    ofOthers,
    accepted,
    unreportedTo = -1,
  } = await context.deps.store.read({
    kind: "outflows",
    swap: { id: swap.id, wallet: swap.wallet, token: swap.sell.address },
    hashes: [...new Set(taken.map(({ log }) => log.transactionHash))],
    keys: named.map(({ key }) => key),
  });
  return named
    .filter(({ log }) => !ofOthers.has(log.transactionHash))
    .map(({ key, ...outflow }) => ({
      ...outflow,
      isAccepted: accepted.has(key),
      isReported: outflow.log.blockNumber > unreportedTo,
    }));
}

type OutflowLog = Pick<Awaited<ReturnType<LogReads["logs"]>>[number], "data" | "topics">;

/**
 * Whether what one transaction took from the wallet may be what an order signed: its gross amount at least, or something
 * straight into a contract that it was signed for, because a token that keeps a fee may report less.
 */
export function isTakenBy({ gross, terms }: Swap, outflow: readonly OutflowLog[]): boolean {
  const taken = outflow.reduce((sum, { data }) => sum + loggedAmount(data), 0n);
  const contracts = terms === undefined ? [] : Object.values(terms.contracts).map(wordOf);
  return (
    (gross !== undefined && taken >= gross) ||
    outflow.some(({ topics: [, , to] }) => to !== undefined && contracts.includes(to))
  );
}

/**
 * Whether a transaction that took the sold token from the wallet may be the fill of an order: what it took may be what was
 * signed, or a contract that it was signed for wrote of it. What the wallet's own key sent elsewhere fills no order, and
 * what stands in a block after its deadlines neither.
 */
export function mayFill(swap: Swap, { from, logs, blockTimeSeconds }: Receipt, taken: readonly OutflowLog[]): boolean {
  if (isPastDeadlines(swap, blockTimeSeconds ?? 0)) return false;
  if (logs.some(({ address }) => isOf(swap, address))) return true;
  return from !== swap.wallet && isTakenBy(swap, taken);
}

/** Whether a contract is one that an order was signed for: what it wrote of is the order's, wherever the token went. */
function isOf({ terms }: Swap, contract: Address): boolean {
  return terms !== undefined && Object.values(terms.contracts).includes(contract);
}

function sumOf(logs: readonly Pick<OutflowLog, "data">[]): bigint {
  return logs.reduce((sum, { data }) => sum + loggedAmount(data), 0n);
}

/** Where a log is, as one text. */
export function logName({ transactionHash, logIndex }: Pick<FoundLog, "transactionHash" | "logIndex">): string {
  return `${transactionHash} ${logIndex}`;
}

interface OutflowsShown {
  readonly reads: Pick<AgreedChainReads, "balance" | "logs">;
  readonly toBlock: number;
  /** names of the logs that were there when the fill was looked for, see {@link logName} */
  readonly shown: ReadonlySet<string>;
}

/** A wallet that was not checked against the chain for so many blocks is not read back for the end of one swap. */
const MOST_BLOCKS = 50_000;

/** A node may keep nothing so old, and say so. A token that refuses may hide its own outflow: that is waited for. */
export function isKeptBackOpenly(error: unknown): boolean {
  return error instanceof ChainReadError && error.isRefusal && error.code !== "reverted";
}

/** A balance of the sold token from before what is to be proved, and its block. */
interface BalanceBefore {
  readonly block: number;
  readonly balance: bigint;
}

/**
 * The newest balance that is of no block in which the order may take its token. What the wallet's rows know may be of a
 * later one, because a check passed or a person accepted since, or they know none, because the configuration leaves the
 * token out: all nodes are asked then for the balance of when the order was signed. Where they keep nothing so old, what
 * the rows know is better than nothing.
 */
async function balanceBeforeOrder(
  { deps: { store } }: EngineContext,
  { wallet, sell, terms }: Swap,
  reads: OutflowsShown["reads"],
): Promise<BalanceBefore | undefined> {
  const rows = await store.read({ kind: "known-chain", wallet });
  const balance = rows?.balances.get(sell.address);
  const known = rows === undefined || balance === undefined ? undefined : { block: rows.block, balance };
  const block = (terms?.fromBlock ?? 0) - 1;
  if (block < 0 || (known !== undefined && known.block <= block)) return known;
  const own = await orKeptBack(reads.balance(sell.address, wallet, block));
  return own === undefined ? known : { block, balance: own };
}

/** @returns nothing where a node says that it keeps nothing so old */
export async function orKeptBack<T>(read: Promise<T>): Promise<T | undefined> {
  try {
    return await read;
  } catch (error) {
    if (isKeptBackOpenly(error)) return undefined;
    throw error;
  }
}

/**
 * Checks the wallet's balance of the sold token against its transfers since before the order was signed, or since the
 * wallet was last checked against the chain before that. A node may keep a transfer back, or have a block and not yet its
 * logs; the balance shows it all the same. One that is shown now and was kept back when the swap's fill was looked for is
 * as good as hidden.
 * Nothing is checked where no such balance is known, it is older than {@link MOST_BLOCKS}, or a node refuses such reads.
 * @returns whether the transfers explain the balance exactly, since before the order may have taken its token. What is above
 * that came in unseen, or grew by itself, and may hide what left
 * @throws ChainReadError when the balance is below what the transfers explain, or they are more than were shown before
 */
export async function denyHiddenOutflow(
  context: EngineContext,
  swap: Swap,
  { reads, toBlock, shown }: OutflowsShown,
): Promise<boolean> {
  const { wallet, sell } = swap;
  const orderFrom = swap.terms?.fromBlock ?? 0;
  const before = await balanceBeforeOrder(context, swap, reads);
  if (before === undefined) return false;
  const range = { fromBlock: before.block + 1, toBlock };
  if (range.fromBlock > toBlock || toBlock - before.block > MOST_BLOCKS) return false;
  const moved = (...topics: (Hex | null)[]) => reads.logs({ address: sell.address, topics, ...range });
  const owner = wordOf(wallet);
  // Where such logs or balances are kept back openly nothing is shown by them.
  const answers = await orKeptBack(
    Promise.all([
      moved(TRANSFER_TOPIC, owner),
      moved(TRANSFER_TOPIC, null, owner),
      reads.balance(sell.address, wallet, toBlock),
    ]),
  );
  if (answers === undefined) return false;
  const [outLogs, intoLogs, now] = answers;
  const keptBack = outLogs.find((log) => log.blockNumber >= orderFrom && !shown.has(logName(log)));
  if (keptBack !== undefined) {
    const { transactionHash, blockNumber } = keptBack;
    const detail = `${transactionHash} in block ${blockNumber} took ${sell.symbol}, and a node kept that back when the fill was looked for: it is looked for again`;
    throw new ChainReadError("malformed answer", detail);
  }
  const [out, into] = [sumOf(outLogs), sumOf(intoLogs)];
  const expected = before.balance + into - out;
  const isOfBefore = before.block < orderFrom;
  if (now === expected && isOfBefore) return true;
  // One node's false balance at the last check would keep the swap open for ever.
  const agreed = (await orKeptBack(reads.balance(sell.address, wallet, before.block))) ?? before.balance;
  if (now >= agreed + into - out) return now === agreed + into - out && isOfBefore;
  const detail = `the balance is ${formatAmount({ token: sell, raw: now })}, by the transfers since block ${before.block} it should be ${formatAmount({ token: sell, raw: expected })}: a node hides transfers, so it is not known whether the swap was filled`;
  throw new ChainReadError("malformed answer", detail);
}
