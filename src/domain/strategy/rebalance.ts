import { formatPercent, ONE_PPM, type Ppm, toPpm } from "../money/fraction.ts";
import { amountWorthDown, type UsdPrice, valueDown } from "../money/price.ts";
import type { Token } from "../money/token.ts";
import type { StrategyCommon } from "./common.ts";
import type { Decision, PlannedSwap, StrategyView } from "./decision.ts";
import type { StrategyKind } from "./kind.ts";
import { isRecord } from "./memory.ts";

/** Keeps a mix of tokens at target weights, which sum to one whole. */
export interface RebalanceSpec extends StrategyCommon {
  readonly kind: "rebalance";
  /** the unit of account, and the token that sells bring and buys spend */
  readonly quote: Token;
  readonly targets: readonly { readonly token: Token; readonly weight: Ppm }[];
  /** how far a weight may drift before anything is traded; at least one is set */
  readonly bands: { readonly relative: Ppm | undefined; readonly absolute: Ppm | undefined };
  /** smallest trade, in the quote token's smallest unit */
  readonly trades: { readonly min: bigint };
}

/** A rebalance strategy remembers nothing: it looks at balances and prices afresh at each slot. */
export interface RebalanceMemory {
  readonly version: 1;
}

/** A token of the mix in one snapshot; values are dollars scaled by 1e18. */
interface Position {
  readonly token: Token;
  readonly weight: Ppm;
  readonly usd: UsdPrice;
  readonly value: bigint;
}

/** A trade against the quote token: `token` is sold for it or bought with it; `quoteRaw` is its worth in the quote. */
interface Trade {
  readonly token: Token;
  readonly raw: bigint;
  readonly quoteRaw: bigint;
}

/**
 * Looks at the mix in one snapshot at reference prices. When any weight is outside its band, everything is brought back
 * to target: overweight tokens are sold for the quote token first, then underweight ones are bought with what the sells
 * brought and with what the quote token holds above its own target; never with more. Trades below the minimum are left
 * out. Without a price for every token nothing is done.
 */
function decide(spec: RebalanceSpec, view: StrategyView, memory: RebalanceMemory): Decision<RebalanceMemory> {
  const skip = (
    reason: "unpriceable" | "insufficient_balance" | "within_bands" | "below_minimum_trade",
    detail: string,
  ) => ({ memory, outcome: { kind: "skip", reason, detail } }) as const;
  const quotePrice = view.prices.get(spec.quote.address);
  const unpriced = [spec.quote, ...spec.targets.map((target) => target.token)].filter(
    (token) => !isPositive(view.prices.get(token.address)?.usd),
  );
  if (quotePrice === undefined || unpriced.length > 0) {
    return skip(
      "unpriceable",
      `no reference price for ${[...new Set(unpriced.map((token) => token.symbol))].join(", ")}`,
    );
  }
  const positions = spec.targets.map((target): Position => {
    const usd = view.prices.get(target.token.address)?.usd ?? quotePrice.usd;
    const raw = view.free.get(target.token.address) ?? 0n;
    return { ...target, usd, value: valueDown({ raw, decimals: target.token.decimals }, usd) };
  });
  const total = positions.reduce((sum, position) => sum + position.value, 0n);
  if (total === 0n) return skip("insufficient_balance", "none of the tokens of the mix has a free balance");
  const weights = describeWeights(positions, total);
  if (!positions.some((position) => isOutsideBand(spec, position, total))) return skip("within_bands", weights);
  const swaps = planTrades(spec, { positions, total, quoteUsd: quotePrice.usd });
  if (swaps.length === 0) return skip("below_minimum_trade", weights);
  return { memory, outcome: { kind: "swap", swaps } };
}

function isPositive(usd: UsdPrice | undefined): boolean {
  return usd !== undefined && usd > 0n;
}

/**
 * Drift of a weight w from its target t. Absolute band: |w - t|; relative band: |w - t| / t. With w = value / total both
 * are compared without division, so nothing is rounded.
 */
