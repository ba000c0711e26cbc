import { useMemo, useState } from "preact/hooks";
import type { AnswerOf } from "../answers.ts";
import { query } from "../api.ts";
import { asDollars, dollars } from "../format/decimal.ts";
import { clockTime } from "../format/time.ts";
import { useReading } from "../resource.ts";
import { Card, Empty, Loaded } from "./card.tsx";
import { Chart, type ChartLine } from "./chart.tsx";
import { RANGES, type Range, RangePicker, sinceOf } from "./range-picker.tsx";

type History = AnswerOf<"getPortfolioHistory">;

const POINTS = 800;
const MOST_TOKENS = 5;

function pathSince(since: string | undefined) {
  return `/portfolio/history?${query({ since, points: POINTS })}` as const;
}

/** When a history begins that fills less than half of what was asked for. */
function knownSince({ atSeconds, totalUsd }: History): string | undefined {
  const first = totalUsd.findIndex((value) => value !== null);
  const instant = atSeconds[Math.max(first - 1, 0)];
  if (first < totalUsd.length / 2 || instant === undefined) return undefined;
  return new Date(instant * 1_000).toISOString();
}

const COMPACT = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 5 });

/** Dollars for an axis: `$671.8K`. */
function inShort(value: number): string {
  return `$${COMPACT.format(value)}`;
}

/** Value of the wallets over time. */
export function PortfolioChart() {
  const [range, setRange] = useState<Range>(RANGES[1]);
  const since = useMemo(() => sinceOf(range, Date.now()), [range]);
  const whole = useReading("getPortfolioHistory", pathSince(since), { everyMs: 60_000 });
  // Of a range of which little is known, that little is asked for in full.
  const known = useMemo(() => (whole.value === undefined ? undefined : knownSince(whole.value)), [whole.value]);
  const part = useReading("getPortfolioHistory", known === undefined ? undefined : pathSince(known), { live: true });
  const history = part.value === undefined ? whole : part;
  const [isByToken, setByToken] = useState(false);
  return (
    <Card
      title="Portfolio"
      class="broad"
      aside={
        <>
          <button type="button" class="plain" aria-pressed={isByToken} onClick={() => setByToken(!isByToken)}>
            By token
          </button>
          <RangePicker range={range} choose={setRange} name="Range of the portfolio's chart" />
        </>
      }
    >
      <Loaded reading={history}>{(value) => <Drawn history={value} isByToken={isByToken} />}</Loaded>
    </Card>
  );
}

function linesOf(history: History, isByToken: boolean): readonly ChartLine[] {
  const tokens = history.tokens
    .filter(({ usd }) => usd.some((value) => value !== null && Number(value) > 0))
    .slice(0, MOST_TOKENS);
  return [
    { label: "Total", values: numbers(history.totalUsd), colour: "--accent", isFilled: true },
    ...(isByToken ? tokens : []).map(
      ({ token, usd }, place): ChartLine => ({
        label: token.symbol,
        values: numbers(usd),
        colour: `--line-${place + 1}`,
      }),
    ),
  ];
}

function numbers(values: readonly (string | null)[]): (number | null)[] {
  return values.map((value) => (value === null ? null : Number(value)));
}

interface DrawnProps {
  readonly history: History;
  readonly isByToken: boolean;
}

function Drawn({ history, isByToken }: DrawnProps) {
  const lines = useMemo(() => linesOf(history, isByToken), [history, isByToken]);
  const known = history.totalUsd.flatMap((value, place) => (value === null ? [] : [{ value, place }]));
  const [first, last] = [known[0], known[known.length - 1]];
  if (first === undefined || last === undefined || known.length < 2) {
    return (
      <Empty>
        No value is known over this time yet. It is calculated from the wallets, their swaps and the reference prices
        that were recorded; the first points come within minutes of a start.
      </Empty>
    );
  }
  const begin = new Date((history.atSeconds[first.place] ?? 0) * 1_000).toISOString();
  const description = `Value of the wallets: ${dollars(first.value)} at ${clockTime(begin)}, ${dollars(last.value)} now.`;
  return (
    <>
      <Chart description={description} atSeconds={history.atSeconds} lines={lines} format={asDollars} short={inShort} />
      <p class="faint">
        Calculated back from what the wallets have now by their own swaps: deposits, withdrawals and gas are not known
        at their time.
        {history.without.length > 0 && ` Without ${history.without.join(", ")}: an amount or a price is not known.`}
      </p>
    </>
  );
}
