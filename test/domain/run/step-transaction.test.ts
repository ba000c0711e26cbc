import { describe, expect, test } from "vitest";
import type { StepResult } from "../../../src/domain/run/draft.ts";
import type { TransactionChange } from "../../../src/domain/run/events.ts";
import type { Evidence } from "../../../src/domain/run/evidence.ts";
import type { Swap } from "../../../src/domain/run/run.ts";
import { step } from "../../../src/domain/run/step.ts";
import { evidenceSample, firstRetryMs, HUNDRED_USDC, NOW_MS, runSample } from "../../support/builders.ts";
import { hash, quoteSample, receiptFor, swapIn } from "../../support/reading-samples.ts";

function report(
  swap: Swap,
  change: TransactionChange,
  options: { intentId?: string; facts?: Partial<Evidence>; state?: "executing" | "filled" } = {},
): StepResult {
  const intentId = options.intentId ?? swap.intentId ?? `${swap.id}.swap`;
  const run = runSample({ state: options.state ?? "executing", swaps: [swap] });
  return step(run, { kind: "transaction", swapId: swap.id, intentId, change }, evidenceSample(options.facts));
}

const mined = (swap: Swap, change = {}): TransactionChange => ({
  kind: "mined",
  receipt: receiptFor(swap, change),
  value: 0n,
});
const stateOf = (result: StepResult) => result.run.swaps[0]?.state;
const lateMs = runSample().windowEndsMs - 5_000;

describe("the swap's own transaction", () => {
  test("follows its lane: signed, submitted, mined, confirmed, final", () => {
    let run = runSample({ swaps: [swapIn("cleared")] });
    const seen: (string | undefined)[] = [];
    const changes: TransactionChange[] = [
      { kind: "signed", hash: hash("ee") },
      { kind: "broadcast", hash: hash("ee") },
      mined(swapIn("submitted")),
      { kind: "confirmed", succeeded: true },
      { kind: "final", outcome: "succeeded" },
    ];
    for (const change of changes) {
      const event = { kind: "transaction", swapId: "run_1.0.1", intentId: "run_1.0.1.swap", change } as const;
      run = step(run, event, evidenceSample()).run;
      seen.push(run.swaps[0]?.state);
    }
    expect(seen).toEqual(["signed", "submitted", "mined", "confirmed", "final"]);
    expect(run.state).toBe("filled");
  });

  test("has its route asked for when it is signed: services forget it soon", () => {
    const result = report(swapIn("cleared"), { kind: "signed", hash: hash("ee") });
    const effect = { kind: "FetchRoute", swapId: "run_1.0.1", what: "route" };
    expect(result.effects).toEqual([{ effect, notBeforeMs: NOW_MS }]);
  });

  test("is mined before its broadcast was noted: the chain is ahead of us after a kill", () => {
    const signed = swapIn("signed");
    expect(stateOf(report(signed, mined(signed)))).toBe("mined");
  });

  test("broadcast again after a reorganisation moves nothing", () => {
    const result = report(swapIn("submitted"), { kind: "broadcast", hash: hash("ee") });
    expect(result.transitions).toEqual([]);
  });

  test("counts as spent at confirmed, with the measured amount, and frees wallet and token", () => {
    const fill = { ...swapIn("mined").fill, sold: HUNDRED_USDC - 3n } as NonNullable<Swap["fill"]>;
    const result = report(swapIn("mined", { fill }), { kind: "confirmed", succeeded: true });
    expect(result.records).toContainEqual({ kind: "spend", swapId: "run_1.0.1", amount: HUNDRED_USDC - 3n });
    expect(result.records).toContainEqual({ kind: "close-capability", swapId: "run_1.0.1" });
    expect(result.run.state).toBe("filled");
  });

  test("is counted once, however often it is confirmed", () => {
    const result = report(swapIn("confirmed"), { kind: "confirmed", succeeded: true }, { state: "filled" });
    expect([result.transitions, result.records, result.effects]).toEqual([[], [], []]);
  });

  test("that reverted in a block is no fill and no end before that block is final", () => {
    const submitted = swapIn("submitted");
    const seen = report(submitted, mined(submitted, { succeeded: false, logs: [] }));
    const [swap] = seen.run.swaps;
    expect(swap).toMatchObject({ state: "mined", reason: "reverted", fill: undefined });
    expect(seen.records).toEqual([]);
    const confirmed = report(swap!, { kind: "confirmed", succeeded: true });
    expect(stateOf(confirmed)).toBe("mined");
    expect(confirmed.records).toEqual([]);
    const ended = report(swap!, { kind: "final", outcome: "reverted" });
    expect(ended.run).toMatchObject({ state: "failed", reason: "reverted" });
    expect(ended.records.slice(0, 2)).toEqual([
      { kind: "release", swapId: "run_1.0.1" },
      { kind: "close-capability", swapId: "run_1.0.1" },
    ]);
  });

  test("is seen in another block: the newer receipt counts", () => {
    const swap = swapIn("mined");
    const moved = report(swap, mined(swap, { blockNumber: 102, blockHash: hash("b2") }));
    expect(moved.run.swaps[0]).toMatchObject({ state: "mined", fill: { blockNumber: 102, blockHash: hash("b2") } });
    expect(moved.transitions).toEqual([]);
  });

  test("whose nonce a cancel took is cancelled, its money freed, its run failed", () => {
    for (const state of ["submitted", "mined", "confirmed"] as const) {
      const result = report(swapIn(state), { kind: "final", outcome: "cancelled" });
      expect(result.run).toMatchObject({ state: "failed", reason: "cancelled" });
      expect(result.run.swaps[0]?.fill).toBeUndefined();
      expect(result.records).toContainEqual({ kind: "release", swapId: "run_1.0.1" });
    }
  });

  test("final from mined counts the fill too: no money is left reserved for ever", () => {
    const result = report(swapIn("mined"), { kind: "final", outcome: "succeeded" });
    expect(result.transitions.map(({ to }) => to)).toEqual(["confirmed", "final", "filled"]);
    expect(result.records).toContainEqual({ kind: "spend", swapId: "run_1.0.1", amount: HUNDRED_USDC });
  });
});

