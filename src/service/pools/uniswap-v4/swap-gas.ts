import { CHANGE_SLOT, COLD_ACCOUNT, COLD_SLOT, FIRST_VALUE, WARM_SLOT } from "../../gas/evm-gas.ts";
import { BALANCE, COMPUTED, HOP_FRAME } from "../../gas/hop-gas.ts";
import type { Trail } from "../uniswap-v3/swap-gas.ts";

/** Price and tick share a slot that is written once; liquidity is read, the sold token's fees accumulate. */
const FIXED_SLOTS = COLD_SLOT + CHANGE_SLOT + COLD_SLOT + (COLD_SLOT + CHANGE_SLOT);

/** Work of the manager and of who trades with it: unlocking, the pool's key, accounts in transient storage, the log. */
const WORK = 31_400n;

/** A leg in which the price stays within one piece of the curve, and which no piece is counted in yet. */
const LEG = HOP_FRAME + COMPUTED + WORK + COLD_ACCOUNT + 2n * BALANCE + FIXED_SLOTS;

/** Work of one piece, at the end of which a word was read again; a new word is a slot of its own. */
const STEP = 2_650n + WARM_SLOT;
const WORD = COLD_SLOT - WARM_SLOT + 650n;

/** Once for all ticks: the other token's fees are read, liquidity changes. */
const FIRST_TICK = COLD_SLOT + CHANGE_SLOT;

/** A tick has three slots: one is read, two change. */
const TICK = COLD_SLOT + 2n * (COLD_SLOT + CHANGE_SLOT) + 1_800n;

/** The protocol's part of the fee is written down for each token. */
export const PROTOCOL_FEE_GAS = COLD_SLOT + CHANGE_SLOT;

/** What a leg adds that unwraps the coin and sends it along, or wraps what it was sent, beyond transfers of a token. */
export const SELLING_COIN_GAS = 3_900n;
export const BUYING_COIN_GAS = 6_000n;

/** What every leg adds: each is within one piece of the curve at least. */
export const LEAST_V4_HOP_GAS = LEG + STEP;

/** Gas that a leg with such a swap is expected to add where the protocol takes nothing. */
export function v4HopGas({ steps, words, crossed, blank }: Trail): bigint {
  const ticks = crossed === 0 ? 0n : FIRST_TICK + BigInt(crossed) * TICK + BigInt(blank) * FIRST_VALUE;
  return LEG + BigInt(steps) * STEP + BigInt(words) * WORD + ticks;
}
