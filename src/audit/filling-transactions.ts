import { type Hex, NATIVE_TOKEN } from "../domain/money/address.ts";
import type { Claims } from "./claims.ts";
import type { SignedTransaction } from "./lane.ts";
import type { Flow } from "./movements.ts";
import type { Receipt } from "./node-answers.ts";
import type { OpenSwap } from "./report.ts";
import { isOpen, type SwapRow } from "./rows.ts";
import type { Snapshot } from "./snapshot.ts";

/** Transactions that did what a swap does, with the swaps that claim them, whatever the database says of these. */
export function fillingTransactions({
  flows,
  claims,
  receipts,
  signed,
}: {
  readonly flows: readonly Flow[];
  readonly claims: Claims;
  readonly receipts: ReadonlyMap<Hex, Receipt>;
  readonly signed: readonly SignedTransaction[];
}): ReadonlyMap<Hex, readonly SwapRow[]> {
  const outflows = new Set(
    flows.filter((flow) => flow.out > flow.in).map(({ hash, wallet, token }) => `${hash} ${wallet} ${token}`),
  );
  const executing = new Set(signed.filter(({ attempt }) => attempt.kind !== "cancel").map(({ hash }) => hash));
  const filled = new Map<Hex, readonly SwapRow[]>();
  for (const hash of claims.hashes) {
    const receipt = receipts.get(hash);
    if (receipt === undefined || !receipt.succeeded) continue;
    const swaps = claims.of(hash).filter((swap) => {
      if (swap.sell_token !== NATIVE_TOKEN) return outflows.has(`${hash} ${swap.wallet} ${swap.sell_token}`);
      return executing.has(hash);
    });
    if (swaps.length > 0) filled.set(hash, swaps);
  }
  return filled;
}

/** Signed swaps that are not settled as far as the database knows, with the transaction that fills each, if there is one. */
export function openSwaps(snapshot: Snapshot, filledBy: ReadonlyMap<Hex, readonly SwapRow[]>): OpenSwap[] {
  const landed = new Map<string, Hex>();
  for (const [hash, swaps] of filledBy) for (const swap of swaps) landed.set(swap.id, hash);
  return [...snapshot.swaps.values()].filter(isOpen).map((swap) => ({
    ...{ id: swap.id, runId: swap.run_id, state: swap.state },
    mode: swap.mode,
    wallet: swap.wallet,
    ...{ sell: swap.sell_symbol, sellDecimals: swap.sell_decimals, buy: swap.buy_symbol },
    gross: swap.amount_in === null ? null : String(swap.amount_in),
    landed: landed.get(swap.id) ?? null,
  }));
}
