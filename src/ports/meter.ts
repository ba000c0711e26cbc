/** Where a request went. */
export type RequestTarget = "node" | "service" | "channel" | "safe" | "signer";

/** What became of a slot's instant: its run began, or it was passed over for a reason. */
export type MeteredSlot = { readonly strategy: string } & (
  | { readonly kind: "begun"; readonly delayMs: number }
  | { readonly kind: "passed"; readonly count: number; readonly reason: string }
);

/** A swap that was filled, in dollars (1e-18) of its decision where prices of it are known. */
export interface MeteredFill {
  readonly strategy: string;
  readonly sell: string;
  readonly buy: string;
  readonly mode: "self-executed" | "gasless";
  readonly soldUsd: bigint | undefined;
  /** what the service, its relayer and the affiliate kept */
  readonly feeUsd: bigint | undefined;
  readonly gasUsd: bigint | undefined;
  /** parts per million that were received more than quoted; negative: less */
  readonly againstQuotePpm: bigint | undefined;
  /** the same against the reference prices of the decision, fees of the service included */
  readonly againstReferencePpm: bigint | undefined;
}

/** Counts what happens, for who watches from outside. It is called after the rows are written, never throws and delays nothing. */
export interface Meter {
  slot(slot: MeteredSlot): void;
  runEnded(run: { readonly strategy: string; readonly state: string; readonly reason: string | undefined }): void;
  filled(fill: MeteredFill): void;
  /** `result` is the class of the status (`2xx`), or why there was no answer. */
  requested(request: {
    readonly to: RequestTarget;
    readonly host: string;
    readonly result: string;
    readonly ms: number;
  }): void;
  /** A call waited for its turn under a service's rate limit. */
  waited(wait: { readonly host: string; readonly ms: number }): void;
}
