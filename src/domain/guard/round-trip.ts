import { formatPercent, ONE_PPM } from "../money/fraction.ts";
import type { Check } from "./check.ts";
import type { SwapFacts } from "./swap-facts.ts";

/**
 * What would be lost by selling back at once what is bought: fees and impact of both ways, and all that a token takes
 * from those who sell it. No check where the policy asks for none, or this is no first buy.
 */
export function roundTripChecks(facts: Pick<SwapFacts, "roundTrip" | "limits">): Check[] {
  const { roundTrip, limits } = facts;
  const limit = limits.maxRoundTripLoss;
  if (roundTrip === undefined || limit === undefined) return [];
  const loss = roundTrip.kind === "returned" ? lossOf(roundTrip) : ONE_PPM;
  const value = roundTrip.kind === "returned" ? formatPercent(loss) : `cannot be sold: ${roundTrip.reason}`;
  return [
    {
      code: "ROUND_TRIP_LOSS",
      subject: "loss of buying and selling back",
      value,
      limit: `at most ${formatPercent(limit)}`,
      ok: roundTrip.kind === "returned" && loss <= limit,
    },
  ];
}

/** Rounded up; a round trip that gains has no loss. */
function lossOf({ sold, returned }: { sold: bigint; returned: bigint }): bigint {
  if (sold <= 0n) return ONE_PPM;
  return returned >= sold ? 0n : ((sold - returned) * ONE_PPM + sold - 1n) / sold;
}
