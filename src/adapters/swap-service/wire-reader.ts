import { type Address, type Hex, isHex } from "../../domain/money/address.ts";
import { parseRaw } from "../../domain/money/amount.ts";
import { type Ppm, toPpm } from "../../domain/money/fraction.ts";
import { type LosslessJson, numberText } from "../../net/parse-json.ts";
import { parseChecked } from "./checksum.ts";

/** What is wrong with an answer, for people: which field, and what stood there, of any length and maybe with our key in it. */
export interface WireProblem {
  readonly problem: string;
}

/** Whether nothing could be built out of an answer. */
export function isProblem<T>(parsed: T | WireProblem): parsed is WireProblem {
  return typeof parsed === "object" && parsed !== null && "problem" in parsed && typeof parsed.problem === "string";
}

const FRACTION_PATTERN = /^(-?)(0|[1-9][0-9]{0,6})(?:\.([0-9]{1,40}))?(?:[eE]([+-]?[0-9]{1,2}))?$/;
/** of a fraction, in parts per million: ten million times one whole */
const MOST_PARTS = 10n ** 13n;
const LONGEST_TEXT = 256;

/**
 * Reads fields of one JSON object. A missing or malformed field is noted and read as undefined; a caller that built a
 * value out of fields asks `problem` before using it. Unknown fields are ignored.
 */
export interface WireReader {
  /** The first problem that was noted. */
  problem(): string | undefined;
  /** Notes a problem of a field. */
  note(field: string, what: string): void;
  /** The value under the first of these names that is there; two different values are a problem. */
  value(...names: string[]): LosslessJson | undefined;
  text(...names: string[]): string | undefined;
  address(...names: string[]): Address | undefined;
  hex(...names: string[]): Hex | undefined;
  /** A non-negative integer up to uint256: decimal text, or a JSON number that no parser can have rounded. */
  amount(...names: string[]): bigint | undefined;
  /** A non-negative integer that fits a JavaScript number. */
  count(...names: string[]): number | undefined;
  /** A decimal fraction as parts per million, rounded up; a negative one is zero. */
  fraction(...names: string[]): Ppm | undefined;
}

/** Reads the fields of an object; `subject` names it in problems. A field that is absent or null is undefined. */
export function createReader(json: LosslessJson | undefined, subject: string): WireReader {
  let first: string | undefined;
  const fields = asObject(json);
  const note = (field: string, what: string): void => {
    first ??= `${subject}${field === "" ? "" : `.${field}`} ${what}`;
  };
  if (fields === undefined) note("", "is no object");
  const value: WireReader["value"] = (...names) => {
    let found: LosslessJson | undefined;
    for (const name of names) {
      const candidate = fields !== undefined && Object.hasOwn(fields, name) ? fields[name] : undefined;
      if (candidate === undefined || candidate === null) continue;
      if (found !== undefined && plainText(found) !== plainText(candidate)) note(name, `differs from ${names[0]}`);
      found ??= candidate;
    }
    return found;
  };
  function read<T>(parse: (json: LosslessJson) => T | undefined, what: string): (...names: string[]) => T | undefined {
    return (...names) => {
      const found = value(...names);
      if (found === undefined) return undefined;
      const parsed = parse(found);
      if (parsed === undefined) note(names[0] ?? "", `is no ${what}: ${plainText(found)}`);
      return parsed;
    };
  }
  return {
    problem: () => first,
    note,
    value,
    text: read((json) => (typeof json === "string" && json.length <= LONGEST_TEXT ? json : undefined), "short text"),
    address: read(parseChecked, "address with a right checksum"),
    hex: read((json) => (isHex(json) ? (json.toLowerCase() as Hex) : undefined), "hexadecimal bytes"),
    amount: read(readAmount, "integer text"),
    count: read(readCount, "integer"),
    fraction: read(readFraction, "decimal fraction"),
  };
}

/** The object's fields, undefined when it is none. */
export function asObject(json: LosslessJson | undefined): { readonly [key: string]: LosslessJson } | undefined {
  const isObject = typeof json === "object" && json !== null && !Array.isArray(json) && numberText(json) === undefined;
  return isObject ? (json as { readonly [key: string]: LosslessJson }) : undefined;
}

/** The value without number objects: numbers as their exact text. */
export function toPlain(json: LosslessJson): unknown {
  const number = numberText(json);
  if (number !== undefined) return number;
  if (Array.isArray(json)) return json.map(toPlain);
  const fields = asObject(json);
  if (fields === undefined) return json;
  return Object.fromEntries(Object.entries(fields).map(([key, field]) => [key, toPlain(field)]));
}

/** One text for one value: keys sorted, numbers as they were written. */
export function canonicalJson(json: LosslessJson): string {
  const number = numberText(json);
  if (number !== undefined) return number;
  if (Array.isArray(json)) return `[${json.map(canonicalJson).join(",")}]`;
  const fields = asObject(json);
  if (fields === undefined) return JSON.stringify(json);
  const members = Object.entries(fields)
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([key, field]) => `${JSON.stringify(key)}:${canonicalJson(field)}`);
  return `{${members.join(",")}}`;
}

function plainText(json: LosslessJson): string {
  return typeof json === "string" ? json : canonicalJson(json);
}

function readAmount(json: LosslessJson): bigint | undefined {
  const number = numberText(json);
  if (number === undefined) return parseRaw(json);
  const amount = parseRaw(number);
  return amount !== undefined && amount <= BigInt(Number.MAX_SAFE_INTEGER) ? amount : undefined;
}

function readCount(json: LosslessJson): number | undefined {
  const amount = parseRaw(numberText(json) ?? json);
  return amount !== undefined && amount <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(amount) : undefined;
}

/** A gain counts as no loss. */
function readFraction(json: LosslessJson): Ppm | undefined {
  const text = numberText(json) ?? json;
  const match = typeof text === "string" ? FRACTION_PATTERN.exec(text) : null;
  if (match === null) return undefined;
  const [, sign, whole = "0", places = "", exponent = "0"] = match;
  const parts = scaledUp(BigInt(whole + places), 6 + Number(exponent) - places.length);
  if (parts > MOST_PARTS) return undefined;
  return toPpm(sign === "-" ? 0n : parts);
}

/** `value x 10^power`, rounded up. */
function scaledUp(value: bigint, power: number): bigint {
  if (power >= 0) return value * 10n ** BigInt(power);
  const unit = 10n ** BigInt(-power);
  return (value + unit - 1n) / unit;
}
