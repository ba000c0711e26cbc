import { NATIVE_TOKEN } from "../money/address.ts";
import { smaller } from "../money/bigint.ts";
import { describeBoth, describeBothDollars, describeSecondsAhead } from "../money/for-people.ts";
import { formatPercent, ONE_PPM } from "../money/fraction.ts";
import { amountWorthDown, type UsdPrice, valueDown, valueUp } from "../money/price.ts";
import type { Check } from "./check.ts";
import { namedContracts } from "./swap-contracts.ts";
import { type GasFacts, paysGas, type SwapFacts } from "./swap-facts.ts";

/** Every EVM chain counts its native token in 1e-18. */
const NATIVE_DECIMALS = 18;
const GWEI = { symbol: "gwei", decimals: 9 } as const;

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
    ...contractChecks(facts),
    expiryCheck(facts),
    impactCheck(facts),
    ...floorChecks(facts),
    balanceCheck(facts),
    ...gasChecks(facts),
    ...valueChecks(facts),
    ...budgetChecks(facts),
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

/** The owner lists what may be approved, called and signed for: tokens, native coins and signatures go to one of these. */
function contractChecks({ pinned, limits }: SwapFacts): Check[] {
  return namedContracts(pinned.contracts).map(({ name, address }) => ({
    code: "SPENDER_NOT_ALLOWED",
    subject: name,
    value: address,
    limit: limits.spenders.join(", ") || "none",
    ok: limits.spenders.includes(address),
  }));
}

