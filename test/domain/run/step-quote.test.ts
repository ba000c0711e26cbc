import { describe, expect, test } from "vitest";
import type { Run, Swap } from "../../../src/domain/run/run.ts";
import { step } from "../../../src/domain/run/step.ts";
import { dcaSpec, ETH, evidenceSample, firstRetryMs, NOW_MS, runSample, swapSample } from "../../support/builders.ts";
import { quoteSample, swapIn } from "../../support/reading-samples.ts";

function refused(change: { gasless?: boolean; retryable?: boolean } = {}) {
  const { gasless = false, retryable = false } = change;
  const answer = { code: "NO_ROUTE", message: "no pool", gasless, retryable };
  return { kind: "quote-refused", swapId: "run_1.0.1", ...answer } as const;
}

function runWith(swap: Swap, change: Partial<Run> = {}): Run {
  return runSample({ swaps: [swap], ...change });
}

const prefers = { gasless: "prefer" } as const;

test("a quote is kept with the mode it was asked for, and nothing of an older one stays", () => {
  const old = swapIn("approving");
  const quote = quoteSample(old, { id: "quote_2" });
  const result = step(runWith(old), { kind: "quoted", swapId: old.id, quote, gasless: false }, evidenceSample());
  expect(result.run.swaps[0]).toMatchObject({ state: "quoted", mode: "self-executed", quote, terms: undefined });
  expect(result.effects).toEqual([{ effect: { kind: "ReadFacts", swapId: old.id }, notBeforeMs: NOW_MS }]);
});

describe("which mode is asked for first", () => {
  const asked = (change: Partial<Swap>): unknown => {
    const swap = swapIn("quoted", change);
    const event = { kind: "facts-unavailable", cause: "node", swapId: swap.id, detail: "no node answered" } as const;
    const [request] = step(runWith(swap), event, evidenceSample()).effects;
    return request?.effect.kind === "FetchQuote" && request.effect.gasless;
  };
  test("prefer and only ask the relayer, never does not", () => {
    expect(asked({ gasless: "prefer" })).toBe(true);
    expect(asked({ gasless: "only" })).toBe(true);
    expect(asked({ gasless: "never" })).toBe(false);
  });
  test("the native token has no permit, so preferring gasless asks for our own transaction", () => {
    expect(asked({ gasless: "prefer", sell: ETH })).toBe(false);
  });
});

test("a refused gasless quote falls back to our own transaction at once where gasless is only preferred", () => {
  const result = step(runWith(swapSample(prefers)), refused({ gasless: true }), evidenceSample());
  expect(result.run.swaps[0]?.state).toBe("planned");
  expect(result.effects).toMatchObject([{ effect: { kind: "FetchQuote", gasless: false }, notBeforeMs: NOW_MS }]);
});

test("a refused gasless quote ends the swap where only gasless is allowed: our gas is never spent against the rule", () => {
  const only = swapSample({ gasless: "only" });
  const result = step(
    runWith(only),
    refused({ gasless: true }),
    evidenceSample({ spec: dcaSpec({ gasless: "only" }) }),
  );
  expect(result.run).toMatchObject({ state: "skipped", reason: "gasless_refused" });
  expect(result.effects).toEqual([]);
});

test("a final refusal of our own quote ends the swap with the service's words and frees its money", () => {
  const result = step(runWith(swapSample()), refused(), evidenceSample());
  expect(result.run).toMatchObject({ state: "skipped", reason: "quote_refused" });
  expect(result.transitions[0]).toMatchObject({ to: "skipped", detail: "NO_ROUTE: no pool" });
  expect(result.records).toContainEqual({ kind: "release", swapId: "run_1.0.1" });
});

test("an answer that the service garbled is denied like any other lie: its code, its money freed, a person reported", () => {
  const garbled = { ...refused({ gasless: true }), code: "TYPED_DATA_UNKNOWN" };
  const result = step(runWith(swapSample(prefers)), garbled, evidenceSample());
  expect(result.run).toMatchObject({ state: "failed", reason: "TYPED_DATA_UNKNOWN" });
  expect(result.records).toContainEqual({ kind: "release", swapId: "run_1.0.1" });
  expect(result.records).toContainEqual(expect.objectContaining({ kind: "alert", code: "TYPED_DATA_UNKNOWN" }));
  expect(result.effects).toEqual([]);
});

