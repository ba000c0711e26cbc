import { type DenialCode, isDenialCode } from "./denial.ts";

/**
 * What a failed check means for the swap. Nothing is signed in any case.
 * - `fail`: something is wrong; the swap is denied, its run fails, and a person is notified;
 * - `retry`: may be a matter of the moment; asked again inside the window, and denied if it stays;
 * - `defer`: not now; asked again inside the window, and skipped if it stays;
 * - `skip`: not at this slot; the swap is skipped.
 */
export type Consequence = "fail" | "retry" | "defer" | "skip";

/** Codes that are not listed fail. */
const MILDER: Partial<Readonly<Record<DenialCode, Consequence>>> = {
  QUOTE_EXPIRED: "retry",
  SIMULATION_REVERTED: "retry",
  SIMULATION_UNAVAILABLE: "retry",
  OUTPUT_BELOW_MINIMUM: "retry",
  DEADLINE_OUT_OF_BOUNDS: "retry",
  ANSWER_TOO_LARGE: "retry",
  ANSWER_NOT_JSON: "retry",
  ANSWER_MALFORMED: "retry",
  PRICE_LIMIT_NOT_MET: "defer",
  PRICE_IMPACT_TOO_HIGH: "defer",
  FEE_CAP_EXCEEDED: "defer",
  GAS_PRICE_TOO_HIGH: "defer",
  REFERENCE_MISSING: "defer",
  REFERENCE_DIVERGES: "defer",
  STABLECOIN_DEPEGGED: "defer",
  SEQUENCER_DOWN: "defer",
  BUDGET_EXCEEDED: "defer",
  TRADE_TOO_SMALL: "skip",
  DAILY_CAP_EXCEEDED: "skip",
  MONTHLY_CAP_EXCEEDED: "skip",
  BALANCE_TOO_LOW: "skip",
  GAS_RESERVE_TOO_LOW: "skip",
};

/** Of the codes that can end a run failed, those that say that a node, the service or a price was not there in time. */
const FOR_WANT_OF_ANSWERS: ReadonlySet<DenialCode> = new Set<DenialCode>([
  "SIMULATION_UNAVAILABLE",
  "QUOTE_EXPIRED",
  "REFERENCE_MISSING",
  "SEQUENCER_DOWN",
  // A page of a proxy, or an unreadable answer: the service was not there, whatever the reason.
  "ANSWER_TOO_LARGE",
  "ANSWER_NOT_JSON",
  "ANSWER_MALFORMED",
]);

/** Ends of runs that say nothing about their strategy: they are no failures of it. */
export const NO_FAILURES: readonly string[] = [...FOR_WANT_OF_ANSWERS];

/** What a failed check with this code means. */
export function consequenceOf(code: DenialCode): Consequence {
  return MILDER[code] ?? "fail";
}

/** Whether a swap that a failed check ends for good with this code is denied, rather than skipped; false for other words. */
export function denies(code: string): boolean {
  if (!isDenialCode(code)) return false;
  const consequence = consequenceOf(code);
  return consequence === "fail" || consequence === "retry";
}
