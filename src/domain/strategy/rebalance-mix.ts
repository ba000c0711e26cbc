import { formatPercent, ONE_PPM } from "../money/fraction.ts";
import { amountWorthDown, type UsdPrice, valueDown, valueUp } from "../money/price.ts";
import { isNative, type Token } from "../money/token.ts";
import type { StrategyView } from "./decision.ts";
import type { RebalanceSpec, RebalanceTarget } from "./rebalance-spec.ts";

/** A token of the mix in one snapshot. Values are dollars scaled by 1e18. */
export interface Position {
  readonly target: RebalanceTarget;
  readonly token: Token;
  readonly usd: UsdPrice;
  /** what it is worth less the cash that is set aside; negative when cash is missing */
  readonly value: bigint;
  /** value less the target's share of the mix */
  readonly gap: bigint;
  /** most that may be sold, in the smallest unit */
  readonly sellable: bigint;
}

/** All tokens of the mix, weighed in one snapshot at reference prices. */
export interface Mix {
  readonly positions: readonly Position[];
  readonly total: bigint;
  /** value of the smallest trade, rounded up */
  readonly minValue: bigint;
  /** prices of the tokens of the mix, of the unit of account, and of the token that swaps go over */
  readonly usdOf: (token: Token) => UsdPrice;
}

/** Gas that a rebalance's own transactions may take, for when the native coin itself is sold down to its reserve. */
const GAS_OF_A_RUN = 2_000_000n;

/** Tokens whose price is needed. */
export function tokensOf(spec: RebalanceSpec): readonly Token[] {
  const { via } = spec.trades;
  return [spec.quote, ...spec.targets.map(({ token }) => token), ...(via === undefined ? [] : [via])];
}

/**
 * Weighs the mix. @returns symbols of the tokens without a price when there are any: then nothing can be weighed
 * @param extra money outside the mix that belongs to it all the same: proceeds that wait for their buy
 */
export function weigh(
  spec: RebalanceSpec,
  view: StrategyView,
  extra: { readonly token: Token; readonly raw: bigint } | undefined = undefined,
): Mix | { readonly unpriced: readonly string[] } {
  const prices = new Map<string, UsdPrice>();
  const unpriced = new Set<string>();
  for (const token of [...tokensOf(spec), ...(extra === undefined ? [] : [extra.token])]) {
    const usd = view.prices.get(token.address)?.usd;
    if (usd === undefined || usd <= 0n) unpriced.add(token.symbol);
    else prices.set(token.address, usd);
  }
  if (unpriced.size > 0) return { unpriced: [...unpriced] };
  const usdOf = (token: Token): UsdPrice => {
    const usd = prices.get(token.address);
    if (usd === undefined) throw new Error(`${token.symbol} is no token of the mix`);
    return usd;
  };
  const held = spec.targets.map((target) => ({ target, ...holdingOf(spec, view, target.token, usdOf(target.token)) }));
  if (extra !== undefined && !spec.targets.some(({ token }) => token.address === extra.token.address)) {
    const { token, raw } = extra;
    const target = { token, weight: 0n as RebalanceTarget["weight"], exit: false, soft: undefined, hard: undefined };
    held.push({ target, value: valueDown({ raw, decimals: token.decimals }, usdOf(token)), sellable: raw });
  }
  const total = held.reduce((sum, { value }) => sum + value, 0n);
  const positions = held.map(({ target, value, sellable }): Position => {
    const { token } = target;
    return { target, token, usd: usdOf(token), value, gap: value - (total * target.weight) / ONE_PPM, sellable };
  });
  const minValue = valueUp({ raw: spec.trades.min, decimals: spec.quote.decimals }, usdOf(spec.quote));
  return { positions, total, minValue: minValue > 0n ? minValue : 1n, usdOf };
}

/** The cash floor is no part of the mix; of the native coin the gas of the run itself may not be sold. */
function holdingOf(
  spec: RebalanceSpec,
  view: StrategyView,
  token: Token,
  usd: UsdPrice,
): { value: bigint; sellable: bigint } {
  const free = view.free.get(token.address) ?? 0n;
  const aside = spec.cash?.token.address === token.address ? spec.cash.min : 0n;
  const counted = free - aside;
  const { decimals } = token;
  const value = counted < 0n ? -valueUp({ raw: -counted, decimals }, usd) : valueDown({ raw: counted, decimals }, usd);
  const gas = isNative(token) ? GAS_OF_A_RUN * spec.limits.maxFeePerGas : 0n;
  return { value, sellable: counted > gas ? counted - gas : 0n };
}

/** How much of a token a value buys, rounded down. */
export function rawOf(mix: Mix, token: Token, value: bigint): bigint {
  return amountWorthDown(value, { decimals: token.decimals, usd: mix.usdOf(token) });
}

/** All weights with their targets, for people. */
export function describeWeights(mix: Mix): string {
  return mix.positions
    .map(
      ({ token, target, value }) =>
        `${token.symbol} ${formatPercent((value * ONE_PPM) / mix.total)} of ${formatPercent(target.weight)}`,
    )
    .join(", ");
}
