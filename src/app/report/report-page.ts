import { type Entry, isDated } from "../../domain/books/entry.ts";
import type { Address } from "../../domain/money/address.ts";
import { describeDollars } from "../../domain/money/for-people.ts";
import { USD_DECIMALS } from "../../domain/money/price.ts";
import type { World } from "../books/book.ts";
import { linePlot, type PlotSeries } from "../html/line-plot.ts";
import { escapeHtml, headed, listOf, pageOf, tableOf } from "../html/markup.ts";
import { MOST_SHARES, stackedPlot } from "../html/stacked-plot.ts";
import { formatInstant } from "../terminal.ts";
import { type Held, heldTable, unknownLines } from "./held-table.ts";
import { againstLumpSums, costsOf, executionsOf, strategyFigures } from "./strategy-figures.ts";
import type { ValueCourse } from "./value-course.ts";

/** What a report is made of. */
export interface Report extends Held {
  readonly world: World;
  readonly network: string;
  readonly wallet: string | undefined;
  /** of the time that was asked for */
  readonly entries: readonly Entry[];
  readonly course: ValueCourse;
  readonly notFinal: number;
}

/** One page that needs nothing else: plots, tables, and what they cannot show. */
export function reportPage(report: Report): string {
  const { world, network, entries, wallet } = report;
  const [first, last] = [entries.find(isDated), entries.findLast(isDated)];
  const title = `swapd on ${network}`;
  const span =
    first === undefined || last === undefined
      ? "no entries"
      : `${formatInstant(first.atMs)} to ${formatInstant(last.atMs)}`;
  const real =
    world === "live" ? "" : `<p><strong>${escapeHtml(world.toUpperCase())}: nothing of it is real money.</strong></p>`;
  const head = `<h1>${escapeHtml(title)}</h1>${real}<p>${escapeHtml(`${span}, ${wallet === undefined ? "all wallets" : `wallet ${wallet}`}; in dollars by the reference prices of each swap. No tax advice.`)}</p>`;
  const parts = [
    sums(report),
    value(report),
    quality(report),
    lumpSums(report),
    costs(report),
    strategies(report),
    section("What is held, the oldest lots sold first", heldTable(report)),
    notes(report),
  ];
  return pageOf(title, [head, ...parts.filter((part) => part !== "")].join("\n"));
}

function section(title: string, body: string): string {
  return body === "" ? "" : `<section><h2>${escapeHtml(title)}</h2>${body}</section>`;
}

/** Dollars as a number to draw. */
function drawn(usd: bigint): number {
  return Number(usd / 10n ** BigInt(USD_DECIMALS - 4)) / 10_000;
}

/** Parts per million as basis points to draw. */
const points = (ppm: bigint): number => Number(ppm) / 100;
const bps = (ppm: bigint | undefined): string => (ppm === undefined ? "-" : `${points(ppm).toFixed(1)} bp`);
const dollarsOf = (value: number): string => `$${value.toFixed(Math.abs(value) < 100 ? 2 : 0)}`;

function sums({ entries }: Report): string {
  const all = strategyFigures(entries);
  const total = (pick: (one: (typeof all)[number]) => bigint): string =>
    describeDollars(all.reduce((sum, one) => sum + pick(one), 0n));
  const swaps = all.reduce((sum, one) => sum + one.swaps, 0);
  return section(
    "In short",
    tableOf([
      ["Swaps", String(swaps)],
      ["Traded", total(({ value: traded }) => traded)],
      ["Fees of the service and of affiliates", total(({ fees }) => fees)],
      ["Gas", total(({ gas }) => gas)],
    ]),
  );
}

function value({ course, nameOf }: Report): string {
  const points = course.points;
  const totals = points.map(({ atMs, total }) => ({ atMs, value: drawn(total) }));
  const plot = linePlot(
    "Value of what is held",
    [{ name: "all assets", colour: "--one", points: totals, as: "line" }],
    dollarsOf,
  );
  const spaced = everyNth(points, MOST_STACKED);
  const largest = [...(points.at(-1)?.byAsset ?? [])]
    .sort(([, one], [, other]) => (one > other ? -1 : 1))
    .map(([address]) => address);
  const own = largest.slice(0, largest.length > MOST_SHARES ? MOST_SHARES - 1 : MOST_SHARES);
  const shareOf = (address: Address) =>
    spaced.map(({ byAsset, total }) => percentOf(byAsset.get(address) ?? 0n, total));
  const shares = own.map((address) => ({ name: nameOf({ address }), percents: shareOf(address) }));
  const left = spaced.map((_, place) => 100 - shares.reduce((sum, { percents }) => sum + (percents[place] ?? 0), 0));
  const others = largest.length > own.length ? [{ name: "others", percents: left }] : [];
  return section(
    "Value and weights",
    `${plot}${stackedPlot(
      "Weights",
      spaced.map(({ atMs }) => atMs),
      [...shares, ...others],
    )}`,
  );
}

const MOST_STACKED = 400;

