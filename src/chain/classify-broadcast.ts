import type { BroadcastOutcome } from "../ports/chain.ts";
import { RpcError } from "./json-rpc.ts";
import { rowOf } from "./node-errors.ts";

type Class = BroadcastOutcome["kind"];

/**
 * Classifies one node's answer to a raw transaction, by the table of errors. What that does not know is `unknown`: the
 * transaction may be in that node's pool.
 * @param expectedHash the hash of the sent transaction; a node that answers another one has not accepted it
 */
export function classifyBroadcast(answer: unknown, expectedHash: string): BroadcastOutcome {
  if (!(answer instanceof RpcError)) {
    if (typeof answer === "string" && answer.toLowerCase() === expectedHash.toLowerCase()) return { kind: "accepted" };
    return { kind: "unknown", detail: "the node answered with another hash than that of the transaction" };
  }
  const kind = answer.kind === "transport" ? "unknown" : (rowOf(answer)?.broadcast ?? "unknown");
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
