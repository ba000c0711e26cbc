import fc from "fast-check";
import { expect, test } from "vitest";
import { classifyBroadcast, combineBroadcasts } from "../../src/chain/classify-broadcast.ts";
import { RpcError } from "../../src/chain/json-rpc.ts";
import type { BroadcastOutcome } from "../../src/ports/chain.ts";

const hash = `0x${"ab".repeat(32)}`;

function said(nodeMessage: string): RpcError {
  return new RpcError({ kind: "rpc", host: "node", message: `node: ${nodeMessage}`, code: -32000, nodeMessage });
}

test.each([
  ["known", "already known"],
  ["known", `known transaction: ${hash}`],
  ["known", "Transaction with the same hash was already imported."],
  ["known", "transaction already imported"],
  ["known", "AlreadyKnown"],
  ["known", "tx already exists in cache"],
  ["unknown", `unknown transaction: ${hash}`],
  ["nonce-used", "nonce too low"],
  ["nonce-used", "nonce too low: next nonce 5, tx nonce 4"],
  ["nonce-used", "OldNonce, Current nonce: 5, nonce of rejected tx: 4"],
  ["nonce-used", "invalid transaction nonce"],
  ["nonce-used", "Pool(Stale)"],
  ["nonce-ahead", "nonce too high"],
  ["nonce-ahead", "NonceGap, Future nonce. Expected nonce: 4"],
  ["nonce-ahead", "nonce not in range: allowed nonce range: 4 - 8, actual: 9"],
  ["replacement-underpriced", "replacement transaction underpriced"],
  ["replacement-underpriced", "OwnNonceAlreadyUsed"],
  ["replacement-underpriced", "there is another tx which has the same nonce as this tx"],
  ["fee-too-low", "transaction underpriced"],
  ["fee-too-low", "transaction gas price below minimum: gas tip cap 0, minimum needed 1"],
  ["fee-too-low", "FeeTooLow, MaxFeePerGas too low"],
  ["fee-too-low", "max fee per gas less than block base fee: address 0x1, maxFeePerGas: 1 baseFee: 2"],
  ["fee-too-low", "gas price too low"],
  ["fee-too-low", "Fair pubdata price too high"],
  ["unknown", "tx fee (1.10 ether) exceeds the configured cap (1.00 ether)"],
  ["insufficient-funds", "insufficient funds for gas * price + value: balance 1, tx cost 2"],
  ["insufficient-funds", "Insufficient funds for gas * price + value"],
  ["insufficient-funds", "Upfront cost exceeds account balance"],
  ["insufficient-funds", "not enough funds for gas"],
  ["malformed", "invalid sender"],
  ["malformed", "intrinsic gas too low: have 100, want 21000"],
  ["malformed", "exceeds block gas limit"],
  ["malformed", "invalid chain id for signer: have 1 want 5"],
  ["malformed", "Failed to decode transaction"],
  ["malformed", "address already reserved"],
  ["malformed", "account limit exceeded: pooled 16 txs"],
  ["temporary", "txpool is full"],
  ["temporary", "sequencer pending tx pool full, please try again"],
  ["temporary", "queue full"],
  ["temporary", "in-flight transaction limit reached for delegated accounts"],
  ["unknown", "something that no table knows"],
] as const)("%s: %s", (kind, words) => {
  expect(classifyBroadcast(said(words), hash).kind).toBe(kind);
});

test("a lost answer proves nothing, whatever its text says", () => {
  const lost = new RpcError({ kind: "transport", host: "node", message: "node: nonce too low, HTTP status 502" });
  expect(classifyBroadcast(lost, hash).kind).toBe("unknown");
});

test("only the transaction's own hash is an acceptance", () => {
  expect(classifyBroadcast(hash.toUpperCase().replace("0X", "0x"), hash)).toEqual({ kind: "accepted" });
  for (const answer of [null, "0x", `0x${"cd".repeat(32)}`, { hash }]) {
    expect(classifyBroadcast(answer, hash).kind).toBe("unknown");
  }
});

test("one node that has it outweighs all that have not, and a lost answer all that refuse", () => {
  const outcome = (kind: BroadcastOutcome["kind"]) => ({ kind, detail: kind }) as BroadcastOutcome;
  expect(combineBroadcasts([outcome("malformed"), outcome("unknown"), outcome("accepted")]).kind).toBe("accepted");
  expect(combineBroadcasts([outcome("malformed"), outcome("known")]).kind).toBe("known");
  for (const refusal of ["temporary", "nonce-ahead", "fee-too-low", "insufficient-funds", "malformed"] as const) {
    expect(combineBroadcasts([outcome(refusal), outcome("unknown")]).kind).toBe("unknown");
  }
  expect(combineBroadcasts([]).kind).toBe("unknown");
});

test("no text of a node is ever taken for an acceptance", () => {
  fc.assert(fc.property(fc.string(), (words) => classifyBroadcast(said(words), hash).kind !== "accepted"));
});
