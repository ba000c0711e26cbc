import { describe, expect, test } from "vitest";
import { toPpm } from "../../../src/domain/money/fraction.ts";
import { alertChanges } from "../../../src/domain/run/alert-changes.ts";
import { createDraft, type StepResult } from "../../../src/domain/run/draft.ts";
import type { TransactionChange } from "../../../src/domain/run/events.ts";
import type { Evidence } from "../../../src/domain/run/evidence.ts";
import type { Hold } from "../../../src/domain/run/hold.ts";
import { factsOf } from "../../../src/domain/run/reading-to-facts.ts";
import type { Run, Swap } from "../../../src/domain/run/run.ts";
import { step } from "../../../src/domain/run/step.ts";
import { heldBack } from "../../../src/domain/run/step-hold.ts";
import { dcaSpec, evidenceSample, NOW_MS, runSample, usd } from "../../support/builders.ts";
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

  test("lacks no allowance that a person has to see to while its approval is tried again, and does where it is not", () => {
    const approving = swapIn("approving", { intentId: "run_1.0.1.approve1", approvals: 1 });
    const raised = (...of: Parameters<typeof end>) => alertChanges(end(...of)).raised.map(({ code }) => code);
    expect(raised(approving, KEPT)).toEqual([]);
    expect(raised(approving, KEPT, { facts: { fallback: undefined } })).toEqual(["ALLOWANCE_MISSING"]);
    expect(raised(approving, { kind: "final", outcome: "reverted" })).toEqual(["ALLOWANCE_MISSING"]);
    const shown = { ...approving, id: "run_1.0.2", attempt: 2, fallback: { slippage: SHOWN } };
    const again = { ...shown, intentId: "run_1.0.2.approve1" };
    const before = swapIn("skipped", { reason: "approval_failed" });
    expect(raised(again, KEPT, { run: { swaps: [before, again] } }), "publicly too").toEqual(["ALLOWANCE_MISSING"]);
    const later = swapIn("planned", { id: "run_1.1.1", position: 1 });
    const of = { facts: { fallback: undefined }, run: { swaps: [approving, later] } };
    expect(raised(approving, KEPT, of), "what follows it is another one").toContain("ALLOWANCE_MISSING");
  });
});

describe("a private order that a person let go, and that came into no block", () => {
  const atMs = NOW_MS - 500;
  const hold = { kind: "approval", untilMs: NOW_MS + 43_200_000, windowEndsMs: NOW_MS + 43_260_000 } as const;
  const answeredTo = (swapId: string): Hold => ({ ...hold, swapId, answer: { decision: "approved", by: "ada", atMs } });

  test("has its window once more though the answer is older than that", () => {
    for (const kind of ["approval", "announcement"] as const) {
      const swap = swapIn("submitted", { windowEndsMs: atMs + 60_000 });
      const facts = { holds: [{ ...answeredTo(swap.id), kind }] };
      const { run, effects } = end(swap, KEPT, { facts });
      expect(run.swaps[1]).toMatchObject({ state: "planned", windowEndsMs: lateMs + 60_000 });
      expect(effects.map(({ effect }) => effect)).toMatchObject([{ kind: "FetchQuote", swapId: "run_1.0.2" }]);
      const shown = { ...swapIn("quoted"), ...run.swaps[1], state: "quoted" } as const;
      const draft = createDraft({ ...run, swaps: [run.swaps[0] ?? swap, shown] });
      const spec = { ...dcaSpec(), approveAboveUsd: usd("50"), announceSeconds: 600 };
      const evidence = evidenceSample({ nowMs: lateMs + 1_000, spec, ...facts });
      expect(heldBack(draft, shown, usd(kind === "approval" ? "100" : "40"), evidence)).toBe(false);
      expect(draft.swap(shown.id).windowEndsMs).toBe(lateMs + 60_000);
    }
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
