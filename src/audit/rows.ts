import { z } from "zod";
import {
  addressText,
  amountText,
  bytesText,
  count,
  decimals,
  hashText,
  instantMs,
  instantSeconds,
  jsonText,
} from "./columns.ts";

/** A wallet's balance of a token when it was first seen. */
export const baselineRow = z.object({
  wallet: addressText,
  token: addressText,
  symbol: z.string(),
  decimals,
  block_number: count,
  balance: amountText,
});

export const runRow = z.object({
  id: z.string(),
  strategy: z.string(),
  slot_ms: z.number().int(),
  state: z.string(),
  reason: z.string().nullable(),
  created_at_ms: z.number().int(),
  ended_at_ms: z.number().int().nullable(),
});

export const swapRow = z.object({
  id: z.string(),
  run_id: z.string(),
  position: count,
  attempt: count,
  state: z.string(),
  mode: z.enum(["self-executed", "gasless"]).nullable(),
  wallet: addressText,
  recipient: addressText,
  sell_token: addressText,
  sell_symbol: z.string(),
  sell_decimals: decimals,
  buy_token: addressText,
  buy_symbol: z.string(),
  buy_decimals: decimals,
  amount_in: amountText.nullable(),
  amount_out_min: amountText.nullable(),
  intent_id: z.string().nullable(),
  nonce: amountText.nullable(),
  hash: hashText.nullable(),
  block_number: count.nullable(),
  sold: amountText.nullable(),
  bought: amountText.nullable(),
  block_time_seconds: instantSeconds.nullable(),
  swap_fee: amountText.nullable(),
  affiliate_fee: amountText.nullable(),
});

export const ledgerRow = z.object({
  swap_id: z.string(),
  strategy: z.string(),
  wallet: addressText,
  token: addressText,
  amount: amountText,
  usd: amountText,
  state: z.enum(["reserved", "spent", "released"]),
  settled_at_ms: count.nullable(),
});

/** A sum that the daemon keeps, so that it need not add the rows up with each decision. */
export const totalRow = z.object({
  kind: z.string(),
  subject: z.string(),
  item: z.string(),
  source: z.string(),
  amount: amountText,
});

export const hourRow = z.object({ hour_ms: z.number().int(), usd: amountText });
export const dayRow = z.object({ day_ms: z.number().int(), usd: amountText });

export const soldRow = z.object({
  ...{ strategy: z.string(), length_ms: z.number().int(), start_ms: z.number().int(), token: addressText },
  ...{ amount: amountText, usd: amountText },
});

export const capabilityRow = z.object({
  swap_id: z.string(),
  wallet: addressText,
  token: addressText,
  spender: addressText,
  live: z.union([z.literal(0), z.literal(1)]).transform((live) => live === 1),
  until_seconds: z.number().int().nullable(),
});

export const signatureRow = z.object({
  digest: hashText,
  swap_id: z.string(),
  kind: z.enum(["swap", "permit"]),
  typed_data: z.string(),
  valid_until_seconds: z.number().int(),
  signature: bytesText.nullable(),
  signed_at_ms: instantMs.nullable(),
});

export const grantRow = z.object({ wallet: addressText, token: addressText, spender: addressText });

export const gapRow = z.object({
  strategy: z.string(),
  first_slot_ms: z.number().int(),
  last_slot_ms: z.number().int(),
  count,
  state: z.string().nullable(),
  skipped_swaps: count,
  denied_swaps: count,
});

/** What must happen with one nonce of a wallet. */
export const intentRow = z.object({
  id: z.string(),
  account: addressText,
  chain_id: count,
  purpose: z.enum(["swap", "approve", "revoke", "relay"]),
  to_address: addressText,
  data: bytesText,
  value: amountText,
  max_fee_per_gas_cap: amountText,
  state: z.enum(["planned", "signed", "broadcast", "mined", "confirmed", "final", "dropped"]),
  nonce: count.nullable(),
  outcome: z.enum(["succeeded", "reverted", "cancelled"]).nullable(),
  mined_block_number: count.nullable(),
  mined_attempt_hash: hashText.nullable(),
});

