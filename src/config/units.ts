import { z } from "zod";
import { parseUnits } from "../domain/money/amount.ts";
import { formatPercent, ONE_PPM, type Ppm, parseShare, toPpm } from "../domain/money/fraction.ts";
import { parseUsd, type UsdPrice } from "../domain/money/price.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../domain/time/durations.ts";
import { type Complaint, wrong } from "./complaint.ts";
import { isComplaint, readAs } from "./fields.ts";
import { suggestDuration, suggestInstant, suggestMoney, suggestShare } from "./suggest.ts";

/**
 * Values with their unit inside: "100 USDC", 50bps, 5pp, 25%, 10m, 30gwei. They are read from the text that stands in the
 * file, exactly, and never pass through a floating-point number.
 */

interface UnitDescription {
  readonly description: string;
  readonly pattern: string;
  readonly examples: readonly [string, ...string[]];
  /** a number without its unit, written with the unit that it probably has */
  readonly fromNumber: (number: string) => string | undefined;
}

/** A text of some unit: a JSON Schema string with pattern and examples, and a parsed value. */
function unit<T>(about: UnitDescription, parse: (text: string) => T | Complaint) {
  return z
    .string({ error: ({ input }) => `needs text with its unit, for example "${exampleFor(about, input)}"` })
    .meta({ description: about.description, pattern: about.pattern, examples: [...about.examples] })
    .transform(
      readAs((text: string): T | Complaint => {
        const value = parse(text);
        const trimmed = text.trim();
        if (!isComplaint(value) || trimmed === text || isComplaint(parse(trimmed))) return value;
        return { ...value, suggestion: `write "${trimmed}"` };
      }),
    );
}

function exampleFor(about: UnitDescription, input: unknown): string {
  const number = typeof input === "number" ? String(input) : "";
  return (/^[0-9]+(?:\.[0-9]+)?$/.test(number) ? about.fromNumber(number) : undefined) ?? about.examples[0];
}

/** An amount as it was written: the number stays text until the token's decimals are known. */
export interface MoneyText {
  readonly number: string;
  readonly symbol: string;
}

const MONEY_PATTERN = "^[0-9][0-9_]*(\\.[0-9]+)? [A-Za-z][A-Za-z0-9._-]{0,31}$";

/** "100 USDC": a number, a space, the name of a token. */
export function money(description: string, example = "100 USDC") {
  const fromNumber = (number: string): string => `${number} ${example.split(" ")[1]}`;
  const about = { description, pattern: MONEY_PATTERN, examples: [example], fromNumber } as const;
  return unit(about, (text) => readMoney(text, example));
}

function readMoney(text: string, example: string): MoneyText | Complaint {
  const match = /^([0-9][0-9_]*(?:\.[0-9]+)?)( ?)([A-Za-z][A-Za-z0-9._-]{0,31})$/.exec(text);
  const [, number = "", space = "", symbol = ""] = match ?? [];
  if (match !== null && space !== "") return { number, symbol };
  if (match !== null) return wrong`"${text}" needs a space before its unit -> write "${number} ${symbol}"`;
  const unitOfExample = example.split(" ")[1] ?? "";
  const meant = suggestMoney(text, unitOfExample.startsWith("USD") ? unitOfExample : undefined);
  const what = /^\$|\$$/.test(text) ? "names no unit" : "is no amount with its unit";
  return wrong`"${text}" ${what} -> write ${meant === undefined ? `for example "${example}"` : `"${meant}"`}`;
}

/** "500 USD": dollars, scaled by 1e18. */
export function dollars(description: string) {
  const about: UnitDescription = {
    description,
    pattern: "^[0-9][0-9_]*(\\.[0-9]+)? USD$",
    examples: ["500 USD"],
    fromNumber: (number) => `${number} USD`,
  };
  return unit<UsdPrice>(about, (text) => {
    const read = readMoney(text, "500 USD");
    if (isComplaint(read)) return read;
    if (read.symbol !== "USD") return wrong`"${text}" is not in dollars -> write ${dollarsFor(read)}`;
    return parseUsd(read.number) ?? wrong`"${text}" is no number of dollars -> write for example "500 USD"`;
  });
}