function expiryCheck(facts: SwapFacts): Check {
  const { expiresAtSeconds } = facts.quote;
  return {
    code: "QUOTE_EXPIRED",
    subject: "quote.expiresAt",
    value:
      expiresAtSeconds === undefined ? "not stated" : describeSecondsAhead(BigInt(expiresAtSeconds - facts.nowSeconds)),
    limit: "later than now",
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

/** The strategy's own price limit, checked against what the quote brings after all fees. */
function floorChecks(facts: SwapFacts): Check[] {
  if (facts.floor === undefined) return [];
  const [value, limit] = describeBoth(facts.quote.amountOut, facts.floor, facts.buy);
  return [
    {
      code: "PRICE_LIMIT_NOT_MET",
      subject: "quote.amountOut",
      value,
      limit: `at least ${limit} (the strategy's own limit)`,
      ok: facts.quote.amountOut >= facts.floor,
    },
  ];
}

function balanceCheck(facts: SwapFacts): Check {
  const [value, limit] = describeBoth(facts.balances.sold, facts.gross, facts.sell);
  return {
    code: "BALANCE_TOO_LOW",
    subject: `balance of ${facts.sell.symbol}`,
    value,
    limit: `at least ${limit}`,
    ok: facts.gross > 0n && facts.balances.sold >= facts.gross,
  };
}

function mostCost({ limit, maxFeePerGas, dataFee = 0n }: GasFacts): bigint {
  return limit * maxFeePerGas + dataFee;
}

function gasChecks(facts: SwapFacts): Check[] {
  if (!paysGas(facts)) return [];
  const gas = facts.gas ?? { limit: 0n, maxFeePerGas: -1n };
  const ceiling = facts.limits.maxFeePerGas;
  const sold = facts.sell.address === NATIVE_TOKEN ? facts.gross : 0n;
  const left = facts.balances.native - mostCost(gas) - sold;
  const [price, most] = describeBoth(gas.maxFeePerGas, ceiling, GWEI);
  const coin = { symbol: facts.nativeSymbol, decimals: NATIVE_DECIMALS };
  const [remains, least] = describeBoth(left, facts.limits.gasReserve, coin);
  return [
    {
      code: "GAS_PRICE_TOO_HIGH",
      subject: "fee per gas",
      value: facts.gas === undefined ? "unknown" : price,
      limit: `at most ${most} (max_gas_price)`,
      ok: facts.gas !== undefined && gas.maxFeePerGas <= ceiling,
    },
    {
      code: "GAS_RESERVE_TOO_LOW",
      subject: "native token left after the swap",
      value: facts.gas === undefined ? "unknown" : remains,
      limit: `at least ${least} (policy: gas_reserve)`,
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
  const { maxTradeUsd, maxPerDayUsd } = facts.limits;
  const checks = [
    ceilingCheck("RUN_CAP_EXCEEDED", { value, most: maxTradeUsd }),
    ceilingCheck("DAILY_CAP_EXCEEDED", { value: day, most: maxPerDayUsd }),
  ];
  if (maxPerMonthUsd !== undefined) {
    checks.push(ceilingCheck("MONTHLY_CAP_EXCEEDED", { value: month, most: maxPerMonthUsd }));
  }
  if (minTradeUsd !== undefined) checks.push(smallestCheck(leastValue(facts, price.usd), minTradeUsd));
  return checks;
}

/** What each ceiling counts, and which key of the policy sets it. */
const CEILINGS = {
  RUN_CAP_EXCEEDED: { subject: "value of the trade", key: "max_trade" },
  DAILY_CAP_EXCEEDED: { subject: "value of the trades of 24 hours, this one included", key: "max_per_day" },
  MONTHLY_CAP_EXCEEDED: { subject: "value of the trades of 30 days, this one included", key: "max_per_month" },
} as const;

/** The denial of a swap that would exceed one of them. */
export type CeilingCode = keyof typeof CEILINGS;

/** A value in dollars (1e-18) against a ceiling of the policy. */
export function ceilingCheck(
  code: CeilingCode,
  { value, most }: { readonly value: bigint; readonly most: UsdPrice },
): Check {
  const { subject, key } = CEILINGS[code];
  const [reported, limit] = describeBothDollars(value, most);
  return { code, subject, value: reported, limit: `at most ${limit} (policy: ${key})`, ok: value <= most };
}

/** The strategy's own budget, by what the rows say now: what was decided may be of another day, or at other prices. */
function budgetChecks({ budget, gross, sell, prices }: SwapFacts): Check[] {
  return (budget ?? []).flatMap(({ subject, key, sold, most, inDollars }) => {
    const price = prices.sold;
    if (inDollars && price === undefined) return [];
    const own = inDollars && price !== undefined ? valueUp({ raw: gross, decimals: sell.decimals }, price.usd) : gross;
    const [value, limit] = inDollars ? describeBothDollars(sold + own, most) : describeBoth(sold + own, most, sell);
    return {
      code: "BUDGET_EXCEEDED",
      subject: `${subject}, this trade included`,
      value,
      limit: `at most ${limit} (budget: ${key})`,
      ok: sold + own <= most,
    };
  });
}

function leastValue({ gross, sell }: SwapFacts, usd: UsdPrice): bigint {
  return valueDown({ raw: gross, decimals: sell.decimals }, usd);
}

/** A value in dollars (1e-18), rounded down, against the smallest trade. */
export function smallestCheck(value: bigint, least: UsdPrice): Check {
  const [reported, limit] = describeBothDollars(value, least);
  return {
    code: "TRADE_TOO_SMALL",
    subject: "value of the trade",
    value: reported,
    limit: `at least ${limit} (policy: min_trade)`,
    ok: value >= least,
  };
}

/**
 * Gas, with what a rollup charges for data, and the service's fee as a share of the trade's value, rounded up. The
 * affiliate's fee is the operator's own choice and does not count.
 */
function feeChecks(facts: SwapFacts, swapFee: bigint): Check[] {
  const { sold, native } = facts.prices;
  const gasCost = facts.gas === undefined ? 0n : mostCost(facts.gas);
  if (sold === undefined || (paysGas(facts) && native === undefined)) return [];
  const nativeUsd = native?.usd ?? (0n as UsdPrice);
  const value = valueDown({ raw: facts.gross, decimals: facts.sell.decimals }, sold.usd);
  const fees =
    valueUp({ raw: swapFee, decimals: facts.sell.decimals }, sold.usd) +
    (paysGas(facts) ? valueUp({ raw: gasCost, decimals: NATIVE_DECIMALS }, nativeUsd) : 0n);
  const share = value > 0n ? (fees * ONE_PPM + value - 1n) / value : ONE_PPM;
  const limit = facts.limits.maxFee;
  return [
    {
      code: "FEE_CAP_EXCEEDED",
      subject: "gas and service fees as a share of the trade",
      value: formatPercent(share),
      limit: `at most ${formatPercent(limit)} (max_fee)`,
      ok: share <= limit,
    },
  ];
}

/**
 * The most per gas at which a swap that passed all checks still leaves the reserve and costs no more than its share, wei:
 * gas may grow dearer until a block has the swap. A swap of one's own has no fee of the service beside it. Undefined where
 * the owner's own coins pay for none.
 */
export function mostFeePerGas(facts: SwapFacts): bigint | undefined {
  const { gas, prices, sell, gross, balances, limits } = facts;
  if (gas === undefined || gas.limit <= 0n || prices.sold === undefined || prices.native === undefined)
    return undefined;
  const share = (leastValue(facts, prices.sold.usd) * limits.maxFee) / ONE_PPM;
  const byShare = amountWorthDown(share, { decimals: NATIVE_DECIMALS, usd: prices.native.usd });
  const sold = sell.address === NATIVE_TOKEN ? gross : 0n;
  const most = smaller(byShare, balances.native - sold - limits.gasReserve);
  return (most - (gas.dataFee ?? 0n)) / gas.limit;
}
