import type { Address } from "../domain/money/address.ts";
import type { Run } from "../domain/run/run.ts";
import type { StrategySpec } from "../domain/strategy/spec.ts";
import type { StepQuestion, StepRows } from "./changes.ts";
import type { LaneAccount } from "./lane-store.ts";
import type { LaneQuestion, LaneRows, OpenIntents } from "./lane-unit-of-work.ts";
import type { GrantTerms } from "./reconciliation-questions.ts";
import type { DatabaseState } from "./reconciliation-store.ts";

/** What is asked for lanes, and by those who ask them for a transaction. */
export interface LaneQuestions {
  /** What is open of a lane. */
  readonly "lane-open": { readonly asked: LaneAccount; readonly rows: OpenIntents };
  /** A lane's account, and one of its intents. */
  readonly lane: { readonly asked: LaneQuestion; readonly rows: LaneRows };
  /** The same, and whether something may be signed for the intent. */
  readonly "lane-signing": { readonly asked: LaneSigningQuestion; readonly rows: LaneSigningRows<SigningTerms> };
  /** The same, and what a step of the run is decided on that the intent belongs to. */
  readonly "lane-move": {
    readonly asked: LaneSigningQuestion & { readonly of: StepQuestion };
    readonly rows: LaneSigningRows<StepRows>;
  };
  /** The account of an intent; undefined where none has the name. */
  readonly "intent-account": { readonly asked: { readonly intentId: string }; readonly rows: Address | undefined };
}

/** An intent, and whether what the database knows signed is asked as well. */
export type LaneSigningQuestion = LaneQuestion & { readonly withDatabase: boolean };

/** What signing for a run goes by. */
export type SigningTerms = Pick<StepRows, "isBarred" | "modes" | "differences"> & {
  /** the edition of the run's strategy that was loaded last; it may be undefined where no difference is open */
  readonly spec: StrategySpec | undefined;
};

/** What signing for an intent goes by. */
export interface LaneSigningRows<Terms extends SigningTerms> {
  readonly lane: LaneRows;
  /** the run whose swap wants the transaction; undefined where it is of none, and where no intent is asked for */
  readonly owner: { readonly run: Run; readonly swapId: string; readonly rows: Terms } | undefined;
  /** where an intent is of no run */
  readonly revocation: GrantTerms | undefined;
  /** undefined where it was not asked for */
  readonly database: DatabaseState | undefined;
}
