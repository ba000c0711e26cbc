import type { Ppm } from "../money/fraction.ts";
import type { Token } from "../money/token.ts";
import type { StrategyCommon } from "./common.ts";
import type { PairPrice } from "./pair-price.ts";

/** On which side of a level the price has to be. */
export type Side = "above" | "below";

/**
 * What a leg waits for.
 * - `cross`: the price comes from the other side of a level and reaches it;
 * - `level`: the price is on that side, wherever it came from;
 * - `limit`: as `level`, once, and it is filled at this price net of all fees or better;
 * - `trail`: the price falls by a share from the highest one that was confirmed since the leg is active.
 */
export type Trigger =
  | { readonly kind: "cross" | "level" | "limit"; readonly side: Side; readonly price: PairPrice }
  | { readonly kind: "trail"; readonly share: Ppm; readonly activateAt: PairPrice | undefined };

/** The worst price of a fill: a share away from the trigger, one step further with each unmet attempt, or fixed. */
export type LegFloor = { readonly steps: readonly Ppm[] } | { readonly price: PairPrice };

/** One trigger with what it sells. */
export interface ThresholdLeg {
  /** lasts for ever: the leg's memory hangs on it */
  readonly id: string;
  /** a filled `only` leg that is not armed again ends the whole strategy; `level`s of a ladder each fire once */
  readonly role: "only" | "level";
  readonly trigger: Trigger;
  /** the condition has to hold for so long, and in so many checks */
  readonly confirm: { readonly forSeconds: number; readonly samples: number };
  /** a fixed amount, or a share: of the original allocation in a ladder, else of what is left of the allocation or free */
  readonly amount: { readonly raw: bigint } | { readonly share: Ppm };
  readonly floor: LegFloor | undefined;
  readonly ifAlreadyTrue: "wait" | "fire";
  /** what follows from a crossing that happened between two checks */
  readonly onMissed: "fire-if-still-true" | "ignore";
  /** undefined: fires once in its life. `times` limits how often it is armed again. */
  readonly rearm:
    | {
        readonly price: PairPrice | undefined;
        readonly cooldownSeconds: number;
        readonly times: number | undefined;
      }
    | undefined;
}

/** Swaps one token for another once a price gets somewhere. */
export interface ThresholdSpec extends StrategyCommon {
  readonly kind: "threshold";
  readonly sell: Token;
  readonly buy: Token;
  /** the token whose price is watched, and the one that the price is given in: the two of the pair */
  readonly watch: Token;
  readonly quote: Token;
  /** in the order of the file; all of them sell the same allocation, and one at a time */
  readonly legs: readonly ThresholdLeg[];
  /** what all legs together may sell: an amount, what is free at the first sale, or undefined for no such bound */
  readonly allocation: { readonly raw: bigint } | "free" | undefined;
  /** a share is not sold below this, in the sold token's smallest unit; absent: whatever is there */
  readonly minFill?: bigint | undefined;
  /** a longer time without a check of the price is one in which crossings may have been missed */
  readonly maxGapSeconds: number;
  /** a trigger is given back after so many attempts of which something was signed and that came to nothing */
  readonly attempts: number;
  /** the strategy begins nothing after this instant, Unix milliseconds */
  readonly untilMs: number | undefined;
}
