import type { Policy } from "../guard/policy.ts";
import type { Address, Hex } from "../money/address.ts";
import type { StrategySpec } from "../strategy/spec.ts";
import type { StrategyMemory } from "../strategy/strategy.ts";

/**
 * Facts that runs share, read in the transaction that commits the step, and the settings a step works under.
 * Amounts in smallest units, dollars scaled by 1e18.
 */
export interface StepFacts {
  readonly nowMs: number;
  readonly spec: StrategySpec;
  /** the strategy's memory as it is stored now */
  readonly memory: StrategyMemory;
  readonly policy: Policy;
  /** every wallet of ours */
  readonly ours: readonly Address[];
  /** false: everything up to signing, then stop */
  readonly live: boolean;
  /** why nothing may be signed now, undefined when signing is allowed */
  readonly signingBarred: string | undefined;
  /** why the run may not trade any more; what it has signed comes to its end all the same */
  readonly tradingBarred: string | undefined;
  /** another swap, approval or revocation of this wallet and token is open */
  isTokenBusy(wallet: Address, token: Address, exceptSwapId: string): boolean;
  /** the last swap of this wallet and token that could take it and came to its end */
  lastFreed(wallet: Address, token: Address): string | undefined;
  /** typed data with this digest was written down to be signed, by whichever swap */
  wasIntended(digest: Hex): boolean;
  /** another swap of this wallet was bound to this nonce */
  isNonceOfOther(wallet: Address, nonce: bigint, exceptSwapId: string): boolean;
  /** dollars sold by all strategies in the last day: spent and reserved, without this swap */
  spentTodayUsd(exceptSwapId: string): bigint;
  /** the same of the last 30 days */
  spentMonthUsd(exceptSwapId: string): bigint;
  /** amounts reserved by other open swaps of the wallet */
  reservedByOthers(wallet: Address, token: Address, exceptSwapId: string): bigint;
  readonly service: {
    readonly router: Address;
    readonly signatureHasNonce: boolean;
  };
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
    /** nothing is handed over when its deadline is nearer than this, seconds */
    readonly submitMarginSeconds: number;
  };
}
