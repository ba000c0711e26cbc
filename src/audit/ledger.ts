import { amountText, soldToken } from "./amount-text.ts";
import { type Difference, difference } from "./report.ts";
import { endedUnfilled, isFilled, isOpen, type LedgerRow, type SwapRow } from "./rows.ts";
import type { Snapshot } from "./snapshot.ts";

/** Money is reserved while a swap may move it, spent as measured once it did, and released when it no longer can. */
export function checkLedger({ swaps, ledger }: Snapshot): Difference[] {
  return [...swaps.values()].flatMap((swap) => {
    const row = ledger.get(swap.id);
    return row === undefined ? withoutRow(swap) : againstRow(swap, row);
  });
}

function withoutRow(swap: SwapRow): Difference[] {
  if (!isOpen(swap) && !isFilled(swap)) return [];
  const message = `Swap ${swap.id} is ${swap.state} and has no row in the ledger.`;
  return [difference("LEDGER_MISSING", `swap ${swap.id}`, message, { state: swap.state })];
}

function againstRow(swap: SwapRow, row: LedgerRow): Difference[] {
  const subject = `swap ${swap.id}`;
  if (endedUnfilled(swap) && row.state === "reserved") {
    const message = `Swap ${swap.id} ended ${swap.state}, and ${amountText(row.amount, soldToken(swap))} are still reserved for it.`;
    return [difference("RESERVATION_LEFT", subject, message, { state: swap.state, amount: row.amount })];
  }
  const problem = problemOf(swap, row);
  if (problem === undefined) return [];
  const fields = { state: swap.state, ledger: row.state, amount: row.amount, sold: swap.sold, token: row.token };
  return [difference("LEDGER_DIFFERS", subject, `Swap ${swap.id} is ${swap.state}: ${problem}.`, fields)];
}

function problemOf(swap: SwapRow, row: LedgerRow): string | undefined {
  if (row.wallet !== swap.wallet || row.token !== swap.sell_token) {
    return `the ledger counts it for ${row.wallet} in ${row.token}`;
  }
  if (endedUnfilled(swap)) return problemOfUnmoved(row);
  if (row.state === "released") return "the ledger has released its money, which may still move";
  if (isFilled(swap)) return problemOfFilled(swap, row);
  return isOpen(swap) ? problemOfOpen(swap, row) : problemOfUnmoved(row);
}

function problemOfUnmoved(row: LedgerRow): string | undefined {
  return row.state === "spent" ? "the ledger says that its money was spent" : undefined;
}

function problemOfFilled(swap: SwapRow, row: LedgerRow): string | undefined {
  if (row.state !== "spent") return `the ledger says ${row.state} instead of spent`;
  if (row.amount === swap.sold) return undefined;
  const [kept, sold] = [row.amount, swap.sold].map((amount) => amountText(amount, soldToken(swap)));
  return `the ledger says ${kept} spent, the swap ${sold} sold`;
}

function problemOfOpen(swap: SwapRow, row: LedgerRow): string | undefined {
  if (row.state !== "reserved") return `the ledger says ${row.state} instead of reserved`;
  if (row.amount === swap.amount_in) return undefined;
  const [kept, gross] = [row.amount, swap.amount_in].map((amount) => amountText(amount, soldToken(swap)));
  return `the ledger reserves ${kept} for ${gross}`;
}
