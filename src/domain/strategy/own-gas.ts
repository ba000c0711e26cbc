import { NATIVE_TOKEN } from "../money/address.ts";
import { smaller } from "../money/bigint.ts";
import { shareDown } from "../money/fraction.ts";
import { isNative, type Token } from "../money/token.ts";
import type { StrategyLimits } from "./common.ts";
import type { StrategyView } from "./decision.ts";

/** Gas that a single swap may take: one that sells coins needs no approval. */
const GAS_OF_A_SWAP = 500_000n;

/**
 * Wei of the free coins that the gas of a strategy's next swap of them may cost: at its gas price limit, and no more than
 * its limit of fees lets pass of all that is free.
 */
export function ownGasOf(
  { limits }: { readonly limits: Pick<StrategyLimits, "maxFeePerGas" | "maxFee"> },
  free: StrategyView["free"],
): bigint {
  return smaller(GAS_OF_A_SWAP * limits.maxFeePerGas, shareDown(free.get(NATIVE_TOKEN) ?? 0n, limits.maxFee));
}

/**
 * The most of a token that is sold where a strategy asks for all that is free, or a share of it: of the native coin the gas
 * of the swap itself stays, which would be taken from the gas reserve.
 */
export function allOf({ free, ownGas = 0n }: Pick<StrategyView, "free" | "ownGas">, token: Token): bigint {
  const there = free.get(token.address) ?? 0n;
  return isNative(token) ? there - smaller(there, ownGas) : there;
}
