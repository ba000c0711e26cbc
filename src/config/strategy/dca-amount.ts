import { formatPercent, ONE_PPM, type Ppm, toPpm } from "../../domain/money/fraction.ts";
import type { Token } from "../../domain/money/token.ts";
import type { DcaShare, DcaTerms } from "../../domain/strategy/dca-order.ts";
import { problemAt, problemAtKey } from "../source.ts";
import type { MoneyText } from "../units.ts";
import type { DcaFields } from "./dca-schema.ts";
import { checkPair, findToken, readAmount, type StrategyFile } from "./scope.ts";

type Sale = DcaTerms["sell"];
type Weights = Exclude<DcaFields["buy"], MoneyText | string | undefined>;

/** What is sold and bought at each slot, and how much of it. A part that is broken is undefined. */
export function buildTrade(
  file: StrategyFile,
  fields: DcaFields,
): { sell: Sale | undefined; buy: DcaTerms["buy"] | undefined } {
  const trade = isMoney(fields.buy) ? buildPurchase(file, fields, fields.buy) : buildSale(file, fields);
  const { sell, buy } = trade;
  if (buy === undefined) return trade;
  if ("symbol" in buy) checkPair(file, ["buy"], { sell: sell?.token, buy });
  else for (const { token } of buy) checkPair(file, ["buy", token.symbol], { sell: sell?.token, buy: token });
  return trade;
}

function isMoney(buy: DcaFields["buy"]): buy is MoneyText {
  return typeof buy === "object" && typeof buy.number === "string" && typeof buy.symbol === "string";
}

/** `buy: "0.01 WETH"` with `max_sell: "50 USDC"`, which names the sold token too. */
function buildPurchase(file: StrategyFile, fields: DcaFields, buy: MoneyText): ReturnType<typeof buildTrade> {
  for (const key of ["sell", "value"] as const) {
    if (!isWritten(file, key)) continue;
    const message = "buy says how much already";
    file.problems.push(problemAtKey(file.source, [key], message, "leave one of the two out"));
  }
  const bought = readAmount(file, ["buy"], buy);
  const most = readAmount(file, ["max_sell"], fields.max_sell);
  if (!isWritten(file, "max_sell")) {
    const message = "an amount to buy needs max_sell: what it may cost, and in which token";
    file.problems.push(problemAt(file.source, ["buy"], message, 'add for example max_sell: "50 USDC"'));
  }
  const sell = bought === undefined || most === undefined ? undefined : { bought: bought.raw, most: most.raw };
  return {
    sell: sell === undefined || most === undefined ? undefined : { token: most.token, ...sell },
    buy: bought?.token,
  };
}

function buildSale(file: StrategyFile, fields: DcaFields): ReturnType<typeof buildTrade> {
  if (isWritten(file, "max_sell")) {
    const message = "limits what an amount to buy may cost, and buy is no amount";
    file.problems.push(problemAtKey(file.source, ["max_sell"], message, 'write buy: "0.01 WETH", or leave it out'));
  }
  const sell = fields.sell === undefined ? missingSale(file) : readSale(file, fields, fields.sell);
  const { buy } = fields;
  if (buy === undefined || isMoney(buy)) return { sell, buy: undefined };
  return { sell, buy: typeof buy === "string" ? findToken(file, ["buy"], buy) : buildShares(file, buy) };
}

function missingSale(file: StrategyFile): undefined {
  const isMistyped = file.problems.some(({ suggestion }) => suggestion === 'did you mean "sell"?');
  if (isWritten(file, "sell") || isMistyped) return undefined;
  const suggestion = 'it is how much is sold at each slot, for example "100 USDC"';
  file.problems.push(problemAt(file.source, ["sell"], 'the key "sell" is missing', suggestion));
  return undefined;
}

function readSale(file: StrategyFile, fields: DcaFields, sell: NonNullable<DcaFields["sell"]>): Sale | undefined {
  if (typeof sell === "string") return readWorth(file, fields, sell);
  if (isWritten(file, "value")) {
    const message = "sell says how much already";
    const suggestion = "leave it out, or write the name of the token alone in sell";
    file.problems.push(problemAtKey(file.source, ["value"], message, suggestion));
  }
  if ("symbol" in sell) return readAmount(file, ["sell"], sell);
  const token = findToken(file, ["sell", "of"], sell.of);
  if (sell.amount > 0n) return token === undefined ? undefined : { token, share: sell.amount };
  file.problems.push(problemAt(file.source, ["sell", "amount"], "a share of nothing sells nothing"));
  return undefined;
}

function readWorth(file: StrategyFile, fields: DcaFields, symbol: string): Sale | undefined {
  const token = findToken(file, ["sell"], symbol);
  if (!isWritten(file, "value")) {
    const suggestion = `write "100 ${symbol}", or add value: "100 USD"`;
    file.problems.push(problemAt(file.source, ["sell"], "says no amount", suggestion));
  }
  if (fields.value === 0n) file.problems.push(problemAt(file.source, ["value"], "nothing is worth nothing"));
  return token === undefined || fields.value === undefined ? undefined : { token, usd: fields.value };
}

/** Several bought tokens: shares that sum to one whole, or one of them is the rest. */
function buildShares(file: StrategyFile, weights: Weights): readonly DcaShare[] | undefined {
  const { source, problems } = file;
  const before = problems.length;
  const entries = Object.entries(weights);
  const rests = entries.filter(([, weight]) => weight === "rest");
  const sum = entries.reduce((total, [, weight]) => (weight === "rest" ? total : total + weight), 0n);
  const complain = (message: string, suggestion?: string): void =>
    void problems.push(problemAt(source, ["buy"], message, suggestion));
  if (entries.length < 2) complain("several bought tokens are at least two", "write the name of the token alone");
  if (rests.length > 1) complain(`only one token can be the rest, not ${rests.map(([name]) => name).join(" and ")}`);
  if (rests.length === 0 && sum !== ONE_PPM) {
    complain(`the shares sum to ${formatPercent(sum)}, not to 100%`, "change one of them to rest");
  }
  if (rests.length === 1 && sum >= ONE_PPM) {
    complain(`the shares sum to ${formatPercent(sum)}, so nothing is left for the rest`);
  }
  const shares = entries.flatMap(([symbol, written]) => {
    const token = findToken(file, ["buy", symbol], symbol);
    const weight: Ppm = written === "rest" ? toPpm(sum < ONE_PPM ? ONE_PPM - sum : 0n) : written;
    if (written === 0n) {
      problems.push(problemAt(source, ["buy", symbol], "a share of nothing buys nothing", "leave the token out"));
    }
    return token === undefined ? [] : [{ token, weight }];
  });
  return problems.length > before ? undefined : shares;
}

/** Whether a key stands in the file, whatever its value. */
function isWritten({ source }: StrategyFile, key: string): boolean {
  return typeof source.data === "object" && source.data !== null && key in source.data;
}

/** The one token that is bought, undefined when there are several. */
export function onlyBought(buy: DcaTerms["buy"] | undefined): Token | undefined {
  return buy !== undefined && "symbol" in buy ? buy : undefined;
}
