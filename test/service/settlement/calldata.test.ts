import { Interface } from "ethers";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import executor from "../../../contracts/artifacts/SwapdExecutor.json" with { type: "json" };
import artifact from "../../../contracts/artifacts/SwapdSettlement.json" with { type: "json" };
import { type Address, type Hex, toAddress } from "../../../src/domain/money/address.ts";
import type { Pool } from "../../../src/service/pools/pool.ts";
import type { Hop } from "../../../src/service/routing/plan.ts";
import {
  describeRevert,
  encodeSwap,
  encodeSwapWithSignature,
  SETTLEMENT_INTERFACE,
  type SignedPermit,
} from "../../../src/service/settlement/calldata.ts";
import type { SwapOrder } from "../../../src/service/settlement/order.ts";

/** The contract's own interface, as the compiler wrote it, encodes by a library that knows nothing of our layout. */
const compiled = new Interface(artifact.abi);

const address = fc.uint8Array({ minLength: 20, maxLength: 20 }).map((bytes) => toAddress(hexOf(bytes)));
const word = fc.bigInt({ min: 0n, max: (1n << 256n) - 1n });
const bytes32 = fc.uint8Array({ minLength: 32, maxLength: 32 }).map(hexOf);

function hexOf(bytes: Uint8Array): Hex {
  return `0x${Buffer.from(bytes).toString("hex")}`;
}

const order: fc.Arbitrary<SwapOrder> = fc.record({
  recipient: address,
  fromAsset: address,
  toAsset: address,
  deadline: word,
  amountOutMin: word,
  swapFee: word,
  amountIn: word,
  nonce: word,
  affiliate: address,
  affiliateFee: word,
});

const leg: fc.Arbitrary<Hop> = fc
  .record({
    protocol: fc.integer({ min: 0, max: 255 }),
    pool: address,
    tokenIn: address,
    tokenOut: address,
    feePips: fc.integer({ min: 0, max: 999_999 }),
    portion: fc.bigInt({ min: 0n, max: 10n ** 18n }),
  })
  .map(({ protocol, pool, tokenIn, tokenOut, feePips, portion }) => ({
    pool: poolAt(pool, { protocol, feePips }),
    tokenIn,
    tokenOut,
    portion,
    amountIn: 0n,
    amountOut: 0n,
  }));

function poolAt(pool: Address, { protocol, feePips }: { protocol: number; feePips: number }): Pool {
  return { kind: 2, protocol, address: pool, token0: pool, token1: pool, feePips, tickSpacing: 60 };
}

const legs = fc.array(leg, { maxLength: 32 });

const permit: fc.Arbitrary<SignedPermit | undefined> = fc.option(
  fc.record({ value: word, deadline: word, v: fc.integer({ min: 0, max: 255 }), r: bytes32, s: bytes32 }),
  { nil: undefined },
);

function legValues(route: readonly Hop[]) {
  return route.map(({ pool, tokenIn, tokenOut, portion }) => {
    return [pool.protocol, pool.address, tokenIn, tokenOut, pool.feePips, portion];
  });
}

describe("calldata of the settlement", () => {
  it("of an owner's own swap is what the compiler's interface makes of it", () => {
    fc.assert(
      fc.property(order, legs, (order, route) => {
        expect(encodeSwap(order, route)).toBe(compiled.encodeFunctionData("swap", [order, legValues(route)]));
      }),
    );
  });

  it("of a signed swap is what the compiler's interface makes of it, with signatures of any length", () => {
    const signature = fc.uint8Array({ maxLength: 200 }).map(hexOf);
    const none = { value: 0n, deadline: 0n, v: 0, r: `0x${"0".repeat(64)}`, s: `0x${"0".repeat(64)}` };
    fc.assert(
      fc.property(address, order, legs, signature, permit, (owner, order, route, signature, permit) => {
        const values = [owner, order, legValues(route), signature, permit ?? none];
        const expected = compiled.encodeFunctionData("swapWithSignature", values);
        expect(encodeSwapWithSignature({ owner, order, signature, permit }, route)).toBe(expected);
      }),
    );
  });

  it("refuses what no word of the contract can hold", () => {
    const [valid] = fc.sample(order, 1) as [SwapOrder];
    expect(() => encodeSwap({ ...valid, amountIn: -1n }, [])).toThrow("-1 is no uint256");
    expect(() => encodeSwap({ ...valid, nonce: 1n << 256n }, [])).toThrow("is no uint256");
  });

  it("calls the functions that the service reads answers with", () => {
    for (const name of ["swap", "swapWithSignature", "isNonceUsed"]) {
      expect(SETTLEMENT_INTERFACE.getFunction(name)?.selector).toBe(compiled.getFunction(name)?.selector);
    }
  });
});

