import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bindSwap, type ExpectedSwap, envelopeChecks } from "../../../src/domain/guard/bind-swap.ts";
import { firstDenial } from "../../../src/domain/guard/check.ts";
import type { DecodedSwap, ProposedTransaction } from "../../../src/domain/guard/decoded-swap.ts";
import type { DenialCode } from "../../../src/domain/guard/denial.ts";
import { oneContract } from "../../../src/domain/guard/swap-contracts.ts";
import { NATIVE_TOKEN, toAddress } from "../../../src/domain/money/address.ts";
import { MAX_UINT256 } from "../../../src/domain/money/amount.ts";
import { toPpm } from "../../../src/domain/money/fraction.ts";
import {
  AFFILIATE,
  decodedSample,
  expectedSample,
  GROSS,
  MINIMUM,
  NOW,
  OWNER,
  ROUTER,
  STRANGER,
  USDC,
} from "./swap-samples.ts";

const affiliate = (fee: bigint) => ({ address: AFFILIATE, fee });

const mutations: readonly (readonly [string, Partial<DecodedSwap>, DenialCode])[] = [
  ["another contract", { contracts: oneContract(STRANGER) }, "TARGET_NOT_PINNED"],
  ["no caller", { sender: undefined }, "SENDER_MISMATCH"],
  ["any caller", { sender: NATIVE_TOKEN }, "SENDER_MISMATCH"],
  ["the owner as relayer", { sender: OWNER }, "SENDER_MISMATCH"],
  ["another recipient", { recipient: STRANGER }, "RECIPIENT_MISMATCH"],
  ["the contract as recipient", { recipient: ROUTER }, "RECIPIENT_MISMATCH"],
  ["another token sold", { fromAsset: STRANGER }, "TOKEN_MISMATCH"],
  ["the bought token sold", { fromAsset: decodedSample().toAsset }, "TOKEN_MISMATCH"],
  ["another token bought", { toAsset: STRANGER }, "TOKEN_MISMATCH"],
  ["the sold token bought", { toAsset: USDC }, "TOKEN_MISMATCH"],
  ["one unit more sold", { amountIn: decodedSample().amountIn + 1n }, "AMOUNT_MISMATCH"],
  ["one unit less sold", { amountIn: decodedSample().amountIn - 1n }, "AMOUNT_MISMATCH"],
  ["everything sold", { amountIn: MAX_UINT256 }, "AMOUNT_MISMATCH"],
  ["fees on top of the gross amount", { amountIn: GROSS }, "AMOUNT_MISMATCH"],
  ["an affiliate left out", { affiliate: undefined, amountIn: GROSS - 500_000n }, "AFFILIATE_MISMATCH"],
  ["another affiliate", { affiliate: { address: STRANGER, fee: 333_300n } }, "AFFILIATE_MISMATCH"],
  ["one unit more for the affiliate", { affiliate: affiliate(333_301n), amountIn: 99_166_699n }, "AFFILIATE_MISMATCH"],
  ["a fee above the share", { swapFee: 2_000_001n, amountIn: GROSS - 2_334_301n + 1_000n }, "SWAP_FEE_TOO_HIGH"],
  ["all of it as fee", { swapFee: GROSS - 333_301n, amountIn: 1n }, "SWAP_FEE_TOO_HIGH"],
  ["nothing sold but fees", { swapFee: GROSS - 333_300n, amountIn: 0n }, "AMOUNT_MISMATCH"],
  ["an output one unit below", { amountOutMin: MINIMUM - 1n }, "OUTPUT_BELOW_MINIMUM"],
  ["no minimum", { amountOutMin: 0n }, "OUTPUT_BELOW_MINIMUM"],
  ["a deadline that passed", { deadline: BigInt(NOW) }, "DEADLINE_OUT_OF_BOUNDS"],
  ["a deadline too far", { deadline: BigInt(NOW + 301) }, "DEADLINE_OUT_OF_BOUNDS"],
  ["a deadline in milliseconds", { deadline: BigInt(NOW) * 1000n }, "DEADLINE_OUT_OF_BOUNDS"],
  ["no deadline", { deadline: MAX_UINT256 }, "DEADLINE_OUT_OF_BOUNDS"],
  ["no nonce", { nonce: undefined }, "NONCE_MISSING"],
  ["a permit of its own", { permitValue: GROSS }, "PERMIT_UNEXPECTED"],
];

