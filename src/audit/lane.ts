import { keccak256, Transaction } from "ethers";
import { type Address, type Hex, NATIVE_TOKEN, parseAddress, toAddress } from "../domain/money/address.ts";
import { formatUnits } from "../domain/money/amount.ts";
import type { Accepted } from "./accepted.ts";
import type { Receipt } from "./node-answers.ts";
import { type Difference, difference } from "./report.ts";
import type { AttemptRow, IntentRow, SigningRow, SwapRow } from "./rows.ts";
import type { Snapshot } from "./snapshot.ts";

/** What the signed bytes of an attempt really say. */
export interface SignedTransaction {
  readonly attempt: AttemptRow;
  readonly intent: IntentRow;
  readonly hash: Hex;
  readonly from: Address;
  readonly to: Address | undefined;
  readonly value: bigint;
}

/** A transaction of ours that is in a block. */
export interface OwnTransaction {
  readonly account: Address;
  readonly hash: Hex;
  readonly nonce: number;
  readonly to: Address | undefined;
  readonly value: bigint;
  readonly receipt: Receipt;
}

/** Lowest rise of both fees, in percent, at which nodes accept a replacement. */
const REPLACEMENT_RISE_PERCENT = 10n;

/** What the signed bytes of an attempt say, before it is known who signed them. Parsed bytes take ten times their room. */
export type ParsedAttempt = Omit<SignedTransaction, "from">;

/** Parses the signed bytes of every attempt and checks them against the rows. */
export function parseAttempts(
  snapshot: Snapshot,
  chainId: number,
): { parsed: readonly ParsedAttempt[]; differences: readonly Difference[] } {
  const differences: Difference[] = [];
  const parsed: ParsedAttempt[] = [];
  for (const attempt of snapshot.attempts) {
    const intent = snapshot.intents.get(attempt.intent_id);
    const transaction = parse(attempt.raw);
    if (intent === undefined || transaction === undefined || transaction.signature === null) {
      const why = intent === undefined ? "has no intent" : "has bytes that are no signed transaction";
      const message = `Attempt ${attempt.hash} ${why}.`;
      differences.push(
        difference("ATTEMPT_DIFFERS", `attempt ${attempt.hash}`, message, { intent: attempt.intent_id }),
      );
      continue;
    }
    const hash = keccak256(attempt.raw) as Hex;
    differences.push(...compareAttempt({ attempt, intent, hash }, transaction, chainId));
    const to = transaction.to === null ? undefined : toAddress(transaction.to);
    parsed.push({ attempt, intent, hash, to, value: transaction.value });
  }
  return { parsed, differences: [...differences, ...checkSignings(snapshot), ...checkReplacements(parsed)] };
}

/**
 * Finds out who signed each attempt. Of bytes that are in a block that is the chain's own word about their hash; of others
 * the key is recovered from the signature, which takes a thousand times as long.
 */
export function findSigners(
  parsed: readonly ParsedAttempt[],
  receipts: ReadonlyMap<Hex, Receipt>,
): { signed: readonly SignedTransaction[]; differences: readonly Difference[] } {
  const differences: Difference[] = [];
  const signed: SignedTransaction[] = [];
  for (const one of parsed) {
    const { attempt, intent, hash } = one;
    const from = receipts.get(hash)?.from ?? parseAddress(parse(attempt.raw)?.from);
    if (from !== intent.account) differences.push(differsIn("account", { attempt, intent }, [intent.account, from]));
    if (from !== undefined) signed.push({ ...one, from });
  }
  return { signed, differences };
}

/** Nothing was signed before it was written down that it would be. */
function checkSignings({ attempts, signings }: Snapshot): Difference[] {
  const keyOf = (row: AttemptRow | SigningRow): string =>
    [row.intent_id, row.kind, row.nonce, row.max_fee_per_gas, row.max_priority_fee_per_gas].join(" ");
  const intended = new Set(signings.map(keyOf));
  return attempts
    .filter((attempt) => !intended.has(keyOf(attempt)))
    .map((attempt) => {
      const message = `Attempt ${attempt.hash} was signed without a row before it that said so.`;
      return difference("ATTEMPT_DIFFERS", `attempt ${attempt.hash}`, message, { intent: attempt.intent_id });
    });
}

function parse(raw: Hex): Transaction | undefined {
  try {
    return Transaction.from(raw);
  } catch {
    // Not a transaction: the caller reports it.
    return undefined;
  }
}

