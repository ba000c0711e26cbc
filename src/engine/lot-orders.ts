import { LOT_PICKS } from "../domain/books/shelf.ts";
import { parseAddress } from "../domain/money/address.ts";
import type { OperatorRequest } from "../ports/daemon-rows.ts";
import type { Outcome } from "./operator-transactions.ts";

/**
 * Which lots the sales of a wallet take from now on: it is for accounts alone, and trades nothing. None holds for a sale
 * that was made: a clock that is behind gives way to the time of the newest fill.
 */
export function decideLotOrder(
  { arguments: asked, madeBy }: Pick<OperatorRequest, "arguments" | "madeBy">,
  { nowMs, newestFillMs }: { readonly nowMs: number; readonly newestFillMs: number },
): Outcome {
  const wallet = parseAddress(asked.wallet ?? "");
  const pick = LOT_PICKS.find((known) => known === asked.pick);
  if (wallet === undefined || pick === undefined) {
    const known = `an order needs a wallet and one of ${LOT_PICKS.join(", ")}`;
    return { answer: `refused: ${known}`, changes: [] };
  }
  const sinceMs = Math.max(nowMs, newestFillMs);
  const sales = `sales of ${wallet} after ${new Date(sinceMs).toISOString()}`;
  return {
    answer: `${sales} take lots in the order ${pick}; \`swapd lots --method specific\` shows it`,
    changes: [{ kind: "lot-order", order: { wallet, pick, madeBy, sinceMs } }],
  };
}
