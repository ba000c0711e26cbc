import { START_PRICES, SYMBOLS, type TokenSymbol } from "../plan.ts";
import { feedPrice } from "../pools.ts";
import { createRandom } from "./random.ts";

/** Dollar prices with the decimals of a feed, by symbol. */
export type Prices = Readonly<Record<TokenSymbol, bigint>>;

/**
 * How a price moves, in logarithms: a sine that makes crossings certain, on top of it a random walk that is drawn back
 * to the start, so that no run, however long, ends in an absurd price.
 */
interface Motion {
  readonly sineAmplitude: number;
  readonly sinePeriodSteps: number;
  /** Deviation of one step of the walk. */
  readonly stepDeviation: number;
  /** Share of the walk's distance that one step takes back. */
  readonly pull: number;
  /** Where the walk ends at the latest. */
  readonly bound: number;
}

const ETHER: Motion = { sineAmplitude: 0.02, sinePeriodSteps: 48, stepDeviation: 0.0007, pull: 0.01, bound: 0.05 };
const BITCOIN: Motion = { sineAmplitude: 0.015, sinePeriodSteps: 60, stepDeviation: 0.0006, pull: 0.01, bound: 0.04 };
const DOLLAR: Motion = { sineAmplitude: 0, sinePeriodSteps: 1, stepDeviation: 0.00003, pull: 0.05, bound: 0.0005 };

const MOTIONS: Readonly<Record<TokenSymbol, Motion>> = {
  WETH: ETHER,
  USDC: DOLLAR,
  DAI: DOLLAR,
  WBTC: BITCOIN,
  USDT: DOLLAR,
};

/** The prices of a seed by step. Step 0 has the start prices. */
export class PricePath {
  readonly #seed: number;
  #step = 0;
  #walks: Record<TokenSymbol, number> = { WETH: 0, USDC: 0, DAI: 0, WBTC: 0, USDT: 0 };

  constructor(seed: number) {
    this.#seed = seed;
  }

  /** The prices at a step: walks on from the last step asked for, or again from the start when that lies before. */
  at(step: number): Prices {
    if (step < this.#step) {
      this.#step = 0;
      this.#walks = { WETH: 0, USDC: 0, DAI: 0, WBTC: 0, USDT: 0 };
    }
    while (this.#step < step) this.#advance();
    const prices: Record<TokenSymbol, bigint> = { WETH: 0n, USDC: 0n, DAI: 0n, WBTC: 0n, USDT: 0n };
    for (const symbol of SYMBOLS) {
      const { sineAmplitude, sinePeriodSteps } = MOTIONS[symbol];
      const sine = sineAmplitude * Math.sin((2 * Math.PI * step) / sinePeriodSteps);
      prices[symbol] = feedPrice(START_PRICES[symbol] * Math.exp(sine + this.#walks[symbol]));
    }
    return prices;
  }

  #advance(): void {
    this.#step += 1;
    const random = createRandom(this.#seed, this.#step);
    for (const symbol of SYMBOLS) {
      const { stepDeviation, pull, bound } = MOTIONS[symbol];
      const walked = this.#walks[symbol] * (1 - pull) + stepDeviation * random.normal();
      this.#walks[symbol] = Math.max(-bound, Math.min(bound, walked));
    }
  }
}
