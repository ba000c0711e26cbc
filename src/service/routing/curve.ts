import type { Address } from "../../domain/money/address.ts";
import { feePipsOf, type PoolState } from "../pools/pool.ts";
import type { SearchBudget, Steps } from "./steps.ts";

/** A pool's price falls by about this much from one sample to the next: between them the curve is all but exact. */
const FALL = 0.001;

/** Samples of one curve; a price that fell by more than so many times {@link FALL} is no market. */
const MAX_SAMPLES = 4_096;

/** How much longer one step may be than the one before, and how often a step that was too long is shortened. */
const MAX_GROWTH = 16;
const MAX_SHORTENINGS = 100;

/** How often the first step may be lengthened until the pool pays anything. */
const MAX_FIRST_TRIES = 8;

/** No step is worth less than so many of the smallest units of what is bought: rounding may take one of them. */
const LEAST_WORTH = 16;

/**
 * A hop with a wei more than its pool can take breaks the whole route. Splits are found by halving, and what reaches a
 * pool through others is known as exactly as their curves are: this share of what a pool can take is left out.
 */
const END_MARGIN = 5e-5;

const ONE_PIPS = 1_000_000;

/** The marginal rate of a pool, its fee counted: no amount gets more. */
function marginalRate(state: PoolState, tokenIn: Address): number {
  const { numerator, denominator } = state.spot(tokenIn);
  return (Number(numerator) / Number(denominator)) * (1 - feePipsOf(state, tokenIn) / ONE_PIPS);
}

/** Why a curve goes no further than its last sample. */
type End = { readonly kind: "short" } | { readonly kind: "unread"; readonly load: () => Promise<void> };

/**
 * What a pool pays for every amount, in one direction, sampled from its own quotes as far as needed.
 *
 * It is floating point and finds splits thousands of times faster than exact quotes; no amount of a quote comes from
 * it. Between two samples it is the hyperbola of a pool with constant liquidity, r d / (1 + k d), through both of them.
 */
export class Curve {
  readonly tokenIn: Address;
  readonly pool: PoolState;
  readonly #amounts: number[] = [0];
  readonly #outputs: number[] = [0];
  readonly #rates: number[];
  #tail: PoolState;
  #step = 0;
  /** of the sample that is being added */
  #shortenings = 0;
  #end: End | undefined;

  constructor(pool: PoolState, tokenIn: Address) {
    this.pool = pool;
    this.tokenIn = tokenIn;
    this.#tail = pool;
    this.#rates = [marginalRate(pool, tokenIn)];
  }

  /** the marginal rate before any trade */
  get rate(): number {
    return this.#rates[0] as number;
  }