function compareAttempt(
  { attempt, intent, hash }: Pick<ParsedAttempt, "attempt" | "intent" | "hash">,
  signed: Transaction,
  chainId: number,
): Difference[] {
  const isCancel = attempt.kind === "cancel";
  const pairs: [string, unknown, unknown][] = [
    ["hash", attempt.hash, hash],
    ["chainId", BigInt(chainId), signed.chainId],
    ["nonce", attempt.nonce, signed.nonce],
    ["intent's nonce", intent.nonce, signed.nonce],
    ["maxFeePerGas", attempt.max_fee_per_gas, signed.maxFeePerGas ?? signed.gasPrice],
    ["maxPriorityFeePerGas", attempt.max_priority_fee_per_gas, signed.maxPriorityFeePerGas ?? signed.gasPrice],
    ["to", isCancel ? intent.account : intent.to_address, signed.to?.toLowerCase()],
    ["data", isCancel ? "0x" : intent.data.toLowerCase(), signed.data],
    ["value", isCancel ? 0n : intent.value, signed.value],
  ];
  const found = pairs
    .filter(([, recorded, bytes]) => recorded !== bytes)
    .map(([field, recorded, bytes]) => differsIn(field, { attempt, intent }, [recorded, bytes]));
  if (!isCancel && wasSent(attempt) && attempt.max_fee_per_gas > intent.max_fee_per_gas_cap) {
    const message = `Attempt ${attempt.hash} pays up to ${attempt.max_fee_per_gas} wei per gas; its intent allows ${intent.max_fee_per_gas_cap}.`;
    const fields = { field: "maxFeePerGas", cap: intent.max_fee_per_gas_cap, signed: attempt.max_fee_per_gas };
    found.push(difference("ATTEMPT_DIFFERS", `attempt ${attempt.hash}`, message, { ...fields, intent: intent.id }));
  }
  // A swap's own value is held against what it sold.
  if (intent.purpose !== "swap" && intent.value > 0n) {
    const message = `Intent ${intent.id} is to ${intent.purpose} and sends ${intent.value} wei along.`;
    found.push(difference("UNEXPLAINED_OUTFLOW", `intent ${intent.id}`, message, { amount: intent.value }));
  }
  return found;
}

/**
 * Whether the daemon sent it, or may have. What another program sent with the key in its place, doing the same, is known by
 * the block that has it: what that paid is no matter of the intent's.
 */
function wasSent({ first_broadcast_block, state }: AttemptRow): boolean {
  return first_broadcast_block !== null || state === "signed" || state === "broadcast";
}

function differsIn(
  field: string,
  { attempt, intent }: Pick<ParsedAttempt, "attempt" | "intent">,
  [recorded, bytes]: readonly [unknown, unknown],
): Difference {
  const message = `Attempt ${attempt.hash} says ${field} ${String(recorded)}; its signed bytes say ${String(bytes)}.`;
  const fields = { field, recorded: String(recorded), signed: String(bytes), intent: intent.id };
  return difference("ATTEMPT_DIFFERS", `attempt ${attempt.hash}`, message, fields);
}

/** Versions of one transaction follow each other with fees that a node accepts as a replacement. */
function checkReplacements(signed: readonly ParsedAttempt[]): Difference[] {
  const byIntent = Map.groupBy(
    signed.filter(({ attempt }) => wasSent(attempt)),
    ({ intent }) => intent.id,
  );
  return [...byIntent.values()].flatMap((versions) => {
    const attempts = versions
      .map(({ attempt }) => attempt)
      .sort((a, b) => compare(a.max_fee_per_gas, b.max_fee_per_gas));
    return attempts.slice(1).flatMap((attempt, index) => {
      const before = attempts[index];
      if (before === undefined) return [];
      const rises = (now: bigint, then: bigint) => now * 100n >= then * (100n + REPLACEMENT_RISE_PERCENT);
      const isFair =
        rises(attempt.max_fee_per_gas, before.max_fee_per_gas) &&
        rises(attempt.max_priority_fee_per_gas, before.max_priority_fee_per_gas);
      if (isFair) return [];
      const message = `Attempt ${attempt.hash} replaces ${before.hash} without raising both fees by ${REPLACEMENT_RISE_PERCENT} %.`;
      const fields = { before: before.max_fee_per_gas, after: attempt.max_fee_per_gas, intent: attempt.intent_id };
      return [difference("REPLACEMENT_UNDERPRICED", `attempt ${attempt.hash}`, message, fields)];
    });
  });
}

function compare(a: bigint, b: bigint): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** The attempts that are in blocks. */
export function ownTransactions(
  signed: readonly SignedTransaction[],
  receipts: ReadonlyMap<Hex, Receipt>,
): OwnTransaction[] {
  return signed.flatMap(({ attempt, hash, from, to, value }) => {
    const receipt = receipts.get(hash);
    return receipt === undefined ? [] : [{ account: from, hash, nonce: attempt.nonce, to, value, receipt }];
  });
}

