import { larger, smaller } from "../money/bigint.ts";
import { describeAmount, describePrice } from "../money/for-people.ts";
import { formatPercent, ONE_PPM } from "../money/fraction.ts";
import { convertUp, distanceUp, type ReferencePrice, sourcesOf, USD_DECIMALS } from "../money/price.ts";
import type { Token } from "../money/token.ts";
import type { Check } from "./check.ts";
import { paysGas, type SwapFacts } from "./swap-facts.ts";

const ONE_DOLLAR = 10n ** BigInt(USD_DECIMALS);

/**
 * Whether every configured source of the reference answered, whether they agree, and whether pegged tokens hold their
 * peg. A source that is missing is never replaced by another.
 */
export function referenceChecks(facts: SwapFacts): Check[] {
  const { prices, sell, buy } = facts;
  const traded: readonly (readonly [Token, ReferencePrice | undefined])[] = [
    [sell, prices.sold],
    [buy, prices.bought],
  ];
  return [
    ...traded.map(([token, price]) => priceCheck(facts, token, price)),
    ...(paysGas(facts) ? [nativeCheck(facts)] : []),
    ...traded.flatMap(([token, price]) => spreadChecks(facts, token, price)),
    ...secondChecks(facts),
    ...traded.flatMap(([token, price]) => pegChecks(facts, token, price)),
  ];
}

function priceCheck(facts: SwapFacts, token: Token, price: ReferencePrice | undefined): Check {
  const fault = price === undefined ? facts.priceFaults.find((each) => each.token === token.address) : undefined;
  return {
    code: fault?.code ?? "REFERENCE_MISSING",
    subject: `reference price of ${token.symbol}`,
    value: price === undefined ? (fault?.detail ?? "missing") : describe(price),
    limit: "fresh and positive",
    ok: price !== undefined && price.usd > 0n,
  };
}

/** The native token's fault is reported by whichever token of the three is none of the traded ones. */
function nativeCheck(facts: SwapFacts): Check {
  const { native } = facts.prices;
  const traded = [facts.sell.address, facts.buy.address];
  const fault = facts.priceFaults.find((each) => !traded.includes(each.token)) ?? facts.priceFaults[0];
  return {
    code: native === undefined ? (fault?.code ?? "REFERENCE_MISSING") : "REFERENCE_MISSING",
    subject: "reference price of the native token",
    value: native === undefined ? (fault?.detail ?? "missing") : describe(native),
    limit: "fresh and positive",
    ok: native !== undefined && native.usd > 0n,
  };
}

function describe(price: ReferencePrice): string {
  const [used, ...others] = sourcesOf(price).map(({ usd, source }) => `${describePrice(usd)} (${source})`);
  return others.length === 0 ? `${used}` : `${used}, used because it asks for more than ${others.join(", ")}`;
}

/** How far the sources of one token's price are apart. */
function spreadChecks(facts: SwapFacts, token: Token, price: ReferencePrice | undefined): Check[] {
  if (price?.others === undefined || price.others.length === 0) return [];
  const dollars = sourcesOf(price).map(({ usd }) => usd);
  const low = dollars.reduce(smaller);
  const high = dollars.reduce(larger);
  return [divergenceCheck(facts, `sources of the price of ${token.symbol}`, { low, high })];
}

/** The second service's output, and how far it is from what the prices say. */
function secondChecks(facts: SwapFacts): Check[] {
  const { secondOutput, prices } = facts;
  if (secondOutput === undefined) return [];
  const isQuoted = secondOutput.kind === "quoted";
  const answered: Check = {
    code: "REFERENCE_MISSING",
    subject: "expected output of the second service",
    value: isQuoted
      ? `${describeAmount(secondOutput.amountOut, facts.buy)} (${secondOutput.source})`
      : secondOutput.detail,
    limit: "an answer",
    ok: isQuoted && secondOutput.amountOut > 0n,
  };
  const { sold, bought } = prices;
  if (!isQuoted || sold === undefined || bought === undefined || bought.usd <= 0n) return [answered];
  const amount = { raw: facts.gross, decimals: facts.sell.decimals, usd: sold.usd };
  const worth = convertUp(amount, { decimals: facts.buy.decimals, usd: bought.usd });
  const pair = { low: worth, high: secondOutput.amountOut };
  return [answered, divergenceCheck(facts, "second service against the reference prices", pair)];
}

function divergenceCheck(facts: SwapFacts, subject: string, pair: { low: bigint; high: bigint }): Check {
  const distance = distanceUp(pair.low, pair.high);
  const limit = facts.limits.maxDivergence;
  return {
    code: "REFERENCE_DIVERGES",
    subject,
    value: distance === undefined ? `${pair.low} and ${pair.high}` : `${formatPercent(distance)} apart`,
    limit: `at most ${formatPercent(limit)}`,
    ok: distance !== undefined && distance <= limit,
  };
}

/** Each source's word counts: the one that is furthest from the dollar decides. */
function pegChecks(facts: SwapFacts, token: Token, price: ReferencePrice | undefined): Check[] {
  const { pegged, maxDepeg } = facts.limits;
  if (price === undefined || !pegged.includes(token.address)) return [];
  const distances = sourcesOf(price).map(({ usd }) => (usd > ONE_DOLLAR ? usd - ONE_DOLLAR : ONE_DOLLAR - usd));
  const furthest = distances.reduce(larger);
  const share = (furthest * ONE_PPM + ONE_DOLLAR - 1n) / ONE_DOLLAR;
  return [
    {
      code: "STABLECOIN_DEPEGGED",
      subject: `peg of ${token.symbol} to the dollar`,
      value: `${formatPercent(share)} away`,
      limit: `at most ${formatPercent(maxDepeg)}`,
      ok: share <= maxDepeg,
    },
  ];
}
