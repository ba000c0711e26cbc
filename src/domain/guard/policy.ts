import type { Address } from "../money/address.ts";
import type { Ppm } from "../money/fraction.ts";
import type { UsdPrice } from "../money/price.ts";
import { textHash } from "../schedule/text-hash.ts";
import { DAY_MS } from "../time/durations.ts";
import type { DrawdownRule } from "./drawdown.ts";
import type { SimulationMethod } from "./simulation-method.ts";

/** When to ask what selling back would bring, and how much of the amount may be lost on the way. */
export interface RoundTripRule {
  readonly maxLoss: Ppm;
  readonly when: "first-buy" | "always";
}

/** How far back the ceilings of a day and of a month count: of any such stretch, not of a calendar's. */
export const CEILING_WINDOWS_MS = { day: DAY_MS, month: 30 * DAY_MS } as const;

/** The owner's ceilings. A strategy may only be stricter. Values of trades are dollars scaled by 1e18. */
export interface Policy {
  readonly maxTradeUsd: UsdPrice;
  readonly maxPerDayUsd: UsdPrice;
  /** of any 30 days; undefined leaves it to the day's */
  readonly maxPerMonthUsd: UsdPrice | undefined;
  /** smallest trade, undefined when any size is worth it */
  readonly minTradeUsd: UsdPrice | undefined;
  readonly recipients: readonly Address[];
  /** what may be sold and bought */
  readonly tokens: readonly Address[];
  /** contracts that may be approved and signed for */
  readonly spenders: readonly Address[];
  /** wei that stay in the wallet for gas */
  readonly gasReserve: bigint;
  /** wei per gas */
  readonly maxFeePerGas: bigint;
  readonly maxSlippage: Ppm;
  readonly maxPriceImpact: Ppm;
  readonly maxFee: Ppm;
  /** how far below the reference price the signed minimum may lie, every fee included */
  readonly referenceTolerance: Ppm;
  /** how far sources of the reference price may be from each other */
  readonly maxDivergence: Ppm;
  /** tokens that should be worth a dollar, and how far from it they may be */
  readonly pegged: readonly Address[];
  readonly maxDepeg: Ppm;
  /** undefined when the policy does not ask what selling back would bring */
  readonly roundTrip: RoundTripRule | undefined;
  /** whether a gasless order may be signed that could not be simulated, because the service gives no route of it */
  readonly acceptsUntriedGasless: boolean;
  /** how swaps may be simulated before they are signed; not in rows of before */
  readonly trialWays?: readonly SimulationMethod[];
  /** undefined: nothing stops because of what the wallets are worth */
  readonly drawdown: DrawdownRule | undefined;
  readonly pauseAfter: { readonly failures: number; readonly withinSeconds: number };
}

const marks = new WeakMap<Policy, number>();

/**
 * What a policy says, in short: what was checked by another one is checked anew. It is asked for with every signature, and
 * a policy may list hundreds of recipients.
 */
export function policyMark(policy: Policy): number {
  const plain = (_name: string, value: unknown): unknown => (typeof value === "bigint" ? value.toString() : value);
  const mark = marks.get(policy) ?? textHash(JSON.stringify(policy, plain));
  marks.set(policy, mark);
  return mark;
}

/** Rows of before know the one way that there was. */
export function simulationMethodsOf({ trialWays }: Policy): readonly SimulationMethod[] {
  return trialWays ?? ["simulate"];
}
