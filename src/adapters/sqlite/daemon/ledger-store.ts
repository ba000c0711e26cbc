import type { Address } from "../../../domain/money/address.ts";
import type { SoldSince } from "../../../domain/strategy/budget.ts";
import type { Grant } from "../../../ports/reconciliation-questions.ts";
import type { FinalBlock } from "../../../ports/reconciliation-store.ts";

/** Rows of the ledger, over what all runs share. */
export interface LedgerRows {
  reserved(wallet: Address, token: Address, exceptSwapId?: string): bigint;
  /** sold by a strategy over its life, reserved included, by token */
  soldBy(strategyId: string): ReadonlyMap<Address, bigint>;
  /** of that, what a person accepted as sold by it, which no run of it knows */
  acceptedBy(strategyId: string): ReadonlyMap<Address, bigint>;
  /**
   * Sold by a strategy since an instant, by when it was seen to be, and all that it has reserved, without one swap; since 0
   * over its life.
   */
  soldBySince(strategyId: string, sinceMs: number, exceptSwapId?: string): SoldSince;
  /** runs of a strategy that sold something */
  tradedRuns(strategyId: string): number;
  /** bought by a strategy over its life, as measured, by token */
  boughtBy(strategyId: string): ReadonlyMap<Address, bigint>;
  /**
   * The newest block in which a fill or an own transaction of the wallet, or a fill of another wallet's swap that delivers
   * to it, was seen and is not taken back; 0 without any.
   */
  newestBlock(wallet: Address): number;
  /** whether a confirmed swap ever brought this wallet the token */
  hasBought(wallet: Address, token: Address): boolean;
  /** dollars (1e-18) sold since an instant, by when it was seen to be, and all that are reserved */
  soldUsdSince(sinceMs: number, exceptSwapId: string): bigint;
  /** The last swap that could take this token and came to its end: what was read before it did is old. */
  lastFreed(wallet: Address, token: Address): string | undefined;
  /** Whether another swap of the wallet was ever bound to this nonce. */
  isNonceOfOther(wallet: Address, nonce: bigint, exceptSwapId: string): boolean;
  /** failed runs of a strategy that ended from an instant up to another, without those that ended with one of these reasons */
  failuresBetween(
    strategyId: string,
    range: { readonly sinceMs: number; readonly untilMs: number },
    except: readonly string[],
  ): number;
  /**
   * Lets sales that were seen to be after an instant count from another one on, in whole milliseconds.
   * @returns how many there were, and the latest instant at which one was seen to be
   */
  settleAnew(times: { readonly afterMs: number; readonly atMs: number }): {
    readonly count: number;
    readonly latestMs: number;
  };
  isTokenBusy(wallet: Address, token: Address, exceptSwapId: string): boolean;
  /** whether an approval or revocation of the token was seen to be mined above a block, and is not taken back */
  isAllowanceNewer(wallet: Address, token: Address, thanBlock: number): boolean;
  /** whether another swap of the wallet may still happen, of whatever token */
  isWalletBusy(wallet: Address, exceptSwapId: string): boolean;
  /** allowances granted once, whose wallet and token have nothing open now */
  idleGrants(): readonly Grant[];
  /** strategies whose swaps granted allowances of a wallet's token that are not forgotten yet */
  grantors(wallet: Address, token: Address): readonly string[];
  /**
   * Whether what was signed here may still change what a wallet allows of a token, after a block that is final: then its
   * allowance at that block says nothing of what it will be. An approval or revocation is not final, because a fork that
   * took it back may bring it again; or it was mined above that block, which a node that is behind calls its newest; or
   * a permit may still be brought to the token after it.
   */
  isAllowanceOpen(wallet: Address, token: Address, final: FinalBlock): boolean;
  /**
   * To be called when a final block shows no allowance. Not while that is open, nor while a swap is confirmed and not
   * final: without it, what a fork leaves of its approval could still be taken. Nor by a block below the one in which a
   * foreign allowance was seen.
   */
  forgetGrant(grant: Grant, final: FinalBlock): void;
  /** Sales that were seen to be after an instant: how many, and the latest instant at which one was seen to be. */
  salesAhead(afterMs: number): { readonly count: number; readonly latestMs: number };
}

/** Sums over what all runs share. */
export interface LedgerStore {
  /**
   * Changes whenever a reservation, a fill or a release of a swap is written that the wallet pays for or receives, of any
   * wallet where none is named: a reading of its balances older than a change is stale.
   */
  ledgerVersion(wallet?: Address): number;
  /**
   * What all swaps brought a wallet of a token, those of other wallets too, less what its own sold of it.
   * @param unmoved swaps that are open and have moved nothing
   * @returns undefined while another swap that moves the wallet's balance of it is open, because that is on the move
   */
  netOfSwaps(wallet: Address, token: Address, unmoved?: readonly string[]): bigint | undefined;
}
