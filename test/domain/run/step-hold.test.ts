import { expect, test } from "vitest";
import { createDraft, type StepResult } from "../../../src/domain/run/draft.ts";
import type { RunEvent } from "../../../src/domain/run/events.ts";
import type { Evidence } from "../../../src/domain/run/evidence.ts";
import type { Hold } from "../../../src/domain/run/hold.ts";
import { step } from "../../../src/domain/run/step.ts";
import { heldBack } from "../../../src/domain/run/step-hold.ts";
import { dcaSpec, evidenceSample, NOW_MS, runSample, usd } from "../../support/builders.ts";
import { readingFor, swapIn } from "../../support/reading-samples.ts";

const swap = swapIn("quoted");
const ASKED: Hold = {
  ...{ kind: "approval", swapId: swap.id, untilMs: NOW_MS + 1_000, windowEndsMs: NOW_MS + 9_000, answer: undefined },
};
const APPROVED: Hold = { ...ASKED, answer: { decision: "approved", by: "ada", atMs: NOW_MS - 500 } };

/** A hundred dollars that passed every check. */
function clear(above: string | undefined, facts: Partial<Evidence> = {}) {
  const approveAboveUsd = above === undefined ? undefined : usd(above);
  const spec = { ...dcaSpec(), ...(above === undefined ? {} : { approveAboveUsd, approveWithinSeconds: 600 }) };
  const reading = readingFor(swap);
  const run = runSample({ swaps: [swap] });
  return step(run, { kind: "facts-read", swapId: swap.id, reading }, evidenceSample({ spec, ...facts }));
}

const waits = ({ run, effects }: StepResult): boolean =>
  run.swaps[0]?.state === "quoted" && effects.length === 1 && effects[0]?.effect.kind === "FetchQuote";

test("ALL-12 a swap without a price needs an approval like a large one", () => {
  const spec = { ...dcaSpec(), approveAboveUsd: usd("1000"), approveWithinSeconds: 600 };
  const draft = createDraft(runSample({ swaps: [swap] }));
  expect(heldBack(draft, swap, undefined, evidenceSample({ spec }))).toBe(true);
  expect(draft.result().records.filter(({ kind }) => kind === "hold")).toMatchObject([
    { hold: { kind: "approval", untilMs: NOW_MS + 600_000 } },
  ]);
});

test("ALL-12 what waits goes on for no other reason: not because it sells less now, nor because its file was edited", () => {
  for (const above of ["1000", undefined]) {
    const result = clear(above, { holds: [ASKED] });
    expect([waits(result), result.effects[0]?.notBeforeMs]).toEqual([true, NOW_MS + 1_000]);
  }
  const late = clear(undefined, { holds: [{ ...ASKED, untilMs: NOW_MS }] });
  expect(late.run.swaps[0]).toMatchObject({ state: "skipped", reason: "not_approved" });
});

test("ALL-14 an approved swap has its window from the approval on, and no longer", () => {
  expect(clear("50", { holds: [APPROVED] }).run.swaps[0]?.state).toBe("cleared");
  const atMs = NOW_MS - 40 * 86_400_000;
  const old = { ...APPROVED, answer: { decision: "approved", by: "ada", atMs } } as const;
  const held = { ...swap, windowEndsMs: NOW_MS + 9_000 };
  const run = runSample({ swaps: [held] });
  const event = { kind: "facts-read", swapId: swap.id, reading: readingFor(held) } as const;
  const result = step(run, event, evidenceSample({ holds: [old] }));
  expect(result.run.swaps[0]).toMatchObject({ state: "skipped", reason: "window_over" });
});

test("REB-11 a later swap of an approved run has its window from its turn on, however long the first one took", () => {
  const windowEndsMs = NOW_MS + 60_000;
  const later = { ...swapIn("quoted", { position: 1, windowEndsMs }), id: "run_1.1.1" };
  const draft = createDraft(runSample({ swaps: [swap, later] }));
  const answer = { decision: "approved", by: "ada", atMs: NOW_MS - 3_600_000 } as const;
  const spec = { ...dcaSpec(), approveAboveUsd: usd("50") };
  expect(heldBack(draft, later, usd("100"), evidenceSample({ spec, holds: [{ ...ASKED, answer }] }))).toBe(false);
  expect(draft.swap(later.id).windowEndsMs).toBe(windowEndsMs);
});

test("ALL-13 leave for an announced swap is no approval of a larger one of its run", () => {
  const letGo: Hold = { ...APPROVED, kind: "announcement" };
  const result = clear("50", { holds: [letGo] });
  expect(waits(result)).toBe(true);
  expect(result.records).toContainEqual(expect.objectContaining({ kind: "hold" }));
  expect(clear("1000", { holds: [letGo] }).run.swaps[0]?.state).toBe("cleared");
});

test("ALL-12 what is far beyond its window asks nobody any more", () => {
  const nowMs = runSample().windowEndsMs + 3 * 86_400_000;
  const result = clear("50", { nowMs });
  expect(result.run.swaps[0]).toMatchObject({ state: "skipped", reason: "window_over" });
  expect(result.records.filter(({ kind }) => kind === "hold" || kind === "alert")).toEqual([]);
});

test("ALL-14 what was refused ends also while the service is away, and what was approved is not tried longer for that", () => {
  const held = { ...swap, windowEndsMs: NOW_MS + 43_200_000 };
  const run = runSample({ swaps: [held] });
  const away: RunEvent = {
    ...{
      kind: "quote-refused",
      swapId: swap.id,
      gasless: false,
      code: "UNREACHABLE",
      message: "away",
      retryable: true,
    },
  };
  const refused: Hold = { ...ASKED, answer: { decision: "refused", by: "ada", atMs: NOW_MS } };
  const ended = step(run, away, evidenceSample({ holds: [refused] }));
  expect(ended.run.swaps[0]).toMatchObject({ state: "skipped", reason: "refused_by_operator" });
  const early: Hold = { ...APPROVED, answer: { decision: "approved", by: "ada", atMs: NOW_MS - 86_400_000 } };
  const late = step(run, away, evidenceSample({ holds: [early] }));
  expect(late.run.swaps[0]).toMatchObject({ state: "skipped", reason: "quote_unavailable" });
  const fresh = step(run, away, evidenceSample({ holds: [APPROVED] }));
  expect(waits(fresh)).toBe(true);
});

test("ALL-12 a dry run says that the swap would wait for an approval, and ALL-13 that it would be announced", () => {
  const dry = (above: string | undefined, facts: Partial<Evidence> = {}) =>
    clear(above, { live: false, ...facts }).transitions.find(({ subject }) => subject === "swap")?.detail;
  const passed = "every check passed; nothing is signed in a dry run";
  expect(dry("1000")).toBe(passed);
  expect(dry("50")).toBe(`${passed}; it would wait for an approval, which is needed above 50.00 USD`);
  const spec = { ...dcaSpec(), announceSeconds: 3_600 };
  expect(dry(undefined, { spec })).toBe(`${passed}; it would be announced, and go on 1h later`);
});
