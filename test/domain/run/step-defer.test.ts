import { expect, test } from "vitest";
import { toPpm } from "../../../src/domain/money/fraction.ts";
import { alertChanges } from "../../../src/domain/run/alert-changes.ts";
import { step } from "../../../src/domain/run/step.ts";
import type { DcaSpec } from "../../../src/domain/strategy/dca.ts";
import { decideStrategy, initialStrategyMemory } from "../../../src/domain/strategy/strategy.ts";
import type { TwapSpec } from "../../../src/domain/strategy/twap.ts";
import { dcaSpec, evidenceSample, NOW_MS, runSample, SLOT_MS, USDC, viewSample, WETH } from "../../support/builders.ts";

const deciding = runSample({ state: "deciding", windowEndsMs: NOW_MS + 60_000 });

/** A slice whose limit price is not met by the sample prices. */
const limited: TwapSpec = {
  ...dcaSpec(),
  kind: "twap",
  sell: { token: USDC, raw: 1_000_000_000n },
  buy: WETH,
  startMs: SLOT_MS,
  slices: 10,
  everySeconds: 3_600,
  spread: toPpm(0),
  slice: { unfilled: "roll", max: 200_000_000n, min: 1_000_000n },
  limit: { floor: { bought: 10n ** 18n, sold: 1_000_000n }, abort: undefined },
  exit: false,
};

test("ALL-4 what is put off is asked again after the usual wait while the window is open, with its memory written down", () => {
  const facts = evidenceSample({ spec: limited });
  const result = step(deciding, { kind: "view-read", view: viewSample() }, facts);
  expect(result.run.state).toBe("deciding");
  expect(result.effects).toEqual([{ effect: { kind: "ReadView" }, notBeforeMs: NOW_MS + facts.pace.retryMs }]);
  expect(result.records.map(({ kind }) => kind)).toEqual(["memory"]);
});

test("ALL-4 what is put off past its window is skipped with its reason", () => {
  const facts = evidenceSample({ spec: limited });
  const late = { ...deciding, windowEndsMs: NOW_MS + facts.pace.retryMs };
  const { run, effects } = step(late, { kind: "view-read", view: viewSample() }, facts);
  expect(run).toMatchObject({ state: "skipped", reason: "price_limit" });
  expect(effects).toEqual([]);
});

test("a strategy that says when it wants to be asked again is not asked before", () => {
  const price = { quote: USDC, raw: 1n };
  const spec: DcaSpec = dcaSpec({ onlyIf: { of: WETH, comparison: "<", price }, retryForSeconds: 3_600 });
  const { outcome } = decideStrategy(spec, viewSample(), initialStrategyMemory(spec));
  if (outcome.kind !== "defer" || outcome.untilMs === undefined) throw new Error("the gate puts nothing off");
  const facts = evidenceSample({ spec });
  expect(outcome.untilMs).toBeGreaterThan(NOW_MS + facts.pace.retryMs);
  const open = { ...deciding, windowEndsMs: NOW_MS + 3_600_000 };
  const { effects } = step(open, { kind: "view-read", view: viewSample() }, facts);
  expect(effects).toEqual([{ effect: { kind: "ReadView" }, notBeforeMs: outcome.untilMs }]);
});

test("a price that is late is asked for again, and reported once it is five minutes late", () => {
  const spec = dcaSpec({
    onlyIf: { of: WETH, comparison: "<", price: { quote: USDC, raw: 1n } },
    retryForSeconds: 3_600,
  });
  const run = runSample({ state: "deciding", windowEndsMs: SLOT_MS + 3_600_000 });
  const askedAt = (nowMs: number) => {
    const view = { ...viewSample(), nowMs, prices: new Map() };
    return step(run, { kind: "view-read", view }, evidenceSample({ spec, nowMs }));
  };
  const early = askedAt(SLOT_MS + 5 * 60_000 - 1);
  expect(early.records.map(({ kind }) => kind)).toEqual(["memory"]);
  const late = askedAt(SLOT_MS + 5 * 60_000);
  expect(late.effects).toEqual([{ effect: { kind: "ReadView" }, notBeforeMs: SLOT_MS + 330_000 }]);
  expect(alertChanges(late).raised).toMatchObject([{ code: "NO_PRICE", subject: `prices of ${run.strategyId}` }]);
});
