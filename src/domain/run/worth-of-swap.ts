import type { ClearanceReading } from "./events.ts";
import type { Evidence } from "./evidence.ts";
import { APPROVAL_GAS, gasUsedOf } from "./gas-limit.ts";
import type { ExpectedSwap, RunRecord } from "./records.ts";
import type { Swap } from "./run.ts";

/** What the swap was worth when every check had passed, and what it would come to by its quote. */
export function worthOf(
  swap: Swap,
  reading: ClearanceReading,
  { nowMs }: Evidence,
): Extract<RunRecord, { kind: "prices" }> {
  const { sellPrice: sold, buyPrice: bought, nativePrice: native } = reading;
  const expected = expectedOf(swap, reading);
  return {
    kind: "prices",
    swapId: swap.id,
    prices: { readAtMs: nowMs, sold, bought, native, expected },
  };
}

function expectedOf({ quote, mode }: Swap, reading: ClearanceReading): ExpectedSwap | undefined {
  const { decoding, head, priorityFee, approval, gasLimit } = reading;
  if (quote === undefined || !decoding.ok) return undefined;
  const { amountOutMin, swapFee, affiliate } = decoding.swap;
  const gas = mode === "gasless" ? 0n : gasUsedOf(gasLimit) + (approval === undefined ? 0n : APPROVAL_GAS);
  return {
    bought: quote.amountOut,
    ...{ amountOutMin, swapFee, affiliateFee: affiliate?.fee ?? 0n },
    gasCost: gas * (head.baseFeePerGas + priorityFee),
    priceImpact: quote.priceImpactPpm,
  };
}
