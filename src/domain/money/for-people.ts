import { formatUnits } from "./amount.ts";
import { formatDollars, USD_DECIMALS } from "./price.ts";
import type { Token } from "./token.ts";

/** An amount is shown with so many digits; a comparison may need more. */
const DIGITS = 6;

/** Writes a number for people: all of its whole part, else six digits, rounded towards zero. Never for calculations. */
export function roundedUnits(raw: bigint, decimals: number): string {
  const exact = formatUnits(raw, decimals);
  const [, whole = "0", fraction] = /^-?([0-9]+)(?:\.([0-9]+))?$/.exec(exact) ?? [];
  if (fraction === undefined) return exact;
  const leading = whole === "0" ? fraction.length - fraction.replace(/^0+/, "").length : 0;
  const places = whole === "0" ? leading + DIGITS : Math.max(2, DIGITS - whole.length);
  const kept = fraction.slice(0, places).replace(/0+$/, "");
  const sign = exact.startsWith("-") ? "-" : "";
  return `${sign}${whole}${kept === "" ? "" : `.${kept}`}`;
}

/** An amount with its token: `0.0412 WETH`, rounded towards zero. */
export function describeAmount(raw: bigint, { decimals, symbol }: Pick<Token, "decimals" | "symbol">): string {
  return `${roundedUnits(raw, decimals)} ${symbol}`;
}

/** Dollars (1e-18) in cents, rounded towards zero; less than a cent with its first digits: `120.50 USD`, `0.0031 USD`. */
export function describeDollars(usd: bigint): string {
  const cents = 10n ** BigInt(USD_DECIMALS - 2);
  const isSmall = usd > -cents && usd < cents;
  const text = isSmall ? roundedUnits(usd, USD_DECIMALS) : formatUnits(usd / cents, 2);
  const [whole = "0", fraction = ""] = text.split(".");
  return `${whole}.${fraction.padEnd(2, "0")} USD`;
}

/** A price in dollars, with six digits: cents would make a coin that is worth 0.9999 look as if it had lost its peg. */
export function describePrice(usd: bigint): string {
  return `${roundedUnits(usd, USD_DECIMALS)} USD`;
}

/** Two values in dollars that are compared: exactly where cents would make them look the same. */
export function describeBothDollars(one: bigint, other: bigint): readonly [string, string] {
  const [first, second] = [describeDollars(one), describeDollars(other)];
  if (first !== second || one === other) return [first, second];
  return [formatDollars(one), formatDollars(other)];
}

/** Two amounts of one kind that are compared: exactly where rounding would make them look the same. */
export function describeBoth(
  one: bigint,
  other: bigint,
  { decimals, symbol }: Pick<Token, "decimals" | "symbol">,
): readonly [string, string] {
  const [first, second] = [roundedUnits(one, decimals), roundedUnits(other, decimals)];
  const isReported = first !== second || one === other;
  const texts = isReported ? [first, second] : [formatUnits(one, decimals), formatUnits(other, decimals)];
  return [`${texts[0]} ${symbol}`, `${texts[1]} ${symbol}`];
}

/** What one unit of the dearer of two tokens was exchanged at: `2427.18 USDC for 1 WETH`; undefined without an exchange. */
export function describeRate(
  sold: { readonly raw: bigint; readonly token: Pick<Token, "decimals" | "symbol"> },
  bought: { readonly raw: bigint; readonly token: Pick<Token, "decimals" | "symbol"> },
): string | undefined {
  if (sold.raw <= 0n || bought.raw <= 0n) return undefined;
  const wholeOf = ({ raw, token }: typeof sold): bigint => raw * 10n ** BigInt(RATE_DECIMALS - token.decimals);
  const [soldWhole, boughtWhole] = [wholeOf(sold), wholeOf(bought)];
  const [many, few] = soldWhole >= boughtWhole ? [sold, bought] : [bought, sold];
  const rate = (wholeOf(many) * 10n ** BigInt(USD_DECIMALS)) / wholeOf(few);
  return `${roundedUnits(rate, USD_DECIMALS)} ${many.token.symbol} for 1 ${few.token.symbol}`;
}

/** No token has more decimals than this. */
const RATE_DECIMALS = 77;

/** How far an instant lies ahead, by the chain's time: `in 45 s`, `3 s ago`. */
export function describeSecondsAhead(seconds: bigint): string {
  return seconds >= 0n ? `in ${seconds} s` : `${-seconds} s ago`;
}