describe("a receipt that lacks logs", () => {
  const submitted = swapIn("submitted");
  const bare = receiptFor(submitted, { logs: [] });
  const whole = receiptFor(submitted);
  const spent = (result: StepResult) => result.records.filter(({ kind }) => kind === "spend" || kind === "unspend");
  const seen = () => report(submitted, mined(submitted, { logs: [] })).run.swaps[0] as Swap;

  test("counts nothing when it is confirmed: the money stays reserved, as the worst that was signed", () => {
    const confirmed = report(seen(), { kind: "confirmed", succeeded: true, receipt: bare, value: 0n });
    expect(confirmed.run.swaps[0]).toMatchObject({ state: "mined", fill: { assumed: true, sold: HUNDRED_USDC } });
    expect([confirmed.records, confirmed.run.state]).toEqual([[], "executing"]);
  });

  test("counts as soon as its logs are there", () => {
    const confirmed = report(seen(), { kind: "confirmed", succeeded: true, receipt: whole, value: 0n });
    expect(confirmed.run).toMatchObject({ state: "filled", swaps: [{ state: "confirmed" }] });
    expect(confirmed.run.swaps[0]?.fill).not.toHaveProperty("assumed");
  });

  test("counts as the worst that was signed in its final block, and a person is notified", () => {
    for (const again of [{ receipt: bare, value: 0n }, {}]) {
      const ended = report(seen(), { kind: "final", outcome: "succeeded", ...again });
      expect(ended.run).toMatchObject({ state: "filled", swaps: [{ state: "final" }] });
      expect(spent(ended)).toEqual([{ kind: "spend", swapId: "run_1.0.1", amount: HUNDRED_USDC }]);
      const reported = { kind: "alert", code: "FILL_UNMEASURED", severity: "warning", subject: "fill of run_1.0.1" };
      expect(ended.records).toContainEqual(expect.objectContaining(reported));
    }
  });

  test("never takes the place of one that showed them", () => {
    for (const state of ["mined", "confirmed"] as const) {
      const { fill } = swapIn(state);
      const sold = { ...fill, hash: bare.hash, blockHash: bare.blockHash, sold: 99n } as NonNullable<Swap["fill"]>;
      const ended = report(swapIn(state, { fill: sold }), { kind: "final", outcome: "succeeded", receipt: bare });
      expect(ended.run.swaps[0]).toMatchObject({ state: "final", fill: sold });
      expect(ended.records.filter(({ kind }) => kind === "alert")).toEqual([]);
    }
  });

  test("that was counted in part is corrected with the move to final", () => {
    const fill = { ...swapIn("confirmed").fill, sold: 99n, bought: 7n } as NonNullable<Swap["fill"]>;
    const change = { kind: "final", outcome: "succeeded", receipt: whole, value: 0n } as const;
    const ended = report(swapIn("confirmed", { fill }), change, { state: "filled" });
    const money = { swapId: "run_1.0.1", amount: HUNDRED_USDC };
    expect(spent(ended)).toEqual([
      { kind: "unspend", ...money },
      { kind: "spend", ...money },
    ]);
    expect(ended.run.swaps[0]).toMatchObject({ state: "final", fill: { sold: HUNDRED_USDC } });
    expect(ended.transitions).toMatchObject([
      { to: "final", detail: expect.stringContaining("sold 100 USDC instead of 0.000099 USDC") },
    ]);
    const same = report(swapIn("confirmed"), change, { state: "filled" });
    expect([spent(same), same.transitions[0]?.detail]).toEqual([[], undefined]);
  });
});

