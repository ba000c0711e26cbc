import type { Candle } from "../../domain/backtest/candles.ts";
import { USD_DECIMALS, type UsdPrice } from "../../domain/money/price.ts";
import { formatDuration } from "../../domain/time/format-duration.ts";
import { isDayOfCalendar } from "../read-instant.ts";
import { formatInstant } from "../terminal.ts";

/** Candles as a file has them: prices in whatever they are quoted in, scaled by 1e18. */
export interface ReadCandles {
  readonly candles: readonly Candle[];
  readonly stepMs: number;
  /** what was put right or is missing, with line numbers, for people */
  readonly notes: readonly string[];
}

/** So many faulty lines are shown; the others are counted. */
const SHOWN = 5;

/** A file that cannot be used, with its lines. */
export class CandleFileError extends Error {
  constructor(name: string, problems: readonly string[]) {
    const more = problems.length > SHOWN ? [`... and ${problems.length - SHOWN} more lines`] : [];
    super([...problems.slice(0, SHOWN).map((problem) => `${name}: ${problem}`), ...more].join("\n"));
    this.name = "CandleFileError";
  }
}

const COLUMNS = ["timestamp", "open", "high", "low", "close"] as const;
type Column = (typeof COLUMNS)[number];

/** How exchanges and their clients call the beginning of a candle. */
const TIME_NAMES = [
  "timestamp",
  "date",
  "time",
  "datetime",
  "open_time",
  "opentime",
  "open time",
  "unix",
  "ts",
  "start",
];

/**
 * Reads CSV with the columns timestamp, open, high, low, close, in the order of its header; without one in that order, and
 * whatever follows is passed over.
 * @throws CandleFileError with the lines that cannot be used
 */
export function readCandles(name: string, text: string): ReadCandles {
  const lines = text.split(/\r\n|\n|\r/);
  const first = lines[0]?.replace(/^\uFEFF/, "") ?? "";
  const delimiter = [",", ";", "\t"].find((one) => first.includes(one)) ?? ",";
  const split = (line: string): readonly string[] =>
    line.split(delimiter).map((cell) => cell.trim().replace(/^"(.*)"$/, "$1"));
  const header = headerOf(name, split(first));
  const places = header ?? { timestamp: 0, open: 1, high: 2, low: 3, close: 4 };
  const rows: Row[] = [];
  const problems: string[] = [];
  lines[0] = first;
  for (const [index, line] of lines.entries()) {
    if (index === 0 && header !== undefined) continue;
    if (line.trim() === "") continue;
    const row = rowOf(split(line), places);
    if (typeof row === "string") problems.push(`line ${index + 1}: ${row}`);
    else rows.push({ ...row, line: index + 1 });
  }
  if (problems.length > 0) throw new CandleFileError(name, problems);
  if (rows.length < 2) throw new CandleFileError(name, [`has ${rows.length} candles; at least two are needed`]);
  return inOrder(name, rows);
}

interface Row extends Candle {
  readonly line: number;
  readonly unit: string;
}

function headerOf(name: string, cells: readonly string[]): Readonly<Record<Column, number>> | undefined {
  if (/^[0-9]/.test(cells[0] ?? "")) return undefined;
  const names = cells.map((cell) => cell.toLowerCase());
  const find = (column: Column): number =>
    column === "timestamp" ? names.findIndex((one) => TIME_NAMES.includes(one)) : names.indexOf(column);
  const places = Object.fromEntries(COLUMNS.map((column) => [column, find(column)])) as Record<Column, number>;
  const missing = COLUMNS.filter((column) => places[column] < 0);
  if (missing.length === 0) return places;
  throw new CandleFileError(name, [
    `line 1: the header has no column ${missing.join(", ")}: it needs timestamp,open,high,low,close (and volume, which is not used)`,
  ]);
}

function rowOf(cells: readonly string[], places: Readonly<Record<Column, number>>): Omit<Row, "line"> | string {
  const cell = (column: Column): string => cells[places[column]] ?? "";
  const time = instantOf(cell("timestamp"));
  if (typeof time === "string") return time;
  const prices = { open: 0n, high: 0n, low: 0n, close: 0n } as Record<Exclude<Column, "timestamp">, UsdPrice>;
  for (const column of ["open", "high", "low", "close"] as const) {
    const price = priceOf(cell(column));
    if (price === undefined) return `${column} is ${quoted(cell(column))}, and a price is a number above zero`;
    prices[column] = price;
  }
  const { open, high, low, close } = prices;
  if (low > open || low > close || high < open || high < close)
    return "low and high do not enclose open and close: are the columns timestamp,open,high,low,close?";
  return { ...time, ...prices };
}

const quoted = (text: string): string => (text === "" ? "missing" : JSON.stringify(text.slice(0, 40)));

