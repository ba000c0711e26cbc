import {
  type Asset,
  changesOf,
  type DatedPrice,
  type Entry,
  type GasEntry,
  inOrder,
  type OpeningEntry,
  type SwapEntry,
  type TransferEntry,
  worthOfSwap,
} from "../../domain/books/entry.ts";
import { type Address, NATIVE_TOKEN } from "../../domain/money/address.ts";
import type { ReferencePrice } from "../../domain/money/price.ts";
import type { BookFill, BookRows, BookTransaction } from "../../ports/book-rows.ts";

/** What rows do not say of themselves. */
export interface BookSettings {
  readonly nativeSymbol: string;
  /** the accounts between which a transfer stays ours */
  readonly ownWallets: ReadonlySet<Address>;
}

/** Turns rows into entries, in the order of the chain. Each wei that a row reports occurs in one entry. */
export function buildEntries(rows: BookRows, { nativeSymbol, ownWallets }: BookSettings): readonly Entry[] {
  const native: Asset = { address: NATIVE_TOKEN, symbol: nativeSymbol, decimals: 18 };
  const filledBy = new Map(rows.fills.map((fill) => [fill.hash, fill]));
  const costs = new Map<string, BookTransaction>();
  const open = new Set(rows.open.map(({ swapId }) => swapId));
  const gas: GasEntry[] = [];
  for (const transaction of rows.transactions) {
    const fill = filledBy.get(transaction.hash);
    // The gas of a fill comes with its fill.
    if (fill === undefined && isFillOf(transaction, open)) continue;
    if (fill !== undefined && fill.swapId === transaction.swap?.id) costs.set(fill.swapId, transaction);
    else gas.push(gasEntry(transaction, native));
  }
  const fills = rows.fills.flatMap((fill): Entry[] => {
    const swap = swapEntry(fill, costs.get(fill.swapId), native);
    return fill.recipient === fill.wallet ? [swap] : [swap, handedOn(swap, ownWallets)];
  });
  return inOrder([...openings(rows, [...fills, ...gas]), ...gas, ...fills]);
}

function isFillOf({ purpose, succeeded, isCancellation, swap }: BookTransaction, open: ReadonlySet<string>): boolean {
  return purpose === "swap" && succeeded && !isCancellation && swap !== undefined && open.has(swap.id);
}

function swapEntry(fill: BookFill, transaction: BookTransaction | undefined, native: Asset): SwapEntry {
  const { swapId: id, strategy, slotMs, mode, wallet, recipient, hash, blockNumber, prices } = fill;
  return {
    ...{ kind: "swap", id, strategy, slotMs, mode, wallet, recipient, hash, blockNumber },
    atMs: fill.blockTimeSeconds === undefined ? slotMs : fill.blockTimeSeconds * 1_000,
    sold: { asset: fill.sell, raw: fill.sold },
    bought: { asset: fill.buy, raw: fill.bought },
    fees: { service: fill.swapFee, affiliate: fill.affiliateFee },
    gas: transaction === undefined ? undefined : { asset: native, raw: transaction.cost },
    prices: { sold: dated(prices?.sold), bought: dated(prices?.bought), native: dated(prices?.native) },
    quoted: prices?.expected?.bought,
    isAssumed: fill.isAssumed,
  };
}

function dated(price: ReferencePrice | undefined): DatedPrice | undefined {
  return price === undefined ? undefined : { usd: price.usd, source: price.source, atSeconds: price.atSeconds };
}

function handedOn(swap: SwapEntry, ownWallets: ReadonlySet<Address>): TransferEntry {
  const { atMs, blockNumber, wallet, hash, strategy, recipient, bought, prices } = swap;
  return {
    ...{ kind: "transfer", id: `${swap.id}.transfer`, atMs, blockNumber, wallet, hash, strategy, recipient },
    isOwn: ownWallets.has(recipient),
    moved: bought,
    ...{ price: prices.bought, worth: worthOfSwap(swap), swapId: swap.id },
  };
}

function gasEntry(transaction: BookTransaction, native: Asset): GasEntry {
  const { id, account, hash, blockNumber, blockTimeSeconds, succeeded, swap, cost } = transaction;
  return {
    ...{ kind: "gas", id, wallet: account, hash, blockNumber, succeeded },
    atMs: blockTimeSeconds * 1_000,
    strategy: swap?.strategy,
    purpose: purposeOf(transaction),
    gas: { asset: native, raw: cost },
    price: dated(swap?.prices?.native),
  };
}

function purposeOf({ isCancellation, succeeded, purpose }: BookTransaction): GasEntry["purpose"] {
  if (isCancellation) return "cancellation";
  if (!succeeded || purpose === "swap") return "failed transaction";
  return purpose === "approve" ? "approval" : "revocation";
}

/**
 * What a wallet held when it was first seen, up to and including its block, without what our own entries brought there by
 * then: a recipient may become a wallet later. Nothing may be left of it, and still no lot explains more than that.
 */
function openings({ baselines, createdAtMs }: BookRows, others: readonly Entry[]): readonly OpeningEntry[] {
  const byBlock = inOrder(others);
  const changes = Map.groupBy(
    byBlock.flatMap((entry) => changesOf(entry).map((change) => ({ ...change, blockNumber: entry.blockNumber }))),
    ({ wallet, asset }) => `${wallet} ${asset.address}`,
  );
  return baselines.map(({ wallet, token, blockNumber, blockTimeSeconds, balance }) => {
    const brought = (changes.get(`${wallet} ${token.address}`) ?? [])
      .filter((change) => change.blockNumber <= blockNumber)
      .reduce((sum, { raw }) => notBelowZero(sum + raw), 0n);
    return {
      ...{ kind: "opening", id: `baseline.${wallet}.${token.address}`, wallet, blockNumber },
      atMs: blockTimeSeconds === undefined ? timeOf(blockNumber, byBlock, createdAtMs) : blockTimeSeconds * 1_000,
      ...{ hash: undefined, strategy: undefined, basis: undefined, acquiredMs: undefined },
      held: { asset: token, raw: notBelowZero(balance - brought) },
    };
  });
}

function notBelowZero(raw: bigint): bigint {
  return raw > 0n ? raw : 0n;
}

/** For rows of before the time was kept: that of the last entry up to the block, else when the database was made. */
function timeOf(blockNumber: number, byBlock: readonly Entry[], createdAtMs: number): number {
  const earlier = byBlock.findLast((entry) => entry.blockNumber <= blockNumber);
  const later = byBlock.find((entry) => entry.blockNumber > blockNumber);
  return Math.min(earlier?.atMs ?? createdAtMs, later?.atMs ?? Number.MAX_SAFE_INTEGER);
}
