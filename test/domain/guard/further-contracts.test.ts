import { describe, expect, test } from "vitest";
import { contractsFor, oneContract, spendersIn } from "../../../src/domain/guard/swap-contracts.ts";
import { toAddress } from "../../../src/domain/money/address.ts";

const [FIRST, OTHER, THIRD, STRANGER] = ["a1", "a2", "a3", "ff"].map((digits) => toAddress(`0x${digits.repeat(20)}`));
const PINNED = { contracts: oneContract(FIRST!), furtherContracts: [OTHER!, THIRD!].map(oneContract) };

describe("of several pinned sets of contracts", () => {
  test("a swap is bound to the one that its quote names", () => {
    for (const target of [FIRST!, OTHER!, THIRD!])
      expect(contractsFor(PINNED, { targetAddress: target })).toEqual(oneContract(target));
  });

  test("none is learnt from a quote: what names another contract, or none, is bound to the first", () => {
    for (const targetAddress of [STRANGER, undefined])
      expect(contractsFor(PINNED, { targetAddress })).toEqual(oneContract(FIRST!));
    expect(contractsFor(PINNED, undefined)).toEqual(oneContract(FIRST!));
    expect(contractsFor({ contracts: oneContract(FIRST!) }, { targetAddress: OTHER })).toEqual(oneContract(FIRST!));
  });

  test("all that may take tokens are known, each once", () => {
    expect(spendersIn(PINNED)).toEqual([FIRST, OTHER, THIRD]);
    expect(spendersIn({ contracts: oneContract(FIRST!), furtherContracts: [oneContract(FIRST!)] })).toEqual([FIRST]);
  });
});
