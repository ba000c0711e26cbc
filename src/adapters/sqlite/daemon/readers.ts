import type { Answered, Question, QuestionKind } from "../../../ports/questions.ts";

/** What answers questions, by their kinds. */
export type Readers<Kinds extends QuestionKind = QuestionKind> = {
  readonly [K in Kinds]: (asked: Question<K>) => Answered<K>;
};
