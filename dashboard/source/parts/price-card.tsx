import { useMemo, useState } from "preact/hooks";
import type { AnswerOf, Fill, Strategy } from "../answers.ts";
import { query } from "../api.ts";
import { asDecimal, asDollars, shorten } from "../format/decimal.ts";
import { plural } from "../format/words.ts";
import { averageCost, type PriceUnit, standingOf, stepsAt, tradesOf } from "../model/average-cost.ts";
import { dollarLine, merged, placed, quotedLine } from "../model/price-line.ts";
import { useReading } from "../resource.ts";
import { Card, Empty, Loaded, Trouble } from "./card.tsx";
import { Chart } from "./chart.tsx";
import type { Level } from "./chart-paint.ts";
import { RANGES, type Range, RangePicker, sinceOf } from "./range-picker.tsx";

type Prices = AnswerOf<"getPrices">;

const POINTS = 1_000;
const LEVEL_COLOURS = {
  trigger: "--accent",
  limit: "--accent",
  rearm: "--muted",
  floor: "--warn",
  stop: "--bad",
  trail: "--bad",
};

/** The token whose price says most about a strategy: what it watches, else what it buys, else what it sells. */
function chartedSymbol({ watch, buys, sells, quote }: Strategy): string | undefined {
  const isOther = (token: { symbol: string }): boolean => token.symbol !== quote?.symbol;
  return (watch ?? buys.find(isOther) ?? sells.find(isOther) ?? buys[0])?.symbol;
}

/** Prices are charted in the quote token where one is named, because triggers and stops are given in it. */
function unitOf({ quote, levels }: Strategy): PriceUnit {
  return quote !== null && levels.length > 0 ? { kind: "token", symbol: quote.symbol } : { kind: "usd" };
}

/** Price with our buys and sells, the average cost, triggers and stops. */
export function PriceCard({ strategy }: { readonly strategy: Strategy }) {
  const [range, setRange] = useState<Range>(RANGES[1]);
  const since = useMemo(() => sinceOf(range, Date.now()), [range]);
  const symbol = chartedSymbol(strategy);
  const unit = unitOf(strategy);
  const path = (name: string) => `/prices/${encodeURIComponent(name)}?${query({ since, points: POINTS })}` as const;
  const fresh = { live: true, everyMs: 30_000 };
  const prices = useReading("getPrices", symbol === undefined ? undefined : path(symbol), fresh);
  const quotes = useReading("getPrices", unit.kind === "token" ? path(unit.symbol) : undefined, fresh);
  const fills = useReading("listFills", `/fills?${query({ strategy: strategy.id, limit: 2_000 })}`, fresh);
  if (symbol === undefined) return null;
  const title = unit.kind === "usd" ? `Price of ${symbol} in dollars` : `Price of ${symbol} in ${unit.symbol}`;
  const draw = (value: Prices, own?: Prices) => (
    <Drawn {...{ strategy, symbol, unit }} prices={value} quotes={own} fills={fills.value?.items ?? []} />
  );
  return (
    <Card
      title={title}
      class="broad"
      aside={<RangePicker range={range} choose={setRange} name="Range of the price's chart" />}
    >
      <Loaded reading={prices}>
        {(value) => (unit.kind === "usd" ? draw(value) : <Loaded reading={quotes}>{(own) => draw(value, own)}</Loaded>)}
      </Loaded>
      <Trouble reading={fills} what="Its trades" />
    </Card>
  );
}

interface DrawnProps {
  readonly strategy: Strategy;
  readonly symbol: string;
  readonly unit: PriceUnit;
  readonly prices: Prices;
  readonly quotes: Prices | undefined;
  readonly fills: readonly Fill[];
}

function pictureOf({ strategy, symbol, unit, prices, quotes, fills }: DrawnProps) {
  const line = unit.kind === "usd" || quotes === undefined ? dollarLine(prices) : quotedLine(prices, quotes);
  const trades = tradesOf(fills, symbol, unit);
  const first = line.atSeconds[0] ?? 0;
  const shown = trades.filter(({ atSeconds }) => atSeconds >= first);
  const instants = merged(
    line.atSeconds,
    shown.map(({ atSeconds }) => Math.floor(atSeconds)),
  );
  const levels: Level[] = strategy.levels.map(({ leg, what, price }) => ({
    label:
      leg === "" || strategy.levels.length === 1 ? `${what} ${shorten(price)}` : `${leg} ${what} ${shorten(price)}`,
    price: Number(price),
    colour: LEVEL_COLOURS[what],
  }));
  const cost = stepsAt(averageCost(trades), instants);
  const standing = standingOf(trades, line.price.at(-1) ?? 0);
  return { instants, standing, price: placed(instants, line.atSeconds, line.price), cost, shown, levels };
}

function Drawn(props: DrawnProps) {
  const { symbol, unit, prices, quotes, fills, strategy } = props;
  const picture = useMemo(() => pictureOf(props), [prices, quotes, fills, strategy]);
  const lines = useMemo(() => {
    const hasCost = picture.cost.some((value) => value !== null);
    return [
      { label: symbol, values: picture.price, colour: "--accent", isFilled: true },
      ...(hasCost ? [{ label: "Average cost", values: picture.cost, colour: "--line-2", isStepped: true }] : []),
    ];
  }, [picture, symbol]);
  const known = picture.price.filter((value) => value !== null);
  const last = known.at(-1);
  if (last === undefined || known.length < 2) {
    return (
      <Empty>
        No price of {symbol} was recorded over this time yet. The daemon notes reference prices while it runs; choose a
        longer range, or come back in some minutes.
      </Empty>
    );
  }
  const format = (value: number): string => (unit.kind === "usd" ? asDollars(value) : shorten(asDecimal(value)));
  const description = `Price of ${symbol}: ${format(known[0] ?? last)} at the begin, ${format(last)} now; ${plural(picture.shown.length, "trade")} of this strategy in it.`;
  return (
    <>
      <Chart
        description={description}
        atSeconds={picture.instants}
        lines={lines}
        levels={picture.levels}
        marks={picture.shown}
        format={format}
        short={(value) => shorten(asDecimal(value), 5)}
      />
      {picture.standing !== undefined && (
        <p>
          Bought by it and not sold by it: {shorten(picture.standing.amount.toFixed(12), 6)} {symbol}, on average at{" "}
          {format(picture.standing.averagePrice)};{" "}
          <span class={picture.standing.gainPercent < 0 ? "worse" : "better"}>
            {picture.standing.gainPercent < 0 ? "" : "+"}
            {picture.standing.gainPercent.toFixed(2)} %
          </span>{" "}
          at the newest price.
        </p>
      )}
      <p class="key faint">
        <span class="key-item">
          <span class="key-buy" /> buy
        </span>
        <span class="key-item">
          <span class="key-sell" /> sell
        </span>
        {picture.levels.map(({ label }) => (
          <span key={label}> · {label}</span>
        ))}
      </p>
    </>
  );
}
