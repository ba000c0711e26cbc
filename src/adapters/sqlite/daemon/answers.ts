import type { LaneRowStore } from "../../../ports/lane-row-store.ts";
import type { Answered, Question, QuestionKind } from "../../../ports/unit-of-work.ts";
import { readLane, readOpen } from "../lane-store.ts";
import { readSigningTerms, readStepRows, subjectOf } from "./decision-rows.ts";
import { readLaneSigning, readRevocation } from "./lane-decision-rows.ts";
import type { RowStore } from "./row-store.ts";

type Readers = { readonly [K in QuestionKind]: (asked: Question<K>) => Answered<K> };

/** Answers questions from the rows. @param lanes the lanes' rows, whose tables may be missing until one is asked for */
export function createAnswers(
  rows: RowStore,
  lanes: () => LaneRowStore,
): <K extends QuestionKind>(question: Question<K>) => Answered<K> {
  const readers: Readers = {
    nothing: () => undefined,
    step: ({ runId, event, of }) => {
      const run = rows.run(runId);
      if (run === undefined) throw new Error(`run ${runId} is not in the database`);
      return { run, ...readStepRows(rows, lanes(), { run, about: subjectOf(event), asked: of }) };
    },
    "lane-open": (account) => readOpen(lanes(), account),
    lane: (question) => readLane(lanes(), question),
    "lane-signing": (question) =>
      readLaneSigning(rows, lanes(), { question, termsOf: (run) => readSigningTerms(rows, run) }),
    "lane-move": (question) =>
      readLaneSigning(rows, lanes(), {
        question,
        termsOf: (run, swapId) =>
          readStepRows(rows, lanes(), { run, about: { swapId, facts: undefined }, asked: question.of }),
      }),
    revocation: (grant) => readRevocation(rows, grant),
  };
  return (question) => readers[question.kind](question);
}