describe("a reorganisation", () => {
  test("takes a mined swap back to submitted, and its fill with it", () => {
    const result = report(swapIn("mined"), { kind: "reorged" });
    expect(result.run.swaps[0]).toMatchObject({ state: "submitted", fill: undefined, reason: "reorganised" });
    expect(result.records).toEqual([]);
  });

  test("takes a confirmed swap back, reserves its gross amount again, and reopens the run", () => {
    const result = report(swapIn("confirmed"), { kind: "reorged" }, { state: "filled" });
    expect(result.records).toEqual([{ kind: "unspend", swapId: "run_1.0.1", amount: HUNDRED_USDC }]);
    expect(result.run).toMatchObject({ state: "executing", reason: "reorganised" });
    expect(stateOf(result)).toBe("submitted");
  });

  test("of a block before anything of ours was in it changes nothing", () => {
    const result = report(swapIn("submitted"), { kind: "reorged" });
    expect(result.transitions).toEqual([]);
  });
});

describe("a transaction that was never signed", () => {
  const dropped: TransactionChange = { kind: "dropped", reason: "the base fee stayed above the cap" };

  test("frees its money and capability, and a fresh attempt follows inside the window", () => {
    const result = report(swapIn("cleared", { approvals: 1 }), dropped);
    const [first, second] = result.run.swaps;
    expect(first).toMatchObject({ state: "skipped", reason: "not_signed_in_time" });
    expect(second).toMatchObject({
      ...{ id: "run_1.0.2", attempt: 2, state: "planned", begun: true, gross: HUNDRED_USDC },
      ...{ quote: undefined, terms: undefined, intentId: undefined, signatures: undefined, tightened: false },
      // What an earlier attempt was allowed is no more its own than another's.
      approvals: 0,
    });
    expect(result.records.map((record) => record.kind)).toEqual(["close-capability", "release", "retry", "reserve"]);
    expect(result.effects).toMatchObject([
      { effect: { kind: "FetchQuote", swapId: "run_1.0.2" }, notBeforeMs: firstRetryMs(NOW_MS) },
    ]);
    expect(result.run.state).toBe("executing");
  });

  test("ends the run once the window is over", () => {
    const result = report(swapIn("cleared"), dropped, { facts: { nowMs: lateMs } });
    expect(result.run).toMatchObject({ state: "skipped", reason: "not_signed_in_time" });
    expect(result.run.swaps).toHaveLength(1);
    expect(result.effects).toEqual([]);
  });

  test("because a person cancelled it is not tried again, however much time is left", () => {
    for (const state of ["cleared", "approving"] as const) {
      const result = report(swapIn(state), { ...dropped, byPerson: true });
      expect(result.run).toMatchObject({ state: "skipped", reason: "cancelled_by_operator" });
      expect(result.run.swaps).toHaveLength(1);
      expect(result.records).toContainEqual({ kind: "release", swapId: "run_1.0.1" });
      expect(result.effects).toEqual([]);
    }
  });

  test("cannot be called dropped once it was signed: it may still land", () => {
    for (const state of ["signed", "submitted", "mined", "confirmed", "unknown"] as const) {
      expect(() => report(swapIn(state), dropped), state).toThrow("invalid swap transition");
    }
  });
});

