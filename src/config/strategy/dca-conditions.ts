import { formatPercent } from "../../domain/money/fraction.ts";
import type { Token } from "../../domain/money/token.ts";
import type { DcaTerms } from "../../domain/strategy/dca-order.ts";
import type { Dips } from "../../domain/strategy/dips.ts";
import type { PriceGate } from "../../domain/strategy/price-gate.ts";
import { at, type Complaint, type Part, refuse } from "../complaint.ts";
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
export function* buildGate(file: StrategyFile, only_if: DcaFields["only_if"], trade: Trade): Part<PriceGate> {
  if (only_if === undefined) return undefined;
  const match = COMPARISON.exec(only_if.price);
  if (match === null)
    return yield* refuse`only_if.price: "${only_if.price}" is no comparison with an amount -> write for example "<= 6000 USDC"`;
  const [, comparison, number = "", symbol = ""] = match;
  const price = yield* readAmount(file, ["only_if", "price"], { number, symbol });
  const bought = onlyBought(trade.buy);
  // A price in the bought token can only be that of the sold one.
  const meant = bought !== undefined && bought.address === price?.token.address ? trade.sell : bought;
  const of = only_if.of === undefined ? meant : yield* findToken(file, ["only_if", "of"], only_if.of);
  if (only_if.of === undefined) yield* checkNamed("only_if", trade.buy);
  if (price === undefined || of === undefined) return undefined;
  if (of.address === price.token.address)
    return yield* refuse`only_if.price: the price of ${of.symbol} in ${price.token.symbol} is always 1 -> write it in another token`;
  return { of, comparison: comparison as PriceGate["comparison"], price: { quote: price.token, raw: price.raw } };
}

/** `dips: { reference: { high: 30d }, tiers: [{ drop: 10%, multiply: 1.5x }] }`. */
export function* buildDips(file: StrategyFile, dips: DcaFields["dips"], trade: Trade): Part<Dips> {
  if (dips === undefined) return undefined;
  const { high, sma } = dips.reference;
  const kind = high === undefined ? "sma" : "high";
  const seconds = high ?? sma ?? HOUR_SECONDS;
  if ((high === undefined) === (sma === undefined))
    yield at`dips.reference: needs exactly one of high and sma -> for example { high: 30d }`;
  if (seconds < HOUR_SECONDS || seconds > YEAR_SECONDS)
    yield at`dips.reference.${kind}: is not between 1h and 366d -> for example 30d`;
  for (const [index, { drop }] of dips.tiers.entries()) {
    const path = ["dips", "tiers", index, "drop"];
    if (drop === 0n) yield at`${path}: no drop at all is reached always -> write for example 10%`;
    if (dips.tiers.findIndex((tier) => tier.drop === drop) < index)
      yield at`${path}: there is a tier of ${formatPercent(drop)} already -> keep one of the two`;
  }
  if (dips.of === undefined) yield* checkNamed("dips", trade.buy);
  const of = dips.of === undefined ? onlyBought(trade.buy) : yield* findToken(file, ["dips", "of"], dips.of);
  if (of === undefined) return undefined;
  const tiers = dips.tiers.map(({ drop, multiply }) => ({ drop, multiplier: multiply }));
  return { of, reference: { kind, seconds }, tiers, maxMultiplier: dips.max_multiplier };
}

/** Of several bought tokens one must be named whose price is meant. */
function* checkNamed(key: string, buy: Trade["buy"]): Iterable<Complaint> {
  if (buy !== undefined && !("symbol" in buy))
    yield at`${key}: several tokens are bought, so it must say whose price is meant -> add of: ${buy[0]?.token.symbol ?? "WETH"}`;
}
