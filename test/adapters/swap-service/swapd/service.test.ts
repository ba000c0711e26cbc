import { readFileSync } from "node:fs";
import { Interface } from "ethers";
import { describe, expect, it } from "vitest";
import { swapdProfile } from "../../../../src/adapters/swap-service/swapd/service.ts";
import type { DecodedSwap } from "../../../../src/domain/guard/decoded-swap.ts";
import { oneContract } from "../../../../src/domain/guard/swap-contracts.ts";
import type { TypedData } from "../../../../src/domain/guard/typed-data.ts";
import { type Hex, NATIVE_TOKEN } from "../../../../src/domain/money/address.ts";
import { MAX_UINT256 } from "../../../../src/domain/money/amount.ts";
import { AFFILIATE, decodedSample, OWNER, ROUTER, STRANGER, USDC, WETH } from "../../../domain/guard/swap-samples.ts";
import { typeHash } from "../../../support/typed-data-digest.ts";

const artifact = JSON.parse(
  readFileSync(new URL("../../../../contracts/artifacts/SwapdSettlement.json", import.meta.url), "utf8"),
) as { abi: [] };
const settlement = new Interface(artifact.abi);
const pinned = { chainId: 31337, contracts: oneContract(ROUTER), wrappedNative: WETH };
const order = [OWNER, USDC, WETH, 1_700_000_120n, 99n, 0n, 1_000n, 0n, NATIVE_TOKEN, 0n];
const leg = [0, STRANGER, USDC, WETH, 0, 10n ** 18n];
const call = settlement.encodeFunctionData("swap", [order, [leg, leg]]) as Hex;

function decode(data: Hex) {
  return swapdProfile.decodeTransaction(
    { from: OWNER, to: ROUTER, data, value: 0n, chainId: 31337, gasLimit: undefined },
    pinned,
  );
}

function withOrder(change: Record<number, unknown>): Hex {
  return settlement.encodeFunctionData("swap", [order.map((value, index) => change[index] ?? value), [leg]]) as Hex;
}

describe("calldata of our own settlement contract", () => {
  it("is read field by field from what the contract's own ABI encodes", () => {
    const expected: DecodedSwap = {
      contracts: oneContract(ROUTER),
      sender: undefined,
      recipient: OWNER,
      fromAsset: USDC,
      toAsset: WETH,
      deadline: 1_700_000_120n,
      amountOutMin: 99n,
      swapFee: 0n,
      amountIn: 1_000n,
      nonce: undefined,
      affiliate: undefined,
      permitValue: undefined,
    };
    expect(decode(call)).toEqual({ ok: true, swap: expected });
  });

  it("shows half an affiliate pair instead of dropping it", () => {
    expect(decode(withOrder({ 9: 5n }))).toMatchObject({ swap: { affiliate: { address: NATIVE_TOKEN, fee: 5n } } });
    expect(decode(withOrder({ 8: STRANGER }))).toMatchObject({ swap: { affiliate: { address: STRANGER, fee: 0n } } });
  });

  it("is refused when it is a call of anything else", () => {
    const other = ["transfer(address,uint256)", "approve(address,uint256)", "permit()", "multicall(bytes[])"];
    for (const signature of other) {
      expect(decode(`${typeHash(signature).slice(0, 10)}${call.slice(10)}` as Hex)).toMatchObject({ ok: false });
    }
    const relayed = settlement.getFunction("swapWithSignature")?.selector;
    expect(decode(`${relayed}${call.slice(10)}` as Hex)).toMatchObject({ ok: false });
    expect(decode("0x")).toMatchObject({ ok: false });
  });

  it("is refused when bytes hide in it that its arguments do not explain", () => {
    expect(decode(`${call}00`)).toMatchObject({ ok: false });
    expect(decode(`${call}${"00".repeat(32)}`)).toMatchObject({ ok: false });
    expect(decode(call.slice(0, -2) as Hex)).toMatchObject({ ok: false });
    // dirty upper bytes of the recipient's word
    expect(decode(`${call.slice(0, 10)}01${call.slice(12)}` as Hex)).toMatchObject({ ok: false });
  });

  it("is refused with a nonce, which only signatures have", () => {
    expect(decode(withOrder({ 7: 1n }))).toMatchObject({ ok: false, problem: expect.stringContaining("nonce") });
  });

  it("is never read as what it is not, whichever byte is flipped", () => {
    const reference = decode(call);
    for (let at = 0; at < (call.length - 2) / 2; at++) {
      const flipped = (Number.parseInt(call.slice(2 + at * 2, 4 + at * 2), 16) ^ 0x01).toString(16).padStart(2, "0");
      const data: Hex = `0x${call.slice(2, 2 + at * 2)}${flipped}${call.slice(4 + at * 2)}`;
      const decoding = decode(data);
      const inRoute = at >= 4 + 11 * 32;
      if (decoding.ok && !inRoute) expect(decoding, `byte ${at}`).not.toEqual(reference);
    }
  });
});

