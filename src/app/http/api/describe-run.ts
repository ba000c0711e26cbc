import type { z } from "zod";
import { formatUnits } from "../../../domain/money/amount.ts";
import { USD_DECIMALS, type UsdPrice, valueDown } from "../../../domain/money/price.ts";
import type {
  CheckHistory,
  CostHistory,
  GapHistory,
  RetryHistory,
  RunHistory,
  SwapHistory,
  TransitionHistory,
} from "../../../ports/history.ts";
import type { ListedFill } from "../../../ports/listing.ts";
import type { RunDetails } from "../../../ports/read-model.ts";
import { costOf } from "../../commands/swap-costs.ts";
import {
  basisPointsFrom,
  dollarsOf,
  instantOf,
  instantOrNull,
  moneyOf,
  moneyOrNull,
  type PlainToken,
  worthOf,
} from "./describe-money.ts";
import type * as shapes from "./shapes/run-shapes.ts";

type Shape<Name extends keyof typeof shapes> = (typeof shapes)[Name] extends z.ZodType
  ? z.output<(typeof shapes)[Name]>
  : never;

/** A run with its swaps. `native` is the coin that gas is paid with. */
export function describeRun(run: RunHistory, native: PlainToken): Shape<"run"> {
  const { id, strategy, state, reason, detail } = run;
  return {
    ...{ id, strategy, slot: instantOf(run.slotMs), state, reason, detail, endedAt: instantOrNull(run.endedAtMs) },
    swaps: run.swaps.map((swap) => describeSwap(swap, { run: id, strategy, native })),
  };
}

interface Belonging {
  readonly run: string;
  readonly strategy: string;
  readonly native: PlainToken;
}

function describeSwap(swap: SwapHistory, { run, strategy, native }: Belonging): Shape<"swap"> {
  const { sell, buy, prices } = swap;
  const gas = swap.costs.reduce((sum, cost) => sum + costOf(cost), 0n);
  return {
    ...{ id: swap.id, run, strategy, state: swap.state, reason: swap.reason, mode: modeOf(swap.mode) },
    ...{ wallet: swap.wallet, recipient: swap.recipient, sell: tokenOf(sell), buy: tokenOf(buy) },
    asked: moneyOrNull(swap.gross, sell),
    quoted: moneyOrNull(prices?.expected?.bought, buy),
    minimum: moneyOrNull(prices?.expected?.amountOutMin, buy),
    sold: moneyOrNull(swap.sold, sell),
    bought: moneyOrNull(swap.bought, buy),
    price: rateOf(swap),
    ...qualityOf(swap),
    fees: feesOf(swap),
    gas: swap.costs.length === 0 ? null : moneyOf(gas, native),
    gasUsd: swap.costs.length === 0 ? null : worthOf(gas, native.decimals, prices?.native?.usd),
    ...{ hash: swap.hash, block: swap.blockNumber, quoteId: swap.quoteId },
    at: swap.blockTimeSeconds === null ? null : instantOf(swap.blockTimeSeconds * 1_000),
  };
}

function modeOf(mode: string | null): Shape<"swap">["mode"] {
  return mode === "self-executed" || mode === "gasless" ? mode : null;
}

function tokenOf({ symbol, address, decimals }: PlainToken): PlainToken {
  return { symbol, address, decimals };
}

/** What one bought token cost, in the sold one's unit. */
function rateOf({ sold, bought, sell, buy }: SwapHistory): string | null {
  if (sold === null || bought === null || BigInt(bought) <= 0n) return null;
  const scaled =
    (BigInt(sold) * 10n ** BigInt(buy.decimals + USD_DECIMALS)) / (BigInt(bought) * 10n ** BigInt(sell.decimals));
  return formatUnits(scaled, USD_DECIMALS);
}

/** What was exchanged in dollars, and against quote and reference. */
function qualityOf({ sold, bought, sell, buy, prices }: SwapHistory) {
  const none = { soldUsd: null, boughtUsd: null, againstQuote: null, againstReference: null };
  if (sold === null || bought === null) return none;
  const [out, into] = [worthIn(sold, sell, prices?.sold?.usd), worthIn(bought, buy, prices?.bought?.usd)];
  const promised = prices?.expected?.bought;
  return {
    soldUsd: out === undefined ? null : dollarsOf(out),
    boughtUsd: into === undefined ? null : dollarsOf(into),
    againstQuote: promised === undefined ? null : basisPointsFrom(BigInt(bought), BigInt(promised)),
    againstReference: out === undefined || into === undefined ? null : basisPointsFrom(into, out),
  };
}

