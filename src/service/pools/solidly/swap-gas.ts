import { BACK_TO_VALUE_REFUND } from "../../gas/evm-gas.ts";

/** The pool's lock ends as it began. */
export const SOLIDLY_REFUND = BACK_TO_VALUE_REFUND;

/** What the pool says that it pays, the swap with the way of the fee out of the pool, and the transfer that brings it. */
const VOLATILE = 15_600n + 70_500n + 15_150n;
const STABLE = 31_500n + 72_800n + 15_150n;

/** Gas of a leg, refund taken off: from traces of Aerodrome's contracts compiled from their source. */
export const VOLATILE_HOP_GAS = VOLATILE - SOLIDLY_REFUND;
export const STABLE_HOP_GAS = STABLE - SOLIDLY_REFUND;
