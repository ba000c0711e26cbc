import type { AlertRow } from "../../../ports/alert-store.ts";
import type { Change } from "../../../ports/changes.ts";
import type { Answered, Question, QuestionKind } from "../../../ports/questions.ts";
import type { UnitOfWork } from "../../../ports/unit-of-work.ts";

/** What units of work are made of. */
interface Parts {
  transaction<T>(work: () => T): T;
  snapshot<T>(work: () => T): T;
  answer<K extends QuestionKind>(question: Question<K>): Answered<K>;
  write(changes: readonly Change[], atMs: number): readonly AlertRow[];
}

/** Answered from memory, or by a single statement: asked many times a second, and a snapshot for them costs more than they do. */
const NEED_NO_SNAPSHOT: ReadonlySet<QuestionKind> = new Set<QuestionKind>([
  ...(["due-runs", "due-effects", "next-effect", "differences", "lane-open"] as const),
]);

/**
 * Units of work on a connection. One is over before its call returns, so units are carried out in the order of their
 * calls and none comes between the reading and the writing of another.
 */
export function createUnitOfWork({ transaction, snapshot, answer, write }: Parts): UnitOfWork {
  return {
    read: async (question) =>
      NEED_NO_SNAPSHOT.has(question.kind) ? answer(question) : snapshot(() => answer(question)),
    commit: async (units) =>
      transaction(() =>
        units.map(({ question, decide }) => {
          const { changes, atMs, value } = decide(answer(question));
          return { value, alerts: write(changes, atMs) };
        }),
      ),
  };
}
