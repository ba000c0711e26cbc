import { describe, expect, test } from "vitest";
import type { RunEvent } from "../../src/domain/run/events.ts";
import { createLaneListener } from "../../src/engine/lane-listener.ts";
import type { LaneEvent } from "../../src/lane/lane-event.ts";
import { runSample } from "../support/builders.ts";
import { addRun, openDaemonDatabase } from "../support/daemon-database.ts";
import { intentRow } from "../support/lane-database.ts";
import { hash, receiptFor, swapIn } from "../support/reading-samples.ts";

const INTENT = "run_1.0.1.swap";

function heard(event: Partial<LaneEvent> & Pick<LaneEvent, "kind">, intentId = INTENT): readonly RunEvent[] {
  const { store, lanes } = openDaemonDatabase();
  addRun(store, runSample({ swaps: [swapIn("submitted")] }));
  lanes.insertIntent(intentRow({ id: INTENT, value: 77n }));
  const events: RunEvent[] = [];
  const listener = createLaneListener({ runs: store, lanes }, () => ({
    commitHere: ({ event: told }) => void events.push(told),
  }));
  listener.onIntent({ intentId, ...event });
  return events;
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
    ["dropped", { reason: "too dear" }, { reason: "too dear" }],
  ] as const)("%s", (kind, event, change) => {
    expect(heard({ kind, ...event })).toEqual([
      { kind: "transaction", swapId: "run_1.0.1", intentId: INTENT, change: { kind, ...change } },
    ]);
  });
});

test("a replacement is the lane's own matter: the swap is the same", () => {
  expect(heard({ kind: "replaced", hash: hash("ef") })).toEqual([]);
});

test("a revocation of the janitor belongs to no run", () => {
  expect(heard({ kind: "confirmed", receipt }, "revoke_17")).toEqual([]);
});