function everyNth<T>(all: readonly T[], most: number): readonly T[] {
  const step = Math.ceil(all.length / most);
  return all.filter((_, index) => index % step === 0 || index === all.length - 1);
}

function percentOf(part: bigint, whole: bigint): number {
  return whole === 0n ? 0 : Number((part * 10_000n) / whole) / 100;
}

function quality({ entries }: Report): string {
  const executions = executionsOf(entries);
  const marks = (pick: "reference" | "quote", as: "up" | "down"): PlotSeries["points"] =>
    executions.flatMap((one) => {
      const ppm = one[pick];
      return ppm === undefined || ppm >= 0n !== (as === "up") ? [] : [{ atMs: one.atMs, value: points(ppm) }];
    });
  const zero = (all: PlotSeries["points"]): PlotSeries => ({
    name: "even",
    colour: "--two",
    as: "line",
    points:
      all.length === 0
        ? []
        : [executions[0], executions.at(-1)].flatMap((one) =>
            one === undefined ? [] : [{ atMs: one.atMs, value: 0 }],
          ),
  });
  const plotOf = (title: string, pick: "reference" | "quote"): string => {
    const [up, down] = [marks(pick, "up"), marks(pick, "down")];
    return linePlot(
      title,
      [
        zero([...up, ...down]),
        { name: "better", colour: "--up", points: up, as: "up" },
        { name: "worse", colour: "--down", points: down, as: "down" },
      ],
      (bp) => `${bp.toFixed(1)} bp`,
    );
  };
  return section(
    "Execution",
    plotOf("Against the reference prices, fees included", "reference") + plotOf("Against the quote", "quote"),
  );
}

function lumpSums({ entries, nameOf }: Report): string {
  const drawnFirst = againstLumpSums(entries).found.slice(0, MOST_PLOTS);
  const plots = drawnFirst.map(({ strategy, bought, points: course }) =>
    linePlot(
      `${strategy}: ${nameOf(bought)} in steps against all at once`,
      [
        {
          name: "in steps, with what was not spent yet",
          colour: "--one",
          as: "line",
          points: course.map(({ atMs, inSteps }) => ({ atMs, value: drawn(inSteps) })),
        },
        {
          name: "all at the first price, without costs",
          colour: "--two",
          as: "line",
          points: course.map(({ atMs, atOnce }) => ({ atMs, value: drawn(atOnce) })),
        },
      ],
      dollarsOf,
    ),
  );
  return section("In steps, or at once", plots.join(""));
}

const MOST_PLOTS = 8;

function costs({ entries }: Report): string {
  let [fees, gas] = [0n, 0n];
  const course = costsOf(entries).map((one) => {
    [fees, gas] = [fees + one.fees, gas + one.gas];
    return { atMs: one.atMs, fees, gas };
  });
  return section(
    "Fees and gas",
    linePlot(
      "Paid so far",
      [
        {
          name: "fees",
          colour: "--one",
          as: "line",
          points: course.map((one) => ({ atMs: one.atMs, value: drawn(one.fees) })),
        },
        {
          name: "gas",
          colour: "--down",
          as: "line",
          points: course.map((one) => ({ atMs: one.atMs, value: drawn(one.gas) })),
        },
      ],
      dollarsOf,
    ),
  );
}

function strategies({ entries }: Report): string {
  const rows = strategyFigures(entries).map((one) => [
    one.strategy,
    String(one.swaps),
    describeDollars(one.value),
    describeDollars(one.fees),
    describeDollars(one.gas),
    bps(one.reference),
    bps(one.quote),
  ]);
  return section(
    "Strategies",
    headed(
      ["Strategy", "Swaps", "Traded", "Fees", "Gas", "Against reference (median)", "Against quote (median)"],
      rows,
    ),
  );
}

function undrawn({ entries }: Report): readonly string[] {
  const { found, unpriced } = againstLumpSums(entries);
  const beyond = found.slice(MOST_PLOTS).map(({ strategy }) => strategy);
  return [
    ...(beyond.length > 0
      ? [`Of those that buy in steps ${MOST_PLOTS} are drawn, and these are not: ${beyond.join(", ")}.`]
      : []),
    ...(unpriced.length > 0
      ? [`They buy in steps and are not drawn, because a swap of theirs has no price: ${unpriced.join(", ")}.`]
      : []),
  ];
}

function notes(report: Report): string {
  const { course, nameOf, notFinal } = report;
  const lines = [
    "What has no reference price counts nothing. Values are by the last prices that swaps were cleared by; until the first one of an asset, by that one.",
    "Deposits and withdrawals by other programs are in no row, and so in no plot.",
    ...(course.unpriced.length > 0
      ? [`In no total, without a price: ${course.unpriced.map((asset) => nameOf(asset)).join(", ")}.`]
      : []),
    ...undrawn(report),
    ...unknownLines(report),
    ...(notFinal > 0 ? [`${notFinal} swaps are not final yet and left out.`] : []),
  ];
  return section("What it cannot show", listOf(lines));
}
