import type { AssetNames } from "../../src/app/books/asset-names.ts";
import { nameAssets } from "../../src/app/books/asset-names.ts";
import type { Book } from "../../src/app/books/book.ts";
import { FORMATS, type FormatName } from "../../src/app/books/formats.ts";
import { assetsOf } from "../../src/app/books/ledger-parts.ts";
import {
  type Asset,
  type Entry,
  type GasEntry,
  type OpeningEntry,
  type SwapEntry,
  type TransferEntry,
  worthOfSwap,
} from "../../src/domain/books/entry.ts";
import { keepLots } from "../../src/domain/books/lots.ts";
import { type Address, type Hex, NATIVE_TOKEN, toAddress } from "../../src/domain/money/address.ts";
import type { UsdPrice } from "../../src/domain/money/price.ts";

/** Entries of books as a test needs them. */

export const addressOf = (digits: string): Address => toAddress(`0x${digits.padStart(40, "0")}`);
export const MAIN = addressOf("a1");
export const OTHER = addressOf("a2");
export const STRANGER = addressOf("ff");
export const ETH: Asset = { address: NATIVE_TOKEN, symbol: "ETH", decimals: 18 };
export const USDC: Asset = { address: addressOf("c1"), symbol: "USDC", decimals: 6 };
export const WETH: Asset = { address: addressOf("c2"), symbol: "WETH", decimals: 18 };
export const DAY_MS = 86_400_000;
/** 2026-01-01 */
export const START_MS = 1_767_225_600_000;

export const dollarsOf = (usd: bigint): UsdPrice => (usd * 10n ** 18n) as UsdPrice;
export const priced = (usd: bigint, day = 0) => ({
  usd: dollarsOf(usd),
  source: "feed",
  atSeconds: START_MS / 1_000 + day * 86_400,
});

const head = (day: number) => ({
  ...{ atMs: START_MS + day * DAY_MS, blockNumber: 100 + day, wallet: MAIN, strategy: "weekly-eth" },
  hash: `0x${String(day).padStart(64, "0")}` as Hex,
});

export function opening(day: number, change: Partial<OpeningEntry> = {}): OpeningEntry {
  return {
    ...head(day),
    ...{ kind: "opening", id: `opening.${day}`, hash: undefined, strategy: undefined },
    ...{ held: { asset: USDC, raw: 1_000_000_000n }, basis: undefined, acquiredMs: undefined },
    ...change,
  };
}

/** Sells 100 USDC for 0.04 WETH at 2500 dollars. */
export function swapped(day: number, change: Partial<SwapEntry> = {}): SwapEntry {
  return {
    ...head(day),
    ...{ kind: "swap", id: `run_${day}.0.1`, mode: "self-executed", slotMs: START_MS + day * DAY_MS, recipient: MAIN },
    sold: { asset: USDC, raw: 100_000_000n },
    bought: { asset: WETH, raw: 40_000_000_000_000_000n },
    fees: { service: 0n, affiliate: 0n },
    gas: { asset: ETH, raw: 100_000_000_000_000n },
    prices: { sold: priced(1n, day), bought: priced(2500n, day), native: priced(2500n, day) },
    ...{ quoted: 40_000_000_000_000_000n, isAssumed: false },
    ...change,
  };
}

export function spentGas(day: number, change: Partial<GasEntry> = {}): GasEntry {
  return {
    ...head(day),
    ...{ kind: "gas", id: `run_${day}.0.1.approve1`, purpose: "approval", succeeded: true },
    ...{ gas: { asset: ETH, raw: 50_000_000_000_000n }, price: priced(2500n, day) },
    ...change,
  };
}

/** What a swap of that day bought goes elsewhere. */
export function handedOn(day: number, change: Partial<TransferEntry> = {}): TransferEntry {
  const swap = swapped(day);
  const { bought, id: swapId } = swap;
  return {
    ...head(day),
    ...{ kind: "transfer", id: `${swapId}.transfer`, recipient: OTHER, isOwn: true, moved: bought },
    ...{ price: priced(2500n, day), worth: worthOfSwap(swap), swapId },
    ...change,
  };
}

/** A book as `swapd export` makes it. */
export function bookOf(
  format: FormatName,
  entries: readonly Entry[],
  change: Partial<Book> & { readonly given?: ReadonlyMap<Address, string> } = {},
): Book {
  const { given = new Map(), ...rest } = change;
  const named: AssetNames = nameAssets(entries.flatMap(assetsOf), given, FORMATS[format].names);
  if (!named.ok) throw new Error(named.problems.join("; "));
  const rules = { method: "fifo", orders: [] } as const;
  return {
    ...{ world: "live", network: "base (chain 8453)", entries, sinceMs: 0 },
    ...{ before: keepLots([], rules), whole: keepLots(entries, rules) },
    isWritten: () => true,
    walletName: (wallet) =>
      new Map([
        [MAIN, "main"],
        [OTHER, "other"],
      ]).get(wallet) ?? wallet,
    assetName: ({ address }) => named.names.get(address) ?? address,
    ...rest,
  };
}

export function written(format: FormatName, book: Book): string {
  return FORMATS[format].write(book).join("\n");
}
