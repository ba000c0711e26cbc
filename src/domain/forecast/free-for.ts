import { type Address, NATIVE_TOKEN } from "../money/address.ts";
import type { StrategyView, ViewNeeds } from "../strategy/decision.ts";
import type { StrategySpec } from "../strategy/spec.ts";
import { lastResortGasOf } from "../strategy/strategy.ts";

/** What of its wallet a strategy may use: it leaves alone what others of the wallet keep to pay for their own refill. */
export function freeFor(
  spec: StrategySpec,
  free: StrategyView["free"],
  strategies: readonly { readonly spec: StrategySpec }[],
): StrategyView["free"] {
  const kept = strategies
    .filter((other) => other.spec.id !== spec.id && other.spec.wallet.address === spec.wallet.address)
    .reduce((sum, other) => sum + lastResortGasOf(other.spec), 0n);
  const native = free.get(NATIVE_TOKEN);
  if (native === undefined || kept === 0n) return free;
  return new Map(free).set(NATIVE_TOKEN, native > kept ? native - kept : 0n);
}

/** What the addresses that a strategy counts besides its wallet hold together, by token; undefined where there is none. */
export function externalFor(
  asked: ViewNeeds["external"],
  holdings: ReadonlyMap<Address, { readonly balances: ReadonlyMap<Address, bigint> }>,
): StrategyView["external"] {
  if (asked === undefined) return undefined;
  const sums = new Map<Address, bigint>();
  for (const { address: holder, tokens } of asked)
    for (const { address } of tokens)
      sums.set(address, (sums.get(address) ?? 0n) + (holdings.get(holder)?.balances.get(address) ?? 0n));
  return sums;
}
