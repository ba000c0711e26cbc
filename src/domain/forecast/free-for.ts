import { NATIVE_TOKEN } from "../money/address.ts";
import type { StrategyView } from "../strategy/decision.ts";
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
