/**
 * What is to be done outside, as versioned data. An effect is committed with the step that asked for it, performed
 * afterwards, and its answer is the next event. Each may be performed again after a kill, except handing over a gasless
 * swap, which counts its attempts.
 */
export type Effect =
  | { readonly kind: "ReadView" }
  | {
      readonly kind: "FetchQuote";
      readonly swapId: string;
      /** gross amount, smallest unit, decimal text */
      readonly amount: string;
      readonly gasless: boolean;
      /** parts per million, decimal text */
      readonly slippagePpm: string;
    }
  | { readonly kind: "ReadFacts"; readonly swapId: string }
  | { readonly kind: "SignGasless"; readonly swapId: string }
  | { readonly kind: "SubmitGasless"; readonly swapId: string }
  | { readonly kind: "ReadChain"; readonly swapId: string }
  | {
      readonly kind: "FetchRoute";
      readonly swapId: string;
      /** the quote's route, which services forget soon, or the service's record of the fill */
      readonly what: "route" | "record";
    };

/** Version of the payloads above, stored with each row. */
export const EFFECT_VERSION = 1;

/** An effect with the instant before which it must not be performed (Unix milliseconds). */
export interface EffectRequest {
  readonly effect: Effect;
  readonly notBeforeMs: number;
}
