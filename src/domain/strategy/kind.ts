import type { UsdPrice } from "../money/price.ts";
import type { Token } from "../money/token.ts";
import type { Decision, SkipReason, StrategyPause, StrategyView, ViewNeeds } from "./decision.ts";

/** What came of one swap of a run. Amounts are measured, in smallest units; zero when nothing was exchanged. */
export interface SwapEnd {
  /** its place in the decision's list of swaps */
  readonly position: number;
  readonly sell: Token;
  readonly buy: Token;
  readonly sold: bigint;
  readonly bought: bigint;
  /** why it brought nothing: a reason or a denial code */
  readonly reason: string | undefined;
  /** something of it was signed and came to nothing, so it cost gas or could have been filled; absent: no */
  readonly signed?: boolean | undefined;
}

/** How a run ended, as far as a strategy's memory cares. */
export interface RunEnd {
  readonly slotMs: number;
  readonly nowMs: number;
  /** something was bought: a fill, whole or in part, is final or confirmed */
  readonly filled: boolean;
  /** it ended where nothing may be signed; absent: no */
  readonly dry?: boolean | undefined;
  /** one entry a place of the decision, in order */
  readonly swaps: readonly SwapEnd[];
}

/** What a person should know of a run's end; it is over once a swap of the pair passes all checks. */
export interface StrategyAlert {
  readonly code: "FLOOR_NOT_MET" | "TRIGGER_GIVEN_BACK" | "TRIGGER_NOT_FILLED";
  readonly detail: string;
}

/** The memory after a run has ended, and whether the strategy shall start another one. */
export interface AfterRun<Memory> {
  readonly memory: Memory;
  readonly pause?: StrategyPause | undefined;
  readonly alert?: StrategyAlert | undefined;
}

/** Why what was decided is not to be signed now. */
export interface ClosedNow {
  readonly reason: SkipReason;
  readonly detail: string;
  /** the swap ends at once; absent: it may be signed later within its window */
  readonly forGood?: true | undefined;
  /** the strategy stops itself besides */
  readonly pause?: StrategyPause | undefined;
}

/** What a strategy may ever sell, and what it may ever buy. */
export interface TradedTokens {
  readonly sells: readonly Token[];
  readonly buys: readonly Token[];
}

/** So much of a token, or what is worth so many dollars (scaled by 1e18). */
export type Worth = { readonly token: Token; readonly raw: bigint } | { readonly usd: UsdPrice };

/**
 * The most that a strategy sells by its own settings, whatever the market does. What is absent is bounded by the owner's
 * policy and by what the wallet holds alone.
 */
export interface MostSold {
  /** of one run, all of its swaps together */
  readonly perRun?: Worth | undefined;
  /** swaps of one run; one where absent */
  readonly swaps?: number | undefined;
  /** runs that are left of its life */
  readonly runs?: number | undefined;
  /** what is left of its life's total */
  readonly left?: Worth | undefined;
  /** in any 24 hours, dollars scaled by 1e18 */
  readonly perDayUsd?: UsdPrice | undefined;
  /** it rests so long after a run that sold something */
  readonly restSeconds?: number | undefined;
  /** it sells nothing before, and nothing after, Unix milliseconds */
  readonly fromMs?: number | undefined;
  readonly untilMs?: number | undefined;
}

/**
 * One kind of strategy: pure functions over its settings and its memory. Memory is plain JSON with a version (amounts as
 * decimal text); it is stored with every decision and read back with `parseMemory`, also by later releases.
 * docs/WRITING-A-KIND.md shows a whole one.
 */
export interface StrategyKind<Spec, Memory> {
  initialMemory(spec: Spec): Memory;
  /** Reads stored memory. @returns undefined when it is none of this kind */
  parseMemory(json: unknown): Memory | undefined;
  /** What has to be read before it can decide. */
  needs(spec: Spec, memory: Memory): ViewNeeds;
  /** Both sides of its trades, as its settings say them: not only those of its next decision. The policy is checked against them. */
  trades(spec: Spec): TradedTokens;
  /** Tokens that it holds at weights, so that no other strategy of its wallet may do so too. Absent: none. */
  manages?(spec: Spec): readonly Token[];
  /** Whether all it ever does is to leave a position: such runs start in the mode `exits-only` too. */
  isExit(spec: Spec): boolean;
  /** Native coin in wei that all other strategies of its wallet leave untouched, so that this one can always act. */
  lastResortGas?(spec: Spec): bigint;
  /** The most that it sells from now on. Absent: what the owner's policy lets through in one swap a run. */
  mostSold?(spec: Spec, memory: Memory, spent: StrategyView["spent"]): MostSold;
  /**
   * What it knows nothing of where a person accepts as sold by it what another database did: names of settings, for people.
   * Amounts of its budget are counted. Absent: nothing else.
   */
  unawareOf?(spec: Spec): readonly string[];
  /** Its memory says how far its plan has come: what is decided where nothing may be signed changes none of it. */
  readonly remembersPlan?: true;
  decide(spec: Spec, view: StrategyView, memory: Memory): Decision<Memory>;
  /**
   * Asked again right before a swap is signed, which may be long after its decision: whether its condition fails at these
   * prices. What they do not say stays as it was decided. Absent: a decision stands as long as its window, and no longer
   * than `budget.until` and what `mostSold` says of its end.
   * @param prices of the swap's two tokens and the native coin, as far as there are any
   */
  closedAt?(spec: Spec, prices: StrategyView["prices"]): ClosedNow | undefined;
  /** What a run's end changes. Called once for each run that this strategy's decision started. */
  onRunEnded(spec: Spec, memory: Memory, end: RunEnd): AfterRun<Memory>;
  /** The memory under an edited file. What the edit does not touch goes on. */
  onEdited(before: Spec, after: Spec, memory: Memory): Memory;
}
