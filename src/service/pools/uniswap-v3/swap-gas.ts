import { CHANGE_SLOT, COLD_ACCOUNT, COLD_SLOT, FIRST_VALUE, WARM_ACCOUNT, WARM_SLOT } from "../../gas/evm-gas.ts";
import { BALANCE, COMPUTED, HOP_FRAME } from "../../gas/hop-gas.ts";

/** What a swap met on its way along the curve. */
export interface Trail {
  /** pieces of the curve */
  steps: number;
  /** words of the tick bitmap */
  words: number;
  /** initialised ticks */
  crossed: number;
  /** accumulators of those ticks that are zero, as they are until the price first crosses a tick that was above it */
  blank: number;
}

/** Price and lock share a slot that is written three times; liquidity is read, the sold token's fees accumulate. */
const FIXED_SLOTS = COLD_SLOT + CHANGE_SLOT + 5n * WARM_SLOT + COLD_SLOT + (COLD_SLOT + CHANGE_SLOT);

/** The observation is written where the tick moves; this is taken for granted, and so is that a second passed. */
const OBSERVATION = COLD_SLOT + CHANGE_SLOT + WARM_SLOT;

/** Work of the executor with its callback, and of the pool with its log; as all figures of work from traces. */
const WORK = 7_700n + 10_500n + 2_780n;

/** A leg in which the price stays within one piece of the curve, and which no piece is counted in yet. */
const LEG = HOP_FRAME + COMPUTED + WORK + COLD_ACCOUNT + WARM_ACCOUNT + 3n * BALANCE + FIXED_SLOTS + OBSERVATION;

/** Work of one piece, at the end of which a word was read again; a new word is a slot of its own. */
const STEP = 5_000n + WARM_SLOT;
const WORD = COLD_SLOT - WARM_SLOT;

/** Once for all ticks: the observation is read earlier, the other token's fees are read, liquidity changes. */
const FIRST_TICK = WARM_SLOT + COLD_SLOT + CHANGE_SLOT;

/** A tick has four slots: one is read, three change. */
const TICK = COLD_SLOT + 3n * (COLD_SLOT + CHANGE_SLOT) + 3_000n;

/** What every leg adds: each is within one piece of the curve at least. */
export const LEAST_HOP_GAS = LEG + STEP;

/** Gas that a leg with such a swap is expected to add, what is given back at the end taken off. */
export type HopGas = (trail: Trail) => bigint;

/** {@link HopGas} of the pools of Uniswap. */
export function concentratedHopGas({ steps, words, crossed, blank }: Trail): bigint {
  const ticks = crossed === 0 ? 0n : FIRST_TICK + BigInt(crossed) * TICK + BigInt(blank) * FIRST_VALUE;
  return LEG + BigInt(steps) * STEP + BigInt(words) * WORD + ticks;
}