test.each([
  ["ANSWER_NOT_JSON", "failed", "ANSWER_NOT_JSON"],
  ["ANSWER_MALFORMED", "failed", "ANSWER_MALFORMED"],
  ["ANSWER_TOO_LARGE", "failed", "ANSWER_TOO_LARGE"],
  ["HTTP_403", "skipped", "quote_refused"],
  ["HTTP_404", "skipped", "quote_refused"],
  ["REDIRECTED", "skipped", "quote_refused"],
])(
  "%s may be a page of a proxy: it is asked again inside the window, and ends %s (%s) after it",
  (code, state, reason) => {
    const page = { ...refused(), code, message: "<html>" };
    const early = step(runWith(swapSample()), page, evidenceSample());
    expect(early.run).toMatchObject({ state: "executing", retries: 1 });
    expect(early.effects).toMatchObject([{ effect: { kind: "FetchQuote" }, notBeforeMs: firstRetryMs(NOW_MS) }]);
    const run = runWith(swapSample());
    const late = step(run, page, evidenceSample({ nowMs: run.windowEndsMs - 1_000 }));
    expect(late.run).toMatchObject({ state, reason });
    expect(late.records).toContainEqual({ kind: "release", swapId: "run_1.0.1" });
  },
);

const unread = { kind: "facts-unavailable", swapId: "run_1.0.1", detail: "no node answered" } as const;

test.each([
  ["a passing refusal", "quote_unavailable", refused({ retryable: true })],
  ["facts that no node gave", "node_unavailable", { ...unread, cause: "node" }],
  ["facts that the service kept back", "service_unavailable", { ...unread, cause: "service" }],
  ["a clock that is wrong", "clock_disagrees", { ...unread, cause: "clock" }],
] as const)("%s is asked again inside the window only, and ends with its own reason: %s", (_name, reason, event) => {
  const swap = swapIn("quoted");
  const early = step(runWith(swap), event, evidenceSample());
  expect(early.run).toMatchObject({ retries: 1, swaps: [swap] });
  const [asked] = early.effects;
  expect(asked?.effect.kind).toBe("FetchQuote");
  expect(asked?.notBeforeMs).toBe(firstRetryMs(NOW_MS));
  expect(early.records).toEqual([
    expect.objectContaining({ kind: "retry", about: swap.id, reason, nextMs: asked?.notBeforeMs }),
  ]);
  const run = runWith(swap);
  const lastMoment = step(run, event, evidenceSample({ nowMs: run.windowEndsMs - 5_001 }));
  expect(lastMoment.effects).toHaveLength(1);
  const late = step(run, event, evidenceSample({ nowMs: run.windowEndsMs - 5_000 }));
  expect(late.effects).toEqual([]);
  expect(late.run).toMatchObject({ state: "skipped", reason });
  expect(late.records).toContainEqual({ kind: "release", swapId: swap.id });
});

test("nothing is asked any more for a swap that was signed or has ended", () => {
  for (const state of ["signed", "submitted", "mined", "confirmed", "unknown", "final", "skipped", "denied"] as const) {
    const run = runWith(swapIn(state));
    for (const event of [refused(), refused({ retryable: true }), refused({ gasless: true })]) {
      expect(() => step(run, event, evidenceSample()), `${state} ${event.kind}`).toThrow("invalid swap transition");
    }
  }
});

test.each([
  ["as long as any from its turn on", { nowMs: NOW_MS, turnEndsMs: NOW_MS + 600_000 }, {}, NOW_MS + 600_000],
  ["what its kind gives it", { nowMs: NOW_MS, turnEndsMs: NOW_MS + 600_000 }, { retryForSeconds: 7 }, NOW_MS + 7_000],
  ["the run's window in rows of before", { nowMs: NOW_MS }, {}, undefined],
])("ALL-14 a later swap of a run has %s", (_what, at, change, windowEndsMs) => {
  const later = { ...swapSample({ position: 1, begun: false, ...change }), id: "run_1.1.1" };
  const result = step(runSample({ swaps: [swapSample(), later] }), refused(), evidenceSample(at));
  expect(result.run.swaps[1]).toMatchObject({ begun: true, windowEndsMs });
});

test("ALL-4 a later swap whose turn comes long after the window of the one before it is over has its window then, not now", () => {
  const [later, { windowEndsMs: firstEndsMs }] = [
    { ...swapSample({ position: 1, begun: false }), id: "run_1.1.1" },
    runSample(),
  ];
  const nowMs = firstEndsMs + 3 * 86_400_000;
  const evidence = evidenceSample({ nowMs, turnEndsMs: nowMs + 600_000 });
  const result = step(runSample({ swaps: [swapSample(), later] }), refused(), evidence);
  const { pace, spec } = evidence;
  const orderMs = pace.maxLifetimeSeconds * 1_000;
  expect(result.run.swaps[1]?.windowEndsMs).toBe(firstEndsMs + orderMs + 3_600_000 + spec.retryForSeconds * 1_000);
});
