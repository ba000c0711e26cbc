import type { CostHistory } from "../../ports/history.ts";

/** Wei that the account paid on top of the transaction's value. */
export function costOf(cost: Pick<CostHistory, "gasUsed" | "gasPrice" | "dataFee">): bigint {
  return BigInt(cost.gasUsed) * BigInt(cost.gasPrice) + BigInt(cost.dataFee ?? 0);
}