function isOutsideBand(spec: RebalanceSpec, position: Position, total: bigint): boolean {
  const difference = position.value * ONE_PPM - position.weight * total;
  const drift = difference < 0n ? -difference : difference;
  const { absolute, relative } = spec.bands;
  if (absolute !== undefined && drift > absolute * total) return true;
  return relative !== undefined && drift * ONE_PPM > relative * position.weight * total;
}

function planTrades(
  spec: RebalanceSpec,
  snapshot: { positions: readonly Position[]; total: bigint; quoteUsd: UsdPrice },
): PlannedSwap[] {
  const { decimals } = spec.quote;
  const inQuote = (value: bigint): bigint => amountWorthDown(value, { decimals, usd: snapshot.quoteUsd });
  const sells: Trade[] = [];
  const buys: Trade[] = [];
  let base = 0n;
  for (const { token, weight, usd, value } of snapshot.positions) {
    const difference = value - (snapshot.total * weight) / ONE_PPM;
    if (token.address === spec.quote.address) {
      base = difference < 0n ? -inQuote(-difference) - 1n : inQuote(difference);
      continue;
    }
    const size = difference < 0n ? -difference : difference;
    const trade = { token, raw: amountWorthDown(size, { decimals: token.decimals, usd }), quoteRaw: inQuote(size) };
    if (trade.quoteRaw < spec.trades.min || trade.raw === 0n || trade.quoteRaw === 0n) continue;
    (difference > 0n ? sells : buys).push(trade);
  }
  sells.sort(largestFirst);
  buys.sort(largestFirst);
  const expected = sells.reduce((sum, sell) => sum + sell.quoteRaw, base);
  const of = sells.map((_sell, position) => position);
  return [
    ...sells.map(
      (sell): PlannedSwap => ({ sell: sell.token, buy: spec.quote, amount: { kind: "fixed", raw: sell.raw } }),
    ),
    ...affordable(buys, expected, spec.trades.min).map(({ trade, share, expectedRaw }): PlannedSwap => {
      const { min } = spec.trades;
      const amount =
        of.length === 0
          ? ({ kind: "fixed", raw: expectedRaw } as const)
          : ({ kind: "proceeds", of, base, share, max: trade.quoteRaw, min } as const);
      return { sell: spec.quote, buy: trade.token, amount };
    }),
  ];
}

function largestFirst(a: Trade, b: Trade): number {
  return a.quoteRaw === b.quoteRaw ? 0 : a.quoteRaw < b.quoteRaw ? 1 : -1;
}

/** Splits what can be spent in proportion to the wishes, dropping the smallest until each part is worth a trade. */
function affordable(
  buys: readonly Trade[],
  available: bigint,
  min: bigint,
): { trade: Trade; share: Ppm; expectedRaw: bigint }[] {
  if (available <= 0n) return [];
  for (let count = buys.length; count > 0; count -= 1) {
    const wishes = buys.slice(0, count);
    const sum = wishes.reduce((total, trade) => total + trade.quoteRaw, 0n);
    const parts = wishes.map((trade) => {
      const share = toPpm((trade.quoteRaw * ONE_PPM) / sum);
      const ours = (available * share) / ONE_PPM;
      return { trade, share, expectedRaw: ours < trade.quoteRaw ? ours : trade.quoteRaw };
    });
    if (parts.every((part) => part.expectedRaw >= min && part.expectedRaw > 0n)) return parts;
  }
  return [];
}

function describeWeights(positions: readonly Position[], total: bigint): string {
  return positions
    .map(
      ({ token, weight, value }) =>
        `${token.symbol} ${formatPercent((value * ONE_PPM) / total)} of ${formatPercent(weight)}`,
    )
    .join(", ");
}

/** Keeps a mix of tokens at target weights. */
export const rebalance: StrategyKind<RebalanceSpec, RebalanceMemory> = {
  initialMemory: () => ({ version: 1 }),
  parseMemory: (json) => (isRecord(json) && json.version === 1 ? { version: 1 } : undefined),
  needs: (spec) => ({ tokens: [spec.quote, ...spec.targets.map((target) => target.token)], bars: [], flows: false }),
  isExit: () => false,
  decide,
  onRunEnded: (_spec, memory) => ({ memory }),
  onEdited: (_before, _after, memory) => memory,
};
