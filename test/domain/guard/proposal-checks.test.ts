import { describe, expect, test } from "vitest";
import { approval } from "../../../src/domain/guard/approval.ts";
import type { ProposedTransaction } from "../../../src/domain/guard/decoded-swap.ts";
import { encodeMultiSend, type SafeCall } from "../../../src/domain/guard/multi-send.ts";
import { markCall } from "../../../src/domain/guard/once-mark.ts";
import { type ProposalFacts, proposalChecks } from "../../../src/domain/guard/proposal-checks.ts";
import { proposedCalls, safeTypedData } from "../../../src/domain/guard/safe-transaction.ts";
import type { TypedData } from "../../../src/domain/guard/typed-data.ts";
import { HUNDRED_USDC, POOL, ROUTER, USDC, WALLET } from "../../support/builders.ts";

const transaction: ProposedTransaction = {
  ...{ from: undefined, to: ROUTER, data: "0x1234", value: 0n, chainId: 1, gasLimit: undefined },
};
const expected = { chainId: 1, safe: WALLET, token: USDC.address, spender: ROUTER, gross: HUNDRED_USDC, transaction };
const swap: SafeCall = { to: ROUTER, value: 0n, data: "0x1234" };
const place = "run_1.0";
const calls = proposedCalls({
  safe: WALLET,
  place,
  token: USDC.address,
  spender: ROUTER,
  gross: HUNDRED_USDC,
  isAllowed: false,
  swap,
});
const right = safeTypedData({ chainId: 1, safe: WALLET, version: "1.4.1", nonce: 4n, calls });

function denied(data: TypedData, change: Partial<ProposalFacts> = {}): readonly string[] {
  const facts: ProposalFacts = {
    ...{ version: "1.4.1", problem: undefined, nextNonce: 4n, typedData: JSON.stringify(data), isAllowed: false },
    ...{ place, ...change },
  };
  return proposalChecks(facts, expected)
    .filter(({ ok }) => !ok)
    .map(({ subject }) => subject);
}

const message = (change: Readonly<Record<string, unknown>>): TypedData => ({
  ...right,
  message: { ...right.message, ...change },
});
const withCalls = (some: readonly SafeCall[]): TypedData => message({ data: encodeMultiSend(some) });

describe("a proposal", () => {
  test("is in order where it asks for its swap alone", () => {
    expect(denied(right)).toEqual([]);
    expect(denied(message({ nonce: "9" }))).toEqual([]);
  });

  test.each<[string, TypedData, string]>([
    ["runs other code with the Safe's rights", message({ to: POOL }), "contract that the Safe runs"],
    ["calls the MultiSend", message({ operation: "0" }), "operation"],
    ["sends native coins", message({ value: "1" }), "value"],
    ["may fail inside and use its nonce", message({ safeTxGas: "1" }), "safeTxGas"],
    ["pays for gas", message({ gasPrice: "1" }), "gasPrice"],
    ["pays a base fee", message({ baseGas: "1" }), "baseGas"],
    ["pays in a token", message({ gasToken: USDC.address }), "gasToken"],
    ["pays somebody", message({ refundReceiver: POOL }), "refundReceiver"],
    ["uses a nonce of before", message({ nonce: "3" }), "nonce of the proposal"],
    [
      "is of another account",
      { ...right, domain: { ...right.domain, verifyingContract: POOL } },
      "account of the proposal",
    ],
    ["is of another chain", { ...right, domain: { ...right.domain, chainId: "5" } }, "chain of the proposal"],
    ["is of another type", { ...right, primaryType: "SafeMessage" }, "type that owners sign"],
    [
      "calls the Safe itself",
      withCalls([...calls, { to: WALLET, value: 0n, data: "0x610b5925" }]),
      "calls of the proposal",
    ],
    ["allows more", withCalls(allowing(2n * HUNDRED_USDC)), "calls of the proposal"],
    ["leaves an allowance", withCalls(calls.slice(0, -1)), "calls of the proposal"],
    ["swaps twice", withCalls([...calls.slice(0, 3), swap, ...calls.slice(3)]), "calls of the proposal"],
    ["swaps by other bytes", withCalls(calls.with(2, { ...swap, data: "0x1235" })), "calls of the proposal"],
    ["swaps at another contract", withCalls(calls.with(2, { ...swap, to: POOL })), "calls of the proposal"],
    ["approves at another token", withCalls(allowing(HUNDRED_USDC, POOL)), "calls of the proposal"],
    ["sends along with the swap", withCalls(calls.with(2, { ...swap, value: 1n })), "calls of the proposal"],
    ["does not mark its place", withCalls(calls.slice(1)), "calls of the proposal"],
    ["marks another place", withCalls(calls.with(0, markCall(WALLET, "run_1.1"))), "calls of the proposal"],
    ["marks for another Safe", withCalls(calls.with(0, markCall(POOL, place))), "calls of the proposal"],
    ["is no batch", message({ data: "0x" }), "calls of the proposal"],
  ])("is denied where it %s", (_what, data, subject) => {
    expect(denied(data)).toEqual([subject]);
  });

  test("is denied where the Safe is none that is known, whatever it says", () => {
    expect(denied(right, { version: undefined, problem: "it does not answer" })).toEqual(["the Safe's version"]);
  });

  test("is denied where an allowance is there and is not reset first", () => {
    expect(denied(right, { isAllowed: true })).toEqual(["calls of the proposal"]);
  });
});

function allowing(gross: bigint, token = USDC.address): readonly SafeCall[] {
  return calls.with(1, { to: token, value: 0n, data: approval(ROUTER, gross) });
}
