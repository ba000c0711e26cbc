import { describe, expect, test } from "vitest";
import { RpcError } from "../../src/chain/json-rpc.ts";
import { classOf, isFailedCall, isRevert, isTooMuch } from "../../src/chain/node-errors.ts";

function said(code: number, nodeMessage: string, status = 200): RpcError {
  return new RpcError({ kind: "rpc", host: "node", message: `node: ${nodeMessage}`, code, nodeMessage, status });
}

function page(status: number, nodeMessage?: string): RpcError {
  return new RpcError({ kind: "transport", host: "node", message: `node: HTTP status ${status}`, nodeMessage, status });
}

describe("what a node says is judged by one table", () => {
  test.each([
    ["reverted", 3, "execution reverted: daily limit of 5 exceeded, rate limit, out of gas"],
    ["reverted", -32000, "execution reverted"],
    ["reverted", -32015, "VM execution error."],
    ["reverted", -32603, "EVM error StackUnderflow"],
    ["reverted", -32000, "stack underflow (0 <=> 1)"],
    ["reverted", -32000, "invalid opcode: opcode 0xfe not defined"],
    ["reverted", -32000, "invalid jump destination"],
    ["reverted", -32015, "Bad instruction fe"],
    ["out-of-gas", -32000, "out of gas"],
    ["out-of-gas", -32603, "EVM error OutOfGas"],
    ["out-of-gas", -32603, "EVM error MemoryOOG"],
    ["out-of-gas", -32603, "EVM error PrecompileOOG"],
    ["out-of-gas", -32000, "gas uint64 overflow"],
    ["out-of-gas", -32000, "gas required exceeds allowance (50000000)"],
    ["exhausted", 402, "Payment Required"],
    ["exhausted", -32005, "daily request count exceeded, request rate limited"],
    ["exhausted", 429, "Monthly capacity limit exceeded."],
    ["exhausted", -32007, "daily request limit reached - upgrade your account"],
    ["exhausted", -32000, "your plan's requests exceeded, see your plan limit"],
    ["exhausted", -32000, "quota of this key is reached"],
    ["slow-down", 429, "Your app has exceeded its compute units per second capacity"],
    ["slow-down", -32005, "project ID request rate exceeded"],
    ["slow-down", -32000, "rate limit exceeded"],
    ["slow-down", -32016, "too many requests"],
    ["not-available", -32601, "the method eth_simulateV1 does not exist/is not available"],
    ["not-available", -32601, "Method not found"],
    ["not-available", -32004, "eth_simulateV1"],
    ["not-available", -32075, "disabled"],
    ["not-available", -32000, "method eth_simulateV1 is not allowed on your plan"],
    ["not-available", -32600, "unsupported method: eth_simulateV1"],
    ["not-available", -32001, "access denied"],
    ["not-available", -32603, "method handler crashed"],
    ["too-much", -32005, "query returned more than 10000 results"],
    ["too-much", -32062, "range"],
    ["too-much", -32602, "block range is too wide"],
    ["too-much", -32602, "You can make eth_getLogs requests with up to a 10 block range, at most 10 more than that"],
    ["too-much", -32000, "response size should not be larger than 10000000 bytes"],
    ["too-much", -38026, "client"],
    ["refused", -32000, "insufficient funds for gas * price + value"],
    ["no-block", -32000, "header not found"],
    ["refused", -32603, "internal error"],
  ] as const)("%s: %d %s", (kind, code, words) => {
    expect(classOf(said(code, words))).toBe(kind);
  });

  test.each([
    ["exhausted", 402, undefined],
    ["exhausted", 429, "you have used up your daily requests count"],
    ["slow-down", 429, undefined],
    ["not-available", 403, undefined],
    ["not-available", 405, undefined],
    ["too-much", 413, undefined],
    ["no-answer", 401, "execution reverted"],
    ["no-answer", 400, "out of gas"],
    ["no-answer", 502, "quota"],
    ["no-answer", 503, "method not found"],
  ] as const)("%s: a page of HTTP status %d saying %s", (kind, status, words) => {
    expect(classOf(page(status, words))).toBe(kind);
  });

  test("an answer that never came means nothing, whatever its text says", () => {
    const lost = new RpcError({ kind: "transport", host: "node", message: "node: execution reverted" });
    expect(classOf(lost)).toBe("no-answer");
  });
});

test("a call alone fails by its own doing where it reverts or uses up what it was given, and only then", () => {
  expect(isFailedCall(said(-32015, "VM execution error."))).toBe(true);
  expect(isFailedCall(said(-32603, "EVM error MemoryOOG"))).toBe(true);
  for (const [code, words] of [
    [-32601, "Method not found"],
    [-32000, "header not found"],
    [-32000, "rate limit exceeded"],
  ] as const) {
    expect(isFailedCall(said(code, words))).toBe(false);
  }
});

test("what used up all gas is no revert of the calls alongside it: less of it may do", () => {
  const starved = said(-32603, "EVM error MemoryOOG");
  expect(isRevert(starved)).toBe(false);
  expect(isTooMuch(starved)).toBe(true);
  expect(isTooMuch(said(-32000, "execution reverted: out of gas"))).toBe(false);
});
