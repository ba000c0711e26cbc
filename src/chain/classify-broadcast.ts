import type { BroadcastOutcome } from "../ports/chain.ts";
import { RpcError } from "./json-rpc.ts";

type Class = BroadcastOutcome["kind"];

/**
 * What nodes say to a raw transaction, in their own words, as classes; the first row that matches counts. Words of Geth,
 * Erigon, Besu, Nethermind, OpenEthereum, anvil and the clients of Arbitrum, zkSync and Sei.
 */
const TABLE: readonly { readonly class: Class; readonly words: RegExp }[] = [
  // "unknown transaction" must not count as known.
  { class: "known", words: /already known|AlreadyKnown|(?<!un)known transaction/i },
  { class: "known", words: /same hash was already imported|transaction already imported|already exists in cache/i },
  // Another transaction holds this nonce in that pool. It may be an older attempt of ours, or a stranger's.
  { class: "replacement-underpriced", words: /replacement transaction underpriced|OwnNonceAlreadyUsed/i },
  { class: "replacement-underpriced", words: /another tx which has the same nonce|ReplacementNotAllowed/i },
  { class: "nonce-used", words: /nonce too low|OldNonce|invalid transaction nonce|Pool\(Stale\)/i },
  { class: "nonce-ahead", words: /nonce too high|NonceGap|future nonce|allowed nonce range/i },
  { class: "fee-too-low", words: /transaction underpriced|gas price below minimum|FeeTooLow|gas price too low/i },
  { class: "fee-too-low", words: /less than block base fee|pubdata price too high/i },
  // One node's own ceiling: others may have accepted.
  { class: "unknown", words: /exceeds the configured cap/i },
  { class: "insufficient-funds", words: /insufficient funds|InsufficientFunds|not enough funds/i },
  { class: "insufficient-funds", words: /upfront cost exceeds account balance/i },
  { class: "malformed", words: /invalid sender|intrinsic gas too low|exceeds block gas limit|invalid chain id/i },
  { class: "malformed", words: /invalid signature|transaction type not supported|failed to decode|rlp:/i },
  { class: "malformed", words: /priority fee.* higher than max fee|exceeds maximum per-transaction gas/i },
  { class: "malformed", words: /address already reserved|account limit exceeded/i },
  { class: "temporary", words: /txpool is full|pool full|queue full|try again|in-flight transaction limit/i },
  { class: "temporary", words: /rate limit|too many requests/i },
];

/**
 * Classifies one node's answer to a raw transaction. Whatever the table does not know is `unknown`: the transaction may
 * be in that node's pool.
 * @param expectedHash the hash of the sent transaction; a node that answers another one has not accepted it
 */
export function classifyBroadcast(answer: unknown, expectedHash: string): BroadcastOutcome {
  if (!(answer instanceof RpcError)) {
    if (typeof answer === "string" && answer.toLowerCase() === expectedHash.toLowerCase()) return { kind: "accepted" };
    return { kind: "unknown", detail: "the node answered with another hash than that of the transaction" };
  }
  if (answer.kind === "transport" || answer.nodeMessage === undefined) {
    return { kind: "unknown", detail: answer.message };
  }
  const words = answer.nodeMessage;
  const kind = TABLE.find((row) => row.words.test(words))?.class ?? "unknown";
  if (kind === "malformed" || kind === "temporary" || kind === "unknown") return { kind, detail: answer.message };
  return { kind };
}

/**
 * Over several nodes the answer that proves the most counts. An unknown one stands above those that only say "not in my
 * pool", because it may be in that one.
 */
const BY_WEIGHT: readonly Class[] = [
  "accepted",
  "known",
  "nonce-used",
  "replacement-underpriced",
  "unknown",
  "temporary",
  "nonce-ahead",
  "fee-too-low",
  "insufficient-funds",
  "malformed",
];

/** The one outcome of a broadcast to several nodes. With no node at all it is unknown. */
export function combineBroadcasts(outcomes: readonly BroadcastOutcome[]): BroadcastOutcome {
  const sorted = [...outcomes].sort((a, b) => BY_WEIGHT.indexOf(a.kind) - BY_WEIGHT.indexOf(b.kind));
  return sorted[0] ?? { kind: "unknown", detail: "no node could be asked" };
}
