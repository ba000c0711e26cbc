import type { Address, Hex } from "../domain/money/address.ts";
import type { IntentPurpose, IntentRow } from "../ports/lane-store.ts";

/** What somebody wants a lane to send. Amounts in wei, instants in Unix seconds. */
export interface LaneRequest {
  readonly id: string;
  readonly purpose: IntentPurpose;
  readonly to: Address;
  readonly data: Hex;
  readonly value: bigint;
  readonly gasLimit: bigint;
  /** ceiling for this transaction and its replacements, wei per gas */
  readonly maxFeePerGasCap: bigint;
  /** not signed for the first time after this */
  readonly signBySeconds: number;
  /** its nonce is taken by a cancellation when it is still unmined after this; undefined: never */
  readonly deadlineSeconds: number | undefined;
}

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