describe("revert data that any contract may have written", () => {
  const word = (value: number) => value.toString(16).padStart(64, "0");

  it("is reported by name and values where it is known", () => {
    const data = SETTLEMENT_INTERFACE.encodeErrorResult("OutputBelowMinimum", [5n, 6n]);
    expect(describeRevert(data)).toBe("OutputBelowMinimum(amountOut 5, amountOutMin 6)");
    expect(describeRevert(SETTLEMENT_INTERFACE.encodeErrorResult("Error", ["paused"]))).toBe("Error(paused)");
  });

  it("is reported by name where tokens or recipients make our contracts write it", () => {
    const errors = new Interface([...artifact.abi, ...executor.abi].filter(({ type }) => type === "error"));
    const met = ["NativeTransferFailed", "NotFunded", "LegWithoutInput", "CallbackOverdrawn", "OutputBelowMinimum"];
    for (const name of met) {
      const inputs = errors.getError(name)?.inputs ?? [];
      const values = inputs.map(({ type }) => (type === "address" ? `0x${"11".repeat(20)}` : 7n));
      const data = errors.encodeErrorResult(name, values);
      const named = inputs.map((input, index) => `${input.name} ${values[index]}`);
      expect(describeRevert(data)).toBe(`${name}(${named.join(", ")})`);
    }
  });

  it("is reported by its first bytes where it only says that it is a known one", () => {
    expect(describeRevert("0x08c379a0")).toBe("with 0x08c379a0");
    expect(describeRevert(`0x08c379a0${"f".repeat(64)}`)).toBe("with 0x08c379a0");
    expect(describeRevert(`0x08c379a0${word(32)}${word(1_000_000)}41`)).toBe("with 0x08c379a0");
    expect(describeRevert("0x4e487b71")).toBe("with 0x4e487b71");
    expect(describeRevert("0x12")).toBe("with 0x12");
    expect(describeRevert("0x123")).toBe("without a reason");
  });

  it("is cut, and without characters that cannot be shown", () => {
    const long = SETTLEMENT_INTERFACE.encodeErrorResult("Error", ["a".repeat(5_000)]);
    expect(describeRevert(long)).toBe(`Error(${"a".repeat(294)}...`);
    const book = SETTLEMENT_INTERFACE.encodeErrorResult("Error", ["a".repeat(20_000)]);
    expect(describeRevert(book)).toBe("with 0x08c379a0");
    const odd = SETTLEMENT_INTERFACE.encodeErrorResult("Error", ["a\u0000\u202eb\u2028"]);
    expect(describeRevert(odd)).toBe("Error(a??b?)");
  });

  it("never throws", () => {
    const selectors = [
      "08c379a0",
      "4e487b71",
      "bb8bf5ad",
      SETTLEMENT_INTERFACE.getError("UnknownPool")?.selector.slice(2),
    ];
    const data = fc.tuple(fc.constantFrom(...selectors), fc.uint8Array({ maxLength: 200 }));
    fc.assert(
      fc.property(data, ([selector, rest]) => {
        expect(describeRevert(`0x${selector}${Buffer.from(rest).toString("hex")}`).length).toBeLessThan(310);
      }),
    );
  });
});
