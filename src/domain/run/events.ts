import type { Decoding, ProposedTransaction } from "../guard/decoded-swap.ts";
import type { SafeVersion } from "../guard/safe-contracts.ts";
import type { SimulationMethod } from "../guard/simulation-method.ts";
import type { PriceFault, RoundTrip, SecondOutput } from "../guard/swap-facts.ts";
import type { Address, Hex } from "../money/address.ts";
import type { ReferencePrice } from "../money/price.ts";
import type { BudgetSpan } from "../strategy/budget.ts";
import type { StrategyView } from "../strategy/decision.ts";
import type { FillReceipt } from "./measure-fill.ts";
import type { SwapProposal, SwapQuote } from "./run.ts";

/** What was read of the world, after a quote, to decide whether it may be signed. One reading, all of it fresh. */
export interface ClearanceReading {
  /** the last swap of the token that had come to its end when the reading began: what ended since it may not know */
  readonly lastFreed: string | undefined;
  readonly sellPrice: ReferencePrice | undefined;
  readonly buyPrice: ReferencePrice | undefined;
  readonly nativePrice: ReferencePrice | undefined;
  /** why a price is missing */
  readonly priceFaults: readonly PriceFault[];
  /** undefined where no second service is configured */
  readonly secondOutput: SecondOutput | undefined;
  /** undefined where no round trip is asked for */
  readonly roundTrip: RoundTrip | undefined;
  readonly head: { readonly number: number; readonly timestampSeconds: number; readonly baseFeePerGas: bigint };
  /** the block from which the fill is looked for: a fork may put it as low, and above it nothing else is taken for it */
  readonly fillFrom: number;
  /** what left the wallet in a block that is not final, and could pass for the fill; absent without, and in rows of before */
  readonly inTheWay?: { readonly hash: Hex; readonly block: number; readonly finalized: number } | undefined;
  readonly priorityFee: bigint;
  readonly balance: bigint;
  readonly nativeBalance: bigint;
  /** the decoded nonce is used on the chain; undefined where signatures carry none */
  readonly nonceUsed: boolean | undefined;
  /** what the pinned spender may take of the sold token already */
  readonly allowance: bigint;
  /** only where the signature to be made carries no nonce, so that the allowance alone bounds how often it is executed */
  readonly standing: StandingAllowance | undefined;
  /** the typed data (gasless) or the calldata (self-executed), decoded by the pinned decoder */
  readonly decoding: Decoding;
  readonly transaction: ProposedTransaction | undefined;
  readonly simulation: SimulationReading;
  /** gas of the swap as we measured it, with our margin; zero when it could not be measured */
  readonly gasLimit: bigint;
  /** what a rollup charges for the data of our own transactions, wei; absent where it charges nothing, and in rows of before */
  readonly dataFee?: bigint | undefined;
  /** the approval that must come first, undefined when none is needed */
  readonly approval:
    | { readonly to: Address; readonly data: Hex; readonly amount: bigint; readonly gasLimit: bigint }
    | undefined;
  /** what would be signed, gasless only */
  readonly signing: SigningMaterial | undefined;
  /** where the wallet is a Safe: what its owners would be asked for; `signing` has its text */
  readonly proposal?: ProposalReading | undefined;
  /** the token's permit cannot be built and the allowance does not suffice */
  readonly permitProblem: string | undefined;
  /** the bounds of the strategy's budget when the reading was made; absent without any, and in rows of before */
  readonly budget?: readonly BudgetSpan[] | undefined;
}

/** The Safe as it was read, or why it is none that is known. */
export type ProposalReading =
  | { readonly kind: "unknown-safe"; readonly problem: string }
  | {
      readonly kind: "built";
      readonly version: SafeVersion;
      /** the Safe's next nonce at the newest block */
      readonly nextNonce: bigint;
      /** the one that it would be proposed with */
      readonly nonce: bigint;
      readonly isBoundToNonce: boolean;
      /** at a final block */
      readonly since: SwapProposal["since"];
      readonly isAllowed: boolean;
    };

/** What the pinned spender may take of the sold token, or may be able to once more after a reorganisation. */
export interface StandingAllowance {
  /** the most that any endpoint shows, at the newest block and at the final one */
  readonly highest: bigint;
  /** the block that all endpoints call final; seconds since 1970 */
  readonly finalized: { readonly number: number; readonly timestamp: number };
}

/** Result of trying the exact transactions on top of the latest block. `way` is absent in rows of before: `simulate`. */
export type SimulationReading =
  | { readonly kind: "not-applicable" }
  | {
      readonly kind: "ok";
      readonly way?: SimulationMethod | undefined;
      readonly gasUsed: bigint;
      readonly transfers: readonly { token: Address; from: Address; to: Address; amount: bigint }[];
      readonly approvals: readonly { token: Address; owner: Address; spender: Address; amount: bigint }[];
    }
  | { readonly kind: "reverted"; readonly way?: SimulationMethod | undefined; readonly reason: string }
  | { readonly kind: "unavailable"; readonly reason: string };

