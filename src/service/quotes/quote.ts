import type { Address } from "../../domain/money/address.ts";
import type { Hop } from "../routing/plan.ts";
import type { SwapOrder, WireTypedData } from "../settlement/order.ts";

/** Shares of an affiliate and slippages are parts of this: exact for every decimal a caller may write. */
export const ONE = 10n ** 18n;

/** A request for a quote, checked for its form. `amount` is gross, in the smallest unit of `from`. */
export interface QuoteRequest {
  readonly from: Address;
  readonly to: Address;
  readonly amount: bigint;
  /** parts of {@link ONE} */
  readonly slippage: bigint;
  /** absent: the quote is indicative */
  readonly owner: Address | undefined;
  readonly recipient: Address | undefined;
  readonly gasless: boolean;
  /** `share` in parts of {@link ONE} */
  readonly affiliate: { readonly address: Address; readonly share: bigint } | undefined;
  /** kinds of pools that may be used; undefined: all */
  readonly sources: ReadonlySet<string> | undefined;
}

/** A quote as it was given. Amounts in the smallest unit of their token. */
export interface Quote {
  readonly id: string;
  readonly createdAtMs: number;
  /** Unix seconds; from then on the quote cannot be used */
  readonly expiresAtSeconds: number;
  /** block whose state the quote stands on */
  readonly blockNumber: number;
  readonly gasless: boolean;
  /** undefined: indicative */
  readonly owner: Address | undefined;
  /** the only account that may bring the order: the owner, or the relayer of a gasless quote */
  readonly sender: Address | undefined;
  /** the public router whose pools it goes through; undefined: our settlement, or quotes of earlier releases */
  readonly router: Address | undefined;
  readonly order: SwapOrder;
  readonly amountOut: bigint;
  readonly legs: readonly Hop[];
  readonly gasLimit: bigint;
  /** what of the used gas the chain is expected to give back at the end */
  readonly gasRefund: bigint;
  /** wei of the native token that gas, and data where the network charges for it, are expected to cost */
  readonly gasCost: bigint;
  /** parts per million of the output at spot prices that the trade's size costs, rounded up */
  readonly priceImpactPpm: bigint;
  /** what to sign with the order, when the allowance does not suffice */
  readonly permit: WireTypedData | undefined;
}
