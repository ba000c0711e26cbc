import { Interface, solidityPacked, TypedDataEncoder } from "ethers";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { approval } from "../../../src/domain/guard/approval.ts";
import { decodeMultiSend, encodeMultiSend, type SafeCall } from "../../../src/domain/guard/multi-send.ts";
import { markCall, placeOf } from "../../../src/domain/guard/once-mark.ts";
import { SAFE_CONTRACTS, safeVersionOf } from "../../../src/domain/guard/safe-contracts.ts";
import { proposedCalls, safeTypedData } from "../../../src/domain/guard/safe-transaction.ts";
import type { Hex } from "../../../src/domain/money/address.ts";
import { toAddress } from "../../../src/domain/money/address.ts";
import { HUNDRED_USDC, ROUTER, USDC, WALLET } from "../../support/builders.ts";

const MULTI_SEND = new Interface(["function multiSend(bytes transactions)"]);
const ERC20 = new Interface(["function approve(address,uint256)"]);

const call = fc.record({
  to: fc
    .uint8Array({ minLength: 20, maxLength: 20 })
    .map((bytes) => toAddress(`0x${Buffer.from(bytes).toString("hex")}`)),
  value: fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
  data: fc.uint8Array({ maxLength: 100 }).map((bytes): Hex => `0x${Buffer.from(bytes).toString("hex")}`),
});

describe("the calls of a Safe", () => {
  test("are encoded as the ABI says, and read back as they were", () => {
    fc.assert(
      fc.property(fc.array(call, { maxLength: 5 }), (calls) => {
        const packed = calls.map(({ to, value, data }) =>
          solidityPacked(
            ["uint8", "address", "uint256", "uint256", "bytes"],
            [0, to, value, (data.length - 2) / 2, data],
          ),
        );
        const bytes = `0x${packed.map((one) => one.slice(2)).join("")}`;
        expect(encodeMultiSend(calls)).toBe(MULTI_SEND.encodeFunctionData("multiSend", [bytes]));
        expect(decodeMultiSend(encodeMultiSend(calls))).toEqual(calls);
      }),
    );
  });

  const one: SafeCall = { to: USDC.address, value: 0n, data: approval(ROUTER, 1n) };
  const whole = encodeMultiSend([one]);
  test.each<[string, string]>([
    ["another function", whole.replace("8d80ff0a", "8d80ff0b")],

    ["bytes behind its end", `${whole}00`],
    ["an end that is missing", whole.slice(0, -64)],
    ["a length beyond its end", whole.replace(`${"0".repeat(62)}44`, `${"0".repeat(62)}ff`)],
    ["a length without bounds", whole.replace(`${"0".repeat(62)}44`, "f".repeat(64))],
  ])("are not read out of %s", (_what, data) => {
    expect(decodeMultiSend(data as Hex)).toHaveProperty("problem");
  });

  test("are not read where one would run code with the Safe's own rights", () => {
    const at = whole.indexOf(USDC.address.slice(2)) - 2;
    const data = `${whole.slice(0, at)}01${whole.slice(at + 2)}` as Hex;
    expect(decodeMultiSend(data)).toEqual({ problem: "a call of it has the operation 01" });
  });

  test("allow exactly what is sold, and nothing afterwards", () => {
    const swap: SafeCall = { to: ROUTER, value: 0n, data: "0x12" };
    const of = { safe: WALLET, place: "run_1.0", token: USDC.address, spender: ROUTER, gross: HUNDRED_USDC, swap };
    const approve = (amount: bigint) => ({
      ...{ to: USDC.address, value: 0n, data: ERC20.encodeFunctionData("approve", [ROUTER, amount]) },
    });
    const mark = markCall(WALLET, "run_1.0");
    expect(proposedCalls({ ...of, isAllowed: false })).toEqual([mark, approve(HUNDRED_USDC), swap, approve(0n)]);
    expect(proposedCalls({ ...of, isAllowed: true })[1]).toEqual(approve(0n));
  });

  test("mark their place first: the same one for all attempts at it, and another one for everything else", () => {
    const places = [
      ...["run_1.0.1", "run_1.0.2", "run_1.1.1", "run_2.0.1", "run_01K9ZZZZZZZZZZZZZZZZZZZZZZ.10.1"],
      "run_01K9ZZZZZZZZZZZZZZZZZZZZZZ.11.1",
    ];
    const marks = places.map((id) => markCall(WALLET, placeOf({ id })));
    expect(marks[0]).toEqual(marks[1]);
    expect(new Set([...marks, markCall(ROUTER, "run_1.0")].map(({ data }) => data)).size).toBe(6);
    expect(marks.map(({ data }) => data.length)).toEqual(places.map(() => 2 + 2 * 54));
  });
});

describe("what owners sign", () => {
  const built = { chainId: 1, safe: WALLET, version: "1.4.1", nonce: 7n, calls: [] } as const;

  test("is the type that all versions hash", () => {
    const { types } = safeTypedData(built);
    const fields = Object.fromEntries(
      Object.entries(types).map(([name, list]) => [name, list.map((one) => ({ ...one }))]),
    );
    const { encoded } = { encoded: TypedDataEncoder.from(fields).encodeType("SafeTx") };
    expect(encoded).toBe(
      "SafeTx(address to,uint256 value,bytes data,uint8 operation,uint256 safeTxGas,uint256 baseGas,uint256 gasPrice,address gasToken,address refundReceiver,uint256 nonce)",
    );
  });

  test("runs the MultiSendCallOnly of the Safe's own version, and refunds nobody", () => {
    expect(safeTypedData(built)).toMatchObject({
      domain: { chainId: "1", verifyingContract: WALLET },
      message: {
        ...{ to: SAFE_CONTRACTS["1.4.1"].multiSendCallOnly, operation: "1", nonce: "7", value: "0" },
        ...{ safeTxGas: "0", baseGas: "0", gasPrice: "0" },
      },
    });
  });
});

describe("a version", () => {
  const [singleton = WALLET] = SAFE_CONTRACTS["1.3.0"].singletons;

  test("is known by the code that runs and by its own word together", () => {
    expect(safeVersionOf({ singleton, version: "1.3.0" })).toBe("1.3.0");
    expect(safeVersionOf({ singleton, version: "1.4.1" })).toBeUndefined();
    expect(safeVersionOf({ singleton: WALLET, version: "1.3.0" })).toBeUndefined();
  });
});
