import type { Address, Hex } from "../money/address.ts";
import { type UsdPrice, valueDown } from "../money/price.ts";

/** What is counted: a token of the network, by its contract. `symbol` is the operator's name for it and no identity. */
export interface Asset {
  readonly address: Address;
  readonly symbol: string;
  readonly decimals: number;
}

/** So much of an asset, in its smallest unit. */
export interface Quantity {
  readonly asset: Asset;
  readonly raw: bigint;
}

/** A price of one whole unit in dollars (1e-18), whose word it is, and of when by the source's own clock. */
export interface DatedPrice {
  readonly usd: UsdPrice;
  readonly source: string;
  readonly atSeconds: number;
}

/** What all entries have. Instants are Unix milliseconds of the block. */
interface EntryHead {
  /** of the swap, the transaction or the baseline that it comes from; two entries of one kind have two */
  readonly id: string;
  readonly atMs: number;
  readonly blockNumber: number;
  readonly wallet: Address;
  /** the transaction; undefined where it comes from none */
  readonly hash: Hex | undefined;
  readonly strategy: string | undefined;
}

/** A fill. `sold` is gross: what the service and an affiliate kept is a part of it. */
export interface SwapEntry extends EntryHead {
  readonly kind: "swap";
  readonly mode: "self-executed" | "gasless" | undefined;
  readonly slotMs: number;
  readonly sold: Quantity;
  readonly bought: Quantity;
  readonly recipient: Address;
  /** of the sold asset; undefined in rows of before it was kept */
  readonly fees: { readonly service: bigint | undefined; readonly affiliate: bigint | undefined };
  /** of our own transaction; undefined where others paid for it */
  readonly gas: Quantity | undefined;
  /** as they were read when the swap was cleared for signing; undefined where none was fresh then */
  readonly prices: {
    readonly sold: DatedPrice | undefined;
    readonly bought: DatedPrice | undefined;
    readonly native: DatedPrice | undefined;
  };
  /** what its quote promised; undefined in rows of before it was kept */
  readonly quoted: bigint | undefined;
  /** its transaction does not show the amounts: they are the worst that was signed */
  readonly isAssumed: boolean;
}

/** What a transaction was for whose gas is an entry of its own; `swap`: the gas of a fill, where a writer needs it apart. */
export type GasPurpose = "swap" | "approval" | "revocation" | "cancellation" | "failed transaction";

/** Gas of a transaction that moved nothing else. */
export interface GasEntry extends EntryHead {
  readonly kind: "gas";
  readonly purpose: GasPurpose;
  readonly succeeded: boolean;
  readonly gas: Quantity;
  /** of the coin, from the swap that it was for */
  readonly price: DatedPrice | undefined;
}

/** What a swap bought goes from its wallet to its recipient, in the same transaction. */
export interface TransferEntry extends EntryHead {
  readonly kind: "transfer";
  readonly recipient: Address;
  /** the recipient is a wallet of ours, too */
  readonly isOwn: boolean;
  readonly moved: Quantity;
  readonly price: DatedPrice | undefined;
  /** that of its swap, in dollars (1e-18); undefined where neither side of it had a price */
  readonly worth: bigint | undefined;
  /** the swap whose purchase this is */
  readonly swapId: string;
}

/** What a wallet had before anything was recorded, or what the owner says came in from elsewhere. */
export interface OpeningEntry extends EntryHead {
  readonly kind: "opening";
  readonly held: Quantity;
  /** what it was acquired for in dollars (1e-18); undefined: nobody knows, which is not zero */
  readonly basis: bigint | undefined;
  /** undefined: nobody knows */
  readonly acquiredMs: number | undefined;
}

/** One line of the books. */
export type Entry = SwapEntry | GasEntry | TransferEntry | OpeningEntry;

/** Whether anybody knows when it was: an owner's lot without a day was there before all else, and not in 1970. */
export function isDated({ atMs }: Pick<Entry, "atMs">): boolean {
  return atMs > 0;
}

/** In the order of the chain: by block, what was there before first, and a swap before what it handed on. */
export function inOrder(entries: readonly Entry[]): readonly Entry[] {
  const ranks = { opening: 0, gas: 1, swap: 2, transfer: 3 } as const;
  return [...entries].sort(
    (one, other) =>
      one.blockNumber - other.blockNumber ||
      one.atMs - other.atMs ||
      ranks[one.kind] - ranks[other.kind] ||
      compareText(one.id, other.id),
  );
}

function compareText(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

/** What an entry moves, by wallet; what leaves is below zero, and before what a swap brings. */
export function changesOf(entry: Entry): readonly (Quantity & { readonly wallet: Address })[] {
  const { wallet } = entry;
  const out = ({ asset, raw }: Quantity) => ({ wallet, asset, raw: -raw });
  switch (entry.kind) {
    case "opening":
      return [{ wallet, ...entry.held }];
    case "gas":
      return [out(entry.gas)];
    case "transfer":
      return [out(entry.moved), { wallet: entry.recipient, ...entry.moved }];
    case "swap":
      return [out(entry.sold), ...(entry.gas === undefined ? [] : [out(entry.gas)]), { wallet, ...entry.bought }];
  }
}

/** What a quantity is worth in dollars (1e-18), rounded down; undefined without a price. */
export function worthOf({ asset, raw }: Quantity, price: DatedPrice | undefined): bigint | undefined {
  return price === undefined ? undefined : valueDown({ raw, decimals: asset.decimals }, price.usd);
}

/**
 * What a fill was worth in dollars (1e-18): what it bought, else what it sold, by the reference prices of its clearing.
 * The same number is what the sold asset brought and what the bought one cost. undefined where neither had a price.
 */
export function worthOfSwap({ bought, sold, prices }: SwapEntry): bigint | undefined {
  return worthOf(bought, prices.bought) ?? worthOf(sold, prices.sold);
}
