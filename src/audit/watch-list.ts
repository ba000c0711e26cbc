import { type Address, NATIVE_TOKEN } from "../domain/money/address.ts";
import { boughtToken, type NamedToken, soldToken } from "./amount-text.ts";
import type { BaselineRow } from "./rows.ts";
import type { Snapshot } from "./snapshot.ts";

/** Whose money is followed, in which tokens, from which block on. */
export interface WatchList {
  readonly wallets: ReadonlySet<Address>;
  /** contracts of tokens; the native token is no contract */
  readonly tokens: ReadonlySet<Address>;
  /** first block after the earliest baseline; undefined: there is nothing to count from */
  readonly fromBlock: number | undefined;
  baseline(wallet: Address, token: Address): BaselineRow | undefined;
  /** The block that movements of this wallet and token count after. */
  baselineBlock(wallet: Address, token: Address): number;
  /** One that no row names is called by its address, and its amounts stay in smallest units. */
  tokenOf(token: Address): NamedToken;
}

/** Follows every token that has a baseline or occurs in a swap, for every wallet that does. */
export function watchList(snapshot: Snapshot, wrappedNative: Address): WatchList {
  const wallets = new Set<Address>();
  const named = new Map<Address, NamedToken>([[wrappedNative, { symbol: "wrapped native", decimals: 18 }]]);
  const baselines = new Map<string, BaselineRow>();
  const earliest = new Map<Address, number>();
  for (const swap of snapshot.swaps.values()) {
    wallets.add(swap.wallet);
    named.set(swap.sell_token, soldToken(swap));
    named.set(swap.buy_token, boughtToken(swap));
  }
  for (const intent of snapshot.intents.values()) wallets.add(intent.account);
  for (const row of snapshot.baselines) {
    wallets.add(row.wallet);
    named.set(row.token, { symbol: row.symbol, decimals: row.decimals });
    baselines.set(`${row.wallet} ${row.token}`, row);
    earliest.set(row.wallet, Math.min(row.block_number, earliest.get(row.wallet) ?? row.block_number));
  }
  const baseline = (wallet: Address, token: Address) => baselines.get(`${wallet} ${token}`);
  const firsts = [...earliest.values()];
  return {
    wallets,
    tokens: new Set([...named.keys()].filter((token) => token !== NATIVE_TOKEN)),
    fromBlock: firsts.length === 0 ? undefined : Math.min(...firsts) + 1,
    baseline,
    baselineBlock: (wallet, token) =>
      baseline(wallet, token)?.block_number ?? earliest.get(wallet) ?? Number.POSITIVE_INFINITY,
    tokenOf: (token) => named.get(token) ?? { symbol: token, decimals: 0 },
  };
}
