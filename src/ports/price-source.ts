import type { Address } from "../domain/money/address.ts";
import type { Ppm } from "../domain/money/fraction.ts";
import type { ReferencePrice } from "../domain/money/price.ts";
import type { Token } from "../domain/money/token.ts";

/**
 * Why a source gives no price: no guess, no old value. `divergent` are several sources that contradict each other;
 * `sequencer down` is a rollup on which nothing can be traded fairly yet, whatever its feeds say.
 */
export interface PriceMissing {
  readonly missing: "not configured" | "stale" | "invalid" | "unreachable" | "divergent" | "sequencer down";
  readonly detail: string;
}

/** A source of reference prices that is not the quoting service. */
export interface PriceSource {
  /** The dollar price of one whole token now, or why there is none. Never throws for a bad answer. */
  price(token: Token): Promise<ReferencePrice | PriceMissing>;
}

/** What an amount of one token would be exchanged for. */
export interface OutputRequest {
  readonly sell: Token;
  readonly buy: Token;
  readonly amount: bigint;
  readonly slippage: Ppm;
  readonly owner: Address;
  readonly recipient: Address;
}

/** A second swap service, asked for the very swap that the first one quoted. */
export interface OutputSource {
  /** The output that it would give now, or why it does not say. Never throws for a bad answer. */
  output(request: OutputRequest): Promise<{ readonly amountOut: bigint; readonly source: string } | PriceMissing>;
}
