import type { Hex } from "../domain/money/address.ts";
import type { SignedTransaction } from "./lane.ts";
import type { Receipt } from "./node-answers.ts";
import { type Difference, difference } from "./report.ts";
import type { CostRow } from "./rows.ts";
import type { Snapshot } from "./snapshot.ts";

/**
 * Checks what each final transaction is recorded to have cost against its receipt: from these rows the books take all gas.
 * Transactions of before costs were kept have no row, and none is missed before the block of the first one, or of the first
 * fill with a time: both are kept since the same release.
 */
export function checkCosts(
  { intents, costs, swaps }: Pick<Snapshot, "intents" | "costs" | "swaps">,
  signed: readonly SignedTransaction[],
  receipts: ReadonlyMap<Hex, Receipt>,
): Difference[] {
  const kept = [...costs.values(), ...[...swaps.values()].filter((swap) => swap.block_time_seconds !== null)];
  const firstBlock = kept.reduce(
    (first, { block_number: block }) => Math.min(first, block ?? first),
    Number.MAX_SAFE_INTEGER,
  );
  const mined = new Map(
    signed.flatMap(({ intent, hash }) => {
      const receipt = receipts.get(hash);
      return receipt === undefined ? [] : [[intent.id, receipt] as const];
    }),
  );
  return [...intents.values()].flatMap(({ id, state, purpose }) => {
    const receipt = mined.get(id);
    if (state !== "final" || purpose === "relay" || receipt === undefined) return [];
    const cost = costs.get(id);
    if (cost !== undefined) return compareCost(cost, receipt);
    return receipt.blockNumber < firstBlock ? [] : [differs(id, receipt, "none", String(receipt.cost))];
  });
}

function compareCost(cost: CostRow, receipt: Receipt): Difference[] {
  const wei = cost.gas_used * cost.gas_price + (cost.data_fee ?? 0n);
  const pairs: readonly (readonly [string, unknown, unknown])[] = [
    ["transaction", cost.hash, receipt.hash],
    ["block", cost.block_number, receipt.blockNumber],
    ["success", cost.succeeded, receipt.succeeded],
    ["wei", wei, receipt.cost],
  ];
  return pairs.flatMap(([field, recorded, chain]) =>
    recorded === chain ? [] : [differs(cost.intent_id, receipt, `${field} ${recorded}`, `${field} ${chain}`)],
  );
}

function differs(intent: string, { hash }: Receipt, recorded: string, chain: string): Difference {
  const message = `What transaction ${hash} of intent ${intent} cost is recorded as ${recorded}; its receipt says ${chain}.`;
  return difference("COST_DIFFERS", `intent ${intent}`, message, { recorded, chain, hash });
}
