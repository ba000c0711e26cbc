/** What an approval of a usual token uses, where nothing measured it. */
export const APPROVAL_GAS = 50_000n;

const MARGIN_GAS = 20_000n;

/**
 * Gas limit of the swap for its measured use: refunds (at most a fifth of the use, EIP-3529) are only paid back at the end, and the
 * state may have moved by the time of execution.
 */
export function gasLimitFor(gasUsed: bigint): bigint {
  return (gasUsed * 3n) / 2n + MARGIN_GAS;
}

/** The measured use that a gas limit was made of. */
export function gasUsedOf(gasLimit: bigint): bigint {
  return gasLimit <= MARGIN_GAS ? 0n : ((gasLimit - MARGIN_GAS) * 2n) / 3n;
}
