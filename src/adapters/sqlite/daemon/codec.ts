import { isRecord } from "../../../domain/json.ts";
import { toAddress } from "../../../domain/money/address.ts";
import type { Run, Swap, SwapTerms } from "../../../domain/run/run.ts";
import type { RunState, SwapState } from "../../../domain/run/states.ts";
import { readContracts, type Stored, storedContracts } from "./stored-contracts.ts";
import type { CountedSwap } from "./total-rows.ts";

/** A row of `runs`. */
export interface RunColumns {
  id: string;
  strategy: string;
  slot_ms: number;
  slots: number;
  state: string;
  reason: string | null;
  detail: string | null;
  spec_hash: string;
  window_ends_ms: number;
  retries: number;
}

/** The columns of `swaps` that a swap is read back from. */
export interface SwapColumns {
  id: string;
  run_id: string;
  position: number;
  attempt: number;
  state: string;
  reason: string | null;
  mode: string | null;
  wallet: string;
  recipient: string;
  sell_token: string;
  sell_symbol: string;
  sell_decimals: number;
  buy_token: string;
  buy_symbol: string;
  buy_decimals: number;
  amount_in: string | null;
  intent_id: string | null;
  body: string;
}

/** The part of a swap without columns of its own, as versioned JSON. */
type SwapBody = Omit<StoredSwap, "terms"> & { readonly terms: Stored<SwapTerms> | undefined };

type StoredSwap = Pick<
  Swap,
  | "planned"
  | "floor"
  | "retryForSeconds"
  | "windowEndsMs"
  | "begun"
  | "gasless"
  | "quote"
  | "terms"
  | "approvals"
  | "tightened"
  | "fallback"
  | "signatures"
  | "proposal"
  | "fill"
  | "revokeIntentId"
  | "heldBy"
  | "unlisted"
  | "serviceSwapId"
>;

const BODY_VERSION = 1;

/**
 * JSON with bigint as `{"$bigint":"123"}` and maps as `{"$map":[[key,value]]}`: exact, and readable. Names that begin
 * with `$` get another one in front, because typed data of a service is stored too and must not be able to look like a
 * number or a map of ours.
 */
export function encodeJson(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) => {
    if (typeof part === "bigint") return { $bigint: part.toString() };
    if (part instanceof Map) return { $map: [...part] };
    return isRecord(part) && Object.keys(part).some(isMarked) ? renamed(part, (name) => `$${name}`) : part;
  });
}

/** Reads what {@link encodeJson} wrote. A reviver would take most of the time. */
export function decodeJson(text: string): unknown {
  return unmarked(JSON.parse(text));
}

/** Gives back the numbers and names of ours, in place: the object was parsed just now and is not shared. */
function unmarked(part: unknown): unknown {
  if (typeof part !== "object" || part === null) return part;
  const fields = part as Record<string, unknown>;
  let hasMarked = false;
  for (const name of Object.keys(fields)) {
    const value = fields[name];
    if (typeof value === "object" && value !== null) fields[name] = unmarked(value);
    if (isMarked(name)) hasMarked = true;
  }
  if (!hasMarked) return part;
  if (Object.hasOwn(fields, "$bigint")) return BigInt(String(fields.$bigint));
  if (Object.hasOwn(fields, "$map")) return new Map(fields.$map as readonly (readonly [unknown, unknown])[]);
  return renamed(fields, (name) => name.slice(1));
}

function isMarked(name: string): boolean {
  return name.startsWith("$");
}

function renamed(part: Record<string, unknown>, rename: (name: string) => string): Record<string, unknown> {
  return Object.fromEntries(Object.entries(part).map(([name, value]) => [isMarked(name) ? rename(name) : name, value]));
}

