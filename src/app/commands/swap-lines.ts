import { formatUnits, mulDivDown } from "../../domain/money/amount.ts";
import { describeAmount, describeDollars, describeRate } from "../../domain/money/for-people.ts";
import { type UsdPrice, valueDown } from "../../domain/money/price.ts";
import type { CheckHistory, SwapHistory } from "../../ports/history.ts";
import { formatInstant, formatTable } from "../terminal.ts";
import { costOf } from "./swap-costs.ts";

const NATIVE_DECIMALS = 18;
/** Basis points of one whole. */
const BPS = 10_000n;

/** What a swap exchanged and what it cost, in people's units; of one that is signed and not filled what it was signed with. */
export function swapLines(swap: SwapHistory, nativeSymbol: string): readonly string[] {
  const { sell, buy, mode } = swap;
  if (swap.sold === null || swap.bought === null) return signedLine(swap);
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
    ...gasLine(swap, nativeSymbol),
    ...againstQuote(bought, swap),
    ...againstReference({ sold, bought }, swap),
  ];
  return lines;
}

function signedLine({ id, nonce, deadlineSeconds, sell, gross, mode }: SwapHistory): readonly string[] {
  if (deadlineSeconds === null) return [];
  const order = nonce === null ? "without a nonce of its own" : `nonce ${nonce}`;
  const amount = gross === null ? "" : ` to sell ${describeAmount(BigInt(gross), sell)}`;
  return [
    `${id}: signed${amount}, ${mode ?? "mode unknown"}, ${order}, until ${formatInstant(deadlineSeconds * 1_000)}`,
  ];
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
function gasLine({ costs, prices }: SwapHistory, nativeSymbol: string): readonly string[] {
  if (costs.length === 0) return [];
  const gas = costs.reduce((sum, cost) => sum + costOf(cost), 0n);
  const purposes = costs.map(({ purpose, kind, visibility, succeeded }) => {
    const what = kind === "cancel" ? "cancellation" : purpose;
    const sent = visibility === "private" ? `${what}, sent privately` : what;
    return succeeded ? sent : `${sent}, reverted`;
  });
  const usd = prices?.native?.usd;
  const paid = describeAmount(gas, { decimals: NATIVE_DECIMALS, symbol: nativeSymbol });
  return [`  gas: ${paid}${inDollars(gas, NATIVE_DECIMALS, usd)} (${purposes.join(", ")})`];
}

function inDollars(raw: bigint, decimals: number, usd: string | undefined): string {
  return usd === undefined ? "" : `, ${describeDollars(valueDown({ raw, decimals }, BigInt(usd) as UsdPrice))}`;
}

/** What was bought against what its quote promised. */
function againstQuote(bought: bigint, { buy, prices }: SwapHistory): readonly string[] {
  const promised = prices?.expected?.bought;
  const quoted = promised === undefined ? 0n : BigInt(promised);
  if (quoted <= 0n) return [];
  return [`  against its quote of ${describeAmount(quoted, buy)}: ${apart(bought, quoted)}`];
}

/** What was bought against what was sold, both at the prices that the swap was cleared by. */
function againstReference(
  { sold, bought }: { readonly sold: bigint; readonly bought: bigint },
  { sell, buy, prices }: SwapHistory,
): readonly string[] {
  if (prices?.sold == null || prices.bought == null) return [];
  const out = valueDown({ raw: sold, decimals: sell.decimals }, BigInt(prices.sold.usd) as UsdPrice);
  const into = valueDown({ raw: bought, decimals: buy.decimals }, BigInt(prices.bought.usd) as UsdPrice);
  if (out <= 0n) return [];
  const worth = `${describeDollars(into)} for ${describeDollars(out)}`;
  return [`  against the reference prices of its clearing, ${worth}: ${apart(into, out)}`];
}

/** How far a value is from another one, in basis points: `5.4 bp less`. */
function apart(value: bigint, from: bigint): string {
  if (value === from) return "the same";
  const tenths = mulDivDown((value > from ? value - from : from - value) * 10n, BPS, from);
  const shown = tenths === 0n ? "less than 0.1" : formatUnits(tenths, 1);
  return `${shown} bp ${value < from ? "less" : "more"}`;
}

/**
 * The comparisons that were made before a swap was signed: those that failed first, each with what it is denied as. One
 * that held names no code, which would read like an error.
 */
export function checkTable(checks: readonly Pick<CheckHistory, "passed" | "code" | "value" | "limit">[]): string {
  const failed = checks.filter(({ passed }) => !passed);
  const held = checks.filter(({ passed }) => passed);
  const heading = ["CHECK", "FOUND", "ALLOWED", ...(failed.length === 0 ? [] : ["DENIED AS"])];
  return formatTable([
    heading,
    ...failed.map(({ code, value, limit }) => ["FAILED", readable(value), readable(limit), code]),
    ...held.map(({ value, limit }) => ["ok", readable(value), readable(limit)]),
  ]);
}

const LISTED_ADDRESSES = /^0x[0-9a-f]{40}(?:, 0x[0-9a-f]{40}){2,}$/i;

/** A list of many addresses, and a number that nobody reads, would make every line of the table as long as themselves. */
function readable(text: string): string {
  if (LISTED_ADDRESSES.test(text)) return `one of ${text.split(", ").length} addresses of the policy`;
  return text.replaceAll(/[0-9]{31,}/g, (digits) => `${digits.slice(0, 8)}...${digits.slice(-8)}`);
}
