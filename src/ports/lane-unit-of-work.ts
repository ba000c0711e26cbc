import type { LaneChange } from "./lane-changes.ts";
import type { LaneEvent, Refusal } from "./lane-event.ts";
import type { AttemptRow, CancelRequest, IntentRow, LaneAccount, LaneHalt, SigningRow } from "./lane-store.ts";

/** What is asked of a lane's rows: the account, and one of its intents, by its name or by the nonce that it was given. */
export interface LaneQuestion extends LaneAccount {
  readonly intent?: { readonly id: string } | { readonly nonce: number };
}

/** What is open of an account. */
export interface OpenIntents {
  /** not final and not dropped, oldest first */
  readonly intents: readonly IntentRow[];
  /** of those among them that wait for a nonce */
  readonly cancelRequests: readonly CancelRequest[];
}

/** An account, and one of its intents with everything that was written of it. Plain data, as of one instant. */
export interface LaneRows {
  /** undefined where none was asked for, and where the account has none of that name or nonce */
  readonly intent: IntentRow | undefined;
  /** an intent with the nonce that was asked for, which none has, may be in an archive: one that was final */
  readonly isArchived: boolean;
  /** everything that was ever about to be signed for the intent, oldest first */
  readonly signings: readonly SigningRow[];
  /** oldest first */
  readonly attempts: readonly AttemptRow[];
  readonly cancelRequest: CancelRequest | undefined;
  readonly halt: LaneHalt | undefined;
  /** the highest nonce ever given to an intent of the account; undefined: none was */
  readonly highestNonce: number | undefined;
  /** the most transactions of the account that a person ever accepted; 0 for none */
  readonly acceptedCount: number;
}

/** The same, and what those who ask for transactions say of the intent in that instant. */
export interface SigningRows extends LaneRows {
  /** whether something may be signed for the intent, and sent for the first time; never while the account is halted */
  readonly maySign: boolean;
}

/** What a lane decided. */
export interface LaneDecided<T> {
  /** written in their order, all of them or none, together with what follows from `event` */
  readonly changes: readonly LaneChange[];
  readonly atMs: number;
  readonly value: T;
  /** for those who asked for the transaction */
  readonly event?: LaneEvent;
  /** for a person */
  readonly refusal?: Refusal;
}

/** A question, and what is decided on its answer, without waiting and without reading anything else. */
export interface LaneUnit<T> {
  readonly question: LaneQuestion;
  decide(rows: SigningRows): LaneDecided<T>;
}

/** The rows of lanes as lanes use them: read whole, decided on, written together with what follows from it. */
export interface LaneStore {
  open(account: LaneAccount): Promise<OpenIntents>;
  read(question: LaneQuestion): Promise<LaneRows>;
  /** The same, and whether something may be signed: asked right before a key is used. */
  readToSign(question: LaneQuestion): Promise<SigningRows>;
  /**
   * Carries a unit out in one durable transaction: nothing else is written between its reading and its writing. Where
   * it throws nothing is written.
   */
  commit<T>(unit: LaneUnit<T>): Promise<T>;
}
