import { mulDivDown } from "../../domain/money/amount.ts";
import { describeAmount, describeDollars, describeRate, roundedUnits } from "../../domain/money/for-people.ts";
import { formatPercent, ONE_PPM } from "../../domain/money/fraction.ts";
import { type UsdPrice, valueDown } from "../../domain/money/price.ts";
import type { CheckHistory, SwapHistory } from "../../ports/history.ts";
import { formatTable } from "../terminal.ts";
import { costOf } from "./history.ts";

const NATIVE_DECIMALS = 18;

/** What a swap exchanged and what it cost, in people's units; nothing before it was filled. */
export function swapLines(swap: SwapHistory): readonly string[] {
  const { sell, buy, mode, prices } = swap;
  if (swap.sold === null || swap.bought === null) return [];
  const [sold, bought] = [BigInt(swap.sold), BigInt(swap.bought)];
  const rate = describeRate({ raw: sold, token: sell }, { raw: bought, token: buy });
  const lines = [
    [
      `${swap.id}: sold ${describeAmount(sold, sell)}, bought ${describeAmount(bought, buy)}`,
      ...(rate === undefined ? [] : [rate]),
      mode ?? "mode unknown",
      `transaction ${swap.hash ?? "unknown"}`,
    ].join(", "),
    ...feeLine(swap),
    ...gasLine(swap),
  ];
  const worth = prices === null ? undefined : againstReference({ sold, bought }, swap);
  if (worth !== undefined) lines.push(worth);
  return lines;
}

function feeLine({ fees, sell, prices }: SwapHistory): readonly string[] {
  const paid = [
    ["service", fees.swap],
    ["affiliate", fees.affiliate],
  ].flatMap(([whose, fee]) => (fee === null || fee === undefined || fee === "0" ? [] : [{ whose, fee: BigInt(fee) }]));
  if (paid.length === 0) return [];
  const usd = prices?.sold?.usd;
  const texts = paid.map(
    ({ whose, fee }) => `${whose} ${describeAmount(fee, sell)}${inDollars(fee, sell.decimals, usd)}`,
  );
  return [`  fees, part of what was sold: ${texts.join(", ")}`];
}

/** All transactions of ours for the swap: approvals, revocations and what failed of them cost gas as well. */
function gasLine({ costs, prices }: SwapHistory): readonly string[] {
  if (costs.length === 0) return [];
  const gas = costs.reduce((sum, cost) => sum + costOf(cost), 0n);
  const purposes = costs.map(({ purpose, kind, visibility, succeeded }) => {
    const what = kind === "cancel" ? "cancellation" : purpose;
    const sent = visibility === "private" ? `${what}, sent privately` : what;
    return succeeded ? sent : `${sent}, reverted`;
  });
  const usd = prices?.native?.usd;
  return [
    `  gas: ${roundedUnits(gas, NATIVE_DECIMALS)} of the native coin${inDollars(gas, NATIVE_DECIMALS, usd)} (${purposes.join(", ")})`,
  ];
}

function inDollars(raw: bigint, decimals: number, usd: string | undefined): string {
  return usd === undefined ? "" : `, ${describeDollars(valueDown({ raw, decimals }, BigInt(usd) as UsdPrice))}`;
}

/** What was bought against what was sold, both at the prices that the swap was cleared by. */
function againstReference(
  { sold, bought }: { readonly sold: bigint; readonly bought: bigint },
  { sell, buy, prices }: SwapHistory,
): string | undefined {
  if (prices?.sold == null || prices.bought == null) return undefined;
  const out = valueDown({ raw: sold, decimals: sell.decimals }, BigInt(prices.sold.usd) as UsdPrice);
  const into = valueDown({ raw: bought, decimals: buy.decimals }, BigInt(prices.bought.usd) as UsdPrice);
  if (out <= 0n) return undefined;
  const share = mulDivDown(into - out, ONE_PPM, out);
  const apart = `${formatPercent(share < 0n ? -share : share)} ${share < 0n ? "less" : "more"}`;
  return `  at the reference prices of its clearing: ${describeDollars(into)} for ${describeDollars(out)}, ${apart}`;
}

/** The comparisons that were made before a swap was signed: those that failed first, each with what it is denied as. */
export function checkTable(checks: readonly Pick<CheckHistory, "passed" | "code" | "value" | "limit">[]): string {
  const rows = checks.map(({ passed, code, value, limit }) => [passed ? "ok" : "FAILED", value, limit, code]);
  const failed = rows.filter(([verdict]) => verdict !== "ok");
  const others = rows.filter(([verdict]) => verdict === "ok");
  return formatTable([["CHECK", "FOUND", "ALLOWED", "ELSE DENIED AS"], ...failed, ...others]);
}
