import { readFileSync } from "node:fs";
import { recoverAddress, Wallet } from "ethers";
import { describe, expect, it } from "vitest";
import { readPackedSwap } from "../../../../src/adapters/swap-service/fly/packed-swap.ts";
import { flyProfile } from "../../../../src/adapters/swap-service/fly/service.ts";
import { bindSwap, type ExpectedSwap, envelopeChecks } from "../../../../src/domain/guard/bind-swap.ts";
import { firstDenial } from "../../../../src/domain/guard/check.ts";
import type { ProposedTransaction } from "../../../../src/domain/guard/decoded-swap.ts";
import { oneContract } from "../../../../src/domain/guard/swap-contracts.ts";
import { type Hex, toAddress } from "../../../../src/domain/money/address.ts";
import { toPpm } from "../../../../src/domain/money/fraction.ts";
import { typedDataDigest, typeHash } from "../../../support/typed-data-digest.ts";

const recorded = JSON.parse(readFileSync(new URL("../../../fixtures/recorded-swap.json", import.meta.url), "utf8")) as {
  chainId: number;
  router: string;
  sender: string;
  serviceSigner: string;
  expected: Record<
    "recipient" | "fromAsset" | "toAsset" | "deadline" | "amountOutMin" | "swapFee" | "amountIn",
    string
  >;
  data: Hex;
};
const router = toAddress(recorded.router);
const pinned = {
  chainId: recorded.chainId,
  contracts: oneContract(router),
  wrappedNative: toAddress(`0x${"01".repeat(20)}`),
};
const transaction: ProposedTransaction = {
  from: toAddress(recorded.sender),
  to: router,
  data: recorded.data,
  value: 0n,
  chainId: recorded.chainId,
  gasLimit: undefined,
};

function decode(data: Hex) {
  return flyProfile.decodeTransaction({ ...transaction, data }, pinned);
}

/** Replaces bytes; positions count from the first byte of the selector. */
function patched(at: number, hex: string, data: Hex = recorded.data): Hex {
  const start = 2 + at * 2;
  return `0x${data.slice(2, start)}${hex}${data.slice(start + hex.length)}`;
}

describe("the recorded transaction of the hosted service", () => {
  it("is read field by field", () => {
    const decoding = decode(recorded.data);
    const { expected } = recorded;
    expect(decoding).toEqual({
      ok: true,
      swap: {
        contracts: oneContract(router),
        sender: undefined,
        recipient: expected.recipient,
        fromAsset: expected.fromAsset,
        toAsset: expected.toAsset,
        deadline: BigInt(expected.deadline),
        amountOutMin: BigInt(expected.amountOutMin),
        swapFee: BigInt(expected.swapFee),
        amountIn: BigInt(expected.amountIn),
        nonce: undefined,
        affiliate: undefined,
        permitValue: undefined,
      },
    });
  });

  it("is accepted by the guard when this is what was asked for, and not when a field differs", () => {
    const { expected } = recorded;
    const asked: ExpectedSwap = {
      mode: "self-executed",
      contracts: oneContract(router),
      chainId: recorded.chainId,
      owner: toAddress(recorded.sender),
      recipient: toAddress(expected.recipient),
      fromAsset: toAddress(expected.fromAsset),
      toAsset: toAddress(expected.toAsset),
      tokens: { sold: { symbol: "A", decimals: 18 }, bought: { symbol: "B", decimals: 18 } },
      gross: BigInt(expected.amountIn),
      affiliate: undefined,
      maxSwapFee: toPpm(0),
      requiredMinimum: BigInt(expected.amountOutMin),
      nowSeconds: Number(expected.deadline) - 300,
      maxLifetimeSeconds: 300,
      nonceRequired: false,
    };
    const swap = swapOf(recorded.data);
    expect(bindSwap(swap, asked)).toBeUndefined();
    expect(firstDenial(envelopeChecks(transaction, asked))).toBeUndefined();
    for (const other of [
      { contracts: oneContract(pinned.wrappedNative) },
      { recipient: router },
      { fromAsset: router },
      { toAsset: router },
      { gross: asked.gross + 1n },
      { requiredMinimum: asked.requiredMinimum + 1n },
      { nowSeconds: asked.nowSeconds + 300 },
      { maxLifetimeSeconds: 299 },
    ]) {
      expect(bindSwap(swap, { ...asked, ...other })).toBeDefined();
    }
  });

  it("carries a signature of the service over exactly these fields", () => {
    const decoding = decode(recorded.data);
    const packed = readPackedSwap(recorded.data);
    if (!decoding.ok || !packed.ok) throw new Error("the recorded transaction was not decoded");
    const typedData = flyProfile.typedData({ ...decoding.swap, sender: toAddress(recorded.sender) }, pinned);
    expect(recoverAddress(typedDataDigest(typedData), packed.call.signature)).toBe(recorded.serviceSigner);
  });

  it("gives no such signature when one field differs", () => {
    const decoding = decode(recorded.data);
    const packed = readPackedSwap(recorded.data);
    if (!decoding.ok || !packed.ok) throw new Error("the recorded transaction was not decoded");
    const swap = { ...decoding.swap, sender: toAddress(recorded.sender), amountOutMin: 610_745n };
    const digest = typedDataDigest(flyProfile.typedData(swap, pinned));
    expect(recoverAddress(digest, packed.call.signature)).not.toBe(recorded.serviceSigner);
  });

  it("has the type hashes that the router was built with", () => {
    const plain =
      "address router,address sender,address recipient,address fromAsset,address toAsset,uint256 deadline,uint256 amountOutMin,uint256 swapFee,uint256 amountIn";
    expect(typeHash(`Swap(${plain})`)).toBe("0x783528850c43ab6adcc3a843186a6558aa806707dd0abb3d2909a2a70b7f22a3");
    expect(typeHash(`Swap(${plain},address affiliate,uint256 affiliateFee)`)).toBe(
      "0x64d67eff2ff010acba1b1df82fb327ba0dc6d2965ba6b0b472bc14c494c8b4f6",
    );
    const swap = { ...swapOf(recorded.data), sender: router };
    const types = [swap, { ...swap, affiliate: { address: router, fee: 1n } }].map((each) => {
      const fields = flyProfile.typedData(each, pinned).types.Swap ?? [];
      return typeHash(`Swap(${fields.map((field) => `${field.type} ${field.name}`).join(",")})`);
    });
    expect(types).toEqual([
      "0x783528850c43ab6adcc3a843186a6558aa806707dd0abb3d2909a2a70b7f22a3",
      "0x64d67eff2ff010acba1b1df82fb327ba0dc6d2965ba6b0b472bc14c494c8b4f6",
    ]);
  });
});

