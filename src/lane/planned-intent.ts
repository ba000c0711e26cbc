import type { IntentRow } from "../ports/lane-store.ts";

/** What a lane is asked to send. */
export type LaneRequest = Pick<
  IntentRow,
  "id" | "purpose" | "to" | "data" | "value" | "gasLimit" | "maxFeePerGasCap" | "signBySeconds" | "deadlineSeconds"
>;

/** An intent as it begins: it has no nonce, and nothing of it is signed. */
export function plannedIntent(
  { account, chainId }: Pick<IntentRow, "account" | "chainId">,
  request: LaneRequest,
  nowMs: number,
): IntentRow {
  return {
    ...request,
    account,
    chainId,
    state: "planned",
    nonce: undefined,
    outcome: undefined,
    minedBlockNumber: undefined,
    minedBlockHash: undefined,
    minedAttemptHash: undefined,
    createdAtMs: nowMs,
  };
}
