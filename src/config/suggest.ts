import { parseUnits } from "../domain/money/amount.ts";
import { formatPercent, toPpm } from "../domain/money/fraction.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../domain/time/durations.ts";

/**
 * What a person most likely meant by a value that cannot be read: the value's own number, in the form that can be. It is
 * shown as a hint and never used. Everything here returns undefined when nothing is likely.
 */

/** `$1,000` is 1000 of some dollars, `USDC 100` is 100 USDC, `0,5 WETH` is half a WETH. */
export function suggestMoney(text: string, dollar: string | undefined): string | undefined {
  const plain = text.replaceAll(/[“”„‘’'"]/g, "").trim();
  const swapped = /^([A-Za-z][A-Za-z0-9._-]{0,31})\s*([0-9][0-9.,_]*)$/.exec(plain);
  const match = /^[-+]?\s*(\$?)\s*([0-9][0-9.,_]*)\s*(\$?)\s*([A-Za-z][A-Za-z0-9._-]{0,31})?$/.exec(plain);
  const isDollar = match?.[1] === "$" || match?.[3] === "$";
  const symbol = swapped?.[1] ?? match?.[4] ?? (isDollar ? dollar : undefined);
  const number = suggestNumber(swapped?.[2] ?? match?.[2] ?? "");
  return symbol === undefined || number === undefined ? undefined : `${number} ${symbol}`;
}

/** A point for the decimals, and no marks between thousands. Of a comma and a point the later one begins the decimals. */
function suggestNumber(text: string): string | undefined {
  const plain = text.replaceAll("_", "");
  if (/^[0-9]+(?:\.[0-9]+)?$/.test(plain)) return plain;
  const hasGroups = /^[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?$/.test(plain);
  if (hasGroups) return plain.replaceAll(",", "");
  if (/^[0-9]{1,3}(?:\.[0-9]{3})+(?:,[0-9]+)?$/.test(plain)) return plain.replaceAll(".", "").replace(",", ".");
  return /^[0-9]+,[0-9]+$/.test(plain) ? plain.replace(",", ".") : undefined;
}

const SHARE_UNITS: Readonly<Record<string, string>> = {
  "%": "%",
  percent: "%",
  "per cent": "%",
  pct: "%",
  bp: "bps",
  bps: "bps",
  "basis points": "bps",
  pp: "pp",
  points: "pp",
};

/** A number below one may be a share of one, so both readings are shown: 0.5 is 50% or 0.5%. */
export function suggestShare(text: string, units: readonly string[]): string | undefined {
  const match = /^([0-9]+(?:[.,][0-9]+)?)\s*([a-z% ]*)$/i.exec(text);
  const number = suggestNumber(match?.[1] ?? "");
  const word = (match?.[2] ?? "").trim().toLowerCase();
  const [first = "%"] = units;
  if (number === undefined || (word !== "" && SHARE_UNITS[word] === undefined)) return undefined;
  const unit = SHARE_UNITS[word] ?? first;
  const written = `${number}${units.includes(unit) ? unit : first}`;
  const ppm = parseUnits(number, 6);
  if (unit === "bps" && !units.includes(unit)) {
    return typeof ppm === "bigint" ? `${formatPercent(toPpm(ppm / 10_000n)).replace("%", first)}` : undefined;
  }
  if (word !== "" || first !== "%" || typeof ppm !== "bigint" || ppm >= 1_000_000n) return written;
  return `${formatPercent(toPpm(ppm))} or ${written}`;
}

const UNIT_MS: readonly (readonly [letter: string, ms: number, words: RegExp])[] = [
  ["w", 604_800_000, /^(?:w|weeks?)$/i],
  ["d", DAY_MS, /^(?:d|days?)$/i],
  ["h", HOUR_MS, /^(?:h|hrs?|hours?)$/i],
  ["m", MINUTE_MS, /^(?:m|mins?|minutes?)$/],
  ["s", 1_000, /^(?:s|secs?|seconds?)$/i],
  ["ms", 1, /^(?:ms|milliseconds?)$/i],
];

/**
 * `6 hours` is 6h, `1h30m` and `1.5h` are 90m. A small bare number is in the example's unit, a larger one in the smallest
 * unit that is used there.
 */
export function suggestDuration(text: string, example: string, least: "s" | "ms"): string | undefined {
  const isSmall = Number(text) < (least === "s" ? 60 : 100);
  if (/^[0-9]+$/.test(text)) return `${Number(text)}${isSmall ? example.replace(/^[0-9]+/, "") : least}`;
  if (!/^(?:[0-9]+(?:[.,][0-9]+)?\s*[a-z]+[\s,]*)+$/i.test(text) || text.length > 64) return undefined;
  let totalMs = 0;
  for (const [, number = "", word = ""] of text.matchAll(/([0-9]+(?:[.,][0-9]+)?)\s*([a-z]+)/gi)) {
    const unit = UNIT_MS.find(([, , words]) => words.test(word));
    if (unit === undefined) return undefined;
    totalMs += Math.round(Number(number.replace(",", ".")) * unit[1]);
  }
  return totalMs > 0 ? writeDuration(totalMs) : undefined;
}

/** A duration in the largest unit that says it exactly: 6h, 90m. */
export function writeDuration(durationMs: number): string {
  const unit = UNIT_MS.find(([letter, ms]) => letter !== "w" && durationMs % ms === 0);
  return unit === undefined ? `${durationMs}ms` : `${durationMs / unit[1]}${unit[0]}`;
}

/**
 * `31.12.2027` is 2027-12-31, `2026-11-03 08:00` is 2026-11-03T08:00Z, the 30th of February the last day of it, and 24:00
 * the first moment of the next day.
 */
export function suggestInstant(text: string): string | undefined {
  const [, day, end] = /^([0-9]{4}-[0-9]{2}-[0-9]{2})[T ](24:00(?::00)?)Z?$/.exec(text) ?? [];
  const startMs = Date.parse(day ?? "");
  if (end !== undefined && !Number.isNaN(startMs))
    return `${new Date(startMs + DAY_MS).toISOString().slice(0, 10)}T00:00Z`;
  const iso =
    /^([0-9]{4})[-/.]([0-9]{1,2})[-/.]([0-9]{1,2})(?:[T ]((?:[01][0-9]|2[0-3]):[0-9]{2}(?::[0-9]{2})?))?$/.exec(text);
  if (iso !== null) return writeDay([iso[1], iso[2], iso[3]], iso[4]);
  const [, first = "", separator, second = "", year] =
    /^([0-9]{1,2})([./])([0-9]{1,2})[./]([0-9]{4})$/.exec(text) ?? [];
  if (separator === undefined) return undefined;
  // with slashes 03/04 is a day of March for some and of April for others
  if (separator === "." || Number(first) > 12) return writeDay([year, second, first], undefined);
  return Number(second) > 12 ? writeDay([year, first, second], undefined) : undefined;
}

function writeDay(parts: readonly (string | undefined)[], time: string | undefined): string | undefined {
  const [year = Number.NaN, month = 0, day = 0] = parts.map(Number);
  if (!(year >= 1970 && month >= 1 && month <= 12 && day >= 1 && day <= 31)) return undefined;
  const last = new Date(Date.UTC(year, month, 0)).getUTCDate();
  const pad = (value: number): string => String(value).padStart(2, "0");
  return `${year}-${pad(month)}-${pad(Math.min(day, last))}${time === undefined ? "" : `T${time}Z`}`;
}

/** `9am`, `9:00 pm` and `Monday at 9:00` as a time of day by the 24-hour clock, with the days before it. */
export function suggestTimeOfDay(text: string): string | undefined {
  const match = /^(?:([a-z,-]+)\s+)?(?:at\s+)?([0-9]{1,2})(?::([0-9]{2}))?\s*(am|pm|h|uhr|o'clock)?$/i.exec(
    text.trim(),
  );
  if (match === null) return undefined;
  const [, days, hourText = "", minutes = "00", half] = match;
  const isHalf = half !== undefined && /^[ap]m$/i.test(half);
  const hour = isHalf ? (Number(hourText) % 12) + (/^pm$/i.test(half) ? 12 : 0) : Number(hourText) % 24;
  const isDay = days !== undefined && !/^at$/i.test(days);
  return `${isDay ? `${days} ` : ""}${String(hour).padStart(2, "0")}:${minutes}`;
}
