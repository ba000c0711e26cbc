import type { Answered, Question, QuestionKind } from "../../../ports/unit-of-work.ts";

/** How each question is answered. */
export type Readers = { readonly [K in QuestionKind]: (asked: Question<K>) => Answered<K> };
