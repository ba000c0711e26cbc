import type { ReferencePrice } from "../domain/money/price.ts";
import type { Token } from "../domain/money/token.ts";

/** Why a source gives no price: no guess, no old value. */
export interface PriceMissing {
  readonly missing: "not configured" | "stale" | "invalid" | "unreachable";
  readonly detail: string;
}

/** A source of reference prices that is not the quoting service. */
export interface PriceSource {
  /** The dollar price of one whole token now, or why there is none. Never throws for a bad answer. */
  price(token: Token): Promise<ReferencePrice | PriceMissing>;
}
