import { smaller } from "../money/bigint.ts";
import { isNative, type Token } from "../money/token.ts";
import type { StrategyLimits } from "./common.ts";
import type { StrategyView } from "./decision.ts";

/** Gas that a single swap may take: one that sells coins needs no approval. */
const GAS_OF_A_SWAP = 500_000n;

/** Wei that the gas of a strategy's next swap may cost, at the strategy's gas price limit. */
export function ownGasOf({ limits }: { readonly limits: Pick<StrategyLimits, "maxFeePerGas"> }): bigint {
  return GAS_OF_A_SWAP * limits.maxFeePerGas;
}

/**
 * The most of a token that is sold where a strategy asks for all that is free, or a share of it: of the native coin the gas
 * of the swap itself stays, which would be taken from the gas reserve.
 */
export function allOf({ free, ownGas = 0n }: Pick<StrategyView, "free" | "ownGas">, token: Token): bigint {
  const there = free.get(token.address) ?? 0n;
  return isNative(token) ? there - smaller(there, ownGas) : there;
}
