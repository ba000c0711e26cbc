import { larger } from "../money/bigint.ts";

/** What an approval of a usual token uses, where nothing measured it. */
export const APPROVAL_GAS = 50_000n;

const MARGIN_GAS = 20_000n;

/** Plenty for an approval of a usual token; what is not used is not paid. */
export const APPROVAL_GAS_LIMIT = 120_000n;

/**
 * Gas limit of the swap for its measured use: refunds (at most a fifth of the use, EIP-3529) are only paid back at the end, and the
 * state may have moved by the time of execution.
 */
export function gasLimitFor(gasUsed: bigint): bigint {
  return (gasUsed * 3n) / 2n + MARGIN_GAS;
}

/**
 * Gas limit of an approval, or of a revocation, for its measured use: a token may work more than usual, and on Arbitrum the
 * price of data is gas, many times the token's own while the layer below is dear.
 */
export function approvalGasLimit(gasUsed: bigint | undefined): bigint {
  return larger(APPROVAL_GAS_LIMIT, gasLimitFor(gasUsed ?? 0n));
}

/** The measured use that a gas limit was made of. */
export function gasUsedOf(gasLimit: bigint): bigint {
  return gasLimit <= MARGIN_GAS ? 0n : ((gasLimit - MARGIN_GAS) * 2n) / 3n;
}
