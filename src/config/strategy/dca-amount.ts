import { formatPercent, ONE_PPM, toPpm } from "../../domain/money/fraction.ts";
import type { Token } from "../../domain/money/token.ts";
import type { DcaShare, DcaTerms } from "../../domain/strategy/dca-order.ts";
import { closest } from "../closest.ts";
import { at, atKey, type Complaint, each, type Found, type Part, refuse, sound } from "../complaint.ts";
import type { MoneyText } from "../units.ts";
import { type DcaFields, dcaSchema } from "./dca-schema.ts";
import { checkPair, findToken, isWritten, readAmount, type StrategyFile } from "./scope.ts";

type Sale = DcaTerms["sell"];
type Weights = Exclude<DcaFields["buy"], MoneyText | string | undefined>;

/** What is sold and bought at each slot, and how much of it. A part that is broken is undefined. */
export interface DcaTrade {
  readonly sell: Sale | undefined;
  readonly buy: DcaTerms["buy"] | undefined;
}

/** @returns the trade of a file, as far as it is in order */
export function* buildTrade(file: StrategyFile, fields: DcaFields): Found<DcaTrade> {
  const trade = isMoney(fields.buy) ? yield* buildPurchase(file, fields, fields.buy) : yield* buildSale(file, fields);
  const { sell, buy } = trade;
  if (buy === undefined) return trade;
  if ("symbol" in buy) yield* checkPair(file, ["buy"], { sell: sell?.token, buy });
  else for (const { token } of buy) yield* checkPair(file, ["buy", token.symbol], { sell: sell?.token, buy: token });
  return trade;
}

function isMoney(buy: DcaFields["buy"]): buy is MoneyText {
  return typeof buy === "object" && typeof buy.number === "string" && typeof buy.symbol === "string";
}

/** `buy: "0.01 WETH"` with `max_sell: "50 USDC"`, which names the sold token too. */
function* buildPurchase(file: StrategyFile, fields: DcaFields, buy: MoneyText): Found<DcaTrade> {
  for (const key of ["sell", "value"])
    if (isWritten(file, key)) yield atKey`${key}: buy says how much already -> leave one of the two out`;
  const bought = yield* readAmount(file, ["buy"], buy);
  const most = yield* readAmount(file, ["max_sell"], fields.max_sell);
  if (!isWritten(file, "max_sell"))
    yield at`buy: an amount to buy needs max_sell: what it may cost, and in which token -> add for example max_sell: "50 USDC"`;
  if (bought === undefined || most === undefined) return { sell: undefined, buy: bought?.token };
  return { sell: { token: most.token, bought: bought.raw, most: most.raw }, buy: bought.token };
}

function* buildSale(file: StrategyFile, fields: DcaFields): Found<DcaTrade> {
  const { sell: sale, buy } = fields;
  if (isWritten(file, "max_sell"))
    yield atKey`max_sell: limits what an amount to buy may cost, and buy is no amount -> write buy: "0.01 WETH", or leave it out`;
  const sell = sale === undefined ? yield* missingSale(file) : yield* readSale(file, fields, sale);
  if (buy === undefined || isMoney(buy)) return { sell, buy: undefined };
  return { sell, buy: typeof buy === "string" ? yield* findToken(file, ["buy"], buy) : yield* buildShares(file, buy) };
}

function* missingSale(file: StrategyFile): Found<undefined> {
  const known = Object.keys(dcaSchema.shape);
  const isMistyped = Object.keys(Object(file.data)).some(
    (key) => !known.includes(key) && closest(key, known) === "sell",
  );
  if (!isWritten(file, "sell") && !isMistyped)
    yield at`sell: the key "sell" is missing -> it is how much is sold at each slot, for example "100 USDC"`;
}

function* readSale(file: StrategyFile, fields: DcaFields, sell: NonNullable<DcaFields["sell"]>): Part<Sale> {
  if (typeof sell === "string") return yield* readWorth(file, fields.value, sell);
  if (isWritten(file, "value"))
    yield atKey`value: sell says how much already -> leave it out, or write the name of the token alone in sell`;
  if ("symbol" in sell) return yield* readAmount(file, ["sell"], sell);
  const token = yield* findToken(file, ["sell", "of"], sell.of);
  if (sell.amount > 0n) return token === undefined ? undefined : { token, share: sell.amount };
  return yield* refuse`sell.amount: a share of nothing sells nothing`;
}

function* readWorth(file: StrategyFile, value: DcaFields["value"], symbol: string): Part<Sale> {
  const token = yield* findToken(file, ["sell"], symbol);
  if (!isWritten(file, "value")) yield at`sell: says no amount -> write "100 ${symbol}", or add value: "100 USD"`;
  if (value === 0n) yield at`value: nothing is worth nothing`;
  return token === undefined || value === undefined ? undefined : { token, usd: value };
}

/** Several bought tokens: shares that sum to one whole, or one of them is the rest. */
function* buildShares(file: StrategyFile, weights: Weights): Part<readonly DcaShare[]> {
  const entries = Object.entries(weights);
  const sum = entries.reduce((total, [, weight]) => (weight === "rest" ? total : total + weight), 0n);
  return yield* sound(
    (function* () {
      yield* checkShares(entries, sum);
      return yield* each(entries, function* ([symbol, written]) {
        const token = yield* findToken(file, ["buy", symbol], symbol);
        const weight = written === "rest" ? toPpm(sum < ONE_PPM ? ONE_PPM - sum : 0n) : written;
        if (written === 0n) yield at`buy.${symbol}: a share of nothing buys nothing -> leave the token out`;
        return token === undefined ? undefined : { token, weight };
      });
    })(),
  );
}

function* checkShares(entries: readonly [string, Weights[string]][], sum: bigint): Iterable<Complaint> {
  const rests = entries.filter(([, weight]) => weight === "rest").map(([symbol]) => symbol);
  const all = formatPercent(toPpm(sum));
  if (entries.length < 2) yield at`buy: several bought tokens are at least two -> write the name of the token alone`;
  if (rests.length > 1) yield at`buy: only one token can be the rest, not ${rests.join(" and ")}`;
  if (rests.length === 0 && sum !== ONE_PPM)
    yield at`buy: the shares sum to ${all}, not to 100% -> change one of them to rest`;
  if (rests.length === 1 && sum >= ONE_PPM) yield at`buy: the shares sum to ${all}, so nothing is left for the rest`;
}

/** The one token that is bought, undefined when there are several. */
export function onlyBought(buy: DcaTerms["buy"] | undefined): Token | undefined {
  return buy !== undefined && "symbol" in buy ? buy : undefined;
}
