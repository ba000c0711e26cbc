/** What a sandbox consists of: tokens, pools and funds, as data. Dollars are whole numbers here. */

/** The tokens of a sandbox, by symbol. */
export const SYMBOLS = ["WETH", "USDC", "DAI", "WBTC", "USDT"] as const;
export type TokenSymbol = (typeof SYMBOLS)[number];

/** The kinds of token contract that matter to a swap, each with its own traps. */
type TokenContract = "WrappedNative" | "PermitToken" | "DaiPermitToken" | "UsdtLikeToken";

interface TokenPlan {
  readonly contract: TokenContract;
  readonly name: string;
  readonly decimals: number;
  /** What the feed calls itself. */
  readonly feed: string;
}

export const TOKENS: Readonly<Record<TokenSymbol, TokenPlan>> = {
  WETH: { contract: "WrappedNative", name: "Wrapped Ether", decimals: 18, feed: "ETH / USD" },
  USDC: { contract: "PermitToken", name: "USD Coin", decimals: 6, feed: "USDC / USD" },
  DAI: { contract: "PermitToken", name: "Dai Stablecoin", decimals: 18, feed: "DAI / USD" },
  WBTC: { contract: "DaiPermitToken", name: "Wrapped BTC", decimals: 8, feed: "BTC / USD" },
  USDT: { contract: "UsdtLikeToken", name: "Tether USD", decimals: 6, feed: "USDT / USD" },
};

/** Decimals of a feed's answer, as Chainlink's dollar feeds have them. */
export const FEED_DECIMALS = 8;

/** The fee of every V2 pair in parts per million: it is written into Uniswap's code. */
export const V2_FEE_PIPS = 3000;

/** Prices at the start, in dollars. */
export const START_PRICES: Readonly<Record<TokenSymbol, number>> = {
  WETH: 3000,
  USDC: 1,
  DAI: 1,
  WBTC: 60_000,
  USDT: 1,
};

/** Liquidity between two ticks, given as signed distances from the tick of the start price, worth `dollars` there. */
export interface RangePlan {
  readonly below: number;
  readonly above: number;
  readonly dollars: number;
}

/** A pool of two tokens. V2 spreads its dollars over all prices; V3 puts them into ranges. */
export type PoolPlan =
  | { readonly kind: 1; readonly tokens: readonly [TokenSymbol, TokenSymbol]; readonly dollars: number }
  | {
      readonly kind: 2;
      readonly tokens: readonly [TokenSymbol, TokenSymbol];
      /** Fee tier in parts per million. */
      readonly fee: number;
      readonly ranges: readonly RangePlan[];
    };

/** Distance between usable ticks by fee tier. Tier 100 is switched on by the factory's owner, as on mainnet. */
export const TICK_SPACING: Readonly<Record<number, number>> = { 100: 1, 500: 10, 3000: 60, 10000: 200 };

/**
 * Ranges for two tokens whose price moves: a wide floor, a middle, and a ladder of slices around the start price, so
 * that a move of about one per cent (100 ticks) crosses a tick with liquidity on it.
 */
function volatileRanges(dollars: number): RangePlan[] {
  const ladder = [-360, -240, -120, 0, 120, 240].map((below) => ({
    below,
    above: below + 120,
    dollars: dollars * 0.05,
  }));
  const wide = { below: -9000, above: 9000, dollars: dollars * 0.4 };
  const middle = { below: -1500, above: 1500, dollars: dollars * 0.3 };
  return [wide, middle, ...ladder];
}

/** Ranges for two tokens of the same worth: most of it within a fifth of a per cent. */
function stableRanges(dollars: number): RangePlan[] {
  return [
    { below: -500, above: 500, dollars: dollars * 0.3 },
    { below: -100, above: 100, dollars: dollars * 0.3 },
    { below: -20, above: 20, dollars: dollars * 0.4 },
  ];
}

const MILLION = 1_000_000;

export const POOLS: readonly PoolPlan[] = [
  { kind: 1, tokens: ["WETH", "USDC"], dollars: 40 * MILLION },
  { kind: 1, tokens: ["WETH", "DAI"], dollars: 20 * MILLION },
  { kind: 1, tokens: ["WETH", "USDT"], dollars: 30 * MILLION },
  { kind: 1, tokens: ["WBTC", "WETH"], dollars: 30 * MILLION },
  { kind: 2, tokens: ["WETH", "USDC"], fee: 500, ranges: volatileRanges(60 * MILLION) },
  { kind: 2, tokens: ["WETH", "USDC"], fee: 3000, ranges: volatileRanges(40 * MILLION) },
  { kind: 2, tokens: ["WETH", "DAI"], fee: 3000, ranges: volatileRanges(20 * MILLION) },
  { kind: 2, tokens: ["WBTC", "USDC"], fee: 3000, ranges: volatileRanges(40 * MILLION) },
  { kind: 2, tokens: ["USDC", "DAI"], fee: 100, ranges: stableRanges(30 * MILLION) },
  { kind: 2, tokens: ["USDC", "USDT"], fee: 100, ranges: stableRanges(50 * MILLION) },
];

/** Funds of the wallet and the relayer, in whole tokens. */
export const WALLET_NATIVE = 100n;
export const RELAYER_NATIVE = 100n;
export const WALLET_FUNDS: Readonly<Record<TokenSymbol, bigint>> = {
  WETH: 50n,
  USDC: 200_000n,
  DAI: 100_000n,
  WBTC: 2n,
  USDT: 100_000n,
};

/** Funds of the trader, in whole tokens: enough for years of paying the pools' fees. */
export const TRADER_FUNDS: Readonly<Record<TokenSymbol, bigint>> = {
  WETH: 10_000_000n,
  USDC: 50_000_000_000n,
  DAI: 50_000_000_000n,
  WBTC: 1_000_000n,
  USDT: 50_000_000_000n,
};

/** Chain id of every sandbox, forks included: what is signed here is worth nothing on a real chain. */
export const SANDBOX_CHAIN_ID = 31337;

/** The set-up ends with this block, however its transactions were packed; the market's step n is block n after it. */
export const SETUP_BLOCKS = 24;
