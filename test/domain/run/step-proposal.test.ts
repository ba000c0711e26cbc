import { describe, expect, test } from "vitest";
import { oneContract } from "../../../src/domain/guard/swap-contracts.ts";
import { alertChanges } from "../../../src/domain/run/alert-changes.ts";
import type { GaslessObservation, RunEvent } from "../../../src/domain/run/events.ts";
import type { Swap } from "../../../src/domain/run/run.ts";
import { InvalidTransition } from "../../../src/domain/run/states.ts";
import { step } from "../../../src/domain/run/step.ts";
import { evidenceSample, HUNDRED_USDC, NOW_MS, ROUTER, runSample, swapSample } from "../../support/builders.ts";

const DIGEST = `0x${"77".repeat(32)}` as const;
const SECONDS = Math.floor(NOW_MS / 1_000);
const DEADLINE = SECONDS + 30;

/** A swap of a Safe that was proposed, as its owners see it. */
function proposed(change: Partial<Swap> = {}, isBoundToNonce = true): Swap {
  return swapSample({
    ...{ state: "submitted", mode: "self-executed" },
    terms: {
      ...{ contracts: oneContract(ROUTER), amountOutMin: 10n ** 16n, swapFee: 0n, affiliateFee: 0n },
      ...{ deadlineSeconds: DEADLINE, nonce: undefined, fromBlock: 11 },
    },
    signatures: {
      ...{ swapDigest: DIGEST, swapSignature: undefined, permitDigest: undefined },
      ...{ permitSignature: undefined, permitDeadlineSeconds: undefined },
    },
    proposal: { version: "1.4.1", nonce: 3n, isBoundToNonce, since: { block: 10, nonce: 3n } },
    ...change,
  });
}

const seen = (change: Partial<GaslessObservation>): RunEvent => ({
  kind: "observed",
  swapId: "run_1.0.1",
  observation: {
    latest: { number: 50, timestampSeconds: SECONDS },
    finalized: { number: 45, timestampSeconds: SECONDS - 5 },
    ...{ fill: undefined, nonceUsed: false, allowance: 0n, serviceStatus: undefined },
    ...change,
  },
});
const past = { finalized: { number: 45, timestampSeconds: DEADLINE + 1 } };
const late = evidenceSample({ nowMs: (DEADLINE + 5) * 1_000 });

function stepped(swap: Swap, event: RunEvent, evidence = evidenceSample()) {
  const result = step(runSample({ swaps: [swap] }), event, evidence);
  return { ...result, swaps: result.run.swaps.map(({ id, state, reason }) => ({ id, state, reason })) };
}

describe("a proposal to a Safe", () => {
  test("is reported to people once it may be executed, and until it was or cannot be", () => {
    const accepted = { kind: "submission-accepted", swapId: "run_1.0.1", serviceSwapId: undefined } as const;
    const { records, effects } = stepped(proposed({ state: "signed" }), accepted);
    const text = expect.stringMatching(/swap 100 USDC for at least .* with the nonce 3, hash 0x77/);
    expect(records).toContainEqual(expect.objectContaining({ kind: "alert", code: "PROPOSAL_WAITING", text }));
    expect(effects.map(({ effect }) => effect.kind)).toEqual(["ReadChain"]);
  });

  describe("that could not be delivered", () => {
    const undelivered = {
      kind: "proposal-undelivered",
      swapId: "run_1.0.1",
      detail: "safe.example answered 503",
    } as const;

    test("is handed over again, later each time, and people hear of it with the reason", () => {
      const { swaps, records, effects, run } = stepped(proposed({ state: "signed" }), undelivered);
      expect(swaps).toMatchObject([{ state: "signed" }]);
      const text = expect.stringContaining("are not asked yet for run_1.0.1: safe.example answered 503");
      expect(records).toContainEqual(expect.objectContaining({ kind: "alert", code: "PROPOSAL_UNDELIVERED", text }));
      expect(effects).toMatchObject([{ effect: { kind: "SubmitGasless", swapId: "run_1.0.1" } }]);
      expect(effects[0]?.notBeforeMs).toBeGreaterThan(NOW_MS);
      const again = step(run, undelivered, evidenceSample());
      expect(again.run.retries).toBe(2);
    });

    test("is no more to be said of once the owners can see it, nor once the chain is asked instead", () => {
      const accepted = { kind: "submission-accepted", swapId: "run_1.0.1", serviceSwapId: undefined } as const;
      const late = { kind: "submission-unknown", swapId: "run_1.0.1", detail: "too late" } as const;
      for (const event of [accepted, late]) {
        const run = runSample({ swaps: [proposed({ state: "signed" })], retries: 3 });
        const result = step(run, event, evidenceSample());
        expect(alertChanges(result).over).toContain("delivery of run_1.0.1");
        expect(result.run.retries).toBe(event.kind === "submission-accepted" ? 0 : 3);
      }
    });

    test.each(["cleared", "submitted", "final"] as const)("cannot be one that is %s", (state) => {
      expect(() => stepped(proposed({ state }), undelivered)).toThrow(InvalidTransition);
    });
  });

  test("stays open while nothing is proved, and is never called unknown for being late", () => {
    const { swaps, records } = stepped(proposed(), seen({ nonceUsed: undefined }), late);
    expect(swaps).toMatchObject([{ state: "submitted" }]);
    expect(records.filter(({ kind }) => kind === "release")).toEqual([]);
  });

  test("whose nonce something else used in a final block is cancelled, and not proposed again", () => {
    const { swaps, records, run } = stepped(proposed(), seen({ nonceUsed: true }));
    expect(swaps).toMatchObject([{ state: "cancelled", reason: "cancelled" }]);
    expect(records.map(({ kind }) => kind)).toEqual(expect.arrayContaining(["release", "close-capability"]));
    expect(run.state).toBe("failed");
  });

  test("that nobody executed is tried again in its window, once its deadline is past in a final block", () => {
    const { swaps, records, effects } = stepped(proposed(), seen(past), late);
    expect(swaps).toMatchObject([
      { id: "run_1.0.1", state: "expired" },
      { id: "run_1.0.2", state: "planned" },
    ]);
    expect(effects.map(({ effect }) => effect)).toMatchObject([{ kind: "FetchQuote", swapId: "run_1.0.2" }]);
    const money = records.flatMap((record) => (record.kind === "release" || record.kind === "reserve" ? [record] : []));
    expect(money).toMatchObject([
      { kind: "release", swapId: "run_1.0.1" },
      { kind: "reserve", swapId: "run_1.0.2", amount: HUNDRED_USDC },
    ]);
  });

  test("that nobody executed in its slot's window ends the slot", () => {
    const { swaps, run } = stepped(proposed(), seen(past), evidenceSample({ nowMs: NOW_MS + 3_600_000 }));
    expect([swaps.map(({ state }) => state), run.state]).toEqual([["expired"], "failed"]);
  });

  test("of a file ends its rights with its fill: its place is marked then, and nothing of it can be executed any more", () => {
    const final = proposed({ state: "final" }, false);
    const { records, effects } = stepped(final, seen({ nonceUsed: undefined }));
    expect(records.map(({ kind }) => kind)).toContain("close-capability");
    expect(effects).toEqual([]);
  });

  test("of a file that its owners rejected stays open until its deadline: another nonce executes it still", () => {
    const { swaps, records } = stepped(proposed({}, false), seen({ nonceUsed: undefined }));
    expect([swaps.map(({ state }) => state), records.filter(({ kind }) => kind === "release")]).toEqual([
      ["submitted"],
      [],
    ]);
  });
});
