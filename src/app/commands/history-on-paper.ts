import { describeAmount, describeDollars, describeRate, roundedUnits } from "../../domain/money/for-people.ts";
import { formatPercent } from "../../domain/money/fraction.ts";
import { type UsdPrice, valueDown } from "../../domain/money/price.ts";
import type { RunHistory, SwapHistory } from "../../ports/history.ts";
import { describeTotal, type PaperTotal } from "../paper-total.ts";
import { formatInstant, formatTable } from "../terminal.ts";
import { costOf } from "./swap-costs.ts";

const NATIVE_DECIMALS = 18;
const DRY_RUN = "dry_run";

const HEADING = ["SLOT (UTC)", "STRATEGY", "RUN", "SWAP", "SOLD", "BOUGHT", "PRICE", "FEE", "GAS", "IMPACT"];

/** Whether a run shows what would have been: it was a dry run, which is judged by its quote. */
export function isDry({ swaps, reason }: RunHistory): boolean {
  return reason === DRY_RUN || swaps.some((swap) => swap.reason === DRY_RUN);
}

/** Runs of a dry run or on paper, each swap with what it would have bought, its price, fees, gas and impact. */
export function formatWouldBe(runs: readonly RunHistory[]): string {
  return formatTable([HEADING, ...runs.flatMap(rowsOf)]);
}

/** What the accounts began with on paper and have now, with the total against holding. */
export function formatPaper(total: PaperTotal): string {
  const rows = total.holdings.map(({ wallet, token, began, now }) => [wallet, token, began, now]);
  return [formatTable([["WALLET ON PAPER", "TOKEN", "BEGAN WITH", "HAS"], ...rows]), ...describeTotal(total)].join(
    "\n",
  );
}

function rowsOf(run: RunHistory): string[][] {
  const head = [formatInstant(run.slotMs), run.strategy, stateOf(run)];
  if (run.swaps.length === 0) return [[...head, ...Array.from({ length: HEADING.length - head.length }, () => "-")]];
  return run.swaps.map((swap, index) => [...(index === 0 ? head : ["", "", ""]), stateOf(swap), ...cellsOf(swap)]);
}

/** A dry run that passed every check was refused by nobody. */
function stateOf({ state, reason }: Pick<RunHistory, "state" | "reason">): string {
  if (reason === DRY_RUN) return "would trade (dry run)";
  return reason === null ? state : `${state} (${reason})`;
}

function cellsOf(swap: SwapHistory): string[] {
  const { sell, buy } = swap;
  const sold = swap.sold ?? swap.gross;
  const bought = boughtOf(swap);
  const rate =
    sold === null || bought === null
      ? undefined
      : describeRate({ raw: BigInt(sold), token: sell }, { raw: BigInt(bought), token: buy });
  return [
    sold === null ? "-" : soldText(swap, describeAmount(BigInt(sold), sell)),
    bought === null ? "-" : describeAmount(BigInt(bought), buy),
    rate ?? "-",
    bought === null ? "-" : feeText(swap),
    gasText(swap) ?? "-",
    impactText(swap),
  ];
}

/** An amount in parentheses was asked for and not sold, or not yet; of a dry run it would have been. */
export function soldText({ sold, gross, reason }: SwapHistory, amount: string): string {
  return sold === null && gross !== null && reason !== DRY_RUN ? `(${amount})` : amount;
}

/** What it brought on paper; of a dry run what its quote promised. */
function boughtOf({ bought, reason, prices }: SwapHistory): string | null {
  return bought ?? (reason === DRY_RUN ? (prices?.expected?.bought ?? null) : null);
}

function feeText({ fees, prices, sell }: SwapHistory): string {
  const paid = [fees.swap ?? prices?.expected?.swapFee, fees.affiliate ?? prices?.expected?.affiliateFee];
  const sum = paid.reduce((total, fee) => total + BigInt(fee ?? 0), 0n);
  return sum === 0n ? "none" : describeAmount(sum, sell);
}

/** Of all transactions of the swap; of a dry run what they would have cost. */
function gasText({ costs, prices, reason }: SwapHistory): string | undefined {
  const expected = reason === DRY_RUN ? prices?.expected?.gasCost : undefined;
  if (costs.length === 0 && expected === undefined) return undefined;
  const wei = costs.length === 0 ? BigInt(expected ?? 0) : costs.reduce((sum, cost) => sum + costOf(cost), 0n);
  const usd = prices?.native?.usd;
  if (usd === undefined) return `${roundedUnits(wei, NATIVE_DECIMALS)} of the native coin`;
  return describeDollars(valueDown({ raw: wei, decimals: NATIVE_DECIMALS }, BigInt(usd) as UsdPrice));
}

function impactText({ prices }: SwapHistory): string {
  const impact = prices?.expected?.priceImpact;
  return impact === undefined ? "-" : formatPercent(BigInt(impact));
}
