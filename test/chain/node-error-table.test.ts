import { describe, expect, test } from "vitest";
import { classifyBroadcast } from "../../src/chain/classify-broadcast.ts";
import { RpcError } from "../../src/chain/json-rpc.ts";
import { NODE_ERRORS } from "../../src/chain/node-error-table.ts";
import { classOf, isFailedCall, rowOf } from "../../src/chain/node-errors.ts";

interface Said {
  readonly code?: number;
  readonly event?: number;
  readonly status?: number;
  readonly words?: string;
}

function said({ code = -32_000, event, status = 200, words = "no" }: Said): RpcError {
  return new RpcError({ kind: "rpc", host: "node", message: words, code, event, status, nodeMessage: words });
}

const HASH = `0x${"ab".repeat(32)}`;

/** One row an error form: what nodes say, and what it means for reads, for calls and for broadcasts. */
const FORMS: readonly (readonly [form: string, said: Said, read: string, call: string, broadcast: string])[] = [
  ["reverted", { code: 3, words: "execution reverted" }, "reverted", "failed", "unknown"],
  ["used all gas", { words: "EVM error MemoryOOG" }, "out-of-gas", "failed", "unknown"],
  ["broke in the machine", { code: -32_015, words: "VM execution error." }, "reverted", "failed", "unknown"],
  ["ran what is no code", { words: "invalid jump destination" }, "reverted", "failed", "unknown"],
  ["plan used up", { code: 402, status: 402, words: "Payment Required" }, "exhausted", "not run", "temporary"],
  ["plan used up", { code: 429, status: 429, event: -33_300 }, "exhausted", "not run", "temporary"],
  ["plan used up", { event: -33_000 }, "exhausted", "not run", "temporary"],
  ["day or month used up", { words: "daily request count exceeded" }, "exhausted", "not run", "temporary"],
  ["too many requests", { code: 429, words: "capacity" }, "slow-down", "not run", "temporary"],
  ["too many requests", { code: -32_017, words: "over" }, "slow-down", "not run", "temporary"],
  ["too much a second", { words: "compute units per second" }, "slow-down", "not run", "temporary"],
  ["no such method here", { code: -32_601 }, "not-available", "not run", "unknown"],
  ["no such method here", { code: -32_075 }, "not-available", "not run", "unknown"],
  ["no such method here", { status: 403 }, "not-available", "not run", "unknown"],
  ["method is missing", { words: "the method does not exist" }, "not-available", "not run", "unknown"],
  [
    "method is forbidden or broken",
    { code: -32_603, words: "method handler crashed" },
    "not-available",
    "not run",
    "unknown",
  ],
  ["no access", { words: "access denied" }, "not-available", "not run", "unknown"],
  ["no state so old", { code: -32_061, words: "state is limited" }, "refused", "not run", "unknown"],
  ["no such block here", { words: "header not found" }, "no-block", "not run", "unknown"],
  ["no such block here", { words: "header for hash not found" }, "no-block", "not run", "unknown"],
  ["no such block here", { code: -32_001, words: "Unknown block" }, "no-block", "not run", "unknown"],
  ["no such block here", { words: "block #100 not found" }, "no-block", "not run", "unknown"],
  ["block was replaced", { words: "hash is not currently canonical" }, "no-block", "not run", "unknown"],
  ["block was replaced", { words: "0xabc block is not canonical" }, "no-block", "not run", "unknown"],
  ["block still to come here", { words: "cannot query unfinalized data" }, "no-block", "not run", "unknown"],
  [
    "block still to come here",
    { code: -32_602, words: "block range extends beyond current head block" },
    "no-block",
    "not run",
    "unknown",
  ],
  ["known", { words: "already known" }, "refused", "not run", "known"],
  ["imported", { words: "transaction already imported" }, "refused", "not run", "known"],
  [
    "nonce taken in the pool",
    { words: "replacement transaction underpriced" },
    "refused",
    "not run",
    "replacement-underpriced",
  ],
  [
    "nonce taken, not to be replaced",
    { words: "ReplacementNotAllowed" },
    "refused",
    "not run",
    "replacement-underpriced",
  ],
  ["nonce used", { words: "nonce too low: next nonce 5" }, "refused", "not run", "nonce-used"],
  ["nonce used", { code: -38_010 }, "refused", "not run", "nonce-used"],
  ["nonce ahead", { words: "nonce too high" }, "refused", "not run", "nonce-ahead"],
  ["nonce ahead", { code: -38_011 }, "refused", "not run", "nonce-ahead"],
  ["fee too low", { words: "transaction gas price below minimum" }, "refused", "not run", "fee-too-low"],
  [
    "fee below the base fee",
    { words: "max fee per gas less than block base fee" },
    "refused",
    "not run",
    "fee-too-low",
  ],
  ["fee below the base fee", { code: -38_012 }, "refused", "not run", "fee-too-low"],
  ["fee above the node's ceiling", { words: "tx fee exceeds the configured cap" }, "refused", "not run", "unknown"],
  [
    "too little money",
    { words: "insufficient funds for gas * price + value" },
    "refused",
    "not run",
    "insufficient-funds",
  ],
  ["too little money", { words: "Upfront cost exceeds account balance" }, "refused", "not run", "insufficient-funds"],
  ["too little money", { code: -38_014 }, "refused", "not run", "insufficient-funds"],
  ["more gas than a block has", { words: "exceeds block gas limit" }, "too-much", "not run", "malformed"],
  ["more gas than a block has", { code: -38_015 }, "too-much", "not run", "malformed"],
  ["gas below the least", { words: "intrinsic gas too low: have 100" }, "refused", "not run", "malformed"],
  ["gas below the least", { code: -38_013 }, "refused", "not run", "malformed"],
  ["no such sender or chain", { words: "invalid chain id for signer" }, "refused", "not run", "malformed"],
  ["no such sender or chain", { code: -38_024 }, "refused", "not run", "malformed"],
  ["no such sender or chain", { code: -38_025 }, "refused", "not run", "malformed"],
  ["not to be read", { words: "rlp: element is larger" }, "refused", "not run", "malformed"],
  [
    "tip above the fee",
    { words: "max priority fee per gas higher than max fee per gas" },
    "refused",
    "not run",
    "malformed",
  ],
  ["pool is full", { words: "txpool is full" }, "refused", "not run", "temporary"],
  [
    "sent, and not seen mined",
    { code: 4, words: "was added to the pool, and not mined in time" },
    "refused",
    "not run",
    "unknown",
  ],
  ["fee out of its range", { words: "max fee per gas has 300 bits" }, "refused", "not run", "unknown"],
  ["beyond a limit", { code: -32_005, words: "query" }, "too-much", "not run", "unknown"],
  ["beyond a limit", { code: -32_062 }, "too-much", "not run", "unknown"],
  ["beyond a limit", { code: -32_614 }, "too-much", "not run", "unknown"],
  ["beyond a limit", { code: -38_026 }, "too-much", "not run", "unknown"],
  ["beyond a limit", { status: 413 }, "too-much", "not run", "unknown"],
  ["larger than the node likes", { code: -32_602, words: "block range is too wide" }, "too-much", "not run", "unknown"],
];

