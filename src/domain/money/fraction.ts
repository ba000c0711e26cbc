import { mulDivDown, mulDivUp } from "./amount.ts";

/**
 * A share of something in parts per million, as an integer: 1 % is 10_000, a basis point is 100.
 * Fine enough for a tenth of a basis point, and exact in bigint arithmetic.
 */
export type Ppm = bigint & { readonly __ppm: unique symbol };

/** One whole. */
export const ONE_PPM = 1_000_000n as Ppm;

const SHARE_PATTERN = /^(0|[1-9][0-9]{0,6})(?:\.([0-9]{1,6}))?(%|bps|pp)$/;

/** Makes a share from parts per million. @throws RangeError when negative */
export function toPpm(parts: bigint | number): Ppm {
  const value = BigInt(parts);
  if (value < 0n) throw new RangeError(`a share is not negative: ${value}`);
  return value as Ppm;
}

/**
 * Reads "1%", "50bps" or "5pp" (percentage points). @returns undefined for anything else, and for more places than a
 * millionth can hold.
 */
export function parseShare(text: string): { ppm: Ppm; unit: "%" | "bps" | "pp" } | undefined {
  const match = SHARE_PATTERN.exec(text);
  if (match === null) return undefined;
  const unit = match[3] as "%" | "bps" | "pp";
  const places = unit === "bps" ? 2 : 4;
  const fraction = (match[2] ?? "").replace(/0+$/, "");
  if (fraction.length > places) return undefined;
  return { ppm: toPpm(BigInt((match[1] ?? "0") + fraction.padEnd(places, "0"))), unit };
}

/** Writes a share as a percentage: 1.25 %. */
export function formatPercent(ppm: bigint): string {
  const sign = ppm < 0n ? "-" : "";
  const digits = (ppm < 0n ? -ppm : ppm).toString().padStart(5, "0");
  const fraction = digits.slice(-4).replace(/0+$/, "");
  return `${sign}${digits.slice(0, -4)}${fraction === "" ? "" : `.${fraction}`}%`;
}

/** The share of an amount, rounded down. */
export function shareDown(raw: bigint, ppm: Ppm): bigint {
  return mulDivDown(raw, ppm, ONE_PPM);
}

/** What is left of an amount after a share of it was taken away, rounded up: a minimum protects us, so it rounds up. */
export function lessShareUp(raw: bigint, ppm: Ppm): bigint {
  return ppm >= ONE_PPM ? 0n : mulDivUp(raw, ONE_PPM - ppm, ONE_PPM);
}
