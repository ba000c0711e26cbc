import type { Address, Hex } from "../../domain/money/address.ts";
import type {
  AttemptKind,
  AttemptRow,
  AttemptState,
  CostRow,
  IntentOutcome,
  IntentPurpose,
  IntentRow,
  IntentState,
  LaneHalt,
  LaneTransition,
  SigningRow,
  Visibility,
} from "../../ports/lane-store.ts";
import type { SqlValue } from "./statements.ts";

/** A row of `lane_intents` as SQLite gives it. Amounts are text, absent values null. */
export interface StoredIntent {
  readonly id: string;
  readonly account: Address;
  readonly chain_id: number;
  readonly purpose: IntentPurpose;
  readonly to_address: Address;
  readonly data: Hex;
  readonly value: string;
  readonly gas_limit: string;
  readonly max_fee_per_gas_cap: string;
  readonly sign_by_seconds: number;
  readonly deadline_seconds: number | null;
  readonly state: IntentState;
  readonly nonce: number | null;
  readonly outcome: IntentOutcome | null;
  readonly mined_block_number: number | null;
  readonly mined_block_hash: Hex | null;
  readonly mined_attempt_hash: Hex | null;
  readonly created_at_ms: number;
}

export function toIntentRow(row: StoredIntent): IntentRow {
  return {
    id: row.id,
    account: row.account,
    chainId: row.chain_id,
    purpose: row.purpose,
    to: row.to_address,
    data: row.data,
    value: BigInt(row.value),
    gasLimit: BigInt(row.gas_limit),
    maxFeePerGasCap: BigInt(row.max_fee_per_gas_cap),
    signBySeconds: row.sign_by_seconds,
    deadlineSeconds: row.deadline_seconds ?? undefined,
    state: row.state,
    nonce: row.nonce ?? undefined,
    outcome: row.outcome ?? undefined,
    minedBlockNumber: row.mined_block_number ?? undefined,
    minedBlockHash: row.mined_block_hash ?? undefined,
    minedAttemptHash: row.mined_attempt_hash ?? undefined,
    createdAtMs: row.created_at_ms,
  };
}

/** A row of `lane_signings` as SQLite gives it. */
export interface StoredSigning {
  readonly intent_id: string;
  readonly kind: AttemptKind;
  readonly nonce: number;
  readonly to_address: Address;
  readonly data: Hex;
  readonly value: string;
  readonly gas_limit: string;
  readonly max_fee_per_gas: string;
  readonly max_priority_fee_per_gas: string;
  readonly visibility: Visibility;
  readonly at_ms: number;
}

export function toSigningRow(row: StoredSigning): SigningRow {
  return {
    intentId: row.intent_id,
    kind: row.kind,
    nonce: row.nonce,
    to: row.to_address,
    data: row.data,
    value: BigInt(row.value),
    gasLimit: BigInt(row.gas_limit),
    maxFeePerGas: BigInt(row.max_fee_per_gas),
    maxPriorityFeePerGas: BigInt(row.max_priority_fee_per_gas),
    visibility: row.visibility,
    atMs: row.at_ms,
  };
}

/** A row of `lane_attempts` as SQLite gives it. */
export interface StoredAttempt {
  readonly hash: Hex;
  readonly intent_id: string;
  readonly kind: AttemptKind;
  readonly raw: Hex;
  readonly nonce: number;
  readonly max_fee_per_gas: string;
  readonly max_priority_fee_per_gas: string;
  readonly visibility: Visibility;
  readonly state: AttemptState;
  readonly signed_at_ms: number;
  readonly first_broadcast_block: number | null;
  readonly last_broadcast_at_ms: number | null;
  readonly last_broadcast_block: number | null;
}

export function toAttemptRow(row: StoredAttempt): AttemptRow {
  return {
    hash: row.hash,
    intentId: row.intent_id,
    kind: row.kind,
    raw: row.raw,
    nonce: row.nonce,
    maxFeePerGas: BigInt(row.max_fee_per_gas),
    maxPriorityFeePerGas: BigInt(row.max_priority_fee_per_gas),
    visibility: row.visibility,
    state: row.state,
    signedAtMs: row.signed_at_ms,
    firstBroadcastBlock: row.first_broadcast_block ?? undefined,
    lastBroadcastAtMs: row.last_broadcast_at_ms ?? undefined,
    lastBroadcastBlock: row.last_broadcast_block ?? undefined,
  };
}

/** A row of `lane_costs` as SQLite gives it. */
export interface StoredCost {
  readonly intent_id: string;
  readonly hash: Hex;
  readonly succeeded: number;
  readonly block_number: number;
  readonly block_time_seconds: number;
  readonly gas_used: string;
  readonly gas_price: string;
  readonly data_fee: string | null;
}

export function toCostRow(row: StoredCost): CostRow {
  return {
    intentId: row.intent_id,
    hash: row.hash,
    succeeded: row.succeeded === 1,
    blockNumber: row.block_number,
    blockTimeSeconds: row.block_time_seconds,
    gasUsed: BigInt(row.gas_used),
    gasPrice: BigInt(row.gas_price),
    dataFee: row.data_fee === null ? undefined : BigInt(row.data_fee),
  };
}

/** A row of `lane_transitions` as SQLite gives it. */
export interface StoredTransition {
  readonly intent_id: string;
  readonly attempt_hash: Hex | null;
  readonly from_state: IntentState | AttemptState | null;
  readonly to_state: IntentState | AttemptState;
  readonly at_ms: number;
  readonly detail: string | null;
}

export function toTransition(row: StoredTransition): LaneTransition {
  return {
    intentId: row.intent_id,
    attemptHash: row.attempt_hash ?? undefined,
    from: row.from_state ?? undefined,
    to: row.to_state,
    atMs: row.at_ms,
    detail: row.detail ?? undefined,
  };
}

/** A row of `lane_halts` as SQLite gives it. */
export interface StoredHalt {
  readonly account: Address;
  readonly chain_id: number;
  readonly reason: string;
  readonly transaction_count: number;
  readonly at_ms: number;
}

export function toHalt(row: StoredHalt): LaneHalt {
  return {
    account: row.account,
    chainId: row.chain_id,
    reason: row.reason,
    transactionCount: row.transaction_count,
    atMs: row.at_ms,
  };
}

/** Amounts as decimal text, absent values as null. */
export function toBinding(row: object): Record<string, SqlValue> {
  const entries = Object.entries(row).map(([field, value]) => [
    field,
    typeof value === "bigint" ? value.toString() : (value ?? null),
  ]);
  return Object.fromEntries(entries);
}
