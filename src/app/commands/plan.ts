import type { ForecastSlot, ForecastSwap } from "../../domain/forecast/forecast.ts";
import type { Bound } from "../../domain/forecast/possible-sales.ts";
import type { WorstCase } from "../../domain/forecast/worst-case.ts";
import { formatUnits } from "../../domain/money/amount.ts";
import { describeDollars } from "../../domain/money/for-people.ts";
import { USD_DECIMALS } from "../../domain/money/price.ts";
import { formatDuration } from "../../domain/time/format-duration.ts";
import { BUDGET_HEADING, budgetTable } from "../budget-lines.ts";
import { CommandFailure, EXIT } from "../exit-codes.ts";
import { modeLine } from "../mode-line.ts";
import { type Plan, readPlan } from "../read-plan.ts";
import { configurationOf, findTarget, needsChain } from "../target.ts";
import { formatInstant, formatTable, formatTokenAmount, type Terminal } from "../terminal.ts";
import { untakenLine } from "../untaken-line.ts";

export interface PlanOptions {
  readonly config?: string;
  readonly json?: boolean;
  readonly slots: number;
}

/**
 * `swapd plan`: what the next slots would do if the market stood still, with what they need and what would deny them.
 * Signs and sends nothing. Ends with 1 when a slot would be denied or something that it needs is missing.
 */
export async function plan(options: PlanOptions, terminal: Terminal): Promise<void> {
  const target = needsChain(findTarget(options));
  const found = configurationOf(target);
  const made = await readPlan(found, options.slots);
  const { configuration } = found;
  const untaken = await untakenLine(target);
  const json = { mode: configuration.mode, untaken: untaken ?? null, ...planJson(made) };
  const about = [modeLine(configuration), ...(untaken === undefined ? [] : [untaken])].join("\n");
  terminal.out(options.json === true ? JSON.stringify(json) : `${about}\n\n${planText(made)}`);
  if (!isClear(made)) throw new CommandFailure(EXIT.no, "");
}

function isClear(made: Plan): boolean {
  const denied = made.slots.some((slot) => slot.swaps.some((swap) => swap.problem !== undefined));
  const isKnown = made.approvals.every(({ allowance }) => typeof allowance === "bigint");
  return !denied && isKnown && made.unpriced.length === 0 && made.unread.length === 0;
}

function planJson(made: Plan): object {
  return {
    at: formatInstant(made.nowMs),
    slots: made.slots.map((slot) => slotJson(slot, made)),
    worstCase: worstCaseJson(made.worstCase),
    approvals: made.approvals.map(({ wallet, token, spender, needed, allowance }) => ({
      wallet,
      token: token.symbol,
      spender,
      needed: needed.toString(),
      ...(typeof allowance === "string"
        ? { allowance: null, refused: allowance }
        : { allowance: allowance.toString() }),
    })),
    spenders: made.spenders,
    gas: {
      transactions: made.gas.transactions,
      estimate: made.gas.wei.toString(),
      balance: Object.fromEntries([...made.gas.balances].map(([wallet, wei]) => [wallet, wei.toString()])),
    },
    proposals: made.proposals,
    unread: made.unread.map(({ strategyId, detail }) => ({ strategy: strategyId, detail })),
    unpriced: made.unpriced,
    budgets: made.budgets.map(({ strategyId, lines }) => ({ strategy: strategyId, bounds: lines })),
  };
}

function slotJson(slot: ForecastSlot, made: Plan): object {
  return {
    strategy: slot.strategyId,
    slot: formatInstant(slot.slotMs),
    local: made.localTime(slot),
    atOnce: slot.isAtOnce,
    afterOpenRun: slot.isAfterOpenRun,
    decision: slot.decision,
    reason: slot.reason ?? null,
    detail: slot.detail ?? null,
    swaps: slot.swaps.map((swap) => ({
      sell: swap.sell.symbol,
      buy: swap.buy.symbol,
      amount: swap.amount.toString(),
      expected: swap.bought.toString(),
      waitsFor: swap.waitsFor?.kind ?? null,
      untried: swap.untried ?? null,
      denied: swap.problem?.code ?? null,
      detail: swap.problem?.detail ?? null,
    })),
  };
}

/** What becomes of a swap, in a word or two. */
function does({ problem, waitsFor }: ForecastSwap): string {
  if (problem !== undefined) return "DENIED";
  if (waitsFor === undefined) return "swap";
  if (waitsFor.kind === "approval") return "swap, once approved";
  return `swap, announced ${formatDuration(waitsFor.seconds * 1_000)} before`;
}