/** A coin of a dollar has the dollars' number; of any other token only its price would know it. */
function dollarsFor({ number, symbol }: MoneyText): string {
  return /^(?:usd|dai$)/i.test(symbol) ? `"${number} USD"` : 'for example "500 USD"';
}

type ShareUnit = "%" | "bps" | "pp";

const SHARE_WORDS: Readonly<Record<ShareUnit, string>> = {
  "%": "per cent",
  bps: "basis points",
  pp: "percentage points",
};

/** A share in the units that make sense for it: 25%, 50bps, or 5pp (points of weight). */
export function share(description: string, units: readonly ShareUnit[], limits: { readonly max?: Ppm } = {}) {
  const examples = units.map((name) => (name === "bps" ? "50bps" : `5${name}`));
  const [first = "5%", ...others] = examples;
  const pattern = `^[0-9]+(\\.[0-9]+)?(${units.join("|")})$`;
  const fromNumber = (number: string): string | undefined => suggestShare(number, units)?.replace(" or ", '" or "');
  return unit<Ppm>({ description, pattern, examples: [first, ...others], fromNumber }, (text) => {
    const read = parseShare(text);
    const fix = suggestShare(text, units) ?? `for example ${examples.join(" or ")}`;
    const most = limits.max === undefined ? "" : formatPercent(limits.max);
    if (read === undefined) return wrong`"${text}" is no share with its unit -> write ${fix}`;
    if (!units.includes(read.unit))
      return wrong`"${text}" is in ${SHARE_WORDS[read.unit]}, which mean something else here -> write ${fix}`;
    if (limits.max !== undefined && read.ppm > limits.max)
      return wrong`"${text}" is more than ${most} -> use at most ${most}`;
    return read.ppm;
  });
}

const DURATION_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: SECOND_MS,
  m: MINUTE_MS,
  h: HOUR_MS,
  d: DAY_MS,
  w: 604_800_000,
};
const MAX_DURATION_MS = 10 * 365 * DAY_MS;

function readDurationMs(text: string, example: string, least: "s" | "ms" = "s"): number | Complaint {
  const match = /^([0-9]{1,12}) ?(ms|s|m|h|d|w)$/.exec(text);
  const factor = DURATION_MS[match?.[2] ?? ""];
  if (match === null || factor === undefined) {
    if (/^[0-9]+\s*(?:M|mo|months?|y|years?)$/.test(text))
      return wrong`"${text}" is no duration: months and years differ in length -> write it in days, for example 30d; at: "1st 09:00" is monthly`;
    const fix = suggestDuration(text, example, least) ?? example;
    return wrong`"${text}" is no duration -> write a whole number with s, m, h, d or w, for example ${fix}`;
  }
  const value = Number(match[1]) * factor;
  if (value > 0 && value <= MAX_DURATION_MS) return value;
  return wrong`"${text}" is not between 1ms and ten years -> write for example ${example}`;
}

/** The shortest and the longest duration that make sense somewhere. */
type DurationLimits = readonly [least: string, most: string];

function outside(durationMs: number, limits: DurationLimits | undefined): Complaint | undefined {
  if (limits === undefined) return undefined;
  const [least = 0, most = 0] = limits.map((text) => Number(readDurationMs(text, text)));
  if (durationMs >= least && durationMs <= most) return undefined;
  return wrong`is not between ${limits.join(" and ")}`;
}

/** A duration in whole seconds: 30s, 10m, 6h, 3d, 1w. */
export function seconds(description: string, example = "10m", limits?: DurationLimits) {
  const fromNumber = (number: string): string | undefined => suggestDuration(number, example, "s");
  const about: UnitDescription = { description, pattern: "^[0-9]+ ?(s|m|h|d|w)$", examples: [example], fromNumber };
  return unit<number>(about, (text) => {
    const value = readDurationMs(text, example);
    if (typeof value !== "number") return value;
    if (value % 1_000 === 0) return outside(value, limits) ?? value / 1_000;
    return wrong`"${text}" is no whole number of seconds -> write for example ${example}`;
  });
}

