import type { LaneRowStore } from "../../../ports/lane-row-store.ts";
import type { Answered, Question, QuestionKind } from "../../../ports/questions.ts";
import { readStepRows, subjectOf } from "./decision-rows.ts";
import { createLaneAnswers } from "./lane-answers.ts";
import type { Readers } from "./readers.ts";
import { createReconciliationReaders } from "./reconciliation-answers.ts";
import type { RowStore } from "./row-store.ts";
import { createSlotAnswers } from "./slot-answers.ts";
import { createViewAnswers } from "./view-answers.ts";
import { createWatchReaders } from "./watch-answers.ts";

/** Answers questions from the rows. @param lanes the lanes' rows, whose tables may be missing until one is asked for */
export function createAnswers(
  rows: RowStore,
  lanes: () => LaneRowStore,
): <K extends QuestionKind>(question: Question<K>) => Answered<K> {
  const readers: Readers = {
    ...createReconciliationReaders(rows),
    ...createWatchReaders(rows),
    ...createSlotAnswers(rows, lanes),
    ...createLaneAnswers(rows, lanes),
    nothing: () => undefined,
    step: ({ runId, event, of }) => {
      const run = rows.run(runId);
      if (run === undefined) throw new Error(`run ${runId} is not in the database`);
      return { run, ...readStepRows(rows, lanes(), { run, about: subjectOf(event), asked: of }) };
    },
    ...createViewAnswers(rows, lanes),
  };
  return (question) => readers[question.kind](question);
}