const SIGNER = new Wallet(`0x${"5e".repeat(32)}`);

/** Decodes changed calldata as if the service had signed exactly that. */
function swapOf(data: Hex) {
  const packed = readPackedSwap(data);
  if (!packed.ok) throw new Error(packed.problem);
  const { order, affiliate } = packed.call;
  const message = {
    ...order,
    contracts: oneContract(router),
    sender: toAddress(recorded.sender),
    nonce: undefined,
    affiliate,
  };
  const digest = typedDataDigest(flyProfile.typedData({ ...message, permitValue: undefined }, pinned));
  const { r, s, v } = SIGNER.signingKey.sign(digest);
  const signed = patched(144, `${r.slice(2)}${s.slice(2)}${v.toString(16)}`, data);
  const service = { ...pinned, signer: toAddress(SIGNER.address) };
  const decoding = flyProfile.decodeTransaction({ ...transaction, data: signed }, service);
  if (!decoding.ok) throw new Error(decoding.problem);
  return decoding.swap;
}

describe("an order that the service did not sign", () => {
  it.each<[string, Hex]>([
    ["another signature", patched(150, "00")],
    ["no signature", patched(144, "00".repeat(65))],
    ["another recipient under the same signature", patched(72, "ab".repeat(20))],
    ["a higher minimum under the same signature", patched(135, "00ffff")],
  ])("is refused: %s", (_name, data) => {
    const decoding = decode(data);
    expect(decoding.ok ? "" : decoding.problem).toMatch(/signed by 0x|signature is none/);
  });

  it("is refused when the operator pinned another signer, or the transaction names no sender", () => {
    const other = { ...pinned, signer: toAddress(SIGNER.address) };
    expect(flyProfile.decodeTransaction(transaction, other)).toMatchObject({ ok: false });
    expect(flyProfile.decodeTransaction({ ...transaction, from: undefined }, pinned)).toMatchObject({ ok: false });
  });
});

describe("packed calldata that hides something", () => {
  it.each<[string, Hex, RegExp]>([
    ["another entry point", patched(0, "25e651ed"), /selector is 0x25e651ed/],
    ["an argument elsewhere", patched(35, "40"), /offset/],
    ["a shorter argument", patched(67, "33"), /padding|says/],
    ["a longer argument", patched(66, "0201"), /says/],
    ["bytes in the padding", patched(387, "01"), /padding/],
    ["bytes behind the end", `${recorded.data}${"00".repeat(32)}`, /says/],
    ["no argument", "0x73fc4457", /too few/],
    ["an affiliate flag that nobody knows", patched(210, "02"), /affiliate flag/],
  ])("is refused: %s", (_name, data, problem) => {
    const decoding = decode(data);
    expect(decoding).toMatchObject({ ok: false });
    expect(decoding.ok ? "" : decoding.problem).toMatch(problem);
  });

  it("shows a permit inside as one over the gross amount, and reads the affiliate behind it", () => {
    expect(swapOf(patched(277, "00", patched(209, "1b"))).permitValue).toBe(10n ** 18n);
    const affiliate = swapOf(patched(210, `01${"ab".repeat(20)}c000df`)).affiliate;
    expect(affiliate?.address).toBe(`0x${"ab".repeat(20)}`);
  });

  it("reads a pointer past the end as the router does, zero-padded", () => {
    expect(swapOf(patched(138, "00ffff")).swapFee).toBe(0n);
    expect(swapOf(patched(138, "000183")).swapFee).toBe(0n);
  });
});
