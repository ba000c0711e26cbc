import { describe, expect, test } from "vitest";
import { oneContract } from "../../../src/domain/guard/swap-contracts.ts";
import type { StandingAllowance } from "../../../src/domain/run/events.ts";
import type { Swap } from "../../../src/domain/run/run.ts";
import { step } from "../../../src/domain/run/step.ts";
import { evidenceSample, HUNDRED_USDC, ROUTER, runSample } from "../../support/builders.ts";
import { decodedFor, readingFor, signingSample, swapIn } from "../../support/reading-samples.ts";

const withoutNonce = { contracts: oneContract(ROUTER), signatureHasNonce: false };

/** What comes of a gasless swap that finds this allowance. */
function clearWith(allowance: bigint, swap: Swap, service: typeof withoutNonce, standing?: StandingAllowance) {
  const nonce = service.signatureHasNonce ? 7n : undefined;
  const material = signingSample(HUNDRED_USDC);
  const reading = readingFor(swap, {
    ...{ allowance, standing },
    decoding: { ok: true, swap: decodedFor(swap, { nonce }) },
    signing: allowance >= HUNDRED_USDC ? { ...material, permit: undefined } : material,
  });
  const event = { kind: "facts-read", swapId: swap.id, reading } as const;
  return step(runSample({ swaps: [swap] }), event, evidenceSample({ service }));
}

describe("a leftover allowance under a signature without a nonce", () => {
  const only = swapIn("quoted", { mode: "gasless", gasless: "only" });
  const preferred = swapIn("quoted", { mode: "gasless", gasless: "prefer" });

  test("signs nothing when the allowance would let the same signature sell twice", () => {
    const result = clearWith(2n * HUNDRED_USDC, only, withoutNonce);
    expect(result.run.swaps[0]).toMatchObject({ state: "denied", reason: "PERMIT_UNSUPPORTED" });
    expect(result.effects).toEqual([]);
  });

  test.each([
    { allowance: 0n, highest: HUNDRED_USDC, state: "quoted" },
    { allowance: HUNDRED_USDC, highest: 2n * HUNDRED_USDC, state: "quoted" },
    { allowance: 0n, highest: HUNDRED_USDC - 1n, state: "cleared" },
    { allowance: HUNDRED_USDC, highest: 2n * HUNDRED_USDC - 1n, state: "cleared" },
  ])(
    "waits while an endpoint or the final block shows an allowance for more executions than the newest answer",
    ({ allowance, highest, state }) => {
      const standing = { highest, finalized: { number: 96, timestamp: 1 } };
      const result = clearWith(allowance, only, withoutNonce, standing);
      expect(result.run.swaps[0]?.state).toBe(state);
      if (state === "quoted") expect(result.effects).toMatchObject([{ effect: { kind: "FetchQuote", gasless: true } }]);
    },
  );

  test("falls back to a transaction of our own where gasless is only preferred", () => {
    const result = clearWith(2n * HUNDRED_USDC, preferred, withoutNonce);
    expect(result.effects).toMatchObject([{ effect: { kind: "FetchQuote", gasless: false } }]);
  });

  test.each([
    { what: "no allowance and a permit", allowance: 0n },
    { what: "an allowance that lasts once", allowance: 2n * HUNDRED_USDC - 1n },
  ])("signs with $what", ({ allowance }) => {
    expect(clearWith(allowance, only, withoutNonce).run.swaps[0]?.state).toBe("cleared");
  });

  test("signs under any allowance where the signature works once by itself", () => {
    const withNonce = { contracts: oneContract(ROUTER), signatureHasNonce: true };
    expect(clearWith(5n * HUNDRED_USDC, only, withNonce).run.swaps[0]?.state).toBe("cleared");
  });
});
