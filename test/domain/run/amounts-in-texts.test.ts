import { expect, test } from "vitest";
import { toPpm } from "../../../src/domain/money/fraction.ts";
import { proceedsBarred } from "../../../src/domain/run/proceeds.ts";
import { unsettledAllowance } from "../../../src/domain/run/reading-to-facts.ts";
import type { Swap } from "../../../src/domain/run/run.ts";
import { step } from "../../../src/domain/run/step.ts";
import { evidenceSample, HUNDRED_USDC, runSample, USDC, WBTC, WETH } from "../../support/builders.ts";
import { readingFor, receiptFor, swapIn } from "../../support/reading-samples.ts";

// What people read of a run speaks in their units, with every digit where fewer would make two amounts look the same.

test("a fill that is measured once more says what was sold and bought, and what it said before", () => {
  const confirmed = swapIn("confirmed");
  const { fill, buy, gross } = confirmed as Swap & { fill: NonNullable<Swap["fill"]> };
  const before = { ...fill, sold: (gross ?? 0n) - 1n, bought: 41_234_567_890_123_456n };
  const change = { kind: "final", outcome: "succeeded", receipt: receiptFor(confirmed), value: 0n } as const;
  const run = runSample({ state: "filled", swaps: [{ ...confirmed, fill: before }] });
  const event = { kind: "transaction", swapId: confirmed.id, intentId: confirmed.intentId ?? "", change } as const;
  const { transitions } = step(run, event, evidenceSample());
  expect(buy).toBe(WETH);
  expect(transitions.at(-1)?.detail).toMatch(
    /^measured once more: sold 100 USDC instead of 99\.9999 USDC, bought [\d.]+ WETH instead of 0\.0412345 WETH$/,
  );
});

test("an allowance that two nodes state differently is told in the sold token", () => {
  const swap = swapIn("quoted", { mode: "gasless" });
  const reading = readingFor(swap, { allowance: 0n, standing: { highest: 2n * HUNDRED_USDC } as never });
  expect(unsettledAllowance(swap, reading)).toMatch(/^the allowance is 0 USDC by the newest answer, and 200 USDC by /);
});

test("a size that earlier swaps do not allow any more is told in the sold token", () => {
  const first = swapIn("confirmed", { sell: WETH, buy: USDC, gross: 10n ** 18n, mode: "self-executed" });
  const fill = { ...first.fill, bought: 776_900_000n } as NonNullable<Swap["fill"]>;
  const planned = { kind: "proceeds", of: [0], base: 0n, share: toPpm(1_000_000), min: 1n, max: 10n ** 12n } as const;
  const own = { id: "run_1.1.1", position: 1, begun: true, gross: 777_000_000n, planned };
  const second = swapIn("quoted", { ...own, sell: USDC, buy: WBTC });
  expect(proceedsBarred(runSample({ swaps: [{ ...first, fill }, second] }), second)).toBe(
    "it would sell 777 USDC, and what earlier swaps brought allows 776.9 USDC",
  );
});
