import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { repaint } from "../theme.ts";
import { cssColour, type Level, type Mark, paintLevels, paintMarks, timeLabels, withLevels } from "./chart-paint.ts";

export interface ChartLine {
  readonly label: string;
  readonly values: readonly (number | null)[];
  /** name of a colour of the page */
  readonly colour: string;
  readonly isFilled?: boolean;
  readonly isStepped?: boolean;
}

interface ChartProps {
  /** what it shows, in a sentence with figures: it is all that a screen reader gets of the picture */
  readonly description: string;
  readonly atSeconds: readonly number[];
  readonly lines: readonly ChartLine[];
  readonly levels?: readonly Level[];
  readonly marks?: readonly Mark[];
  readonly format: (value: number) => string;
  /** for the axis, where there is little room */
  readonly short: (value: number) => string;
}

const HEIGHT = 260;
const NARROW_HEIGHT = 210;

function heightFor(width: number): number {
  return width < 500 ? NARROW_HEIGHT : HEIGHT;
}

function seriesOf(line: ChartLine, format: ChartProps["format"]): uPlot.Series {
  const steps = line.isStepped === true ? uPlot.paths.stepped?.({ align: 1 }) : undefined;
  return {
    label: line.label,
    stroke: () => cssColour(line.colour),
    width: 2,
    spanGaps: true,
    points: { show: line.values.length < 3, size: 5 },
    value: (_plot, value) => (value === null ? "–" : format(value)),
    ...(line.isFilled === true ? { fill: () => cssColour(`${line.colour}-faint`) } : {}),
    ...(steps === undefined ? {} : { paths: steps }),
  };
}

function optionsOf(props: () => ChartProps, width: number): uPlot.Options {
  const axis = {
    stroke: () => cssColour("--muted"),
    grid: { stroke: () => cssColour("--line"), width: 1 },
    ticks: { show: false },
    font: "12px system-ui, sans-serif",
  };
  return {
    width,
    height: heightFor(width),
    legend: { live: true },
    cursor: { drag: { x: true, y: false } },
    scales: { y: { range: (_plot, low, high) => withLevels(low, high, props().levels ?? []) } },
    axes: [
      { ...axis, space: 76, values: (_plot, splits, _axis, _space, step) => timeLabels(splits, step) },
      { ...axis, size: 64, values: (_plot, splits) => splits.map((value) => props().short(value)) },
    ],
    series: [
      { label: "Time", value: "{YYYY}-{MM}-{DD} {HH}:{mm}:{ss}" },
      ...props().lines.map((line) => seriesOf(line, props().format)),
    ],
    hooks: {
      draw: [(plot) => paintLevels(plot, props().levels ?? []), (plot) => paintMarks(plot, props().marks ?? [])],
    },
  };
}

function dataOf({ atSeconds, lines }: ChartProps): uPlot.AlignedData {
  return [[...atSeconds], ...lines.map(({ values }) => [...values])];
}

/** Lines over time. Drag to look closer, double-click to see all. */
export function Chart(props: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const newest = useRef(props);
  newest.current = props;
  const shape = props.lines.map(({ label }) => label).join("\n");
  const paint = repaint.value;
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const made = new uPlot(
      optionsOf(() => newest.current, element.clientWidth),
      dataOf(newest.current),
      element,
    );
    plot.current = made;
    const watcher = new ResizeObserver(() => {
      const width = element.clientWidth;
      if (width > 0 && width !== made.width) made.setSize({ width, height: heightFor(width) });
    });
    watcher.observe(element);
    return () => {
      watcher.disconnect();
      made.destroy();
      plot.current = undefined;
    };
  }, [shape, paint]);
  useEffect(() => {
    const { current } = plot;
    if (current === undefined) return;
    // Who looks closer keeps what he looks at.
    const { min, max } = current.scales.x ?? {};
    const known = current.data[0];
    const isUnset = typeof min !== "number" || known.length === 0;
    const isWhole = isUnset || (min === known[0] && max === known[known.length - 1]);
    current.setData(dataOf(props), isWhole);
    if (!isWhole) current.redraw();
  }, [props.atSeconds, props.lines, props.levels, props.marks]);
  return (
    <figure class="chart">
      <div ref={place} role="img" aria-label={props.description} />
    </figure>
  );
}
