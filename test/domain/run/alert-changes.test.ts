import { expect, test } from "vitest";
import { alertChanges } from "../../../src/domain/run/alert-changes.ts";
import type { Transition } from "../../../src/domain/run/records.ts";
import { runSample } from "../../support/builders.ts";
import { swapIn } from "../../support/reading-samples.ts";

const move = (subject: "run" | "swap", from: string, to: string, reason?: string): Transition =>
  ({
    subject,
    subjectId: subject === "run" ? "run_1" : "run_1.0.1",
    from,
    to,
    reason,
    detail: undefined,
  }) as Transition;

const changesOf = (transition: Transition, run = {}) =>
  alertChanges({ run: runSample({ swaps: [swapIn("quoted")], ...run }), transitions: [transition], records: [] });

test("a run that is parked needs a person, with the reason and the command to look", () => {
  const run = { state: "parked", reason: "spec_changed", detail: "the sold token is another one" } as const;
  expect(changesOf(move("run", "executing", "parked"), run)).toEqual({
    over: [],
    raised: [
      {
        ...{ severity: "warning", code: "RUN_PARKED", subject: "run run_1" },
        text: "run run_1 of weekly is parked (spec_changed: the sold token is another one); see it with: swapd show run_1",
      },
    ],
  });
  expect(changesOf(move("run", "parked", "executing"))).toEqual({ over: ["run run_1"], raised: [] });
});

test.each([
  ["unknown", "mined", undefined, ["swap run_1.0.1"]],
  ["unknown", "expired", undefined, ["swap run_1.0.1"]],
  ["quoted", "cleared", undefined, ["USDC to WETH of weekly"]],
  ["quoted", "skipped", "dry_run", ["USDC to WETH of weekly"]],
  ["quoted", "skipped", "quote_unavailable", []],
  ["quoted", "denied", "RECIPIENT_MISMATCH", []],
])("a swap that goes from %s to %s (%s) ends %j", (from, to, reason, over) => {
  expect(changesOf(move("swap", from, to, reason))).toEqual({ over, raised: [] });
});

test("what a slot lacked is reported, and it is over when a slot of the strategy has it", () => {
  const reported = (reason: string) => {
    const { over, raised } = changesOf(move("run", "deciding", "skipped", reason), { detail: "needs 100 USDC" });
    return { over, raised: raised.map(({ code, subject }) => [code, subject]) };
  };
  expect(reported("insufficient_balance")).toEqual({
    over: ["prices of weekly"],
    raised: [["NO_FUNDS", "funds of weekly"]],
  });
  expect(reported("unpriceable")).toEqual({ over: [], raised: [["NO_PRICE", "prices of weekly"]] });
  expect(reported("not_triggered")).toEqual({ over: ["prices of weekly"], raised: [] });
  expect(reported("view_unavailable")).toEqual({ over: [], raised: [] });
  const swaps = changesOf(move("run", "deciding", "executing"));
  expect(swaps).toEqual({ over: ["funds of weekly", "prices of weekly"], raised: [] });
});

test("a swap whose approval failed lacks its allowance, and one whose approval was never signed does not", () => {
  const raisedBy = (reason: string) => changesOf(move("swap", "approving", "skipped", reason)).raised;
  expect(raisedBy("approval_failed")).toMatchObject([{ code: "ALLOWANCE_MISSING", subject: "USDC to WETH of weekly" }]);
  expect(raisedBy("approval_not_sent")).toEqual([]);
});
