import { formatAmount } from "../money/amount.ts";
import { larger, smaller } from "../money/bigint.ts";
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
  /** what it is worth, here and elsewhere, less the cash that is set aside; negative when cash is missing */
  readonly value: bigint;
  /** value less the target's share of the mix */
  readonly gap: bigint;
  /** most that may be sold, in the smallest unit */
  readonly sellable: bigint;
  /** what of it counts and is not to be sold, in its smallest unit, and where it is: `external`, `as ETH` */
  readonly apart: readonly Apart[];
}

interface Apart {
  readonly raw: bigint;
  readonly where: string;
}

/** All tokens of the mix, weighed in one snapshot at reference prices. */
export interface Mix {
  readonly positions: readonly Position[];
  /** what the weights are shares of: missing cash is taken off, and never less than nothing is left */
  readonly total: bigint;
  /** worth of what is there, missing cash not taken off */
  readonly there: bigint;
  /** value of the smallest trade, rounded up */
  readonly minValue: bigint;
  /** prices of the tokens of the mix, of the unit of account, and of the token that swaps go over */
  readonly usdOf: (token: Token) => UsdPrice;
}

/** Gas that a rebalance's own transactions may take, for when the native coin itself is sold down to its reserve. */
const GAS_OF_A_RUN = 2_000_000n;

/** The other forms of tokens that count: only their balance is needed. */
export function otherForms({ targets }: RebalanceSpec): readonly Token[] {
  return targets.flatMap((target) => target.with ?? []);
}

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
  const held = spec.targets.map((target) => ({ target, ...holdingOf(spec, view, target, usdOf(target.token)) }));
  if (extra !== undefined && !spec.targets.some(({ token }) => token.address === extra.token.address)) {
    const { token, raw } = extra;
    const target = { token, weight: 0n as RebalanceTarget["weight"], exit: false, soft: undefined, hard: undefined };
    const value = valueDown({ raw, decimals: token.decimals }, usdOf(token));
    held.push({ target, value, sellable: raw, apart: [] });
  }
  const total = larger(
    held.reduce((sum, { value }) => sum + value, 0n),
    0n,
  );
  const there = held.reduce((sum, { value }) => sum + larger(value, 0n), 0n);
  const positions = held.map(({ target, ...holding }): Position => {
    const { token, weight } = target;
    return { target, token, usd: usdOf(token), gap: holding.value - (total * weight) / ONE_PPM, ...holding };
  });
  const minValue = valueUp({ raw: spec.trades.min, decimals: spec.quote.decimals }, usdOf(spec.quote));
  return { positions, total, there, minValue: minValue > 0n ? minValue : 1n, usdOf };
}

/**
 * The cash floor is no part of the mix; of the native coin the gas of the run itself may not be sold. What lies elsewhere
 * is part of the mix, and none of it may be sold; nor may what the wallet has in another form.
 */
function holdingOf(
  spec: RebalanceSpec,
  view: StrategyView,
  target: RebalanceTarget,
  usd: UsdPrice,
): Pick<Position, "value" | "sellable" | "apart"> {
  const { token } = target;
  const free = view.free.get(token.address) ?? 0n;
  const aside = asideOf(spec, token, free);
  const own = free - aside;
  const apart = apartOf(spec, view, target);
  const raw = apart.reduce((sum, part) => sum + part.raw, own);
  const { decimals } = token;
  const value = raw < 0n ? -valueUp({ raw: -raw, decimals }, usd) : valueDown({ raw, decimals }, usd);
  const gas = isNative(token) ? GAS_OF_A_RUN * spec.limits.maxFeePerGas : 0n;
  return { value, sellable: own > gas ? own - gas : 0n, apart };
}

/** What is bought for somebody else fills no cash: then as much is set aside as there is. */
function asideOf({ cash, recipient, wallet }: RebalanceSpec, { address }: Token, free: bigint): bigint {
  if (cash?.token.address !== address) return 0n;
  return recipient === wallet.address ? cash.min : smaller(cash.min, free);
}

/** What of a target lies elsewhere, in any of its forms, and what of it the wallet has in another form, all of it free. */
function apartOf({ external }: RebalanceSpec, view: StrategyView, target: RebalanceTarget): readonly Apart[] {
  const others = target.with ?? [];
  const forms = [target.token, ...others];
  const watched = forms.reduce((sum, { address }) => sum + (view.external?.get(address) ?? 0n), 0n);
  const stated = external?.stated.filter(({ token }) => forms.some(({ address }) => address === token.address)) ?? [];
  return [
    { raw: stated.reduce((sum, { raw }) => sum + raw, watched), where: "external" },
    ...others.map(({ address, symbol }) => ({ raw: view.free.get(address) ?? 0n, where: `as ${symbol}` })),
  ].filter(({ raw }) => raw > 0n);
}

/** Dollars (1e-18) that may be sold of a position, rounded down. */
export function sellableValue({ sellable, token, usd }: Position): bigint {
  return valueDown({ raw: sellable, decimals: token.decimals }, usd);
}

/** How much of a token a value buys, rounded down. */
export function rawOf(mix: Mix, token: Token, value: bigint): bigint {
  return amountWorthDown(value, { decimals: token.decimals, usd: mix.usdOf(token) });
}

/** All weights with their targets, and what of them is not to be sold, for people. */
export function describeWeights({ positions, total }: Mix): string {
  const short = positions.find(({ value }) => total === 0n && value < 0n);
  const weights = positions
    .filter((position) => position !== short)
    .map(({ token, target, value, apart }) => {
      const parts = apart.map(({ raw, where }) => `${formatAmount({ token, raw })} of it ${where}`);
      const elsewhere = parts.length === 0 ? "" : ` (${parts.join(", ")})`;
      const weight = formatPercent((value * ONE_PPM) / (short === undefined ? total : -short.value));
      return `${token.symbol} ${weight} of ${short === undefined ? formatPercent(target.weight) : "it"}${elsewhere}`;
    });
  const cash = short && `more ${short.token.symbol} of the cash is missing than the mix is worth: `;
  return `${cash ?? ""}${weights.join(", ")}`;
}

/** Tokens of which there is too much, and none to sell: it lies elsewhere, or is there in another form. */
export function beyondReach(mix: Mix): readonly string[] {
  return mix.positions
    .filter(({ apart, gap }) => apart.length > 0 && gap >= mix.minValue)
    .filter((position) => sellableValue(position) < mix.minValue)
    .map(({ token }) => token.symbol);
}