/** One signed transaction of an intent. */
export const attemptRow = z.object({
  hash: hashText,
  intent_id: z.string(),
  kind: z.enum(["original", "replacement", "cancel"]),
  raw: bytesText,
  nonce: count,
  max_fee_per_gas: amountText,
  max_priority_fee_per_gas: amountText,
  state: z.string(),
  /** null: the daemon never sent it */
  first_broadcast_block: count.nullable(),
});

/** One row of the append-only history. */
export const transitionRow = z.object({
  id: count,
  subject: z.enum(["run", "swap"]),
  subject_id: z.string(),
  from_state: z.string().nullable(),
  to_state: z.string(),
});

/** What was about to be signed, written before it was. */
export const signingRow = z.object({
  seq: count,
  intent_id: z.string(),
  kind: z.enum(["original", "replacement", "cancel"]),
  nonce: count,
  max_fee_per_gas: amountText,
  max_priority_fee_per_gas: amountText,
});

/** What the transaction that took an intent's nonce cost its account. */
export const costRow = z.object({
  intent_id: z.string(),
  hash: hashText,
  succeeded: z.union([z.literal(0), z.literal(1)]).transform((succeeded) => succeeded === 1),
  block_number: count,
  block_time_seconds: instantSeconds,
  gas_used: amountText,
  gas_price: amountText,
  data_fee: amountText.nullable(),
});

export const strategyRow = z.object({ id: z.string(), memory: z.string(), furthest_slot_ms: z.number().int() });

/**
 * What left a wallet in a transaction; an older release did not write down in which. Or what it has of a token, and should
 * have by the logs; or up to which block these are read so far.
 */
const movedFacts = z
  .object({
    ...{ hash: hashText, token: addressText, sell: addressText, amount: amountText, sold: amountText },
    ...{ now: amountText, expected: amountText, readUpTo: z.string() },
  })
  .partial();

/** What the daemon itself found to be known outside and not in its rows. */
export const findingRow = z.object({
  id: count,
  wallet: addressText,
  kind: z.string(),
  text: z.string(),
  /** what it is about, where a person who accepts it accepts numbers */
  facts: jsonText.pipe(movedFacts),
  found_at_ms: count,
  settled_by: z.string().nullable(),
});

/** Why an account signed nothing, and who released it: that accepts as many transactions as were counted. */
export const haltRow = z.object({
  account: addressText,
  transaction_count: count,
  released_by: z.string().nullable(),
  released_at_ms: instantMs.nullable(),
});

export type StrategyRow = z.output<typeof strategyRow>;
export type FindingRow = z.output<typeof findingRow>;
export type HaltRow = z.output<typeof haltRow>;
export type BaselineRow = z.output<typeof baselineRow>;
export type RunRow = z.output<typeof runRow>;
export type SwapRow = z.output<typeof swapRow>;
export type TotalRow = z.output<typeof totalRow>;
export type HourRow = z.output<typeof hourRow>;
export type DayRow = z.output<typeof dayRow>;
export type SoldRow = z.output<typeof soldRow>;
export type LedgerRow = z.output<typeof ledgerRow>;
export type CapabilityRow = z.output<typeof capabilityRow>;
export type SignatureRow = z.output<typeof signatureRow>;
export type GrantRow = z.output<typeof grantRow>;
export type GapRow = z.output<typeof gapRow>;
export type IntentRow = z.output<typeof intentRow>;
export type AttemptRow = z.output<typeof attemptRow>;
export type CostRow = z.output<typeof costRow>;
export type TransitionRow = z.output<typeof transitionRow>;
export type SigningRow = z.output<typeof signingRow>;

/** Signed, and not settled as far as the daemon knew. */
const OPEN_STATES: ReadonlySet<string> = new Set(["signed", "submitted", "mined", "unknown"]);
const FILLED_STATES: ReadonlySet<string> = new Set(["confirmed", "final"]);
const UNFILLED_ENDS: ReadonlySet<string> = new Set(["skipped", "denied", "reverted", "expired", "cancelled"]);

/** Whether the swap may still move money. */
export function isOpen(swap: SwapRow): boolean {
  return OPEN_STATES.has(swap.state);
}

/** Whether the database says that the swap brought its tokens. */
export function isFilled(swap: SwapRow): boolean {
  return FILLED_STATES.has(swap.state);
}

/** Whether the database says that the swap ended and moved nothing. */
export function endedUnfilled(swap: SwapRow): boolean {
  return UNFILLED_ENDS.has(swap.state);
}
