import { mulDivDown, mulDivUp } from "../money/amount.ts";
import { ONE_PPM, type Ppm, toPpm } from "../money/fraction.ts";
import type { UsdPrice } from "../money/price.ts";
import { afterImpact } from "../paper/own-impact.ts";

/** What a trade is thought to cost besides gas. docs/BACKTEST.md says it in words. */
export interface FillModel {
  /** what pools keep of the sold amount */
  readonly poolFee: Ppm;
  /** dollars (1e-18) on each side of the pool that is traded with */
  readonly depthUsd: bigint;
}

/** A swap to price: what is sold, and what a pool thinks of both tokens. */
export interface SwapToModel {
  readonly gross: bigint;
  readonly sell: { readonly decimals: number; readonly usd: UsdPrice };
  readonly buy: { readonly decimals: number; readonly usd: UsdPrice };
  /** what own fills shortly before still take away */
  readonly carried: Ppm;
}

/** What it brings, rounded down. */
export interface ModelledSwap {
  readonly amountOut: bigint;
  /** what its own size takes away */
  readonly impact: Ppm;
  /** how far it moves the price: by how much the same swap right after brings less, as paper records it; rounded up */
  readonly shift: Ppm;
}

/**
 * The output of a pool with a constant product at these prices: the fee comes off first, then what the trade's own
 * size moves, then what own trades of the last minutes moved.
 */
export function modelSwap({ poolFee, depthUsd }: FillModel, swap: SwapToModel): ModelledSwap {
  const { gross, sell, buy, carried } = swap;
  const kept = ONE_PPM - poolFee;
  // dollars (1e-18) that go into the pool
  const value = mulDivDown(gross * kept, sell.usd, ONE_PPM * 10n ** BigInt(sell.decimals));
  const worth = mulDivDown(value, 10n ** BigInt(buy.decimals), buy.usd);
  const amountOut = mulDivDown(worth, depthUsd, depthUsd + value);
  const impact = toPpm((value * ONE_PPM) / (depthUsd + value));
  // Two of them bring 2v x d / (d + 2v), of which the second is d / (d + 2v) of what the first brought.
  const shift = toPpm(mulDivUp(2n * value, ONE_PPM, depthUsd + 2n * value));
  return { amountOut: afterImpact(amountOut, carried), impact, shift };
}
