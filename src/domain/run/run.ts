import type { SafeVersion } from "../guard/safe-contracts.ts";
import type { SwapContracts } from "../guard/swap-contracts.ts";
import type { TypedData } from "../guard/typed-data.ts";
import type { Address, Hex } from "../money/address.ts";
import type { Ppm } from "../money/fraction.ts";
import type { Token } from "../money/token.ts";
import type { GaslessChoice } from "../strategy/common.ts";
import type { PlannedAmount, Rate } from "../strategy/decision.ts";
import type { RunState, SwapState } from "./states.ts";

/** How a swap is executed: by our own transaction, or by a relayer that our signatures allow. */
export type SwapMode = "self-executed" | "gasless";

/** What of a quote is kept with the swap. Amounts in smallest units. */
export interface SwapQuote {
  readonly id: string;
  readonly amountOut: bigint;
  /** undefined where the service does not name it with its quotes */
  readonly targetAddress: Address | undefined;
  /** whom the service wants to be approved, where it names one besides the target */
  readonly spender?: Address | undefined;
  /** Unix seconds */
  readonly expiresAtSeconds: number | undefined;
  readonly receivedAtMs: number;
  /** slippage that was asked for, in parts per million */
  readonly slippagePpm: bigint;
  /** as the service gave it: nothing of it is signed as it stands */
  readonly typedData: TypedData | undefined;
  readonly priceImpactPpm: bigint | undefined;
}

/** What was bound before anything was signed. */
export interface SwapTerms {
  /** the pinned contracts that it was bound to */
  readonly contracts: SwapContracts;
  readonly amountOutMin: bigint;
  /** what the service keeps for itself and for its relayer, smallest unit of the sold token */
  readonly swapFee: bigint;
  /** the same of the affiliate; undefined in rows of before it was kept */
  readonly affiliateFee: bigint | undefined;
  /** Unix seconds; the swap cannot land in a later block */
  readonly deadlineSeconds: number;
  /** the swap signature's nonce, undefined where it has none */
  readonly nonce: bigint | undefined;
  /** where a search for its fill starts */
  readonly fromBlock: number;
  /** mark of the policy that it was checked by; absent in rows of before */
  readonly policy?: number | undefined;
}

/** Both signatures of a gasless swap, as they were journaled. */
export interface GaslessSignatures {
  readonly swapDigest: Hex;
  readonly swapSignature: Hex | undefined;
  readonly permitDigest: Hex | undefined;
  readonly permitSignature: Hex | undefined;
  /** Unix seconds */
  readonly permitDeadlineSeconds: number | undefined;
}

/** What the owners of a Safe were asked for, as far as its end is read from the chain. Its hash is the swap's digest. */
export interface SwapProposal {
  readonly version: SafeVersion;
  /** the Safe's own: what is executed with it is this, or nothing of this any more */
  readonly nonce: bigint;
  /** false: it leaves as plain calls, which owners may execute with another nonce; its place is marked, so that they do it once */
  readonly isBoundToNonce: boolean;
  /** a block that was final then, and the nonce that the Safe had in it */
  readonly since: { readonly block: number; readonly nonce: bigint };
}

/** What was really exchanged, measured from the receipt. Amounts in smallest units, gas cost in wei. */
export interface Fill {
  readonly hash: Hex;
  readonly blockNumber: number;
  readonly blockHash: Hex;
  /** Unix seconds; undefined in rows of before it was kept */
  readonly blockTimeSeconds: number | undefined;
  readonly sold: bigint;
  readonly bought: bigint;
  /** wei, with what a rollup charged on top of gas */
  readonly gasCost: bigint;
  /** its logs do not show what the settlement promises: both amounts are the worst that was signed */
  readonly assumed?: true;
}

