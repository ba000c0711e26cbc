import { expect, test } from "vitest";
import { toPpm } from "../../../src/domain/money/fraction.ts";
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