function what({ sell, buy, amount: sold, bought, problem, untried }: ForecastSwap): string {
  if (problem !== undefined) return `${amount(sold, sell)} -> ${buy.symbol}: ${problem.code} (${problem.detail})`;
  const swap = `${amount(sold, sell)} -> ${amount(bought, buy)}`;
  return untried === undefined ? swap : `${swap}, by its quote alone: it could not be tried out (${untried})`;
}

function worstCaseJson(worst: WorstCase): object {
  const dollars = (usd: bigint): string => formatUnits(usd, USD_DECIMALS);
  return {
    perDayUsd: dollars(worst.perDayUsd),
    perMonthUsd: dollars(worst.perMonthUsd),
    perDayBounds: worst.perDayBounds,
    perMonthBounds: worst.perMonthBounds,
  };
}

/** What keeps the worst case from being worse, as an operator would look for it. */
const BOUNDS: Readonly<Record<Bound, string>> = {
  amounts: "the strategies' own amounts",
  budget: "what is left of their budgets",
  own_day: "their own max_per_day",
  wallet: "what the wallets hold",
  max_trade: "the policy's max_trade",
  max_per_day: "the policy's max_per_day",
  max_per_month: "the policy's max_per_month",
};

function worstCaseText({ perDayUsd, perDayBounds, perMonthUsd, perMonthBounds }: WorstCase): string {
  if (perMonthUsd === 0n) return "at worst: nothing is sold in the next 30 days";
  const why = (bounds: readonly Bound[]): string => `bounded by ${bounds.map((bound) => BOUNDS[bound]).join(", ")}`;
  const day = `${describeDollars(perDayUsd)} in any 24 hours, ${why(perDayBounds)}`;
  const month = `${describeDollars(perMonthUsd)} in the next 30 days, ${why(perMonthBounds)}`;
  return `at worst are sold\n  ${day}\n  ${month}`;
}

function beginsText({ isAtOnce, isAfterOpenRun }: ForecastSlot): string {
  if (isAfterOpenRun) return ", after its open run";
  return isAtOnce ? ", at once" : "";
}

/** A plan for people: slots, the worst case, gas and approvals. */
export function planText(made: Plan): string {
  const rows = made.slots.flatMap((slot) => {
    const at = `${formatInstant(slot.slotMs)}${beginsText(slot)}`;
    const head = [at, made.localTime(slot), slot.strategyId];
    if (slot.swaps.length === 0) return [[...head, slot.decision, `${slot.reason ?? ""}: ${slot.detail ?? ""}`]];
    return slot.swaps.map((swap) => [...head, does(swap), what(swap)]);
  });
  const parts = [
    formatTable([["SLOT (UTC)", "LOCAL", "STRATEGY", "DOES", "WHAT"], ...rows]),
    ...made.unread.map(
      ({ strategyId, detail }) =>
        `${strategyId} is in none of this, not in the worst case either: ${detail}; it waits until the token answers`,
    ),
    worstCaseText(made.worstCase),
  ];
  const budgets = made.budgets.flatMap(({ strategyId, lines }) => budgetTable(strategyId, lines));
  if (budgets.length > 0) parts.push(formatTable([BUDGET_HEADING, ...budgets]));
  if (made.gas.transactions > 0) {
    const gas = formatTokenAmount(made.gas.wei.toString(), { symbol: made.nativeSymbol, decimals: 18 });
    parts.push(`these slots send about ${made.gas.transactions} transactions of our own, for about ${gas} of gas`);
  }
  if (made.proposals > 0)
    parts.push(
      `the owners of Safes are asked for ${made.proposals} of these swaps: they execute them, and pay for the gas`,
    );
  if (made.approvals.length > 0) {
    const approvals = made.approvals.map(({ wallet, token, spender, needed }) => [
      ...[wallet, token.symbol, amount(needed, token), spender],
    ]);
    parts.push(formatTable([["WALLET", "APPROVES", "EXACTLY, AT FIRST", "FOR"], ...approvals]));
    for (const { wallet, token, allowance } of made.approvals) {
      if (typeof allowance === "string")
        parts.push(
          `what ${wallet} allows of ${token.symbol} already is not known, and nothing is sold until it is: ${allowance}`,
        );
    }
    if (made.spenders.length > 1)
      parts.push(`by the quotes of now; a later one may name another of ${made.spenders.join(", ")}`);
  }
  for (const { token, detail } of made.unpriced) parts.push(`no reference price of ${token}: ${detail}`);
  return parts.join("\n\n");
}

function amount(raw: bigint, token: { symbol: string; decimals: number }): string {
  return formatTokenAmount(raw.toString(), token);
}
