import type { Address } from "../money/address.ts";
import type { Token } from "../money/token.ts";
import type { StrategySpec } from "../strategy/spec.ts";

/** What a strategy may ever sell, and what it may ever buy; each token once. */
export interface TradedTokens {
  readonly sells: readonly Token[];
  readonly buys: readonly Token[];
}

/** Both sides of a strategy's trades, as its settings say them: not only those of its next decision. */
export function tradedSides(spec: StrategySpec): TradedTokens {
  switch (spec.kind) {
    case "dca":
      return { sells: [spec.sell.token], buys: "symbol" in spec.buy ? [spec.buy] : spec.buy.map(({ token }) => token) };
    case "twap":
      return { sells: [spec.sell.token], buys: [spec.buy] };
    case "threshold":
      return { sells: [spec.sell], buys: [spec.buy] };
    case "value-averaging":
      return spec.allowSell
        ? { sells: [spec.pay, spec.buy], buys: [spec.buy, spec.pay] }
        : { sells: [spec.pay], buys: [spec.buy] };
    case "sweep":
      return { sells: spec.from.map(({ token }) => token), buys: [spec.to] };
    case "rebalance":
      return rebalanceSides(spec);
  }
}

interface Mix {
  readonly targets: readonly { readonly token: Token; readonly exit?: boolean }[];
  readonly trades: { readonly min: bigint; readonly via?: Token | undefined };
}

/** A mix trades each of its tokens both ways, and the one that its swaps go over; what leaves the mix is only sold. */
function rebalanceSides({ targets, trades }: Mix): TradedTokens {
  const over = trades.via === undefined ? [] : [trades.via];
  const kept = targets.filter(({ exit }) => exit !== true).map(({ token }) => token);
  return { sells: once([...targets.map(({ token }) => token), ...over]), buys: once([...kept, ...over]) };
}

/** All tokens that a strategy trades, each once. */
export function tradedTokens(spec: StrategySpec): readonly Token[] {
  const { sells, buys } = tradedSides(spec);
  return once([...sells, ...buys]);
}

function once(tokens: readonly Token[]): readonly Token[] {
  return [...new Map<Address, Token>(tokens.map((token) => [token.address, token])).values()];
}
