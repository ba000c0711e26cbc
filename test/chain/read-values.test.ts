import { expect, test } from "vitest";
import { readReceipt } from "../../src/chain/read-values.ts";
import { ChainReadError } from "../../src/domain/chain-read-error.ts";
import type { Hex } from "../../src/domain/money/address.ts";

const HASH: Hex = `0x${"ab".repeat(32)}`;
const RECEIPT = {
  transactionHash: HASH,
  blockHash: `0x${"cd".repeat(32)}`,
  blockNumber: "0x7",
  status: "0x1",
  gasUsed: "0x30d40",
  effectiveGasPrice: "0x5",
  logs: [],
};

function dataFeeOf(fields: Record<string, unknown>): bigint | undefined {
  return readReceipt({ ...RECEIPT, ...fields }, HASH)?.dataFee;
}

test("what a rollup charged on top of gas is read with its operator's fee, before and since Jovian", () => {
  expect(dataFeeOf({})).toBeUndefined();
  expect(dataFeeOf({ l1Fee: null })).toBeUndefined();
  expect(dataFeeOf({ l1Fee: "0x64", l1FeeScalar: "0.684" })).toBe(100n);
  const operator = { operatorFeeScalar: "0x1e8480", operatorFeeConstant: "0x3" };
  expect(dataFeeOf({ l1Fee: "0x64", ...operator })).toBe(100n + 400_000n + 3n);
  expect(dataFeeOf({ l1Fee: "0x64", ...operator, daFootprintGasScalar: "0x94" })).toBe(
    100n + 200_000n * 2_000_000n * 100n + 3n,
  );
});

test("a data fee that is no quantity is no receipt", () => {
  expect(() => dataFeeOf({ l1Fee: "100" })).toThrow(ChainReadError);
  expect(() => dataFeeOf({ l1Fee: "0x1", operatorFeeScalar: -1 })).toThrow(ChainReadError);
});

test("who sent a transaction is read of its receipt, where the node says it", () => {
  const from = `0x${"Ab".repeat(20)}`;
  expect(readReceipt({ ...RECEIPT, from }, HASH)?.from).toBe(from.toLowerCase());
  expect(readReceipt(RECEIPT, HASH)).not.toHaveProperty("from");
  expect(() => readReceipt({ ...RECEIPT, from: "0x12" }, HASH)).toThrow(ChainReadError);
});

test("a revert whose receipt lists the fee among its logs is a receipt, and moved nothing", () => {
  const log = { address: `0x${"10".repeat(20)}`, topics: [HASH], data: "0x", logIndex: "0x0" };
  expect(readReceipt({ ...RECEIPT, status: "0x0", logs: [log] }, HASH)).toMatchObject({ succeeded: false, logs: [] });
  expect(() => readReceipt({ ...RECEIPT, status: "0x0", logs: [{}] }, HASH)).toThrow(ChainReadError);
});
