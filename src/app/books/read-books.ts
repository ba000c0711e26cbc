import { type Entry, inOrder, type OpeningEntry } from "../../domain/books/entry.ts";
import type { Address } from "../../domain/money/address.ts";
import type { BookRows } from "../../ports/book-rows.ts";
import { CommandFailure, EXIT } from "../exit-codes.ts";
import {
  configurationOf,
  findTargetToRead,
  nativeSymbolOf,
  type ReadOptions,
  type Target,
  withReads,
} from "../target.ts";
import type { World } from "./book.ts";
import { buildEntries } from "./build-entries.ts";
import { readOpeningLots, withOpeningLots } from "./opening-lots.ts";

/** What commands about books have in common. */
export interface BookOptions extends ReadOptions {
  /** a file with lots that were there before, or came in from elsewhere */
  readonly opening?: string | undefined;
  readonly wallet?: string | undefined;
}

/** The books of a database. */
export interface Books {
  readonly target: Target;
  readonly world: World;
  readonly network: string;
  readonly rows: BookRows;
  readonly entries: readonly Entry[];
  /** configured wallets by name, and those of the rows by address */
  readonly wallets: ReadonlyMap<string, Address>;
  /** the wallet that was asked for; undefined: all */
  readonly wallet: Address | undefined;
  walletName(address: Address): string;
}

/**
 * Reads all books of a target, and nothing but its rows.
 * @throws CommandFailure when there is no such wallet, or the file of lots has problems
 */
export async function readBooks(options: BookOptions): Promise<Books> {
  const target = findTargetToRead(options);
  const rows = await withReads(target, (reads) => reads.books());
  const { configuration } = configurationOf(target);
  const configured = new Map([...configuration.wallets.values()].map(({ name, address }) => [address, name]));
  const ownWallets = new Set([...configured.keys(), ...rows.baselines.map(({ wallet }) => wallet)]);
  const walletName = (address: Address): string => configured.get(address) ?? address;
  const wallets = new Map([...ownWallets].map((address) => [walletName(address), address]));
  const found = buildEntries(rows, { nativeSymbol: nativeSymbolOf(target), ownWallets });
  const tokens = [...configuration.tokens.values()].map(({ token }) => token);
  const lots: readonly OpeningEntry[] =
    options.opening === undefined
      ? []
      : readOpeningLots(options.opening, { wallets, entries: found, tokens, nowMs: Date.now() });
  return {
    ...{ target, rows, wallets, walletName },
    world: worldOf(target, rows, options),
    network: `${configuration.network.name} (chain ${configuration.network.chainId})`,
    entries: inOrder(withOpeningLots(found, lots)),
    wallet: options.wallet === undefined ? undefined : walletOf(wallets, options.wallet),
  };
}

function worldOf(target: Target, { isPaper }: BookRows, { rehearsal }: BookOptions): World {
  if (rehearsal === true) return "rehearsal";
  // A database that no start has marked yet is that of the mode.
  if (isPaper || (target.kind === "configured" && target.configuration.mode === "paper")) return "paper";
  return target.kind === "sandbox" ? "sandbox" : "live";
}

function walletOf(wallets: ReadonlyMap<string, Address>, asked: string): Address {
  const wallet = wallets.get(asked) ?? [...wallets.values()].find((address) => address === asked.toLowerCase());
  if (wallet !== undefined) return wallet;
  const known = [...wallets.keys()].join(", ");
  throw new CommandFailure(
    EXIT.usage,
    `there is no wallet ${JSON.stringify(asked)}; there are: ${known || "none yet"}`,
  );
}
