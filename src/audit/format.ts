import { amountText } from "./amount-text.ts";
import type { AuditReport, Deposit, Difference, OpenAllowance, OpenSwap } from "./report.ts";
import { timeText } from "./time-text.ts";

/** Longest list of harmless things; differences are all shown. */
const LONGEST_LIST = 20;

/** Writes the report for people: the answer, the differences, and what was looked at. Ends without a line break. */
export function formatAuditReport(report: AuditReport): string {
  const { differences, checked, tip } = report;
  const answer = report.clean
    ? "No difference: database and chain agree."
    : `${counted(differences.length, "difference")} between database and chain.`;
  const lines = [
    answer,
    "",
    ...differences.flatMap(formatDifference),
    ...section("Open swaps, which the chain has not settled", report.openSwaps.map(formatOpenSwap)),
    ...section("Deposits, which no swap explains", report.deposits.map(formatDeposit)),
    ...section("Allowances that are still in use", report.openAllowances.map(formatAllowance)),
    ...section("Not looked at", report.notes),
    `Chain ${report.chainId} up to block ${tip.number} of ${timeText(tip.seconds)} (${tip.hash}).`,
    `Looked at: ${Object.entries(checked)
      .map(([what, count]) => `${count} ${what}`)
      .join(", ")}.`,
  ];
  return lines.join("\n");
}

function formatDifference({ code, message, fields }: Difference): string[] {
  const values = Object.entries(fields).map(([name, value]) => `    ${name}: ${value}`);
  return [`${code}  ${message}`, ...values, ""];
}

function section(title: string, items: readonly string[]): string[] {
  if (items.length === 0) return [];
  const rest = items.length - LONGEST_LIST;
  const shown = items.slice(0, LONGEST_LIST).map((item) => `    ${item}`);
  return [`${title}:`, ...shown, ...(rest > 0 ? [`    and ${rest} more`] : []), ""];
}

function formatOpenSwap(swap: OpenSwap): string {
  const landed = swap.landed === null ? "" : `, landed in ${swap.landed}`;
  return `${swap.id} ${swap.state}: ${swap.gross === null ? `? ${swap.sell}` : amountText(BigInt(swap.gross), { symbol: swap.sell, decimals: swap.sellDecimals })} for ${swap.buy} (${swap.mode ?? "no mode"})${landed}`;
}

function formatDeposit({ amount, wallet, hash, ...token }: Deposit): string {
  return `${amountText(BigInt(amount), token)} to ${wallet}${hash === null ? "" : ` in ${hash}`}`;
}

function formatAllowance({ amount, spender, wallet, ...token }: OpenAllowance): string {
  return `${spender} may spend ${amountText(BigInt(amount), token)} of ${wallet}`;
}

function counted(count: number, thing: string): string {
  return `${count} ${thing}${count === 1 ? "" : "s"}`;
}
