import { NATIVE_TOKEN } from "../money/address.ts";
import { formatPercent, ONE_PPM } from "../money/fraction.ts";
import { type UsdPrice, valueDown, valueUp } from "../money/price.ts";
import type { Check } from "./check.ts";
import type { SwapFacts } from "./swap-facts.ts";

/** Every EVM chain counts its native token in 1e-18. */
const NATIVE_DECIMALS = 18;

/**
 * The comparisons with the owner's and the operator's limits. Values that protect us are rounded up, and the value that
 * fees are compared with is rounded down. Checks that need a missing reference price are left out: its absence is a
 * denial of its own.
 * @param swapFee the service's fee on the gasless path, in the sold token
 */
export function limitChecks(facts: SwapFacts, swapFee: bigint): Check[] {
  return [
    recipientCheck(facts),
    ...tokenChecks(facts),
    spenderCheck(facts),
    expiryCheck(facts),
    impactCheck(facts),
    ...floorChecks(facts),
    balanceCheck(facts),
    ...gasChecks(facts),
    ...valueChecks(facts),
    ...feeChecks(facts, swapFee),
  ];
}

function recipientCheck(facts: SwapFacts): Check {
  return {
    code: "RECIPIENT_NOT_ALLOWED",
    subject: "recipient",
    value: facts.recipient,
    limit: facts.limits.recipients.join(", ") || "none",
    ok: facts.limits.recipients.includes(facts.recipient),
  };
}

/** A strategy of other tokens is refused when it is loaded; this holds even if it was loaded under another policy. */
function tokenChecks({ sell, buy, limits }: SwapFacts): Check[] {
  return [sell, buy].map(({ symbol, address }) => ({
    code: "TOKEN_NOT_ALLOWED",
    subject: `token ${symbol}`,
    value: address,
    limit: limits.tokens.join(", ") || "none",
    ok: limits.tokens.includes(address),
  }));
}

function spenderCheck({ pinned, limits }: SwapFacts): Check {
  return {
    code: "SPENDER_NOT_ALLOWED",
    subject: "settlement contract",
    value: pinned.router,
    limit: limits.spenders.join(", ") || "none",
    ok: limits.spenders.includes(pinned.router),
  };
}

function expiryCheck(facts: SwapFacts): Check {
  const { expiresAtSeconds } = facts.quote;
  return {
    code: "QUOTE_EXPIRED",
    subject: "quote.expiresAt",
    value: expiresAtSeconds === undefined ? "not stated" : expiresAtSeconds.toString(),
    limit: `after ${facts.nowSeconds}`,
    ok: expiresAtSeconds === undefined || expiresAtSeconds > facts.nowSeconds,
  };
}

/** A service that does not state the impact is bounded by the reference price all the same. */
function impactCheck(facts: SwapFacts): Check {
  const { priceImpact } = facts.quote;
  const limit = facts.limits.priceImpact;
  return {
    code: "PRICE_IMPACT_TOO_HIGH",
    subject: "quote.priceImpact",
    value: priceImpact === undefined ? "not stated" : formatPercent(priceImpact),
    limit: `at most ${formatPercent(limit)}`,
    ok: priceImpact === undefined || priceImpact <= limit,
  };
}

/** The strategy's own price limit, held against what the quote brings after all fees. */
function floorChecks(facts: SwapFacts): Check[] {
  if (facts.floor === undefined) return [];
  return [
    {
      code: "PRICE_LIMIT_NOT_MET",
      subject: "quote.amountOut",
      value: facts.quote.amountOut.toString(),
      limit: `at least ${facts.floor}`,
      ok: facts.quote.amountOut >= facts.floor,
    },
  ];
}

function balanceCheck(facts: SwapFacts): Check {
  return {
    code: "BALANCE_TOO_LOW",
    subject: `balance of ${facts.sell.symbol}`,
    value: facts.balances.sold.toString(),
    limit: `at least ${facts.gross}`,
    ok: facts.gross > 0n && facts.balances.sold >= facts.gross,
  };
}

