import { expect, test } from "vitest";
import { codeProblem, delegateOf, delegationTo } from "../../../src/domain/guard/delegation.ts";
import { type Hex, toAddress } from "../../../src/domain/money/address.ts";

const DELEGATE = toAddress(`0x${"d".repeat(40)}`);
const OTHER = toAddress(`0x${"e".repeat(40)}`);

test("a delegation is three bytes and an address, and nothing else is one", () => {
  expect(delegateOf(delegationTo(DELEGATE))).toBe(DELEGATE);
  expect(delegateOf(`0xEF0100${"D".repeat(40)}` as Hex)).toBe(DELEGATE);
  for (const code of ["0x", "0xef0100", `0xef0100${"d".repeat(42)}`, `0xef0101${"d".repeat(40)}`, "0x6000"] as const) {
    expect(delegateOf(code)).toBeUndefined();
  }
});

test.each<[string, Hex, typeof DELEGATE | undefined, RegExp | undefined]>([
  ["no code", "0x", undefined, undefined],
  ["no code, where a delegate is named", "0x", DELEGATE, undefined],
  ["the named delegate", delegationTo(DELEGATE), DELEGATE, undefined],
  ["a delegate that nobody named", delegationTo(DELEGATE), undefined, /delegates to 0xd{40}.*key is stolen/],
  ["another delegate than the named one", delegationTo(OTHER), DELEGATE, /delegates to 0xe{40}.*not to 0xd{40}/],
  ["the code of a contract", "0x6000", DELEGATE, /is a contract/],
])("an account with %s", (_case, code, named, problem) => {
  if (problem === undefined) expect(codeProblem(code, named)).toBeUndefined();
  else expect(codeProblem(code, named)).toMatch(problem);
});
