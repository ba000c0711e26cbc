import { describe, expect, test } from "vitest";
import { toPpm } from "../../../src/domain/money/fraction.ts";
import type { StepResult } from "../../../src/domain/run/draft.ts";
import type { TransactionChange } from "../../../src/domain/run/events.ts";
import type { Evidence } from "../../../src/domain/run/evidence.ts";
import { factsOf } from "../../../src/domain/run/reading-to-facts.ts";
import type { Run, Swap } from "../../../src/domain/run/run.ts";
import { step } from "../../../src/domain/run/step.ts";
import { evidenceSample, NOW_MS, runSample } from "../../support/builders.ts";
import { readingFor, swapIn } from "../../support/reading-samples.ts";

const SHOWN = toPpm(1_000);
const KEPT: TransactionChange = { kind: "final", outcome: "cancelled", keptBack: true };
const lateMs = NOW_MS + 20 * 60_000;

function end(
  swap: Swap,
  change: TransactionChange,
  of: { facts?: Partial<Evidence>; run?: Partial<Run> } = {},
): StepResult {
  const run = runSample({ state: "executing", swaps: [swap], ...of.run });
  const event = { kind: "transaction", swapId: swap.id, intentId: swap.intentId ?? `${swap.id}.swap`, change } as const;
  return step(run, event, evidenceSample({ nowMs: lateMs, fallback: { slippage: SHOWN }, ...of.facts }));
}

describe("a private order that came into no block", () => {
  test("is tried once more by a swap of its own, after its window too, with less slippage and not gasless", () => {
    const { run, effects, records } = end(swapIn("submitted", { gasless: "prefer" }), KEPT);
    expect(run.state).toBe("executing");
    expect(run.swaps).toMatchObject([
      { id: "run_1.0.1", state: "cancelled" },
      { id: "run_1.0.2", state: "planned", fallback: { slippage: SHOWN }, windowEndsMs: lateMs + 60_000 },
    ]);
    expect(effects.map(({ effect }) => effect)).toMatchObject([
      { kind: "FetchQuote", swapId: "run_1.0.2", slippagePpm: "1000", gasless: false },
    ]);
    const kinds = records.map(({ kind }) => kind);
    expect(kinds.indexOf("release")).toBeLessThan(kinds.indexOf("reserve"));
    expect(kinds).toContain("close-capability");
  });

  test.each([
    ["nothing is configured", KEPT, { facts: { fallback: undefined } }],
    ["it ended otherwise", { kind: "final", outcome: "cancelled" } as const, {}],
    ["it reverted", { kind: "final", outcome: "reverted" } as const, {}],
    ["its run was filled and reopened", KEPT, { run: { reason: "reorganised" } }],
    ["that is known hours later", KEPT, { facts: { nowMs: NOW_MS + 2 * 3_600_000 } }],
    ["its run has ended", KEPT, { run: { state: "filled" as const } }],
  ])("is not where %s", (_name, change, of) => {
    expect(end(swapIn("submitted"), change, of).run.swaps).toHaveLength(1);
  });

  test("is not where it was tried publicly already", () => {
    expect(end(swapIn("submitted", { fallback: { slippage: SHOWN } }), KEPT).run.swaps).toHaveLength(1);
  });

  test("is tried again where its approval was kept back", () => {
    const approving = swapIn("approving", { intentId: "run_1.0.1.approve1", approvals: 1 });
    const { run } = end(approving, KEPT);
    expect(run.swaps).toMatchObject([
      { state: "skipped", reason: "approval_failed" },
      { state: "planned", fallback: { slippage: SHOWN } },
    ]);
  });
});

test("an order that everybody sees is judged by the tightest of what was decided, what is configured and the limits", () => {
  const limitOf = (decided: number, now: number | undefined) => {
    const swap = swapIn("quoted", { fallback: { slippage: toPpm(decided) } });
    const evidence = evidenceSample(now === undefined ? {} : { fallback: { slippage: toPpm(now) } });
    return factsOf(swap, readingFor(swap), evidence).limits.slippage;
  };
  expect([limitOf(1_000, 2_000), limitOf(1_000, 500), limitOf(1_000, undefined), limitOf(900_000, undefined)]).toEqual([
    1_000n,
    500n,
    1_000n,
    5_000n,
  ]);
});
