import { expect, test } from "vitest";
import { createHistoryReader } from "../../../../src/adapters/sqlite/daemon/history-rows.ts";
import type { Evidence } from "../../../../src/domain/run/evidence.ts";
import type { StrategySpec } from "../../../../src/domain/strategy/spec.ts";
import { parseThresholdMemory } from "../../../../src/domain/strategy/threshold-memory.ts";
import { dcaSpec, evidenceSample, runSample, thresholdSpec } from "../../../support/builders.ts";
import { addRun, addStrategy, openDaemonDatabase } from "../../../support/daemon-database.ts";

const spec = thresholdSpec({ allocation: { raw: 500n } });
const { allocation, ...others } = spec;
/** As an older release wrote it. */
const older = { ...others, bag: allocation } as unknown as StrategySpec;

test.each([
  ["an older release", older, spec],
  ["this release", spec, spec],
  ["this release, of another kind", dcaSpec(), dcaSpec()],
])("a strategy that %s wrote keeps its allocation, or its open runs would sell without a bound", (_who, was, is) => {
  const { store } = openDaemonDatabase();
  addStrategy(store, spec);
  store.saveStrategy({ id: was.id, kind: was.kind, specHash: "x", spec: was, memory: "{}", lastSlotMs: 1 }, 2);
  expect(store.strategy(was.id)?.spec).toEqual(is);
});

test("a step that an older release stored is taken again with the allocation that it was taken with", () => {
  const { db, store } = openDaemonDatabase();
  addStrategy(store);
  const run = addRun(store, runSample());
  const evidence: Evidence = evidenceSample({ spec: older });
  store.transaction(() => store.addStep(run.id, { event: { kind: "started" }, evidence }));
  expect(createHistoryReader(db).storedRun(run.id)?.steps[0]?.evidence.spec).toEqual(spec);
});

test("what an older release remembers of the original allocation stays, or a ladder would measure it anew", () => {
  const memory = { version: 2, seenMs: 5, legs: {}, sold: "100" };
  expect(parseThresholdMemory({ ...memory, bag: "400" })).toEqual({ ...memory, allocation: "400" });
  expect(parseThresholdMemory({ ...memory, allocation: "400" })).toEqual({ ...memory, allocation: "400" });
});
