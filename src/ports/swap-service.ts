import type {
  DecodedSwap,
  Decoding,
  PinnedSettlement,
  ProposedTransaction,
  RouteLeg,
} from "../domain/guard/decoded-swap.ts";
import type { ServicePromises } from "../domain/guard/service-promises.ts";
import type { ContractRole } from "../domain/guard/swap-contracts.ts";
import type { TypedData } from "../domain/guard/typed-data.ts";
import type { Address, Hex } from "../domain/money/address.ts";
import type { Ppm } from "../domain/money/fraction.ts";
import type { Affiliate } from "../domain/strategy/common.ts";
import type { ChainLog } from "./chain.ts";
import type { OutputRequest } from "./price-source.ts";

/** A request for a firm quote. `amount` is gross: all fees come out of it. */
export interface QuoteRequest extends OutputRequest {
  readonly gasless: boolean;
  readonly enableRfq: boolean;
  readonly affiliate: Affiliate | undefined;
}

/** A quote as the service gave it. Nothing in it is believed until the guard bound it. */
export interface Quote {
  readonly id: string;
  readonly amountOut: bigint;
  /** the contract that acts, where the service names it with the quote */
  readonly targetAddress: Address | undefined;
  /** whom the service wants to be approved, where it names one besides the target */
  readonly spender?: Address | undefined;
  /** undefined when the service sent none */
  readonly typedData: TypedData | undefined;
  /** gas in wei of the native token, as the service estimates it; other fees as text */
  readonly fees: readonly { readonly type: string; readonly value: string }[];
  readonly gasLimit: bigint | undefined;
  /** execution against spot price, undefined when the service does not say */
  readonly priceImpact: Ppm | undefined;
  /** Unix seconds, undefined when the service does not say */
  readonly expiresAtSeconds: number | undefined;
  readonly blockNumber: number | undefined;
  readonly receivedAtMs: number;
}

/** Why a service gave no answer to work with. `retryable` says that the same question may be asked again later. */
export interface ServiceRefusal {
  readonly kind: "refused";
  readonly code: string;
  readonly message: string;
  readonly status: number | undefined;
  readonly retryable: boolean;
}

/** What came of handing over a gasless swap. It may still land, unless it was not sent: then the service knows nothing of it. */
export type SubmissionOutcome =
  | { readonly kind: "accepted"; readonly serviceSwapId: string | undefined; readonly hash: Hex | undefined }
  | { readonly kind: "unknown"; readonly detail: string }
  | { readonly kind: "not-sent"; readonly detail: string };

/** The service's own record of a swap; a hint, never evidence. */
export interface ServiceSwapRecord {
  /** in lower case */
  readonly status: string;
  readonly hash: Hex | undefined;
  readonly raw: Readonly<Record<string, unknown>>;
}

/**
 * A fill as the settlement contract's event reports it; amounts in smallest units. `sold` is with all fees and without what
 * came back to the owner, which older settlements count in it.
 */
export interface RecordedFill {
  readonly nonce: bigint;
  readonly sell: Address;
  readonly buy: Address;
  readonly sold: bigint;
  readonly bought: bigint;
}

/** How a contract's own record of a nonce is read, and with it the fills of an owner. */
export interface NonceRecord {
  /** which of the contracts keeps it */
  readonly at: ContractRole;
  /** calldata for it, whose answer `isUsed` reads */
  usedCall(owner: Address, nonce: bigint): Hex;
  /** @throws ChainReadError for what the contract never answers, as of a node that does not have it yet */
  isUsed(answer: Hex): boolean;
  /** find the event of the fill; the first two alone find those of all nonces of the owner */
  fillTopics(owner: Address, nonce: bigint): readonly (Hex | null)[];
  /** find the event of a cancellation: a used nonce has one of the two */
  cancelTopics(owner: Address, nonce: bigint): readonly (Hex | null)[];
  /** What the event of a fill reports: amounts gross, nonce zero where the transaction was the owner's own. */
  readFill(log: ChainLog): RecordedFill | undefined;
}

/** What a kind of service promises, and how its signatures and calldata are read. Pure; nothing here asks a network. */
export interface ServiceProfile extends ServicePromises {
  /** requests per second the service is expected to announce */
  readonly expectedLimits: { readonly keyless: number; readonly keyed: number };
  /** Reads and checks the typed data against the pinned type strings and domain. */
  decodeTypedData(typedData: TypedData, pinned: PinnedSettlement): Decoding;
  /** Reads calldata with the pinned decoder. */
  decodeTransaction(transaction: ProposedTransaction, pinned: PinnedSettlement): Decoding;
  /** undefined where signatures carry no nonce: then a fill is an outflow of the sold token that nothing else explains */
  readonly nonceRecord: NonceRecord | undefined;
  /**
   * Calldata with which the owner could execute a gasless order himself, over the route that the service gives: only
   * ever simulated, never signed or sent. Undefined where the service gives no route.
   */
  readonly simulationOfOrder: ((swap: DecodedSwap, route: readonly RouteLeg[]) => Hex) | undefined;
  /** Builds the typed data to sign from bound fields and pinned types alone. */
  typedData(swap: DecodedSwap, pinned: PinnedSettlement): TypedData;
}

/** A gasless swap to submit: exactly what was journaled. */
export interface Submission {
  readonly quoteId: string;
  readonly swapSignature: Hex;
  /** undefined when the allowance already suffices */
  readonly permitSignature: Hex | undefined;
  readonly permitDeadlineSeconds: number | undefined;
}

/** A swap aggregation service, spoken to over HTTP. */
export interface SwapService {
  readonly profile: ServiceProfile;
  quote(request: QuoteRequest): Promise<Quote | ServiceRefusal>;
  transaction(quoteId: string): Promise<ProposedTransaction | ServiceRefusal>;
  /** The route of a gasless quote, for trying its order out. Only asked where the profile can use it. */
  orderRoute(quoteId: string): Promise<readonly RouteLeg[] | ServiceRefusal>;
  /**
   * Sends once. An answer other than a clear acceptance is `unknown`: the chain decides. A call may wait for minutes, so
   * `heldBack` is asked at the instant of sending: a reason keeps the swap here, and is the detail of `not-sent`.
   */
  executeSwap(submission: Submission, heldBack: () => Promise<string | undefined>): Promise<SubmissionOutcome>;
  swapRecord(query: { quoteId: string; hash: Hex | undefined }): Promise<ServiceSwapRecord | ServiceRefusal>;
  statusCounts(wallet: Address): Promise<Readonly<Record<string, number>> | ServiceRefusal>;
  /** The route of a quote as the service reports it, as canonical JSON text, for the record. */
  distributions(quoteId: string): Promise<string | ServiceRefusal>;
}