/** Checks the recorded outcome of every intent against the receipts of its attempts. */
export function checkIntents(
  snapshot: Snapshot,
  signed: readonly SignedTransaction[],
  { receipts, accepted }: { readonly receipts: ReadonlyMap<Hex, Receipt>; readonly accepted: Accepted },
): Difference[] {
  const byIntent = Map.groupBy(signed, ({ intent }) => intent.id);
  const swapsOf = Map.groupBy(snapshot.swaps.values(), ({ intent_id }) => intent_id ?? "");
  return [...snapshot.intents.values()].flatMap((intent) => {
    const versions = byIntent.get(intent.id) ?? [];
    const mined = versions.find(({ hash }) => receipts.has(hash));
    const receipt = mined === undefined ? undefined : receipts.get(mined.hash);
    const landed = receipt?.succeeded === true && mined?.attempt.kind !== "cancel" ? mined : undefined;
    const isTaken = mined === undefined && wasTaken(intent, accepted);
    const found = isTaken ? [] : checkOutcome(intent, { versions: versions.length, mined, receipt });
    if (intent.purpose !== "swap" || landed === undefined) return found;
    const swaps = swapsOf.get(intent.id) ?? [];
    if (swaps.length !== 1) {
      const message = `Transaction ${landed.hash} of intent ${intent.id} landed, and ${swaps.length} swaps belong to it.`;
      found.push(difference("INTENT_WITHOUT_SWAP", `intent ${intent.id}`, message, { hash: landed.hash }));
    }
    return [...found, ...swaps.flatMap((swap) => sentAlong(swap, landed))];
  });
}

/** Who sells tokens sends no coins: what goes along is gone, and no swap sold it. */
function sentAlong({ id, sell_token: sell, sell_symbol: symbol }: SwapRow, mined: SignedTransaction): Difference[] {
  if (sell === NATIVE_TOKEN || mined.value === 0n) return [];
  const message = `Transaction ${mined.hash} of swap ${id}, which sells ${symbol}, sent ${formatUnits(mined.value, 18)} native coins along.`;
  const fields = { wallet: mined.from, token: NATIVE_TOKEN, amount: mined.value, hash: mined.hash };
  return [difference("UNEXPLAINED_OUTFLOW", `swap ${id}`, message, fields)];
}

/** Whether a person knows that something else used its nonce, which ended it: no version of it is in a block then. */
function wasTaken(
  { account, nonce, state, outcome, mined_attempt_hash: mined }: IntentRow,
  accepted: Accepted,
): boolean {
  const isEnded = state === "final" && outcome === "cancelled" && mined === null;
  return isEnded && nonce !== null && nonce < accepted.countOf(account);
}

function outcomeOf({ attempt }: SignedTransaction, { succeeded }: Receipt): "cancelled" | "succeeded" | "reverted" {
  if (attempt.kind === "cancel") return "cancelled";
  return succeeded ? "succeeded" : "reverted";
}

function checkOutcome(
  intent: IntentRow,
  chain: { versions: number; mined: SignedTransaction | undefined; receipt: Receipt | undefined },
): Difference[] {
  const { mined, receipt } = chain;
  const differs = (message: string, fields: Readonly<Record<string, string | number | undefined>> = {}) => [
    difference("INTENT_DIFFERS", `intent ${intent.id}`, message, { state: intent.state, ...fields }),
  ];
  if (intent.state === "dropped" || intent.state === "planned") {
    const message = `Intent ${intent.id} is ${intent.state}, which signs nothing, but has ${chain.versions} signed attempts.`;
    return chain.versions === 0 ? [] : differs(message);
  }
  if (intent.state !== "confirmed" && intent.state !== "final") return [];
  if (receipt === undefined || mined === undefined) {
    return differs(`Intent ${intent.id} is ${intent.state}, but none of its attempts is on the chain.`);
  }
  if (intent.mined_attempt_hash !== mined.hash || intent.mined_block_number !== receipt.blockNumber) {
    const recorded = `${intent.mined_attempt_hash} in block ${intent.mined_block_number}`;
    const message = `Intent ${intent.id} records ${recorded}; the chain has ${mined.hash} in block ${receipt.blockNumber}.`;
    return differs(message, { hash: mined.hash, block: receipt.blockNumber });
  }
  const minedAs = outcomeOf(mined, receipt);
  if (intent.state !== "final" || intent.outcome === minedAs) return [];
  const message = `Intent ${intent.id} is recorded as ${intent.outcome}; on the chain it ${minedAs}.`;
  return differs(message, { outcome: intent.outcome ?? undefined, chain: minedAs });
}
