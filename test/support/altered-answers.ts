import type { Answered, QuestionKind } from "../../src/ports/questions.ts";
import type { UnitOfWork } from "../../src/ports/unit-of-work.ts";

/** Commits as the store does, but what the rows answer to one kind of question is changed before it is decided on. */
export function alterAnswers<K extends QuestionKind>(
  { commit }: UnitOfWork,
  kind: K,
  alter: (rows: Answered<K>) => Answered<K>,
): UnitOfWork["commit"] {
  return (units) =>
    commit(
      units.map((unit) => {
        if ((unit.question.kind as QuestionKind) !== kind) return unit;
        return { ...unit, decide: (rows) => unit.decide(alter(rows as never) as never) };
      }),
    );
}