/** One swap of a run. Fields of later stages are undefined until the stage is reached. */
export interface Swap {
  readonly id: string;
  readonly runId: string;
  /** place in the run; attempts at one place follow each other only when the earlier one can no longer happen */
  readonly position: number;
  readonly attempt: number;
  readonly state: SwapState;
  readonly reason: string | undefined;
  readonly wallet: Address;
  readonly recipient: Address;
  readonly sell: Token;
  readonly buy: Token;
  readonly planned: PlannedAmount;
  /** the worst rate at which it may be signed, undefined when only the limits bind */
  readonly floor: Rate | undefined;
  /** how long it may be tried from its turn on; undefined: the first one takes the run's window, a later one the strategy's */
  readonly retryForSeconds: number | undefined;
  /** until when it may be tried, once its turn has come; undefined takes the run's window */
  readonly windowEndsMs: number | undefined;
  /** its turn in the run has come */
  readonly begun: boolean;
  readonly gasless: GaslessChoice;
  readonly mode: SwapMode | undefined;
  /** gross amount sold */
  readonly gross: bigint | undefined;
  readonly quote: SwapQuote | undefined;
  readonly terms: SwapTerms | undefined;
  /** transaction of a self-executed swap, or the approval before it */
  readonly intentId: string | undefined;
  /** approvals sent so far; numbers their transactions */
  readonly approvals: number;
  /** a tighter slippage was asked for once, because the first quote guaranteed too little */
  readonly tightened: boolean;
  /** its order goes to everybody, with no more slippage than this: a private one at its place came into no block */
  readonly fallback?: { readonly slippage: Ppm } | undefined;
  readonly signatures: GaslessSignatures | undefined;
  /** where the wallet is a Safe and its owners were asked */
  readonly proposal?: SwapProposal | undefined;
  readonly fill: Fill | undefined;
  /** an own revocation of the leftover allowance was sent for this swap */
  readonly revokeIntentId: string | undefined;
  /** what holds back its end after its deadline, as people were told last */
  readonly heldBy?: string | undefined;
  /** how long the logs of an endpoint have been waited for, in milliseconds of looks, and until when that was counted */
  readonly unlisted?: { readonly ms: number; readonly countedMs: number } | undefined;
  readonly serviceSwapId: string | undefined;
}

/** The record of one slot of a strategy, with its swaps in order. */
export interface Run {
  readonly id: string;
  readonly strategyId: string;
  /** scheduled instant, Unix milliseconds */
  readonly slotMs: number;
  /** how many scheduled instants it stands for */
  readonly slots: number;
  readonly state: RunState;
  readonly reason: string | undefined;
  readonly detail: string | undefined;
  readonly specHash: string;
  /** until when an attempt that signed nothing may be repeated */
  readonly windowEndsMs: number;
  /** questions in a row that came to nothing; zero again once one is answered */
  readonly retries: number;
  readonly swaps: readonly Swap[];
}

/** Identifier of a swap: derived, so that a repeated step gives the same row. */
export function swapIdOf(run: { id: string }, place: { position: number; attempt: number }): string {
  return `${run.id}.${place.position}.${place.attempt}`;
}

/** Until when an attempt of the swap that signed nothing may be repeated, Unix milliseconds. */
export function windowEndOf(run: Run, swap: Swap): number {
  return swap.windowEndsMs ?? run.windowEndsMs;
}

/** The swap with this id. @throws Error when the run has none: a broken invariant */
export function swapOf(run: Run, swapId: string): Swap {
  const swap = run.swaps.find((candidate) => candidate.id === swapId);
  if (swap === undefined) throw new Error(`run ${run.id} has no swap ${swapId}`);
  return swap;
}

/** Why what was cleared is not signed: it was checked in an earlier life, by another policy. undefined when it may be. */
export function outdated({ terms }: Pick<Swap, "terms">, policyMark: number | undefined): string | undefined {
  if (terms?.policy === undefined || policyMark === undefined || terms.policy === policyMark) return undefined;
  return "the policy was edited since it was checked";
}

/** Whether both deadlines of an order lie before a block of this time. */
export function isPastDeadlines({ terms, signatures }: Swap, blockTimeSeconds: number): boolean {
  return blockTimeSeconds > Math.max(terms?.deadlineSeconds ?? 0, signatures?.permitDeadlineSeconds ?? 0);
}
