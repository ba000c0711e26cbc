import type { Hex } from "../domain/money/address.ts";
import type {
  AttemptRow,
  AttemptState,
  CancelRequest,
  CostRow,
  IntentRow,
  IntentState,
  LaneAccount,
  LaneHalt,
  SigningRow,
} from "./lane-store.ts";

/** What a move of an intent changes besides its state. A field that is there and undefined is emptied. */
export type IntentFields = Partial<
  Pick<IntentRow, "nonce" | "outcome" | "minedBlockNumber" | "minedBlockHash" | "minedAttemptHash">
>;

/** When an attempt was sent: blocks, and milliseconds. */
export type Sending = Partial<Pick<AttemptRow, "firstBroadcastBlock" | "lastBroadcastAtMs" | "lastBroadcastBlock">>;

/** Something that is to be written into the rows of lanes. Plain data, as every change. */
export type LaneChange =
  /** a transaction that a lane is asked for; `detail` stands in its first transition, in place of its purpose */
  | { readonly kind: "intent"; readonly intent: IntentRow; readonly detail?: string }
  | {
      readonly kind: "intent-moved";
      readonly intentId: string;
      readonly from: IntentState;
      readonly to: IntentState;
      readonly fields: IntentFields;
      readonly detail: string | undefined;
    }
  /** an intent gets its nonce, with what is to be signed at it */
  | { readonly kind: "nonce-given"; readonly intentId: string; readonly nonce: number }
  /** what is to be signed, before it is */
  | { readonly kind: "signing"; readonly signing: SigningRow }
  /** bytes that were signed, before anyone else can see them */
  | { readonly kind: "attempt"; readonly attempt: AttemptRow }
  | {
      readonly kind: "attempt-moved";
      readonly intentId: string;
      readonly hash: Hex;
      readonly from: AttemptState;
      readonly to: AttemptState;
      readonly detail: string | undefined;
    }
  | { readonly kind: "attempt-sent"; readonly hash: Hex; readonly sending: Sending }
  /** in place of what was known of its cost before */
  | { readonly kind: "cost"; readonly cost: CostRow }
  /** the transaction is in no block any more */
  | { readonly kind: "cost-forgotten"; readonly intentId: string }
  /** at most one of an intent, and never taken back */
  | { readonly kind: "cancel-wish"; readonly cancelRequest: CancelRequest }
  /** an account that is not halted signs nothing until a person releases it */
  | { readonly kind: "account-halted"; readonly halt: LaneHalt }
  /** a halt ends: as many transactions as it names are accepted, no matter who made them */
  | ({ readonly kind: "halt-released"; readonly by: string } & LaneAccount);