/** A duration in milliseconds: 250ms, 2s. */
export function milliseconds(description: string, example = "2s", limits?: DurationLimits) {
  const fromNumber = (number: string): string | undefined => suggestDuration(number, example, "ms");
  const about: UnitDescription = { description, pattern: "^[0-9]+ ?(ms|s|m|h|d|w)$", examples: [example], fromNumber };
  return unit<number>(about, (text) => {
    const value = readDurationMs(text, example, "ms");
    return typeof value === "number" ? (outside(value, limits) ?? value) : value;
  });
}

const GWEI_DECIMALS = 9;

/** A price of gas in wei: 5gwei, 0.05gwei. */
export function gasPrice(description: string) {
  const about: UnitDescription = {
    description,
    pattern: "^[0-9]+(\\.[0-9]+)? ?gwei$",
    examples: ["5gwei"],
    fromNumber: (number) => `${number}gwei`,
  };
  return unit<bigint>(about, (text) => {
    const match = /^([0-9][0-9_]*(?:\.[0-9]+)?) ?gwei$/.exec(text);
    const wei = match === null ? undefined : parseUnits(match[1] ?? "", GWEI_DECIMALS);
    if (typeof wei === "bigint" && wei > 0n) return wei;
    const [, meant] = /^([0-9]+(?:\.[0-9]+)?)\s*(?:gwei)?$/i.exec(text) ?? [];
    const form = meant === undefined || Number(meant) === 0 ? "for example 5gwei or 0.05gwei" : `${meant}gwei`;
    return wrong`"${text}" is no price of gas -> write ${form}`;
  });
}

/** How often something is taken: 1.5x, or plainly 1.5, which can mean nothing else. */
export function multiple(description: string, limits: { readonly min: number; readonly max: number }) {
  const example = "1.5x";
  return z
    .union([z.string(), z.number()], { error: `needs a multiple, for example ${example}` })
    .meta({ description, pattern: "^[0-9]+(\\.[0-9]{1,4})?x?$", examples: [example, 2] })
    .transform(
      readAs((text: string | number): Ppm | Complaint => {
        const ppm = parseUnits(String(text).replace(/x$/, ""), 6);
        const known = typeof ppm === "bigint" && ppm % 100n === 0n;
        if (known && ppm >= BigInt(limits.min) * ONE_PPM && ppm <= BigInt(limits.max) * ONE_PPM) return toPpm(ppm);
        const what = known ? `not from ${limits.min}x to ${limits.max}x` : "no multiple of at most four decimals";
        return wrong`"${text}" is ${what} -> write for example ${example}`;
      }),
    );
}

/** An instant, or all of a day: from its first to its last millisecond, Unix time. */
export interface Span {
  readonly firstMs: number;
  readonly lastMs: number;
}

const INSTANT_PATTERN =
  "^[0-9]{4}-[0-9]{2}-[0-9]{2}(T([01][0-9]|2[0-3]):[0-9]{2}(:[0-9]{2})?(Z|[+-][0-9]{2}:[0-9]{2}))?$";

/** A day in UTC (2027-12-31), or a minute or second with its offset (2026-11-03T08:00Z). */
export function instant(description: string, example = "2027-12-31") {
  const about: UnitDescription = {
    description,
    pattern: INSTANT_PATTERN,
    examples: [example, "2026-11-03T08:00Z"],
    fromNumber: () => undefined,
  };
  return unit<Span>(about, readSpan);
}

/** The same, or `now`: the moment at which a daemon first sees the strategy. */
export function start(description: string, example = "2027-12-31") {
  const about: UnitDescription = {
    description,
    pattern: `^now$|${INSTANT_PATTERN}`,
    examples: [example, "now"],
    fromNumber: () => undefined,
  };
  return unit<Span | "now">(about, (text) => (text === "now" ? text : readSpan(text)));
}

function readSpan(text: string): Span | Complaint {
  const day = text.slice(0, 10);
  const firstMs = new RegExp(INSTANT_PATTERN).test(text) ? Date.parse(text) : Number.NaN;
  // Date.parse takes the 30th of February for the 2nd of March.
  const exists = new Date(Date.parse(day) || 0).toISOString().startsWith(day);
  if (!Number.isNaN(firstMs) && exists) return { firstMs, lastMs: text === day ? firstMs + DAY_MS - 1 : firstMs };
  const fix = suggestInstant(text) ?? "2027-12-31 or 2026-11-03T08:00Z";
  return wrong`"${text}" is no day and no instant -> write ${fix}`;
}
