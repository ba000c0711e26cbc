import { formatPercent } from "../../domain/money/fraction.ts";
import type { Token } from "../../domain/money/token.ts";
import type { DcaTerms } from "../../domain/strategy/dca-order.ts";
import type { Dips } from "../../domain/strategy/dips.ts";
import type { PriceGate } from "../../domain/strategy/price-gate.ts";
import { type Path, problemAt } from "../source.ts";
import { onlyBought } from "./dca-amount.ts";
import type { DcaFields } from "./dca-schema.ts";
import { findToken, readAmount, type StrategyFile } from "./scope.ts";

interface Trade {
  readonly sell: Token | undefined;
  readonly buy: DcaTerms["buy"] | undefined;
}

const HOUR_SECONDS = 3_600;
const YEAR_SECONDS = 366 * 86_400;
const COMPARISON = /^(<=|>=|<|>) *([0-9][0-9_]*(?:\.[0-9]+)?) ([A-Za-z][A-Za-z0-9._-]{0,31})$/;

/** `only_if: { price: "<= 6000 USDC" }`. */
export function buildGate(file: StrategyFile, only_if: DcaFields["only_if"], trade: Trade): PriceGate | undefined {
  if (only_if === undefined) return undefined;
  const path = ["only_if", "price"];
  const match = COMPARISON.exec(only_if.price);
  if (match === null) {
    const message = `"${only_if.price}" is no comparison with an amount`;
    file.problems.push(problemAt(file.source, path, message, 'write for example "<= 6000 USDC"'));
    return undefined;
  }
  const [, comparison, number = "", symbol = ""] = match;
  const price = readAmount(file, path, { number, symbol });
  const bought = onlyBought(trade.buy);
  // A price in the bought token can only be that of the sold one.
  const meant = bought !== undefined && bought.address === price?.token.address ? trade.sell : bought;
  const of = only_if.of === undefined ? meant : findToken(file, ["only_if", "of"], only_if.of);
  if (only_if.of === undefined) checkNamed(file, ["only_if"], trade.buy);
  if (price === undefined || of === undefined) return undefined;
  if (of.address === price.token.address) {
    const message = `the price of ${of.symbol} in ${price.token.symbol} is always 1`;
    file.problems.push(problemAt(file.source, path, message, "write it in another token"));
    return undefined;
  }
  return { of, comparison: comparison as PriceGate["comparison"], price: { quote: price.token, raw: price.raw } };
}

/** `dips: { reference: { high: 30d }, tiers: [{ drop: 10%, multiply: 1.5x }] }`. */
export function buildDips(file: StrategyFile, dips: DcaFields["dips"], trade: Trade): Dips | undefined {
  if (dips === undefined) return undefined;
  const { source, problems } = file;
  const before = problems.length;
  const { high, sma } = dips.reference;
  const path = ["dips", "reference"];
  if ((high === undefined) === (sma === undefined)) {
    problems.push(problemAt(source, path, "needs exactly one of high and sma", "for example { high: 30d }"));
  }
  const kind = high === undefined ? "sma" : "high";
  const seconds = high ?? sma ?? HOUR_SECONDS;
  if (seconds < HOUR_SECONDS || seconds > YEAR_SECONDS) {
    problems.push(problemAt(source, [...path, kind], "is not between 1h and 366d", "for example 30d"));
  }
  for (const [index, { drop }] of dips.tiers.entries()) {
    const at = ["dips", "tiers", index, "drop"];
    if (drop === 0n) problems.push(problemAt(source, at, "no drop at all is reached always", "write for example 10%"));
    if (dips.tiers.findIndex((tier) => tier.drop === drop) < index) {
      problems.push(problemAt(source, at, `there is a tier of ${formatPercent(drop)} already`, "keep one of the two"));
    }
  }
  if (dips.of === undefined) checkNamed(file, ["dips"], trade.buy);
  const of = dips.of === undefined ? onlyBought(trade.buy) : findToken(file, ["dips", "of"], dips.of);
  if (of === undefined || problems.length > before) return undefined;
  const tiers = dips.tiers.map(({ drop, multiply }) => ({ drop, multiplier: multiply }));
  return { of, reference: { kind, seconds }, tiers, maxMultiplier: dips.max_multiplier };
}

/** Of several bought tokens one must be named whose price is meant. */
function checkNamed(file: StrategyFile, path: Path, buy: Trade["buy"]): void {
  if (buy === undefined || "symbol" in buy) return;
  const message = "several tokens are bought, so it must say whose price is meant";
  file.problems.push(problemAt(file.source, path, message, `add of: ${buy[0]?.token.symbol ?? "WETH"}`));
}