describe("what a form of error means", () => {
  test.each(FORMS)("%s: %j", (form, words, read, call, broadcast) => {
    const error = said(words);
    expect(rowOf(error)?.form).toBe(form);
    expect(classOf(error)).toBe(read);
    expect(isFailedCall(error)).toBe(call === "failed");
    expect(classifyBroadcast(error, HASH).kind).toBe(broadcast);
  });

  test("is held by an example for every row", () => {
    expect([...new Set(FORMS.map(([form]) => form))]).toEqual(NODE_ERRORS.map(({ form }) => form));
  });

  test("is a refusal that proves nothing where no row knows it", () => {
    const error = said({ code: -32_603, words: "internal error" });
    expect([rowOf(error), classOf(error), isFailedCall(error)]).toEqual([undefined, "refused", false]);
    expect(classifyBroadcast(error, HASH).kind).toBe("unknown");
  });
});

describe("judged alike for reads and for broadcasts", () => {
  test.each([
    "execution reverted: already known",
    "execution reverted: nonce too low",
    "VM execution error: transaction already imported",
  ])("a contract's words say nothing of a transaction: %s", (words) => {
    expect(classifyBroadcast(said({ words }), HASH).kind).toBe("unknown");
  });

  test.each([
    { status: 429, words: "Your app has exceeded its compute units per second capacity" },
    { code: 402, words: "Payment Required" },
    { words: "daily request count exceeded, request rate limited" },
  ])("what a gateway counts has reached no pool: %j", (words) => {
    expect(classifyBroadcast(said(words), HASH).kind).toBe("temporary");
  });

  test.each([
    "Upfront cost exceeds account balance",
    "gas price too low",
    "tx fee (1.10 ether) exceeds the configured cap",
  ])("a sender who cannot pay is not helped by less at once: %s", (words) => {
    expect(classOf(said({ words }))).toBe("refused");
  });
});
