import type { Policy } from "../guard/policy.ts";
import type { PinnedContracts } from "../guard/swap-contracts.ts";
import type { Address } from "../money/address.ts";
import type { Ppm } from "../money/fraction.ts";
import type { BudgetCount } from "../strategy/budget.ts";
import type { StrategySpec } from "../strategy/spec.ts";
import type { StrategyMemory } from "../strategy/strategy.ts";
import type { Hold } from "./hold.ts";

/**
 * What the rows say of a swap whose reading came, and of what other swaps reserve. Amounts in smallest units, dollars
 * scaled by 1e18; none of them counts this swap.
 */
export interface LedgerEvidence {
  /** another swap, approval or revocation of the wallet and the sold token is open */
  readonly isTokenBusy: boolean;
  /** the last swap of the wallet and the sold token that could take it and came to its end */
  readonly lastFreed: string | undefined;
  /** typed data with the digest of the reading's permit was written down to be signed, by whichever swap */
  readonly isPermitIntended: boolean;
  /** the same of the order, or of a proposal, itself; absent where not, and in rows of before */
  readonly isOrderIntended?: true | undefined;
  /** another swap of the wallet was bound to the nonce that was decoded */
  readonly isNonceOfOther: boolean;
  /** dollars sold by all strategies in the last day: spent and reserved */
  readonly spentTodayUsd: bigint;
  /** the same of the last 30 days */
  readonly spentMonthUsd: bigint;
  /** amount of the sold token that other open swaps of the wallet reserve */
  readonly reservedByOthers: bigint;
  /** what other swaps of the strategy sold within the bounds of its budget; absent where the reading names none */
  readonly budget?: readonly BudgetCount[] | undefined;
}

/**
 * What a step works with besides its run and its event: stored rows and settings, read in the transaction that commits the
 * step. Plain data, so that it can be stored with the step, and the step taken again from it.
 */
export interface Evidence {
  readonly nowMs: number;
  readonly spec: StrategySpec;
  /** the strategy's memory as it is stored now */
  readonly memory: StrategyMemory;
  readonly policy: Policy;
  /** of the policy as its file says it; absent in rows of before */
  readonly policyMark?: number | undefined;
  /** every wallet of ours */
  readonly ours: readonly Address[];
  /** false: everything up to signing, then stop */
  readonly live: boolean;
  /** why nothing may be signed now, undefined when signing is allowed */
  readonly signingBarred: string | undefined;
  /** what bars it bars no revocation of what an order leaves; absent where nothing bars it, and in rows of before */
  readonly mayRevoke?: boolean | undefined;
  /** why the run may not trade any more; what it has signed comes to its end all the same */
  readonly tradingBarred: string | undefined;
  /** undefined where the event brings no reading to judge */
  readonly ledger: LedgerEvidence | undefined;
  readonly service: PinnedContracts & {
    readonly signatureHasNonce: boolean;
    readonly targetKeepsNothing?: boolean | undefined;
  };
  /**
   * until when a later swap of the run whose turn comes now may be tried, Unix milliseconds; absent where the run has one
   * alone, and in rows of before
   */
  readonly turnEndsMs?: number | undefined;
  /** what the run waits for, or waited for; absent where it never did */
  readonly holds?: readonly Hold[] | undefined;
  /** how a private order that came into no block is tried once more, for everybody to see; undefined: it is not */
  readonly fallback?: { readonly slippage: Ppm } | undefined;
  readonly chain: {
    readonly chainId: number;
    readonly wrappedNative: Address;
    readonly nativeSymbol: string;
    readonly confirmations: number;
  };
  readonly pace: {
    /** first wait before a refused or failed question is asked again; it doubles with each */
    readonly retryMs: number;
    /** no wait for an answer to a question is longer: so soon after a fault is over, work goes on */
    readonly longestRetryMs: number;
    /** the same for an open gasless swap that could not be looked up */
    readonly longestWatchMs: number;
    /** how often an open gasless swap is looked up on the chain */
    readonly watchMs: number;
    /** longest life of a signature that is accepted, seconds */
    readonly maxLifetimeSeconds: number;
    /** nothing is submitted when its deadline is nearer than this, seconds */
    readonly submitMarginSeconds: number;
  };
}

/** The rows that a reading is judged with. @throws Error when they were not gathered: a broken invariant */
export function ledgerOf({ ledger }: Evidence): LedgerEvidence {
  if (ledger === undefined) throw new Error("a reading is judged without the rows that it shares with other swaps");
  return ledger;
}
