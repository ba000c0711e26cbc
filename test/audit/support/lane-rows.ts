import { keccak256, type TransactionLike, type Wallet } from "ethers";
import { type Address, type Hex, NATIVE_TOKEN } from "../../../src/domain/money/address.ts";
import type { MinedTransaction } from "./chain.ts";
import type { Journal } from "./journal.ts";

const MAX_FEE = 20_000_000_000n;
const TIP = 1_000_000_000n;
const UNTIL = 4_000_000_000;

/** Signs a transaction of type 2, with fees that this chain always takes. */
export async function signTransaction(
  wallet: Wallet,
  transaction: TransactionLike,
): Promise<{ raw: Hex; hash: Hex; maxFeePerGas: bigint; maxPriorityFeePerGas: bigint }> {
  const fees = {
    maxFeePerGas: BigInt(transaction.maxFeePerGas ?? MAX_FEE),
    maxPriorityFeePerGas: BigInt(transaction.maxPriorityFeePerGas ?? TIP),
  };
  const raw = await wallet.signTransaction({ ...transaction, ...fees, type: 2, gasLimit: 1_000_000n });
  return { raw: raw as Hex, hash: keccak256(raw) as Hex, ...fees };
}

/** Writes an intent whose transaction is final. */
export function writeIntent(
  journal: Journal,
  intent: {
    id: string;
    purpose: string;
    to: Address;
    data: Hex;
    value: bigint;
    account: Address;
    chainId: number;
    nonce: number;
  } & MinedTransaction,
): void {
  journal.insert("lane_intents", {
    id: intent.id,
    account: intent.account,
    chain_id: intent.chainId,
    purpose: intent.purpose,
    to_address: intent.to,
    data: intent.data,
    value: String(intent.value),
    gas_limit: "1000000",
    max_fee_per_gas_cap: String(MAX_FEE * 2n),
    sign_by_seconds: UNTIL,
    state: "final",
    nonce: intent.nonce,
    outcome: intent.succeeded ? "succeeded" : "reverted",
    mined_block_number: intent.blockNumber,
    mined_block_hash: `0x${"00".repeat(32)}`,
    mined_attempt_hash: intent.hash,
    created_at_ms: 1,
  });
  journal.insert("lane_costs", {
    intent_id: intent.id,
    hash: intent.hash,
    succeeded: intent.succeeded ? 1 : 0,
    block_number: intent.blockNumber,
    block_time_seconds: intent.blockTimeSeconds,
    gas_used: String(intent.gasUsed),
    gas_price: String(intent.gasPrice),
  });
}

/** Writes an attempt, and before it that it was about to be signed. */
export function writeAttempt(
  journal: Journal,
  attempt: {
    intentId: string;
    kind: "original" | "replacement" | "cancel";
    nonce: number;
    raw: Hex;
    hash: Hex;
    maxFeePerGas: bigint;
    maxPriorityFeePerGas: bigint;
  },
): void {
  const common = {
    intent_id: attempt.intentId,
    kind: attempt.kind,
    nonce: attempt.nonce,
    max_fee_per_gas: String(attempt.maxFeePerGas),
    max_priority_fee_per_gas: String(attempt.maxPriorityFeePerGas),
  };
  journal.insert("lane_signings", {
    ...common,
    to_address: NATIVE_TOKEN,
    data: "0x",
    value: "0",
    gas_limit: "1000000",
    at_ms: 1,
  });
  journal.insert("lane_attempts", {
    ...common,
    hash: attempt.hash,
    raw: attempt.raw,
    state: attempt.kind === "original" ? "confirmed" : "replaced",
    signed_at_ms: 2,
    first_broadcast_block: 1,
  });
}