/** All columns of a swap, named as in the table. */
export function encodeSwap(swap: Swap): CountedSwap & Record<string, string | number | null> {
  const body: SwapBody = {
    planned: swap.planned,
    floor: swap.floor,
    retryForSeconds: swap.retryForSeconds,
    windowEndsMs: swap.windowEndsMs,
    begun: swap.begun,
    gasless: swap.gasless,
    quote: swap.quote,
    terms: swap.terms && storedContracts(swap.terms),
    approvals: swap.approvals,
    tightened: swap.tightened,
    fallback: swap.fallback,
    signatures: swap.signatures,
    ...(swap.proposal !== undefined && { proposal: swap.proposal }),
    fill: swap.fill,
    revokeIntentId: swap.revokeIntentId,
    heldBy: swap.heldBy,
    unlisted: swap.unlisted,
    serviceSwapId: swap.serviceSwapId,
  };
  return {
    id: swap.id,
    run_id: swap.runId,
    position: swap.position,
    attempt: swap.attempt,
    state: swap.state,
    reason: swap.reason ?? null,
    mode: swap.mode ?? null,
    wallet: swap.wallet,
    recipient: swap.recipient,
    sell_token: swap.sell.address,
    sell_symbol: swap.sell.symbol,
    sell_decimals: swap.sell.decimals,
    buy_token: swap.buy.address,
    buy_symbol: swap.buy.symbol,
    buy_decimals: swap.buy.decimals,
    amount_in: swap.gross?.toString() ?? null,
    quote_id: swap.quote?.id ?? null,
    intent_id: swap.intentId ?? null,
    ...termsColumns(swap.terms),
    ...fillColumns(swap),
    body: encodeJson({ version: BODY_VERSION, ...body }),
  };
}

function termsColumns(terms: SwapTerms | undefined) {
  return {
    amount_out_min: terms?.amountOutMin.toString() ?? null,
    nonce: terms?.nonce?.toString() ?? null,
    deadline_seconds: terms?.deadlineSeconds ?? null,
  };
}

/** What was measured on the chain; the fees of the terms were paid only then. */
function fillColumns({ fill, terms }: Swap) {
  const paid = fill === undefined ? undefined : terms;
  return {
    hash: fill?.hash ?? null,
    block_number: fill?.blockNumber ?? null,
    sold: fill?.sold.toString() ?? null,
    bought: fill?.bought.toString() ?? null,
    block_time_seconds: fill?.blockTimeSeconds ?? null,
    swap_fee: paid?.swapFee.toString() ?? null,
    affiliate_fee: paid?.affiliateFee?.toString() ?? null,
  };
}

/** @throws Error when the body was written by a later version */
export function decodeSwap(row: SwapColumns): Swap {
  const { version, ...body } = decodeJson(row.body) as SwapBody & { version: number };
  if (version !== BODY_VERSION)
    throw new Error(`swap ${row.id} has a body of version ${version}; this program knows 1`);
  return {
    ...emptyBody,
    ...body,
    terms: body.terms && readContracts<SwapTerms>(body.terms),
    id: row.id,
    runId: row.run_id,
    position: row.position,
    attempt: row.attempt,
    state: row.state as SwapState,
    reason: row.reason ?? undefined,
    mode: (row.mode ?? undefined) as Swap["mode"],
    wallet: toAddress(row.wallet),
    recipient: toAddress(row.recipient),
    sell: { address: toAddress(row.sell_token), symbol: row.sell_symbol, decimals: row.sell_decimals },
    buy: { address: toAddress(row.buy_token), symbol: row.buy_symbol, decimals: row.buy_decimals },
    gross: row.amount_in === null ? undefined : BigInt(row.amount_in),
    intentId: row.intent_id ?? undefined,
  };
}

/** JSON leaves undefined fields out; they come back as undefined. */
const emptyBody = {
  floor: undefined,
  retryForSeconds: undefined,
  windowEndsMs: undefined,
  quote: undefined,
  terms: undefined,
  signatures: undefined,
  fill: undefined,
  revokeIntentId: undefined,
  serviceSwapId: undefined,
} as const;

export function decodeRun(row: RunColumns, swaps: readonly Swap[]): Run {
  return {
    id: row.id,
    strategyId: row.strategy,
    slotMs: row.slot_ms,
    slots: row.slots,
    state: row.state as RunState,
    reason: row.reason ?? undefined,
    detail: row.detail ?? undefined,
    specHash: row.spec_hash,
    windowEndsMs: row.window_ends_ms,
    retries: row.retries,
    swaps,
  };
}
