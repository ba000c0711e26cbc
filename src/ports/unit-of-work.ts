import type { AlertRow } from "./alert-store.ts";
import type { Decided } from "./changes.ts";
import type { Answered, Question, QuestionKind } from "./questions.ts";

/** A question, and what is decided on its answer, without waiting and without reading anything else. */
export interface Unit<K extends QuestionKind, T> {
  readonly question: Question<K>;
  decide(rows: Answered<K>): Decided<T>;
}

/** What was decided and is written now. */
export interface Written<T> {
  readonly value: T;
  /** alerts and messages that are new: they are still to be reported */
  readonly alerts: readonly AlertRow[];
}

/**
 * The daemon's rows as its engine uses them: read whole, decided on, written together. Nobody else writes between reading
 * and writing, so that what was decided on is still true when it is written.
 */
export interface UnitOfWork {
  /** @throws Error where what is asked for is not there and has to be: a broken invariant */
  read<K extends QuestionKind>(question: Question<K>): Promise<Answered<K>>;
  /**
   * Carries units out one after the other, in one durable transaction: each reads what those before it wrote. Where one
   * throws nothing of any is written. What others ask for in the same moment may be written in the same transaction; what
   * throws there withholds nothing of theirs. A decision may be made twice, where the first was taken back.
   */
  commit<K extends QuestionKind, T>(units: readonly Unit<K, T>[]): Promise<readonly Written<T>[]>;
}
