import type { Check } from "../guard/check.ts";
import type { Address, Hex } from "../money/address.ts";
import type { ReferencePrice } from "../money/price.ts";
import type { Token } from "../money/token.ts";
import type { StrategyPause } from "../strategy/decision.ts";
import type { Alert } from "./alert.ts";
import type { Hold } from "./hold.ts";
import type { RunState, SwapState } from "./states.ts";

/** One move of a machine, written down for ever. `from` is undefined for the first. */
export interface Transition {
  readonly subject: "run" | "swap";
  readonly subjectId: string;
  readonly from: RunState | SwapState | undefined;
  readonly to: RunState | SwapState;
  readonly reason: string | undefined;
  readonly detail: string | undefined;
}

/** A transaction that a lane is asked for, in the same commit as the step that asks. */
export interface TransactionRequest {
  readonly id: string;
  readonly purpose: "swap" | "approve" | "revoke";
  readonly to: Address;
  readonly data: Hex;
  readonly value: bigint;
  readonly gasLimit: bigint;
  readonly maxFeePerGasCap: bigint;
  readonly signBySeconds: number;
  readonly deadlineSeconds: number | undefined;
}

/** What a swap was worth when it was cleared for signing, for accounting in dollars. */
export interface PriceEvidence {
  readonly readAtMs: number;
  readonly sold: ReferencePrice | undefined;
  readonly bought: ReferencePrice | undefined;
  /** of the coin that pays for gas */
  readonly native: ReferencePrice | undefined;
  /** absent in rows of before it was kept */
  readonly expected?: ExpectedSwap | undefined;
}

/** What a swap would come to by its quote. Amounts in smallest units, gas in wei. */
export interface ExpectedSwap {
  readonly bought: bigint;
  readonly amountOutMin: bigint;
  /** what the service and the affiliate keep: of the sold token */
  readonly swapFee: bigint;
  readonly affiliateFee: bigint;
  /** with that of an approval where one comes first, without what a rollup charges for data */
  readonly gasCost: bigint;
  /** parts per million; undefined where the service does not say */
  readonly priceImpact: bigint | undefined;
}

/** Rows that a step writes together with its states. All of them are committed together or not at all. */
export type RunRecord =
  | { readonly kind: "memory"; readonly memory: string }
  /** the strategy starts no further run until a person resumes it */
  | { readonly kind: "pause"; readonly pause: StrategyPause }
  | { readonly kind: "reserve"; readonly swapId: string; readonly token: Token; readonly amount: bigint }
  | { readonly kind: "value"; readonly swapId: string; readonly usd: bigint }
  | { readonly kind: "spend"; readonly swapId: string; readonly amount: bigint }
  | { readonly kind: "unspend"; readonly swapId: string; readonly amount: bigint }
  | { readonly kind: "release"; readonly swapId: string }
  | {
      readonly kind: "open-capability";
      readonly swapId: string;
      readonly wallet: Address;
      readonly token: Address;
      readonly spender: Address;
      readonly untilSeconds: number | undefined;
    }
  | { readonly kind: "close-capability"; readonly swapId: string }
  | { readonly kind: "grant"; readonly wallet: Address; readonly token: Address; readonly spender: Address }
  | {
      readonly kind: "intend-signature";
      readonly swapId: string;
      readonly purpose: "swap" | "permit";
      readonly digest: Hex;
      /** canonical JSON of the typed data */
      readonly typedData: string;
      readonly validUntilSeconds: number;
    }
  | { readonly kind: "signature"; readonly digest: Hex; readonly signature: Hex }
  | { readonly kind: "transaction"; readonly request: TransactionRequest }
  | { readonly kind: "checks"; readonly swapId: string; readonly checks: readonly Check[] }
  | { readonly kind: "prices"; readonly swapId: string; readonly prices: PriceEvidence }
  | {
      readonly kind: "route";
      readonly swapId: string;
      readonly distributions: string | undefined;
      readonly serviceRecord: string | undefined;
    }
  /** the run waits for a person */
  | { readonly kind: "hold"; readonly hold: Hold }
  /** a question that came to nothing is asked again: about a swap, or about the run before it has swaps */
  | {
      readonly kind: "retry";
      readonly about: string | undefined;
      readonly reason: string;
      readonly detail: string;
      readonly nextMs: number;
    }
  | ({ readonly kind: "alert" } & Alert);
