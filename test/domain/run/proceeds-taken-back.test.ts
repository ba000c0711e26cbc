import { expect, test } from "vitest";
import { toPpm } from "../../../src/domain/money/fraction.ts";
import type { StepResult } from "../../../src/domain/run/draft.ts";
import type { RunEvent, TransactionChange } from "../../../src/domain/run/events.ts";
import type { Run, Swap, SwapMode } from "../../../src/domain/run/run.ts";
import { step } from "../../../src/domain/run/step.ts";
import {
  evidenceSample,
  ledgerSample,
  NOW_MS,
  rebalanceSpec,
  runSample,
  USDC,
  WBTC,
  WETH,
} from "../../support/builders.ts";
import { quoteSample, readingFor, receiptFor, swapIn } from "../../support/reading-samples.ts";

const spec = rebalanceSpec();
const PLANNED = { kind: "proceeds", of: [0], base: 0n, share: toPpm(1_000_000), min: 1n, max: 10n ** 12n } as const;
const MODES = ["gasless", "self-executed"] as const;

const take = (run: Run, event: RunEvent, nowMs = NOW_MS): StepResult =>
  step(run, event, evidenceSample({ spec, nowMs, ledger: ledgerSample() }));

const tellFirst = (run: Run, change: TransactionChange): Run =>
  take(run, { kind: "transaction", swapId: "run_1.0.1", intentId: "run_1.0.1.swap", change }).run;

function second(run: Run): Swap {
  const swap = run.swaps.find(({ id }) => id === "run_1.1.1");
  if (swap === undefined) throw new Error("the run has no second swap");
  return swap;
}

function quote(run: Run, mode: SwapMode): StepResult {
  const swap = second(run);
  return take(run, { kind: "quoted", swapId: swap.id, quote: quoteSample(swap), gasless: mode === "gasless" });
}

function judge(run: Run, nowMs?: number): StepResult {
  return take(run, { kind: "facts-read", swapId: second(run).id, reading: readingFor(second(run)) }, nowMs);
}

/** A run whose first swap brought 777 USDC, which the second one has begun to sell, and is quoted for. */
function quoted(mode: SwapMode): Run {
  const first = swapIn("mined", { sell: WETH, buy: USDC, gross: 10n ** 18n, mode: "self-executed" });
  const fill = { ...first.fill, bought: 777_000_000n } as NonNullable<Swap["fill"]>;
  const place = { id: "run_1.1.1", position: 1, begun: false, gross: undefined, planned: PLANNED };
  const waiting = swapIn("planned", { ...place, sell: USDC, buy: WBTC });
  const start = runSample({ strategyId: "mix", swaps: [{ ...first, fill }, waiting] });
  const begun = tellFirst(start, { kind: "confirmed", succeeded: true });
  expect(second(begun)).toMatchObject({ begun: true, gross: 777_000_000n });
  return quote(begun, mode).run;
}

function expectNothingSigned({ run, effects, records }: StepResult): void {
  expect(second(run).state).not.toBe("cleared");
  expect(effects.map(({ effect }) => effect.kind)).not.toContain("SignGasless");
  expect(records.map(({ kind }) => kind)).not.toContain("transaction");
}

test.each(MODES)(
  "a swap that is sized by what another one brought signs nothing while a reorganisation holds that one back (%s)",
  (mode) => {
    const back = tellFirst(quoted(mode), { kind: "reorged" });
    expect(back.swaps.map(({ state }) => state)).toEqual(["submitted", "quoted"]);
    // What it would sell is not there: it would be other strategies' money. Its window is over long ago.
    const result = judge(back, NOW_MS + 86_400_000);
    expectNothingSigned(result);
    expect(result.records).toContainEqual(expect.objectContaining({ kind: "retry", reason: "wallet_busy" }));
    expect(result.effects).toMatchObject([{ effect: { kind: "FetchQuote", swapId: "run_1.1.1" } }]);
  },
);

test.each(MODES)("ends with a reason, its money free, once the other one has ended reverted (%s)", (mode) => {
  const back = tellFirst(quoted(mode), { kind: "reorged" });
  const asked = quote(judge(back).run, mode).run;
  const reverted = tellFirst(asked, { kind: "final", outcome: "reverted" });
  const result = judge(reverted);
  expectNothingSigned(result);
  expect(second(result.run)).toMatchObject({ state: "skipped", reason: "below_minimum_trade" });
  expect(result.records).toContainEqual({ kind: "release", swapId: "run_1.1.1" });
  expect(result.run.state).toBe("failed");
});

test.each(MODES)("sells what is there once the other one brought another amount in another block (%s)", (mode) => {
  const back = tellFirst(quoted(mode), { kind: "reorged" });
  const [first] = back.swaps;
  const receipt = receiptFor({ ...first, quote: quoteSample(first as Swap) } as Swap);
  const mined = tellFirst(back, { kind: "mined", receipt, value: 0n });
  const again = tellFirst(mined, { kind: "confirmed", succeeded: true });
  const amount = again.swaps[0]?.fill?.bought;
  expect(amount).not.toBe(777_000_000n);
  const result = judge(again);
  expectNothingSigned(result);
  expect(second(result.run).gross).toBe(amount);
  expect(result.records).toContainEqual({ kind: "reserve", swapId: "run_1.1.1", token: USDC, amount });
  expect(result.effects).toMatchObject([{ effect: { kind: "FetchQuote", amount: String(amount) } }]);
  expect(second(judge(quote(result.run, mode).run).run).state).toBe("cleared");
});

test("is tried again where its signature was kept back, by a swap with a right of its own, and sells nothing alongside", () => {
  const cleared = judge(quoted("gasless")).run;
  expect(second(cleared).state).toBe("cleared");
  const back = tellFirst(cleared, { kind: "reorged" });
  const result = take(back, { kind: "signing-barred", swapId: "run_1.1.1", detail: "taken back" });
  expect(second(result.run)).toMatchObject({ state: "skipped", reason: "signing_barred" });
  expect(result.records).toContainEqual({ kind: "close-capability", swapId: "run_1.1.1" });
  expect(result.run.swaps[2]).toMatchObject({ id: "run_1.1.2", state: "planned", signatures: undefined, begun: true });
  expect(result.effects).toMatchObject([{ effect: { kind: "FetchQuote", swapId: "run_1.1.2" } }]);
});
