import { escapeHtml } from "./markup.ts";

/** A value over time; `atMs` in Unix milliseconds. */
export interface PlotPoint {
  readonly atMs: number;
  readonly value: number;
}

/** Values that are joined by a line, or stand alone as marks. */
export interface PlotSeries {
  readonly name: string;
  /** a colour of the page's style */
  readonly colour: "--one" | "--two" | "--up" | "--down";
  readonly points: readonly PlotPoint[];
  /** `area`: filled down to zero */
  readonly as: "line" | "area" | "up" | "down";
}

const BOX = { width: 900, height: 260, left: 70, right: 10, top: 10, bottom: 24 };
/** No screen shows more than these. */
const MOST_POINTS = 900;
const MOST_MARKS = 2_000;

/** A plot as inline SVG. @returns nothing where there is nothing to show */
export function linePlot(title: string, series: readonly PlotSeries[], format: (value: number) => string): string {
  const shown = series.map((one) => ({ ...one, points: thinned(one) })).filter(({ points }) => points.length > 0);
  const all = shown.flatMap(({ points }) => points);
  const [first] = all;
  if (first === undefined) return "";
  const scale = scaleOf(shown.some(({ as }) => as === "area") ? [...all, { ...first, value: 0 }] : all);
  const drawn = shown.map((one) => draw(one, scale)).join("\n");
  const names = shown.map(({ name }) => name).join(", ");
  return `<figure><svg viewBox="0 0 ${BOX.width} ${BOX.height}" role="img" aria-label="${escapeHtml(`${title}: ${names}`)}">
${axes(scale, format)}
${drawn}
</svg><figcaption>${escapeHtml(title)}: ${shown.map(legend).join(" &#183; ")}</figcaption></figure>`;
}

function legend({ name, colour, as }: PlotSeries): string {
  const sign = as === "up" ? "&#9650;" : as === "down" ? "&#9660;" : "&#9644;";
  return `<span style="color: var(${colour})">${sign}</span> ${escapeHtml(name)}`;
}

interface Scale {
  readonly fromMs: number;
  readonly untilMs: number;
  readonly low: number;
  readonly high: number;
  x(atMs: number): string;
  y(value: number): string;
}

function scaleOf(points: readonly PlotPoint[]): Scale {
  let [fromMs, untilMs] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const { atMs, value } of points) {
    [fromMs, untilMs] = [Math.min(fromMs, atMs), Math.max(untilMs, atMs)];
    [low, high] = [Math.min(low, value), Math.max(high, value)];
  }
  const span = high - low || Math.abs(high) || 1;
  const [width, height] = [BOX.width - BOX.left - BOX.right, BOX.height - BOX.top - BOX.bottom];
  return {
    ...{ fromMs, untilMs, low, high },
    x: (atMs) => (BOX.left + ((atMs - fromMs) / (untilMs - fromMs || 1)) * width).toFixed(1),
    y: (value) => (BOX.top + (1 - (value - low) / span) * height).toFixed(1),
  };
}

function axes({ fromMs, untilMs, low, high, x, y }: Scale, format: (value: number) => string): string {
  const lines = [0, 0.25, 0.5, 0.75, 1].map((share) => {
    const value = low + (high - low) * share;
    const at = y(value);
    return `<line x1="${BOX.left}" x2="${BOX.width - BOX.right}" y1="${at}" y2="${at}" stroke="var(--line)"/><text x="${BOX.left - 6}" y="${at}" dy="4" text-anchor="end">${escapeHtml(format(value))}</text>`;
  });
  const days = [0, 0.25, 0.5, 0.75, 1].map((share) => {
    const atMs = fromMs + (untilMs - fromMs) * share;
    const anchor = share === 0 ? "start" : share === 1 ? "end" : "middle";
    const text = new Date(atMs)
      .toISOString()
      .slice(0, untilMs - fromMs > 3 * 86_400_000 ? 10 : 16)
      .replace("T", " ");
    return `<text x="${x(atMs)}" y="${BOX.height - 6}" text-anchor="${anchor}">${text}</text>`;
  });
  return [...lines, ...days].join("\n");
}

function draw({ points, as, colour }: PlotSeries, { x, y }: Scale): string {
  if (as === "up" || as === "down") {
    const shape = as === "up" ? "l-4,7h8z" : "l-4,-7h8z";
    const marks = points.map(({ atMs, value }) => `M${x(atMs)},${y(value)}${shape}`).join("");
    return `<path d="${marks}" fill="var(${colour})"/>`;
  }
  const path = points.map(({ atMs, value }, index) => `${index === 0 ? "M" : "L"}${x(atMs)},${y(value)}`).join("");
  if (as === "line") return `<path d="${path}" fill="none" stroke="var(${colour})" stroke-width="1.5"/>`;
  const [first, last] = [points[0], points.at(-1)];
  const down = first === undefined || last === undefined ? "" : `L${x(last.atMs)},${y(0)}L${x(first.atMs)},${y(0)}Z`;
  return `<path d="${path}${down}" fill="var(${colour})" fill-opacity="0.35" stroke="var(${colour})"/>`;
}

/** Of each stretch its lowest and highest value, so that no extreme is lost; marks are cut to a number that can be drawn. */
function thinned({ points, as }: PlotSeries): readonly PlotPoint[] {
  if (as === "up" || as === "down") {
    const every = Math.ceil(points.length / MOST_MARKS);
    return points.filter((_, index) => index % every === 0);
  }
  if (points.length <= MOST_POINTS) return points;
  const size = Math.ceil(points.length / (MOST_POINTS / 2));
  const kept: PlotPoint[] = [];
  for (let from = 0; from < points.length; from += size) {
    const part = points.slice(from, from + size);
    const [low, high] = part.reduce<readonly [PlotPoint | undefined, PlotPoint | undefined]>(
      ([least, most], point) => [
        least === undefined || point.value < least.value ? point : least,
        most === undefined || point.value > most.value ? point : most,
      ],
      [undefined, undefined],
    );
    const both = [low, high].filter((point) => point !== undefined);
    kept.push(...both.sort((one, other) => one.atMs - other.atMs));
  }
  return kept;
}
