import type { Fill } from "../answers.ts";

export interface Trade {
  readonly atSeconds: number;
  readonly side: "buy" | "sell";
  /** dollars, or the quote token's unit, for one of the charted token */
  readonly price: number;
  /** of the charted token */
  readonly amount: number;
  readonly run: string;
}

/** The unit that prices are charted in: dollars, or a token that prices are quoted in. */
export type PriceUnit = { readonly kind: "usd" } | { readonly kind: "token"; readonly symbol: string };

/** Fills as buys and sells of one token, oldest first; those without a price in the unit are left out. */
export function tradesOf(fills: readonly Fill[], symbol: string, unit: PriceUnit): readonly Trade[] {
  return fills
    .flatMap((fill) => {
      const trade = tradeOf(fill, symbol, unit);
      return trade === undefined ? [] : [trade];
    })
    .sort((a, b) => a.atSeconds - b.atSeconds);
}

function tradeOf(fill: Fill, symbol: string, unit: PriceUnit): Trade | undefined {
  const side = fill.bought.symbol === symbol ? "buy" : fill.sold.symbol === symbol ? "sell" : undefined;
  if (side === undefined) return undefined;
  const [own, other, otherUsd] =
    side === "buy" ? [fill.bought, fill.sold, fill.soldUsd] : [fill.sold, fill.bought, fill.boughtUsd];
  const isInUnit = unit.kind === "token" && other.symbol === unit.symbol;
  const worth = isInUnit ? other.amount : unit.kind === "usd" ? otherUsd : null;
  const amount = Number(own.amount);
  if (worth === null || !(amount > 0)) return undefined;
  return { atSeconds: Date.parse(fill.at) / 1_000, side, price: Number(worth) / amount, amount, run: fill.run };
}

export interface CostPoint {
  readonly atSeconds: number;
  /** null: nothing is left of what was bought here */
  readonly price: number | null;
}

/**
 * What one token cost on average, after each trade. Sells take from the holding at its average; what was held before the
 * first trade shown is not known here, so more may be sold than was bought, and the line starts anew after that.
 */
export function averageCost(trades: readonly Trade[]): readonly CostPoint[] {
  let amount = 0;
  let cost = 0;
  return trades.map((trade) => {
    if (trade.side === "buy") {
      amount += trade.amount;
      cost += trade.amount * trade.price;
    } else {
      const left = Math.max(amount - trade.amount, 0);
      cost = amount > 0 ? (cost * left) / amount : 0;
      amount = left;
    }
    return { atSeconds: trade.atSeconds, price: amount > 0 ? cost / amount : null };
  });
}

export interface Standing {
  /** of the charted token, bought here and not sold here again */
  readonly amount: number;
  readonly averagePrice: number;
  /** what it is worth above what it cost, in percent of that */
  readonly gainPercent: number;
}

/**
 * What these trades bought and did not sell again, against its price now; undefined where there is nothing of it. Whether
 * the wallet still has it is another matter: another strategy, or its owner, may have moved it.
 */
export function standingOf(trades: readonly Trade[], price: number): Standing | undefined {
  const averagePrice = averageCost(trades).at(-1)?.price ?? null;
  if (averagePrice === null || !(averagePrice > 0)) return undefined;
  const amount = trades.reduce(
    (held, { side, amount: own }) => (side === "buy" ? held + own : Math.max(held - own, 0)),
    0,
  );
  return { amount, averagePrice, gainPercent: (price / averagePrice - 1) * 100 };
}

/** A step line at given instants: at each of them, the last point before it. */
export function stepsAt(points: readonly CostPoint[], instants: readonly number[]): (number | null)[] {
  let next = 0;
  let last: number | null = null;
  return instants.map((instant) => {
    for (let point = points[next]; point !== undefined && point.atSeconds <= instant; point = points[next]) {
      last = point.price;
      next += 1;
    }
    return last;
  });
}
