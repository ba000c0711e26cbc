import { Transaction, Wallet } from "ethers";
import { describe, expect, test } from "vitest";
import { signedBytes } from "../../src/chain/signed-bytes.ts";
import { type Hex, toAddress } from "../../src/domain/money/address.ts";

const wallet = new Wallet(`0x${"7".repeat(64)}`);
const SENDER = toAddress(wallet.address);

/** A transaction as a node lists it in its block. */
async function listed() {
  const raw = await wallet.signTransaction({
    ...{ type: 2, chainId: 10, nonce: 3, to: `0x${"ab".repeat(20)}`, value: 5n, data: "0x0102", gasLimit: 50_000n },
    ...{ maxFeePerGas: 7n, maxPriorityFeePerGas: 2n },
  });
  const { hash, signature } = Transaction.from(raw);
  const short = (word: string | undefined): string => `0x${BigInt(word ?? "0x0").toString(16)}`;
  const fields: Readonly<Record<string, unknown>> = {
    ...{ type: "0x2", chainId: "0xa", nonce: "0x3", to: `0x${"ab".repeat(20)}`, value: "0x5", input: "0x0102" },
    ...{ gas: "0xc350", maxFeePerGas: "0x7", maxPriorityFeePerGas: "0x2", accessList: [] },
    ...{ r: short(signature?.r), s: short(signature?.s), yParity: `0x${signature?.yParity}` },
  };
  return { raw, hash: hash as Hex, fields };
}

describe("the bytes of a transaction in a block", () => {
  test("are those that were signed", async () => {
    const { raw, hash, fields } = await listed();
    expect(signedBytes(fields, { hash, sender: SENDER })).toBe(raw);
    const { yParity, ...older } = fields;
    expect(signedBytes({ ...older, v: yParity }, { hash, sender: SENDER })).toBe(raw);
  });

  test("are those that were signed where it pays a plain gas price", async () => {
    const raw = await wallet.signTransaction({
      ...{ type: 0, chainId: 10, nonce: 3, to: `0x${"ab".repeat(20)}`, value: 5n, data: "0x0102", gasLimit: 50_000n },
      gasPrice: 7n,
    });
    const { hash, signature } = Transaction.from(raw);
    const fields = {
      ...{ type: "0x0", chainId: "0xa", nonce: "0x3", to: `0x${"ab".repeat(20)}`, value: "0x5", input: "0x0102" },
      ...{
        gas: "0xc350",
        gasPrice: "0x7",
        r: signature?.r,
        s: signature?.s,
        v: `0x${signature?.networkV?.toString(16)}`,
      },
    };
    expect(signedBytes(fields, { hash: hash as Hex, sender: SENDER })).toBe(raw);
    expect(signedBytes({ ...fields, gasPrice: "0x8" }, { hash: hash as Hex, sender: SENDER })).toBeUndefined();
  });

  test.each<[string, Readonly<Record<string, unknown>>]>([
    ["another value", { value: "0x6" }],
    ["another nonce", { nonce: "0x4" }],
    ["another chain", { chainId: "0x1" }],
    ["another signature", { s: "0x1234" }],
    ["no signature", { r: undefined, s: undefined }],
    ["another type", { type: "0x0" }],
    ["words that are none", { r: "hello", value: "five" }],
  ])("are none where a node shows %s", async (_, change) => {
    const { hash, fields } = await listed();
    expect(signedBytes({ ...fields, ...change }, { hash, sender: SENDER })).toBeUndefined();
  });

  test("are none of an account that did not sign them, and none of another hash", async () => {
    const { hash, fields } = await listed();
    expect(signedBytes(fields, { hash, sender: toAddress(`0x${"1".repeat(40)}`) })).toBeUndefined();
    expect(signedBytes(fields, { hash: `0x${"1".repeat(64)}`, sender: SENDER })).toBeUndefined();
  });
});
