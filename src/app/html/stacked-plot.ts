import { escapeHtml } from "./markup.ts";

/** Shares of a whole over time. */
export interface Shares {
  readonly name: string;
  /** hundredths, one for each instant */
  readonly percents: readonly number[];
}

const BOX = { width: 900, height: 220, left: 70, right: 10, top: 10, bottom: 24 };
/** Colours that are told apart on white and on black; more assets than these are one. */
const COLOURS = ["#0b62c4", "#d9822b", "#2a9d6f", "#9b59b6", "#c0392b", "#7f8c8d"];

/** Shares as areas upon one another, as inline SVG. @returns nothing where there is nothing to show */
export function stackedPlot(title: string, atMs: readonly number[], shares: readonly Shares[]): string {
  const [first, last] = [atMs[0], atMs.at(-1)];
  if (first === undefined || last === undefined || atMs.length < 2) return "";
  const [width, height] = [BOX.width - BOX.left - BOX.right, BOX.height - BOX.top - BOX.bottom];
  const x = (at: number): string => (BOX.left + ((at - first) / (last - first || 1)) * width).toFixed(1);
  const y = (percent: number): string => (BOX.top + (1 - percent / 100) * height).toFixed(1);
  const below = atMs.map(() => 0);
  const areas = shares.map(({ percents }, index) => {
    const from = [...below];
    for (const [place, percent] of percents.entries()) below[place] = (below[place] ?? 0) + percent;
    const up = atMs.map((at, place) => `${x(at)},${y(below[place] ?? 0)}`);
    const down = atMs.map((at, place) => `${x(at)},${y(from[place] ?? 0)}`).reverse();
    return `<path d="M${[...up, ...down].join("L")}Z" fill="${colourOf(index)}" fill-opacity="0.75"/>`;
  });
  const lines = [0, 25, 50, 75, 100].map(
    (percent) =>
      `<line x1="${BOX.left}" x2="${BOX.width - BOX.right}" y1="${y(percent)}" y2="${y(percent)}" stroke="var(--line)"/><text x="${BOX.left - 6}" y="${y(percent)}" dy="4" text-anchor="end">${percent}%</text>`,
  );
  const legend = shares.map(
    ({ name }, index) => `<span style="color: ${colourOf(index)}">&#9632;</span> ${escapeHtml(name)}`,
  );
  return `<figure><svg viewBox="0 0 ${BOX.width} ${BOX.height}" role="img" aria-label="${escapeHtml(`${title}: ${shares.map(({ name }) => name).join(", ")}`)}">
${areas.join("\n")}
${lines.join("\n")}
</svg><figcaption>${escapeHtml(title)}: ${legend.join(" &#183; ")}</figcaption></figure>`;
}

function colourOf(index: number): string {
  return COLOURS[Math.min(index, COLOURS.length - 1)] ?? "";
}

/** So many assets have a colour of their own; the last one is of all others together. */
export const MOST_SHARES = COLOURS.length;
