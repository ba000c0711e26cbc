import { describe, expect, test } from "vitest";
import type { RunEvent } from "../../src/domain/run/events.ts";
import { runEventOf } from "../../src/engine/lane-events.ts";
import type { LaneEvent } from "../../src/ports/lane-event.ts";
import { hash, receiptFor, swapIn } from "../support/reading-samples.ts";

const INTENT = "run_1.0.1.swap";

function heard(event: Omit<LaneEvent, "intentId">): RunEvent | undefined {
  return runEventOf({ intentId: INTENT, ...event }, { swapId: "run_1.0.1", value: 77n });
}

const receipt = { ...receiptFor(swapIn("submitted")), logs: [] };

describe("what a lane reports reaches the swap that asked", () => {
  test.each([
    ["signed", { hash: hash("ee") }, { hash: hash("ee") }],
    ["broadcast", { hash: hash("ee") }, { hash: hash("ee") }],
    ["mined", { hash: hash("ee"), receipt }, { receipt, value: 77n }],
    ["confirmed", { receipt }, { succeeded: true, receipt, value: 77n }],
    ["confirmed", { receipt: { ...receipt, succeeded: false } }, { succeeded: false }],
    ["reorged", {}, {}],
    ["final", { outcome: "succeeded", receipt }, { outcome: "succeeded", receipt, value: 77n }],
    ["final", { outcome: "cancelled", receipt: { ...receipt, succeeded: false } }, { outcome: "cancelled" }],
    ["final", { outcome: "cancelled", cancelledBy: "ops" }, { outcome: "cancelled", byPerson: true }],
    ["dropped", { reason: "too dear" }, { reason: "too dear" }],
  ] as const)("%s", (kind, event, change) => {
    expect(heard({ kind, ...event })).toEqual({
      ...{ kind: "transaction", swapId: "run_1.0.1", intentId: INTENT, change: { kind, ...change } },
    });
  });
});

test("a replacement is the lane's own matter: the swap is the same", () => {
  expect(heard({ kind: "replaced", hash: hash("ef") })).toBeUndefined();
});
