import type { Address, Hex } from "../../domain/money/address.ts";
import type { Token } from "../../domain/money/token.ts";
import type { Chain } from "../../ports/chain.ts";
import { argument, readWords } from "./contract-words.ts";

/** Selectors of Uniswap V3's pools and of their factory. */
const FACTORY: Hex = "0xc45a0155";
const FEE: Hex = "0xddca3f43";
const SLOT0: Hex = "0x3850c7bd";
const GET_POOL = "0x1698ee82";
const OBSERVE = "0x883bdbfd";

const SLOT0_WORDS = 7;
const SLOT0_CARDINALITY = 3;
/** Two offsets, and two arrays of two with their lengths. */
const OBSERVE_WORDS = 8;

/** Which pool a time-weighted price is read from, and of which two tokens it must be. */
export interface TwapPool {
  readonly pool: Address;
  readonly token: Token;
  readonly quote: Token;
  readonly windowSeconds: number;
  /** in dollars (1e-18), see {@link createTwapPrices} */
  readonly minLiquidityUsd: bigint;
}

/**
 * Whether a pool is one of a pinned factory, of exactly these two tokens. The factory is asked, not the pool: any contract
 * can name any factory.
 * @returns what is wrong, undefined when it is genuine
 */
export async function poolProblem(
  { pool, token, quote }: TwapPool,
  factories: readonly Address[],
  chain: Chain,
): Promise<string | undefined> {
  const [named, fee] = await Promise.all([FACTORY, FEE].map((data) => readWords(chain, { to: pool, data, words: 1 })));
  if (named?.[0] === undefined || fee?.[0] === undefined) return "it does not answer as a pool of Uniswap V3";
  const factory = factories.find((each) => BigInt(each) === named[0]);
  if (factory === undefined) return "its factory is none of the pinned ones";
  const data = `${GET_POOL}${argument(token.address)}${argument(quote.address)}${argument(fee[0])}` as Hex;
  const registered = await readWords(chain, { to: factory, data, words: 1 });
  if (registered?.[0] === BigInt(pool)) return undefined;
  return `its factory ${factory} knows another pool, or none, for ${token.symbol} and ${quote.symbol}`;
}

/** Cumulative values at the start and the end of a window, as the pool counts them. */
export interface Observations {
  readonly ticks: { readonly start: bigint; readonly end: bigint };
  readonly secondsPerLiquidity: { readonly start: bigint; readonly end: bigint };
}

/** Reads both ends of the window in one call. @returns why not, when the pool does not remember so far back */
export async function observe(
  { pool, windowSeconds }: Pick<TwapPool, "pool" | "windowSeconds">,
  chain: Chain,
): Promise<Observations | string> {
  const array = [32n, 2n, BigInt(windowSeconds), 0n].map(argument).join("");
  const [slot0, observed] = await Promise.all([
    readWords(chain, { to: pool, data: SLOT0, words: SLOT0_WORDS }),
    readWords(chain, { to: pool, data: `${OBSERVE}${array}`, words: OBSERVE_WORDS }),
  ]);
  const cardinality = slot0?.[SLOT0_CARDINALITY];
  if (cardinality === undefined) return "its slot0() does not answer";
  const remedy = "somebody must call increaseObservationCardinalityNext on it and wait, or choose another pool";
  if (cardinality < 2n) return `it remembers ${cardinality} observation, which is no mean: ${remedy}`;
  if (observed === undefined) {
    return `its ${cardinality} observations do not reach ${windowSeconds} s back: ${remedy}`;
  }
  const [ticks, liquidity] = [pairAt(observed, 0), pairAt(observed, 1)];
  if (ticks === undefined || liquidity === undefined) return "observe() did not answer two pairs";
  return {
    ticks: { start: BigInt.asIntN(56, ticks.start), end: BigInt.asIntN(56, ticks.end) },
    secondsPerLiquidity: liquidity,
  };
}

/** The n-th array of the answer, which must hold two values. */
function pairAt(words: readonly bigint[], index: number): { start: bigint; end: bigint } | undefined {
  const offset = words[index];
  if (offset === undefined || offset % 32n !== 0n || offset > BigInt(words.length) * 32n) return undefined;
  const first = Number(offset / 32n);
  const [length, start, end] = words.slice(first, first + 3);
  return length === 2n && start !== undefined && end !== undefined ? { start, end } : undefined;
}
