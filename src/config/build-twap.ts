import type { UsdPrice } from "../domain/money/price.ts";
import type { TokenConfiguration } from "./configuration.ts";
import { DEFAULTS } from "./defaults.ts";
import type { Problem } from "./problem.ts";
import type { MainFile, TwapFields } from "./schemas/main-schema.ts";
import { problemAt, type Source } from "./source.ts";

/** Gives tokens the pools of their time-weighted prices, once all tokens are known. */
export function addTwaps(
  source: Source,
  fields: MainFile["tokens"],
  tokens: Map<string, TokenConfiguration>,
  problems: Problem[],
): void {
  for (const [symbol, { twap }] of Object.entries(fields)) {
    const configured = tokens.get(symbol);
    if (twap === undefined || configured === undefined) continue;
    const quote = findQuote(source, { symbol, twap, tokens }, problems);
    if (quote === undefined) continue;
    const minLiquidityUsd = twap.minLiquidity ?? (DEFAULTS.twapMinLiquidityUsd as UsdPrice);
    const { pool, window } = twap;
    tokens.set(symbol, { ...configured, twap: { pool, windowSeconds: window, quote: quote.token, minLiquidityUsd } });
  }
}

/** The dollars of the quote token come from its feed, so that no pool is priced by another pool. */
function findQuote(
  source: Source,
  from: { symbol: string; twap: TwapFields; tokens: ReadonlyMap<string, TokenConfiguration> },
  problems: Problem[],
): TokenConfiguration | undefined {
  const { symbol, twap, tokens } = from;
  const path = ["tokens", symbol, "twap", "quote"];
  const quote = tokens.get(twap.quote);
  const priced = [...tokens.values()].filter(({ feed, token }) => feed !== undefined && token.symbol !== symbol);
  const suggestion = `with a feed are ${priced.map(({ token }) => token.symbol).join(", ")}`;
  if (quote === undefined) problems.push(problemAt(source, path, `the token "${twap.quote}" is not known`, suggestion));
  else if (quote.token.symbol === symbol) {
    problems.push(problemAt(source, path, `${symbol} cannot be priced in itself`, suggestion));
  } else if (quote.feed === undefined) {
    problems.push(problemAt(source, path, `${twap.quote} has no feed, so its dollars are not known`, suggestion));
  } else return quote;
  return undefined;
}
