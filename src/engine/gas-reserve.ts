import type { Address } from "../domain/money/address.ts";
import type { StrategySpec } from "../domain/strategy/spec.ts";
import { lastResortGasOf } from "../domain/strategy/strategy.ts";
import type { EngineContext, LoadedStrategy } from "./engine-context.ts";

interface LastResort {
  readonly strategyId: string;
  readonly wallet: Address;
  readonly wei: bigint;
}

/** Looked up in every step, so strategies are gone through once. */
const known = new WeakMap<readonly LoadedStrategy[], readonly LastResort[]>();

/**
 * Wei that a strategy leaves in its wallet: the policy's reserve, and what other strategies of the wallet keep as a last
 * resort. Those that keep it may use it themselves, so a wallet that ran low can still pay for its own refill.
 */
export function gasReserveOf(context: EngineContext, spec: Pick<StrategySpec, "id" | "wallet">): bigint {
  const { strategies, policy } = context.settings;
  const found = known.get(strategies) ?? lastResorts(strategies);
  known.set(strategies, found);
  return found
    .filter(({ strategyId, wallet }) => strategyId !== spec.id && wallet === spec.wallet.address)
    .reduce((sum, { wei }) => sum + wei, policy.gasReserve);
}

function lastResorts(strategies: readonly LoadedStrategy[]): readonly LastResort[] {
  return strategies.flatMap(({ spec }) => {
    const wei = lastResortGasOf(spec);
    return wei > 0n ? [{ strategyId: spec.id, wallet: spec.wallet.address, wei }] : [];
  });
}
