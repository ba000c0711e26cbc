import { mulDivDown, mulDivUp } from "../../domain/money/amount.ts";

/** What a gasless swap costs its relayer and what it brings; wei of the native token, or wei per gas. */

/** The relayer pays at most this much more for gas than at acceptance, replacements included. */
const FEE_CAP_FACTOR = 4n;

/** A first attempt leaves room for the base fee to double; with less, a swap could be stuck from its first block on. */
const LEAST_FEE_CAP_FACTOR = 2n;

const ONE_PPM = 1_000_000n;

/** What a swap fee is worth in wei, by what an amount of wei is worth in its token; rounded down. */
export function worthOfFee(swapFee: bigint, price: { wei: bigint; inToken: bigint }): bigint {
  return price.inToken === 0n ? 0n : mulDivDown(swapFee, price.wei, price.inToken);
}

/** The least that a swap fee must be worth to repay the gas with a margin on top; rounded up. */
export function leastFeeWorth({ gasCost, marginPpm }: { gasCost: bigint; marginPpm: bigint }): bigint {
  return mulDivUp(gasCost, ONE_PPM + marginPpm, ONE_PPM);
}

/**
 * The most that is ever paid per gas for a swap: a multiple of today's price, and never so much that its loss could
 * exceed what may still be lost.
 * @returns undefined when what may still be lost leaves no room for a first attempt
 */
export function feeCapOf(swap: { gasPrice: bigint; gasLimit: bigint; mayLose: bigint }): bigint | undefined {
  const affordable = swap.mayLose > 0n ? swap.mayLose / swap.gasLimit : 0n;
  if (affordable === 0n || affordable < swap.gasPrice * LEAST_FEE_CAP_FACTOR) return undefined;
  const wanted = swap.gasPrice * FEE_CAP_FACTOR;
  return wanted < affordable ? wanted : affordable;
}