describe("binding a swap to what was asked for", () => {
  it("lets the swap that was asked for pass", () => {
    expect(bindSwap(decodedSample(), expectedSample())).toBeUndefined();
  });

  it.each(mutations)("denies %s", (_name, change, code) => {
    expect(bindSwap(decodedSample(change), expectedSample())?.code).toBe(code);
  });

  it("denies an order for nothing, also where the least that it must bring rounds to nothing", () => {
    const dust = expectedSample({ requiredMinimum: 0n });
    expect(bindSwap(decodedSample({ amountOutMin: 0n }), dust)?.code).toBe("OUTPUT_BELOW_MINIMUM");
    expect(bindSwap(decodedSample({ amountOutMin: 1n }), dust)).toBeUndefined();
  });

  it("denies any service fee on our own transaction", () => {
    const own: Partial<ExpectedSwap> = { mode: "self-executed", affiliate: undefined };
    const swap = decodedSample({ sender: undefined, affiliate: undefined, swapFee: 1n, amountIn: GROSS - 1n });
    expect(bindSwap(swap, expectedSample(own))?.code).toBe("SWAP_FEE_TOO_HIGH");
  });

  it("denies a self-executed swap that somebody else would send", () => {
    const swap = decodedSample({ affiliate: undefined, swapFee: 0n, amountIn: GROSS });
    const expected = expectedSample({ mode: "self-executed", affiliate: undefined });
    expect(bindSwap(swap, expected)?.code).toBe("SENDER_MISMATCH");
  });

  it("says in the denial what was seen and what was allowed", () => {
    const denial = bindSwap(decodedSample({ recipient: STRANGER }), expectedSample());
    expect(denial?.fields).toEqual({ subject: "recipient", value: STRANGER, limit: OWNER });
  });

  it("signs nothing by which more than the gross amount leaves or less than the minimum comes", () => {
    const uint = fc.oneof(fc.bigInt({ min: 0n, max: 2n * GROSS }), fc.bigInt({ min: 0n, max: MAX_UINT256 }));
    const property = fc.property(uint, uint, uint, uint, uint, (amountIn, swapFee, fee, amountOutMin, deadline) => {
      const swap = decodedSample({ amountIn, swapFee, affiliate: affiliate(fee), amountOutMin, deadline });
      if (bindSwap(swap, expectedSample()) !== undefined) return true;
      const gross = amountIn + swapFee + fee;
      return gross === GROSS && fee === 333_300n && swapFee * 50n <= GROSS && amountOutMin >= MINIMUM;
    });
    fc.assert(property, { numRuns: 2_000 });
  });

  it("accepts every split of the gross amount that keeps the fee below its share", () => {
    const property = fc.property(
      fc.bigInt({ min: 1_000n, max: 10n ** 30n }),
      fc.integer({ min: 0, max: 30_000 }),
      fc.integer({ min: 0, max: 100_000 }),
      (gross, affiliatePpm, feePpm) => {
        const fee = (gross * BigInt(affiliatePpm)) / 1_000_000n;
        const swapFee = (gross * BigInt(feePpm)) / 1_000_000n;
        const swap = decodedSample({ amountIn: gross - fee - swapFee, swapFee, affiliate: affiliate(fee) });
        const expected = expectedSample({
          gross,
          affiliate: { address: AFFILIATE, fee: toPpm(affiliatePpm) },
          maxSwapFee: toPpm(feePpm),
        });
        return bindSwap(swap, expected) === undefined;
      },
    );
    fc.assert(property);
  });
});

describe("binding the envelope of our own transaction", () => {
  const transaction: ProposedTransaction = {
    from: OWNER,
    to: ROUTER,
    data: "0x",
    value: 0n,
    chainId: 31337,
    gasLimit: 1n,
  };
  const denialOf = (change: Partial<ProposedTransaction>, expected: Partial<ExpectedSwap> = {}) =>
    firstDenial(envelopeChecks({ ...transaction, ...change }, expectedSample({ mode: "self-executed", ...expected })));

  it("lets the right envelope pass, with and without a stated sender", () => {
    expect(denialOf({})).toBeUndefined();
    expect(denialOf({ from: undefined })).toBeUndefined();
  });

  it.each<[string, Partial<ProposedTransaction>, DenialCode]>([
    ["another chain", { chainId: 1 }, "CHAIN_MISMATCH"],
    ["another target", { to: STRANGER }, "TARGET_NOT_PINNED"],
    ["the token as target", { to: USDC }, "TARGET_NOT_PINNED"],
    ["another sender", { from: STRANGER }, "SENDER_MISMATCH"],
    ["native token sent along", { value: 1n }, "VALUE_MISMATCH"],
  ])("denies %s", (_name, change, code) => {
    expect(denialOf(change)?.code).toBe(code);
  });

  it("demands exactly the gross amount as value when the native token is sold", () => {
    const native = { fromAsset: NATIVE_TOKEN };
    expect(denialOf({ value: GROSS }, native)).toBeUndefined();
    expect(denialOf({ value: GROSS + 1n }, native)?.code).toBe("VALUE_MISMATCH");
    expect(denialOf({ value: 0n }, native)?.code).toBe("VALUE_MISMATCH");
    expect(denialOf({ value: GROSS }, { fromAsset: toAddress(`0x${"99".repeat(20)}`) })?.code).toBe("VALUE_MISMATCH");
  });
});