function worthIn(raw: string, { decimals }: PlainToken, usd: string | undefined): bigint | undefined {
  return usd === undefined ? undefined : valueDown({ raw: BigInt(raw), decimals }, BigInt(usd) as UsdPrice);
}

function feesOf({ fees, sell, prices }: SwapHistory): Shape<"swap">["fees"] {
  const paid = [
    { to: "service", raw: fees.swap },
    { to: "affiliate", raw: fees.affiliate },
  ] as const;
  return paid.flatMap(({ to, raw }) => {
    if (raw === null || raw === "0") return [];
    return [{ to, amount: moneyOf(BigInt(raw), sell), usd: worthOf(BigInt(raw), sell.decimals, prices?.sold?.usd) }];
  });
}

/** A run with all that is kept of it. */
export function describeRunDetails(
  { run, transitions, checks, retries }: RunDetails,
  native: PlainToken,
): Shape<"runDetails"> {
  return {
    run: describeRun(run, native),
    transitions: transitions.map(describeTransition),
    retries: retries.map(describeRetry),
    swaps: run.swaps.map((swap, index) => ({
      id: swap.id,
      checks: (checks[index]?.checks ?? []).map(describeCheck),
      transactions: swap.costs.map((cost) => describeCost(cost, native, swap.prices?.native?.usd)),
      route: parseOrNull(swap.distributions),
    })),
  };
}

/** A move of a run or a swap. */
export function describeTransition({
  subject,
  id,
  from,
  to,
  reason,
  detail,
  atMs,
}: TransitionHistory): Shape<"transition"> {
  return { subject: subject === "run" ? "run" : "swap", id, from, to, reason, detail, at: instantOf(atMs) };
}

function describeCheck({ code, passed, value, limit, atMs }: CheckHistory): Shape<"check"> {
  return { code, passed, value, limit, at: instantOf(atMs) };
}

function describeRetry({ swapId: swap, reason, detail, count, ...when }: RetryHistory): Shape<"retry"> {
  const [firstAt, lastAt, nextAt] = [instantOf(when.firstAtMs), instantOf(when.lastAtMs), instantOf(when.nextAtMs)];
  return { swap, reason, detail, count, firstAt, lastAt, nextAt };
}

function describeCost(cost: CostHistory, native: PlainToken, usd: string | undefined): Shape<"swapTransaction"> {
  const { hash, purpose, kind, visibility, succeeded, gasUsed } = cost;
  const paid = costOf(cost);
  return {
    ...{ hash, purpose, kind, visibility, succeeded, block: cost.blockNumber, gasUsed },
    at: instantOf(cost.blockTimeSeconds * 1_000),
    cost: moneyOf(paid, native),
    costUsd: worthOf(paid, native.decimals, usd),
  };
}

/** Slots of which no run is kept. */
export function describeGap({ strategy, firstSlotMs, lastSlotMs, count, reason, state }: GapHistory): Shape<"gap"> {
  return { strategy, first: instantOf(firstSlotMs), last: instantOf(lastSlotMs), count, reason, state };
}

/** A fill for charts; undefined where its amounts are not known. */
export function describeFill({ run, strategy, swap }: ListedFill): Shape<"fill"> | undefined {
  const { sold, bought, sell, buy, prices, blockTimeSeconds } = swap;
  if (sold === null || bought === null) return undefined;
  const atMs = blockTimeSeconds === null ? prices?.readAtMs : blockTimeSeconds * 1_000;
  if (atMs === undefined) return undefined;
  const [out, into] = [prices?.sold?.usd, prices?.bought?.usd];
  return {
    ...{ swap: swap.id, run, strategy, at: instantOf(atMs) },
    ...{ sold: moneyOf(BigInt(sold), sell), bought: moneyOf(BigInt(bought), buy) },
    soldPriceUsd: out === undefined ? null : dollarsOf(BigInt(out)),
    boughtPriceUsd: into === undefined ? null : dollarsOf(BigInt(into)),
    ...qualityOf(swap),
  };
}

function parseOrNull(text: string | null): unknown {
  return text === null ? null : JSON.parse(text);
}
