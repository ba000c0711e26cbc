import type { Token } from "./token.ts";

/** An amount of a token in the token's smallest unit. Never a float, never a JavaScript number. */
export interface Amount {
  readonly token: Token;
  readonly raw: bigint;
}

/** The largest value of a `uint256`. */
export const MAX_UINT256 = (1n << 256n) - 1n;

const DECIMAL_PATTERN = /^(0|[1-9][0-9]{0,77})(?:\.([0-9]{1,77}))?$/;
const INTEGER_PATTERN = /^(0|[1-9][0-9]{0,77})$/;

/** Why a text is not an amount; `decimals` says that it has more places than the token. */
export type AmountProblem = "not a decimal number" | "more decimals than the token has" | "too large";

/**
 * Reads a decimal text ("100", "0.05") as an amount in the smallest unit, exactly.
 * @param decimals decimals of the token
 * @returns the amount, or why the text is none. Nothing is ever rounded.
 */
export function parseUnits(text: string, decimals: number): bigint | AmountProblem {
  const match = DECIMAL_PATTERN.exec(text.replaceAll(/(?<=[0-9])_(?=[0-9])/g, ""));
  if (match === null) return "not a decimal number";
  const fraction = (match[2] ?? "").replace(/0+$/, "");
  if (fraction.length > decimals) return "more decimals than the token has";
  const raw = BigInt((match[1] ?? "0") + fraction.padEnd(decimals, "0"));
  return raw > MAX_UINT256 ? "too large" : raw;
}

/** Reads the integer text of the wire and of the database. @returns undefined when it is no canonical uint256 */
export function parseRaw(text: unknown): bigint | undefined {
  if (typeof text !== "string" || !INTEGER_PATTERN.test(text)) return undefined;
  const raw = BigInt(text);
  return raw > MAX_UINT256 ? undefined : raw;
}

/** Writes an amount in the smallest unit as a decimal text, exact, without trailing zeros. */
export function formatUnits(raw: bigint, decimals: number): string {
  const sign = raw < 0n ? "-" : "";
  const digits = (raw < 0n ? -raw : raw).toString().padStart(decimals + 1, "0");
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, "");
  return sign + (fraction === "" ? whole : `${whole}.${fraction}`);
}

/** Writes an amount for people: `100 USDC`. */
export function formatAmount(amount: Amount): string {
  return `${formatUnits(amount.raw, amount.token.decimals)} ${amount.token.symbol}`;
}

/** `a x b / c`, rounded towards zero. @throws RangeError when `c` is zero */
export function mulDivDown(a: bigint, b: bigint, c: bigint): bigint {
  return (a * b) / c;
}

/** `a x b / c` of non-negative numbers, rounded up. @throws RangeError when `c` is zero */
export function mulDivUp(a: bigint, b: bigint, c: bigint): bigint {
  return (a * b + c - 1n) / c;
}
