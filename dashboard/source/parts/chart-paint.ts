import type uPlot from "uplot";

/** A price at which something happens. */
export interface Level {
  readonly label: string;
  readonly price: number;
  readonly colour: string;
}

/** A buy (a triangle that points up) or a sell (down). */
export interface Mark {
  readonly atSeconds: number;
  readonly price: number;
  readonly side: "buy" | "sell";
}

const DAY_SECONDS = 86_400;

export function cssColour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** Labels of a time axis by the clock of the one who reads, as fine as its steps are. */
export function timeLabels(splits: readonly number[], step: number): string[] {
  const options: Intl.DateTimeFormatOptions =
    step >= DAY_SECONDS
      ? { day: "2-digit", month: "short" }
      : step >= 60
        ? { hour: "2-digit", minute: "2-digit" }
        : { hour: "2-digit", minute: "2-digit", second: "2-digit" };
  const format = new Intl.DateTimeFormat("en-GB", options);
  return splits.map((seconds) => format.format(seconds * 1_000));
}

/** Levels within a third of the price belong into the picture; one at half the price would press the line flat. */
function isNear(price: number, low: number, high: number): boolean {
  return price > low * 0.67 && price < high * 1.5;
}

/** The range of the price axis: the line, near levels, and a margin. */
export function withLevels(low: number | null, high: number | null, levels: readonly Level[]): [number, number] {
  if (low === null || high === null) return [0, 1];
  const near = levels.map(({ price }) => price).filter((price) => isNear(price, low, high));
  const bottom = Math.min(low, ...near);
  const top = Math.max(high, ...near);
  const margin = (top - bottom) * 0.08 || Math.abs(top) * 0.01 || 1;
  return [bottom - margin, top + margin];
}

/** Draws levels as dashed lines with their names. */
export function paintLevels(plot: uPlot, levels: readonly Level[]): void {
  const { ctx, bbox } = plot;
  const { min, max } = plot.scales.y ?? {};
  if (min === undefined || max === undefined) return;
  ctx.save();
  ctx.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
  ctx.textAlign = "right";
  let above = Number.NEGATIVE_INFINITY;
  // From the top down: a name that would stand on the one above it goes below its own line.
  for (const { label, price, colour } of [...levels].sort((a, b) => b.price - a.price)) {
    if (price < min || price > max) continue;
    const y = Math.round(plot.valToPos(price, "y", true));
    ctx.strokeStyle = cssColour(colour);
    ctx.fillStyle = cssColour(colour);
    ctx.lineWidth = devicePixelRatio;
    ctx.setLineDash([5 * devicePixelRatio, 4 * devicePixelRatio]);
    ctx.beginPath();
    ctx.moveTo(bbox.left, y);
    ctx.lineTo(bbox.left + bbox.width, y);
    ctx.stroke();
    const isClose = y - above < 14 * devicePixelRatio;
    ctx.textBaseline = isClose ? "top" : "bottom";
    ctx.fillText(label, bbox.left + bbox.width - 4 * devicePixelRatio, y + (isClose ? 2 : -2) * devicePixelRatio);
    above = y;
  }
  ctx.restore();
}

/** Draws buys and sells, told apart by form and by colour. */
export function paintMarks(plot: uPlot, marks: readonly Mark[]): void {
  const { ctx } = plot;
  const { min: first, max: last } = plot.scales.x ?? {};
  if (first === undefined || last === undefined) return;
  const size = 6 * devicePixelRatio;
  ctx.save();
  ctx.lineWidth = devicePixelRatio;
  ctx.strokeStyle = cssColour("--card");
  for (const { atSeconds, price, side } of marks) {
    if (atSeconds < first || atSeconds > last) continue;
    const x = plot.valToPos(atSeconds, "x", true);
    const y = plot.valToPos(price, "y", true);
    const direction = side === "buy" ? 1 : -1;
    ctx.fillStyle = cssColour(side === "buy" ? "--good" : "--bad");
    ctx.beginPath();
    ctx.moveTo(x, y - size * direction);
    ctx.lineTo(x + size, y + size * direction);
    ctx.lineTo(x - size, y + size * direction);
    ctx.closePath();
    ctx.fill();
    ctx.stroke();
  }
  ctx.restore();
}