describe("typed data of our own settlement contract", () => {
  const typedData = swapdProfile.typedData(decodedSample(), pinned);

  it("is built with the pinned types and read back field by field", () => {
    expect(swapdProfile.decodeTypedData(typedData, pinned)).toEqual({ ok: true, swap: decodedSample() });
    const plain = decodedSample({ affiliate: undefined });
    expect(swapdProfile.decodeTypedData(swapdProfile.typedData(plain, pinned), pinned)).toEqual({
      ok: true,
      swap: plain,
    });
  });

  const swapType = typedData.types.Swap ?? [];
  it.each<[string, Partial<TypedData>, string]>([
    ["another domain name", { domain: { ...typedData.domain, name: "Dex Aggregator" } }, "Dex Aggregator/1"],
    ["another version", { domain: { ...typedData.domain, version: "2" } }, "swapd/2"],
    ["another chain", { domain: { ...typedData.domain, chainId: "1" } }, "chain 1"],
    ["a chain id in hex", { domain: { ...typedData.domain, chainId: "0x7a69" } }, "0x7a69"],
    ["another contract", { domain: { ...typedData.domain, verifyingContract: STRANGER } }, STRANGER],
    ["a salt", { domain: { ...typedData.domain, salt: `0x${"00".repeat(32)}` } }, "salt"],
    ["no domain", { domain: {} }, "missing/missing"],
    ["another primary type", { primaryType: "Permit" }, "Permit"],
    ["a second type", { types: { ...typedData.types, Permit: [] } }, "Permit"],
    ["a domain type", { types: { ...typedData.types, EIP712Domain: [] } }, "EIP712Domain"],
    ["no types", { types: {} }, "out of the types"],
    ["a field less", { types: { Swap: swapType.slice(0, 9) } }, "unknown type Swap("],
    ["a field more", { types: { Swap: [...swapType, { name: "data", type: "bytes" }] } }, "bytes data"],
    ["fields in another order", { types: { Swap: [...swapType].reverse() } }, "unknown type"],
    ["a field of another type", { types: { Swap: swapType.map((f) => ({ ...f, type: "uint256" })) } }, "unknown type"],
    ["an unknown message field", { message: { ...typedData.message, data: "0x" } }, "data"],
    ["an amount with an exponent", { message: { ...typedData.message, amountIn: "1e3" } }, "1e3"],
    ["a negative amount", { message: { ...typedData.message, amountIn: "-1" } }, "-1"],
    ["an amount in hex", { message: { ...typedData.message, amountIn: "0x10" } }, "0x10"],
    ["an amount above uint256", { message: { ...typedData.message, amountIn: (1n << 256n).toString() } }, "amountIn"],
    ["an amount as float", { message: { ...typedData.message, amountIn: 1e21 } }, "amountIn"],
    ["no recipient", { message: { ...typedData.message, recipient: undefined } }, "recipient"],
    ["a name as recipient", { message: { ...typedData.message, recipient: "vitalik.eth" } }, "vitalik.eth"],
  ])("is refused, with what was seen: %s", (_name, change, seen) => {
    const decoding = swapdProfile.decodeTypedData({ ...typedData, ...change }, pinned);
    expect(decoding.ok).toBe(false);
    expect(decoding.ok ? "" : decoding.problem).toContain(seen);
  });

  it("is not built without a caller or a nonce", () => {
    expect(() => swapdProfile.typedData(decodedSample({ sender: undefined }), pinned)).toThrow(/sender/);
    expect(() => swapdProfile.typedData(decodedSample({ nonce: undefined }), pinned)).toThrow(/nonce/);
  });
});

describe("the owner's own call of an order", () => {
  const own = swapdProfile.simulationOfOrder;
  if (own === undefined) throw new Error("the profile knows the owner's own call");
  const numbers = [0n, 1n, MAX_UINT256];

  it("is made of whatever numbers an order says: the guard denies what is out of bounds", () => {
    for (const amountIn of numbers)
      for (const swapFee of numbers)
        for (const fee of numbers)
          for (const amountOutMin of numbers) {
            const affiliate = { address: AFFILIATE, fee };
            const swap = decodedSample({ amountIn, swapFee, affiliate, amountOutMin, deadline: MAX_UINT256 });
            const decoding = swapdProfile.decodeTypedData(swapdProfile.typedData(swap, pinned), pinned);
            expect(decoding).toEqual({ ok: true, swap });
            const [order] = settlement.decodeFunctionData("swap", own(swap, []));
            const gross = amountIn + swapFee;
            const kept = gross === 0n ? 0n : (fee * amountIn) / gross;
            expect(order.toObject()).toMatchObject({ amountIn, amountOutMin, affiliateFee: kept });
          }
  });
});

describe("the contract's record of nonces", () => {
  const record = swapdProfile.nonceRecord;
  if (record === undefined) throw new Error("the profile has a nonce record");

  it("asks and listens as the contract's own ABI says", () => {
    expect(record.usedCall(OWNER, 7n)).toBe(settlement.encodeFunctionData("isNonceUsed", [OWNER, 7n]));
    expect(record.fillTopics(OWNER, 7n)).toEqual(settlement.encodeFilterTopics("Swapped", [OWNER, 7n]));
    expect(record.cancelTopics(OWNER, 7n)).toEqual(settlement.encodeFilterTopics("NonceCancelled", [OWNER, 7n]));
  });

  it("does not take an answer of no contract for an unused nonce", () => {
    expect(record.isUsed(`0x${"0".repeat(63)}1`)).toBe(true);
    expect(record.isUsed(`0x${"0".repeat(64)}`)).toBe(false);
    expect(() => record.isUsed("0x")).toThrow(/no boolean/);
    expect(() => record.isUsed(`0x${"0".repeat(63)}2`)).toThrow(/no boolean/);
  });
});

it("refuses a signature with the nonce 0, by which the contract's events name every self-executed swap", () => {
  const signed = { ...decodedSample(), sender: STRANGER };
  const withNonce = (nonce: bigint) =>
    swapdProfile.decodeTypedData(swapdProfile.typedData({ ...signed, nonce }, pinned), pinned).ok;
  expect([withNonce(0n), withNonce(1n)]).toEqual([false, true]);
});
