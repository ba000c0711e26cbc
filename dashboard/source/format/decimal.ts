/**
 * Amounts come as decimal text and are shown as decimal text: no digit passes through a floating point number. What is
 * shortened is rounded half away from zero, and the whole text stands beside it as a title.
 */
interface Parts {
  readonly isNegative: boolean;
  readonly whole: string;
  readonly fraction: string;
}

function partsOf(text: string): Parts | undefined {
  const match = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text);
  if (match === null) return undefined;
  return { isNegative: match[1] === "-", whole: match[2] ?? "0", fraction: match[3] ?? "" };
}

/** Rounds to so many digits behind the point. */
export function round(text: string, places: number): string {
  const parts = partsOf(text);
  if (parts === undefined || parts.fraction.length <= places) return text;
  const kept = BigInt(parts.whole + parts.fraction.slice(0, places));
  const isUp = (parts.fraction[places] ?? "0") >= "5";
  const digits = `${isUp ? kept + 1n : kept}`.padStart(places + 1, "0");
  const split = digits.length - places;
  const rounded = places === 0 ? digits : `${digits.slice(0, split)}.${digits.slice(split)}`;
  return parts.isNegative && /[1-9]/.test(rounded) ? `-${rounded}` : rounded;
}

/** Groups of three before the point. */
export function group(text: string): string {
  const parts = partsOf(text);
  if (parts === undefined) return text;
  const whole = parts.whole.replace(/\B(?=(\d{3})+$)/g, ",");
  return `${parts.isNegative ? "-" : ""}${whole}${parts.fraction === "" ? "" : `.${parts.fraction}`}`;
}

function withoutTail(text: string): string {
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

/** An amount with about so many digits that say something. */
export function shorten(text: string, digits = 6): string {
  const parts = partsOf(text);
  if (parts === undefined) return text;
  const whole = parts.whole.replace(/^0+(?=\d)/, "");
  const zeros = /^0*/.exec(parts.fraction)?.[0].length ?? 0;
  const places = whole === "0" ? zeros + Math.max(digits - 2, 2) : Math.max(digits - whole.length, 0);
  return group(withoutTail(round(text, places)));
}

/** Dollars with cents; below a cent with two digits that say something. */
export function dollars(text: string): string {
  const parts = partsOf(text);
  if (parts === undefined) return text;
  const isSmall = /^0+$/.test(parts.whole) && parts.fraction.startsWith("00") && /[1-9]/.test(parts.fraction);
  const zeros = /^0*/.exec(parts.fraction)?.[0].length ?? 0;
  const rounded = isSmall ? withoutTail(round(text, zeros + 2)) : withCents(round(text, 2));
  return rounded.startsWith("-") ? `-$${group(rounded.slice(1))}` : `$${group(rounded)}`;
}

/** A number as decimal text, however small it is: for what is shortened afterwards. */
export function asDecimal(value: number): string {
  return value.toFixed(20);
}

/** Dollars of a number that a chart shows: thousands without their cents, the least price with two digits that say something. */
export function asDollars(value: number): string {
  return dollars(round(asDecimal(value), Math.abs(value) >= 1_000 ? 0 : 20));
}

function withCents(text: string): string {
  const [whole = "0", fraction = ""] = text.split(".");
  return `${whole}.${fraction.padEnd(2, "0")}`;
}

/** Basis points with their sign: a minus is worse for the wallet. */
export function basisPoints(text: string): string {
  const rounded = withoutTail(round(text, 1));
  if (rounded === "0") return "0 bp";
  return `${rounded.startsWith("-") ? "" : "+"}${group(rounded)} bp`;
}

export function percent(text: string, places = 1): string {
  return `${group(withoutTail(round(text, places)))} %`;
}

/** How much of a limit is used, from 0 to 1, for a bar. */
export function shareOf(used: string, limit: string): number {
  const most = Number(limit);
  if (!(most > 0)) return 0;
  return Math.min(Math.max(Number(used) / most, 0), 1);
}

/** An address, a hash or a number as long as one, with its middle left out; any other text as it is. */
export function shortHex(text: string): string {
  return /^(0x[0-9a-fA-F]{16,}|\d{30,})$/.test(text) ? `${text.slice(0, 8)}…${text.slice(-6)}` : text;
}