  /** What the pool pays for the amount; what it cannot take is lost. */
  outputAt(amount: number): number {
    if (amount <= 0) return 0;
    const index = this.#segmentAt(amount);
    const distance = amount - (this.#amounts[index] as number);
    // At a sample its own figure counts: where the next one pays nothing more, the curve bends without end.
    if (distance === 0 || index === this.#amounts.length - 1) return this.#outputs[index] as number;
    return (
      (this.#outputs[index] as number) +
      ((this.#rates[index] as number) * distance) / (1 + this.#bend(index) * distance)
    );
  }

  /** The marginal rate after the amount; 0 where the pool takes no more, or so little that the amount may be too much. */
  rateAt(amount: number): number {
    if (amount <= 0) return this.rate;
    const index = this.#segmentAt(amount);
    const last = this.#amounts.length - 1;
    if (index === last) return 0;
    if (this.#end?.kind === "short" && amount > (this.#amounts[last] as number) * (1 - END_MARGIN)) return 0;
    const distance = amount - (this.#amounts[index] as number);
    if (distance === 0) return this.#rates[index] as number;
    const slowed = 1 + this.#bend(index) * distance;
    return (this.#rates[index] as number) / (slowed * slowed);
  }

  /** More than the pool can pay for the amount, from what was sampled so far. */
  atMost(amount: number): number {
    const last = this.#amounts.length - 1;
    const beyond = amount - (this.#amounts[last] as number);
    if (beyond <= 0) return this.outputAt(amount);
    return (this.#outputs[last] as number) + (this.#rates[last] as number) * beyond;
  }

  /** {@link outputAt} from what was sampled so far; NaN where the curve must be sampled further for it. */
  knownOutputAt(amount: number): number {
    return this.#reaches(amount) ? this.outputAt(amount) : Number.NaN;
  }

  /** Samples on to the amount: what is asked of the curve up to there is then answered at once. */
  *reach(amount: number, budget: SearchBudget): Steps<void> {
    while (!this.#reaches(amount)) {
      this.#sample(amount);
      if (budget.isOver()) yield;
    }
  }

  #reaches(amount: number): boolean {
    if (amount < (this.#amounts[this.#amounts.length - 1] as number)) return true;
    return this.#end !== undefined || this.#amounts.length >= MAX_SAMPLES;
  }

  /** The state that must be read before the curve can go on, with the rate at which it ends. */
  get unread(): { readonly load: () => Promise<void>; readonly rate: number } | undefined {
    const end = this.#end;
    if (end?.kind !== "unread") return undefined;
    const load = async () => {
      await end.load();
      this.#end = undefined;
    };
    return { load, rate: this.#rates.at(-1) as number };
  }

  #bend(index: number): number {
    const distance = (this.#amounts[index + 1] as number) - (this.#amounts[index] as number);
    const output = (this.#outputs[index + 1] as number) - (this.#outputs[index] as number);
    // So little after so much that a float cannot show it: nothing.
    if (output <= 0) return Number.POSITIVE_INFINITY;
    return Math.max(0, ((this.#rates[index] as number) * distance) / output - 1) / distance;
  }

  /** The last sample at or below the amount, after sampling on to it. */
  #segmentAt(amount: number): number {
    while (!this.#reaches(amount)) this.#sample(amount);
    let high = this.#amounts.length - 1;
    if (amount >= (this.#amounts[high] as number)) return high;
    let low = 0;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((this.#amounts[middle] as number) <= amount) low = middle;
      else high = middle;
    }
    return low;
  }

  /** Tries to add a sample: adds it, makes the step shorter, or finds that the pool goes no further. */
  #sample(towards: number): void {
    const rate = this.#rates.at(-1) as number;
    // A pool pays nothing for the smallest amounts, which says nothing about larger ones, and the curve is kept for those.
    const least = rate > 0 ? Math.max(1, Math.ceil(LEAST_WORTH / rate)) : 1;
    if (this.#step === 0) this.#step = this.#firstStep(Math.max(least, Math.ceil(towards / 8)));
    const step = Math.max(least, Math.ceil(this.#step));
    const isLeast = step === least;
    const quote = this.#tail.quote(this.tokenIn, BigInt(step));
    const after = quote.kind === "filled" ? marginalRate(quote.after, this.tokenIn) : 0;
    const fall = 1 - after / rate;
    if (quote.kind === "filled" && (fall <= 2 * FALL || isLeast)) {
      this.#add(step, Number(quote.amountOut), after);
      this.#tail = quote.after;
      this.#step = step * (fall <= 0 ? MAX_GROWTH : Math.min(MAX_GROWTH, FALL / fall));
      return;
    }
    if (quote.kind === "unread" && (isLeast || step < towards / 64)) this.#stop({ kind: "unread", load: quote.load });
    else if (isLeast) this.#stop({ kind: "short" });
    else this.#shorten(quote.kind === "filled" ? Math.max(1 / MAX_GROWTH, FALL / fall) : 1 / MAX_GROWTH);
  }

  #shorten(factor: number): void {
    this.#shortenings += 1;
    this.#step *= factor;
    if (this.#shortenings === MAX_SHORTENINGS) this.#stop({ kind: "short" });
  }

  #stop(end: End): void {
    this.#end = end;
    this.#shortenings = 0;
  }

  #firstStep(least: number): number {
    let step = least;
    for (let tries = 0; tries < MAX_FIRST_TRIES; tries += 1) {
      if (this.#tail.quote(this.tokenIn, BigInt(step)).kind !== "short") return step;
      step *= MAX_GROWTH;
    }
    return least;
  }

  #add(amount: number, output: number, rate: number): void {
    this.#shortenings = 0;
    this.#amounts.push((this.#amounts.at(-1) as number) + amount);
    this.#outputs.push((this.#outputs.at(-1) as number) + output);
    // A price does not rise by selling into it; rounding of the smallest amounts may look so.
    this.#rates.push(Math.min(rate, this.#rates.at(-1) as number));
  }
}