/** Typed data rebuilt from decoded fields and pinned types, with its digest. `typedData` is canonical JSON. */
export interface SigningMaterial {
  readonly swap: { readonly typedData: string; readonly digest: Hex };
  readonly permit:
    | { readonly typedData: string; readonly digest: Hex; readonly deadlineSeconds: number; readonly value: bigint }
    | undefined;
}

/** What the chain (and, as a hint, the service) shows of a gasless swap. */
export interface GaslessObservation {
  readonly latest: { readonly number: number; readonly timestampSeconds: number };
  readonly finalized: { readonly number: number; readonly timestampSeconds: number };
  /** the fill as seen up to the latest block; undefined when there is none */
  readonly fill: FillReceipt | undefined;
  /**
   * Where there is no fill: true once a finalised block shows that the nonce was cancelled, false while it is unused,
   * undefined where neither is proved, or signatures carry no nonce.
   */
  readonly nonceUsed: boolean | undefined;
  /** at the finalised block */
  readonly allowance: bigint;
  readonly serviceStatus: string | undefined;
  /**
   * without a nonce: the sold token left the wallet, not as the order signed it, and this was not explained or accepted
   */
  readonly isUnexplained?: boolean;
  /**
   * without a nonce, where a node may have hidden the fill and the wallet's balance does not show it: by which endpoints
   * its transfers are not listed
   */
  readonly unlistedBy?: readonly string[];
  /** what the allowance that is left is taken back with, or what speaks against it now; absent where nobody looked */
  readonly revocation?: { readonly gasLimit: bigint } | { readonly barred: string } | undefined;
}

/**
 * Why a quote could not be checked against the world: the nodes, the service that was to build the transaction or quote the
 * way back, or this machine's clock.
 */
export type FactsFault = "node" | "service" | "clock";

/** Everything that can happen to a run. */
export type RunEvent =
  | { readonly kind: "started" }
  | { readonly kind: "view-read"; readonly view: StrategyView }
  | { readonly kind: "view-unavailable"; readonly detail: string }
  | { readonly kind: "quoted"; readonly swapId: string; readonly quote: SwapQuote; readonly gasless: boolean }
  | {
      readonly kind: "quote-refused";
      readonly swapId: string;
      readonly gasless: boolean;
      readonly code: string;
      readonly message: string;
      readonly retryable: boolean;
    }
  | { readonly kind: "facts-read"; readonly swapId: string; readonly reading: ClearanceReading }
  | {
      readonly kind: "facts-unavailable";
      readonly swapId: string;
      readonly cause: FactsFault;
      readonly detail: string;
    }
  /** isLate: it was allowed, and no signature came before its order ended */
  | { readonly kind: "signing-barred"; readonly swapId: string; readonly detail: string; readonly isLate?: true }
  | {
      readonly kind: "signed-gasless";
      readonly swapId: string;
      /** undefined where a proposal leaves without one */
      readonly swapSignature: Hex | undefined;
      readonly permitSignature: Hex | undefined;
    }
  | { readonly kind: "submission-accepted"; readonly swapId: string; readonly serviceSwapId: string | undefined }
  | {
      readonly kind: "submission-unknown";
      readonly swapId: string;
      readonly detail: string;
      /** nothing was ever handed over: there are signatures, and only the chain can know that nothing came of them */
      readonly isUnsent?: boolean;
    }
  /** the place of a Safe's proposals did not take one, as far as is known */
  | { readonly kind: "proposal-undelivered"; readonly swapId: string; readonly detail: string }
  | { readonly kind: "observed"; readonly swapId: string; readonly observation: GaslessObservation }
  | { readonly kind: "observation-unavailable"; readonly swapId: string; readonly detail: string }
  | {
      readonly kind: "transaction";
      readonly swapId: string;
      readonly intentId: string;
      readonly change: TransactionChange;
    }
  | {
      readonly kind: "route-read";
      readonly swapId: string;
      readonly distributions: string | undefined;
      readonly serviceRecord: string | undefined;
    };

/** The receipt of a success, as it is read then: logs that were left out before may be there. Not in rows of before. */
interface ReceiptAgain {
  readonly receipt?: FillReceipt;
  /** wei that the transaction sent along */
  readonly value?: bigint;
}

/** What a lane reports of a transaction of ours. */
export type TransactionChange =
  | { readonly kind: "signed"; readonly hash: Hex }
  | { readonly kind: "broadcast"; readonly hash: Hex }
  | { readonly kind: "mined"; readonly receipt: FillReceipt; readonly value: bigint }
  | ({ readonly kind: "confirmed"; readonly succeeded: boolean } & ReceiptAgain)
  | ({
      readonly kind: "final";
      readonly outcome: "succeeded" | "reverted" | "cancelled";
      /** an empty transaction of ours has its nonce for good, because no private endpoint brought it into a block */
      readonly keptBack?: true;
      /** it was cancelled on a person's request */
      readonly byPerson?: true;
    } & ReceiptAgain)
  | { readonly kind: "reorged" }
  /** nothing was signed; `byPerson`: on a person's request, so it is not tried again */
  | { readonly kind: "dropped"; readonly reason: string; readonly byPerson?: boolean };
