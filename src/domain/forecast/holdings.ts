import type { Address } from "../money/address.ts";
import type { StrategyView } from "../strategy/decision.ts";

/** What a wallet holds, or an address that counts besides, by token, in the words of a strategy's view. */
export interface ForecastWallet {
  readonly free: StrategyView["free"];
  readonly balances: StrategyView["balances"];
  readonly outside: StrategyView["outside"];
}

/** By token, what swaps of the forecast brought more than they took; tokens that none of them moved are absent. */
export type Moved = ReadonlyMap<Address, bigint>;

/** A wallet's tokens while the forecast goes on. */
export interface Holdings extends ForecastWallet {
  readonly free: Map<Address, bigint>;
  readonly balances: Map<Address, bigint>;
  readonly moved: Map<Address, bigint>;
}

/** A wallet's tokens when the forecast begins. */
export function beginHoldings(wallet: ForecastWallet): Holdings {
  return {
    free: new Map(wallet.free),
    balances: new Map(wallet.balances),
    outside: wallet.outside,
    moved: new Map(),
  };
}

/** An amount of a token comes to a wallet; a negative one leaves it. */
export function move({ free, balances, moved }: Holdings, token: Address, amount: bigint): void {
  for (const sums of [free, balances, moved]) add(sums, token, amount);
}

/** Adds to the sum of a token. */
export function add(sums: Map<Address, bigint>, token: Address, amount: bigint): void {
  sums.set(token, (sums.get(token) ?? 0n) + amount);
}
