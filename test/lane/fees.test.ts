import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Fees, firstFees, raisedFees } from "../../src/lane/fees.ts";

const wei = fc.bigInt({ min: 0n, max: 10n ** 15n });
const market = fc.record({ baseFeePerGas: wei, priorityFee: wei });
const fees = fc
  .tuple(wei, wei)
  .map(
    ([a, b]): Fees =>
      a > b ? { maxFeePerGas: a, maxPriorityFeePerGas: b } : { maxFeePerGas: b, maxPriorityFeePerGas: a },
  );

describe("fees of a first attempt", () => {
  it("leave room for the base fee to double", () => {
    expect(firstFees({ baseFeePerGas: 10n, priorityFee: 3n }, 100n)).toEqual({
      maxFeePerGas: 23n,
      maxPriorityFeePerGas: 3n,
    });
  });

  it("are not offered at all while no block would take them", () => {
    expect(firstFees({ baseFeePerGas: 10n, priorityFee: 3n }, 9n)).toBeUndefined();
    expect(firstFees({ baseFeePerGas: 10n, priorityFee: 3n }, 10n)).toEqual({
      maxFeePerGas: 10n,
      maxPriorityFeePerGas: 3n,
    });
  });

  it("are never above the cap, whatever a node says of its market", () => {
    fc.assert(
      fc.property(market, wei, (asked, cap) => {
        const offered = firstFees(asked, cap);
        if (offered === undefined) return cap < asked.baseFeePerGas;
        const { maxFeePerGas, maxPriorityFeePerGas } = offered;
        return maxFeePerGas <= cap && maxFeePerGas >= asked.baseFeePerGas && maxPriorityFeePerGas <= maxFeePerGas;
      }),
    );
  });
});

describe("fees of a replacement", () => {
  it("are an eighth higher, rounded up, or what the market asks for if that is more", () => {
    const old = { maxFeePerGas: 1_000n, maxPriorityFeePerGas: 101n };
    expect(raisedFees(old, { baseFeePerGas: 1n, priorityFee: 1n }, 5_000n)).toEqual({
      maxFeePerGas: 1_125n,
      maxPriorityFeePerGas: 114n,
    });
    expect(raisedFees(old, { baseFeePerGas: 900n, priorityFee: 200n }, 5_000n)).toEqual({
      maxFeePerGas: 2_000n,
      maxPriorityFeePerGas: 200n,
    });
  });

  it("have a tip also where none was offered, and none is asked for: a node takes no replacement without more of both", () => {
    const old = { maxFeePerGas: 10n, maxPriorityFeePerGas: 0n };
    expect(raisedFees(old, { baseFeePerGas: 1n, priorityFee: 0n }, 100n)).toEqual({
      maxFeePerGas: 12n,
      maxPriorityFeePerGas: 1n,
    });
  });

  it("take the market's price only up to the cap", () => {
    const old = { maxFeePerGas: 1_000n, maxPriorityFeePerGas: 100n };
    expect(raisedFees(old, { baseFeePerGas: 900n, priorityFee: 1n }, 1_200n)?.maxFeePerGas).toBe(1_200n);
    expect(raisedFees(old, { baseFeePerGas: 1n, priorityFee: 1n }, 1_124n)).toBeUndefined();
  });

  it("are taken by every node that asks for an eighth on both fields, and are never above the cap", () => {
    fc.assert(
      fc.property(fees, market, wei, (old, asked, cap) => {
        const next = raisedFees(old, asked, cap);
        if (next === undefined) return true;
        const isRaised = (before: bigint, after: bigint): boolean => after > before && after * 8n >= before * 9n;
        return (
          isRaised(old.maxFeePerGas, next.maxFeePerGas) &&
          isRaised(old.maxPriorityFeePerGas, next.maxPriorityFeePerGas) &&
          next.maxFeePerGas <= cap &&
          next.maxPriorityFeePerGas <= next.maxFeePerGas
        );
      }),
    );
  });

  it("are offered whenever an eighth more fits under the cap", () => {
    fc.assert(
      fc.property(fees, market, (old, asked) => {
        const cap = (old.maxFeePerGas * 9n + 7n) / 8n + 1n;
        return raisedFees(old, asked, cap) !== undefined;
      }),
    );
  });

  it("end after few steps, because the cap bounds them", () => {
    fc.assert(
      fc.property(fees, market, (first, asked) => {
        const cap = first.maxFeePerGas * 2n + 8n;
        let steps = 0;
        let current: Fees | undefined = first;
        while (current !== undefined && steps <= 100) {
          current = raisedFees(current, asked, cap);
          steps++;
        }
        return steps <= 20;
      }),
    );
  });
});