function gasChecks(facts: SwapFacts): Check[] {
  if (facts.mode === "gasless") return [];
  const gas = facts.gas ?? { limit: 0n, maxFeePerGas: -1n };
  const ceiling = facts.limits.maxFeePerGas;
  const sold = facts.sell.address === NATIVE_TOKEN ? facts.gross : 0n;
  const left = facts.balances.native - gas.limit * gas.maxFeePerGas - sold;
  return [
    {
      code: "GAS_PRICE_TOO_HIGH",
      subject: "fee per gas",
      value: facts.gas === undefined ? "unknown" : `${gas.maxFeePerGas} wei`,
      limit: `at most ${ceiling} wei`,
      ok: facts.gas !== undefined && gas.maxFeePerGas <= ceiling,
    },
    {
      code: "GAS_RESERVE_TOO_LOW",
      subject: "native token left after the swap",
      value: facts.gas === undefined ? "unknown" : `${left} wei`,
      limit: `at least ${facts.limits.gasReserve} wei`,
      ok: facts.gas !== undefined && left >= facts.limits.gasReserve,
    },
  ];
}

function valueChecks(facts: SwapFacts): Check[] {
  const price = facts.prices.sold;
  if (price === undefined) return [];
  const value = valueUp({ raw: facts.gross, decimals: facts.sell.decimals }, price.usd);
  const day = facts.spentTodayUsd + value;
  const month = facts.spentMonthUsd + value;
  const { minTradeUsd, maxPerMonthUsd } = facts.limits;
  const checks: Check[] = [
    {
      code: "RUN_CAP_EXCEEDED",
      subject: "value of the trade",
      value: `${value} (1e-18 USD)`,
      limit: `at most ${facts.limits.maxTradeUsd}`,
      ok: value <= facts.limits.maxTradeUsd,
    },
    {
      code: "DAILY_CAP_EXCEEDED",
      subject: "value of the day's trades",
      value: `${day} (1e-18 USD)`,
      limit: `at most ${facts.limits.maxPerDayUsd}`,
      ok: day <= facts.limits.maxPerDayUsd,
    },
  ];
  if (maxPerMonthUsd !== undefined) {
    checks.push({
      code: "MONTHLY_CAP_EXCEEDED",
      subject: "value of the trades of 30 days",
      value: `${month} (1e-18 USD)`,
      limit: `at most ${maxPerMonthUsd}`,
      ok: month <= maxPerMonthUsd,
    });
  }
  if (minTradeUsd !== undefined) checks.push(smallestTradeCheck(facts, price.usd, minTradeUsd));
  return checks;
}

function smallestTradeCheck(facts: SwapFacts, usd: UsdPrice, least: UsdPrice): Check {
  const value = valueDown({ raw: facts.gross, decimals: facts.sell.decimals }, usd);
  return {
    code: "TRADE_TOO_SMALL",
    subject: "value of the trade",
    value: `${value} (1e-18 USD)`,
    limit: `at least ${least}`,
    ok: value >= least,
  };
}

/**
 * Gas and the service's fee as a share of the trade's value, rounded up. The affiliate's fee is the operator's own wish
 * and does not count.
 */
function feeChecks(facts: SwapFacts, swapFee: bigint): Check[] {
  const { sold, native } = facts.prices;
  const gasCost = facts.gas === undefined ? 0n : facts.gas.limit * facts.gas.maxFeePerGas;
  if (sold === undefined || (facts.mode === "self-executed" && native === undefined)) return [];
  const nativeUsd = native?.usd ?? (0n as UsdPrice);
  const value = valueDown({ raw: facts.gross, decimals: facts.sell.decimals }, sold.usd);
  const fees =
    valueUp({ raw: swapFee, decimals: facts.sell.decimals }, sold.usd) +
    (facts.mode === "self-executed" ? valueUp({ raw: gasCost, decimals: NATIVE_DECIMALS }, nativeUsd) : 0n);
  const share = value > 0n ? (fees * ONE_PPM + value - 1n) / value : ONE_PPM;
  const limit = facts.limits.maxFee;
  return [
    {
      code: "FEE_CAP_EXCEEDED",
      subject: "gas and service fees as a share of the trade",
      value: formatPercent(share),
      limit: `at most ${formatPercent(limit)}`,
      ok: share <= limit,
    },
  ];
}
