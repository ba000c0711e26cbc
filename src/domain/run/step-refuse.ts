import { minimumFor, type SwapFacts } from "../guard/check-swap.ts";
import { consequenceOf } from "../guard/consequence.ts";
import { DENIALS, type Denial, type DenialCode } from "../guard/denial.ts";
import { slippageGuaranteeing } from "../guard/required-minimum.ts";
import type { Ppm } from "../money/fraction.ts";
import type { Draft } from "./draft.ts";
import type { Evidence } from "./evidence.ts";
import type { Swap } from "./run.ts";
import { askAgain, askForQuote, denySwap, skipSwap } from "./step-quote.ts";

/** Denials of the gasless way alone, where our own transaction may still do. */
const FALLS_BACK: ReadonlySet<DenialCode> = new Set<DenialCode>([
  "PERMIT_UNSUPPORTED",
  "GASLESS_UNTRIED",
  "SWAP_FEE_TOO_HIGH",
  "FEE_CAP_EXCEEDED",
]);

/**
 * A check failed. A minimum that is too low is asked for once more with a tighter slippage; a gasless trouble falls back
 * to our own transaction where that is allowed; for the rest the code's consequence says what follows.
 */
export function refuseSwap(
  draft: Draft,
  swap: Swap,
  { denial, swapFacts }: { readonly denial: Denial; readonly swapFacts: SwapFacts },
  evidence: Evidence,
): void {
  const gasless = swap.mode === "gasless";
  const tighter = denial.code === "OUTPUT_BELOW_MINIMUM" && !swap.tightened ? tighterSlippage(swapFacts) : undefined;
  if (tighter !== undefined) {
    draft.amendSwap(swap.id, { tightened: true });
    askForQuote(draft, swap.id, evidence, { gasless, waitMs: 0, slippagePpm: tighter });
    return;
  }
  if (gasless && swap.gasless === "prefer" && FALLS_BACK.has(denial.code)) {
    askForQuote(draft, swap.id, evidence, { gasless: false, waitMs: 0 });
    return;
  }
  const detail = describe(denial);
  const consequence = consequenceOf(denial.code);
  const passing = consequence === "retry" || consequence === "defer";
  if (passing && askAgain(draft, swap.id, evidence, { reason: denial.code, detail })) return;
  if (consequence === "skip" || consequence === "defer") {
    skipSwap(draft, swap.id, { code: denial.code, detail });
    return;
  }
  denySwap(draft, swap.id, { code: denial.code, detail });
}

function tighterSlippage(swapFacts: SwapFacts): Ppm | undefined {
  const minimum = minimumFor(swapFacts);
  if (minimum === undefined) return undefined;
  const slippage = slippageGuaranteeing(minimum, swapFacts.quote.amountOut);
  return slippage === undefined || slippage >= swapFacts.limits.slippage ? undefined : slippage;
}

/** What was found, what is allowed, and what to do about it. */
function describe({ code, fields }: Denial): string {
  const { subject, value, limit, ...others } = fields;
  const rest = Object.entries(others).map(([name, text]) => `${name} ${text}`);
  const found = subject === undefined ? [] : [`${subject}: ${value ?? "unknown"}, allowed: ${limit ?? "unknown"}`];
  return `${[...found, ...rest].join(", ")}. ${DENIALS[code].whatToDo}`;
}