/** Seconds, milliseconds and microseconds lie so far apart that each instant of our time tells which they are. */
function instantOf(text: string): { readonly atMs: number; readonly unit: string } | string {
  if (/^[0-9]{9,17}(?:\.0+)?$/.test(text)) {
    const value = Number(text);
    if (value < 1e11) return { atMs: value * 1_000, unit: "seconds" };
    if (value < 1e14) return { atMs: value, unit: "milliseconds" };
    return { atMs: Math.floor(value / 1_000), unit: "microseconds" };
  }
  const iso =
    /^([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[ T]([0-9]{2}:[0-9]{2}(?::[0-9]{2})?(?:\.[0-9]+)?))?(Z|[+-][0-9]{2}:?[0-9]{2})?$/;
  const [, day, time = "00:00", zone = "Z"] = iso.exec(text) ?? [];
  const atMs = day === undefined || !isDayOfCalendar(day) ? Number.NaN : Date.parse(`${day}T${time}${zone}`);
  if (Number.isFinite(atMs)) return { atMs, unit: "dates" };
  return `timestamp is ${quoted(text)}, and should be milliseconds since 1970 (UTC)`;
}

/** Exactly, as far as 18 places go; what is finer is cut. */
function priceOf(text: string): UsdPrice | undefined {
  const [, whole = "", fraction = "", exponent = "0"] =
    /^([0-9]*)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]{1,2}))?$/.exec(text) ?? [];
  if (whole + fraction === "") return undefined;
  const places = USD_DECIMALS + Number(exponent);
  const digits = BigInt(whole + fraction);
  const shift = places - fraction.length;
  const scaled = shift >= 0 ? digits * 10n ** BigInt(shift) : digits / 10n ** BigInt(-shift);
  return scaled > 0n ? (scaled as UsdPrice) : undefined;
}

/** Sorts, takes out what stands there twice, and finds what is missing. */
function inOrder(name: string, read: readonly Row[]): ReadCandles {
  const units = new Map(read.map((row) => [row.unit, row.line]));
  if (units.size > 1) {
    const mixed = [...units].map(([unit, line]) => `${unit} (line ${line})`).join(" and ");
    throw new CandleFileError(name, [`its timestamps are ${mixed}: they must be of one kind`]);
  }
  const [unit] = units.keys();
  const notes = unit === "milliseconds" ? [] : [`${name}: its timestamps are ${unit}; read as UTC`];
  const disordered = read.filter((row, index) => row.atMs < (read[index - 1]?.atMs ?? row.atMs));
  if (disordered.length > 0) notes.push(`${name}: ${listed(disordered, "stand before an earlier line")}; sorted`);
  const rows = disordered.length > 0 ? [...read].sort((one, other) => one.atMs - other.atMs) : read;
  const twice: Row[] = [];
  const kept: Row[] = [];
  for (const row of rows) {
    const last = kept.at(-1);
    if (last?.atMs !== row.atMs) kept.push(row);
    else if (isSame(last, row)) twice.push(row);
    else
      throw new CandleFileError(name, [
        `lines ${last.line} and ${row.line} are of ${formatInstant(row.atMs)} and differ: which one is right?`,
      ]);
  }
  if (twice.length > 0) notes.push(`${name}: ${listed(twice, "stand there twice")}; taken once`);
  const stepMs = commonStep(kept);
  return { candles: kept, stepMs, notes: [...notes, ...gapNotes(name, kept, stepMs)] };
}

function isSame(one: Candle, other: Candle): boolean {
  return one.open === other.open && one.high === other.high && one.low === other.low && one.close === other.close;
}

function listed(rows: readonly Row[], what: string): string {
  const shown = rows.slice(0, SHOWN).map(({ line }) => line);
  return `${rows.length} lines ${what} (line ${shown.join(", ")}${rows.length > SHOWN ? ", ..." : ""})`;
}

/** The distance that most neighbours have; of several the shortest. */
function commonStep(rows: readonly Row[]): number {
  const counts = new Map<number, number>();
  for (const [index, { atMs }] of rows.entries()) {
    const before = rows[index - 1];
    if (before !== undefined) counts.set(atMs - before.atMs, (counts.get(atMs - before.atMs) ?? 0) + 1);
  }
  const [first = [60_000, 0]] = [...counts].sort(([one, often], [other, rarely]) => rarely - often || one - other);
  return first[0];
}

function gapNotes(name: string, rows: readonly Row[], stepMs: number): readonly string[] {
  const gaps = rows.flatMap(({ atMs, line }, index) => {
    const next = rows[index + 1];
    return next !== undefined && next.atMs - atMs > stepMs ? [{ line, atMs, untilMs: next.atMs }] : [];
  });
  if (gaps.length === 0) return [];
  const missing = gaps.reduce((sum, { atMs, untilMs }) => sum + Math.ceil((untilMs - atMs) / stepMs) - 1, 0);
  const shown = gaps
    .slice(0, SHOWN)
    .map(
      ({ line, atMs, untilMs }) =>
        `after line ${line} from ${formatInstant(atMs + stepMs)} until ${formatInstant(untilMs)}`,
    );
  const more = gaps.length > SHOWN ? `, and ${gaps.length - SHOWN} more gaps` : "";
  return [
    `${name}: ${missing} candles of ${formatDuration(stepMs)} are missing (${shown.join(", ")}${more}); there is no price there, and nothing is traded`,
  ];
}