describe("an approval", () => {
  const approving = swapIn("approving");

  test("that is confirmed leads to a fresh quote: time has passed and the target may have changed", () => {
    const result = report(approving, { kind: "confirmed", succeeded: true });
    expect(stateOf(result)).toBe("approving");
    expect(result.effects).toMatchObject([{ effect: { kind: "FetchQuote", gasless: false }, notBeforeMs: NOW_MS }]);
  });

  test("that is confirmed as reverted ends the swap at once: no second one, no new attempt, whatever comes later", () => {
    const result = report(approving, { kind: "confirmed", succeeded: false });
    expect(result.run).toMatchObject({ state: "skipped", reason: "approval_failed" });
    expect(result.run.swaps).toMatchObject([{ state: "skipped", approvals: 1, intentId: undefined }]);
    expect(result.records).toContainEqual({ kind: "release", swapId: approving.id });
    expect(result.effects).toEqual([]);
    for (const change of [
      { kind: "reorged" },
      mined(approving),
      { kind: "confirmed", succeeded: true },
      { kind: "final", outcome: "reverted" },
      { kind: "final", outcome: "succeeded" },
    ] as const) {
      const late = { kind: "transaction", swapId: approving.id, intentId: "run_1.0.1.approve1", change } as const;
      const later = step(result.run, late, evidenceSample());
      expect([later.transitions, later.records, later.effects]).toEqual([[], [], []]);
    }
  });

  test("is asked about once: its block may be reorganised, mined and confirmed again, and it may become final", () => {
    const approved = report(approving, { kind: "confirmed", succeeded: true }).run.swaps[0]!;
    const quote = quoteSample(approved);
    const quoted: Swap = { ...approved, state: "quoted", quote };
    const cleared: Swap = { ...swapIn("cleared"), approvals: 1 };
    for (const swap of [approved, quoted, cleared, swapIn("signed"), swapIn("confirmed")]) {
      for (const change of [
        { kind: "reorged" },
        mined(swap),
        { kind: "confirmed", succeeded: true },
        { kind: "final", outcome: "succeeded" },
        { kind: "final", outcome: "reverted" },
      ] as const) {
        const result = report(swap, change, { intentId: "run_1.0.1.approve1", state: "executing" });
        expect(result.run.swaps[0], `${swap.state} ${change.kind}`).toEqual(swap);
        expect(result.effects).toEqual([]);
      }
    }
  });

  test("that could not be signed in time is tried again as a new attempt inside the window", () => {
    const result = report(approving, { kind: "dropped", reason: "too dear" });
    expect(result.run.swaps).toMatchObject([
      { state: "skipped", reason: "approval_not_sent" },
      { state: "planned", attempt: 2, approvals: 0 },
    ]);
  });

  test.each([
    ["reverted", {}, "approval_failed"],
    ["cancelled", { keptBack: true }, "approval_failed"],
    ["cancelled", {}, "approval_failed"],
    ["cancelled", { byPerson: true }, "cancelled_by_operator"],
  ] as const)("that is finally %s %j ends the swap: nothing was signed for it", (outcome, more, reason) => {
    const result = report(approving, { kind: "final", outcome, ...more });
    expect(result.run).toMatchObject({ state: "skipped", reason });
    expect(result.records).toContainEqual({ kind: "release", swapId: approving.id });
  });

  test("moves nothing while it is on its way", () => {
    for (const change of [
      { kind: "signed", hash: hash("aa") },
      { kind: "broadcast", hash: hash("aa") },
      mined(approving),
      { kind: "reorged" },
    ] as const) {
      const result = report(approving, change);
      expect([result.transitions, result.records, result.effects]).toEqual([[], [], []]);
    }
  });
});

test("a report about somebody else's transaction moves nothing", () => {
  const result = report(swapIn("submitted"), { kind: "final", outcome: "reverted" }, { intentId: "run_1.0.1.swap2" });
  expect(result.transitions).toEqual([]);
});

test("a revocation that ended may be asked for again", () => {
  const swap = swapIn("unknown", { mode: "gasless", revokeIntentId: "run_1.0.1.revoke1" });
  for (const change of [
    { kind: "final", outcome: "reverted" },
    { kind: "dropped", reason: "too dear" },
  ] as const) {
    const result = report(swap, change, { intentId: "run_1.0.1.revoke1" });
    expect(result.run.swaps[0]).toEqual({ ...swap, revokeIntentId: undefined });
  }
});
