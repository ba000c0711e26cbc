import { expect, test } from "vitest";
import type { Run } from "../../../src/domain/run/run.ts";
import { step } from "../../../src/domain/run/step.ts";
import { evidenceSample, NOW_MS, runSample } from "../../support/builders.ts";
import { quoteSample, swapIn } from "../../support/reading-samples.ts";

const swap = swapIn("quoted");
const unread = { kind: "facts-unavailable", cause: "node", swapId: swap.id, detail: "no node answered" } as const;

/** Waits of a run that never gets an answer, in milliseconds, until its window ends. */
function waitsOf(run: Run, event: typeof unread | { kind: "view-unavailable"; detail: string }): number[] {
  const waits: number[] = [];
  let [now, nowMs] = [run, NOW_MS];
  for (;;) {
    const result = step(now, event, evidenceSample({ nowMs }));
    const [asked] = result.effects;
    if (asked === undefined) return waits;
    waits.push(asked.notBeforeMs - nowMs);
    [now, nowMs] = [result.run, asked.notBeforeMs];
  }
}

const HOUR_MS = 3_600_000;

test.each([
  ["facts", runSample({ swaps: [swap], windowEndsMs: NOW_MS + HOUR_MS }), unread],
  [
    "a view",
    runSample({ state: "deciding", windowEndsMs: NOW_MS + HOUR_MS }),
    { kind: "view-unavailable", detail: "d" },
  ],
] as const)(
  "a run that cannot read %s asks less and less often, and never less than once a minute",
  (_what, run, event) => {
    const waits = waitsOf(run, event);
    // 5, 10, 20, 40, 60, 60, ... seconds, each less half of itself at most
    for (const [index, waitMs] of waits.slice(0, -1).entries()) {
      const nominalMs = Math.min(60_000, 5_000 * 2 ** index);
      expect(waitMs).toBeGreaterThanOrEqual(nominalMs / 2);
      expect(waitMs).toBeLessThanOrEqual(nominalMs);
    }
    expect(waits.length).toBeGreaterThan(60);
    expect(waits.length).toBeLessThan(125);
    // the whole window is used: the last question comes so late that its answer still fits
    const lastMs = waits.reduce((sum, waitMs) => sum + waitMs, 0);
    expect(lastMs).toBeGreaterThanOrEqual(HOUR_MS - 10_000);
    expect(lastMs).toBeLessThan(HOUR_MS);
  },
);

test("runs that wait for the same fault do not ask in the same moment", () => {
  const waits = Array.from({ length: 50 }, (_, index) => {
    const run = runSample({ id: `run_${index}`, swaps: [swap], windowEndsMs: NOW_MS + HOUR_MS, retries: 4 });
    return step(run, unread, evidenceSample()).effects[0]?.notBeforeMs;
  });
  expect(new Set(waits).size).toBeGreaterThan(40);
});

test("a quote is no answer to the question that failed: the waits go on growing until the swap is cleared or begun anew", () => {
  const first = step(runSample({ swaps: [swap], windowEndsMs: NOW_MS + HOUR_MS }), unread, evidenceSample());
  const quoted = { kind: "quoted", swapId: swap.id, quote: quoteSample(swap), gasless: false } as const;
  const second = step(step(first.run, quoted, evidenceSample()).run, unread, evidenceSample());
  expect(second.run.retries).toBe(2);
});
