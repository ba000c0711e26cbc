import type { Run } from "../../../domain/run/run.ts";
import type {
  LaneQuestions,
  LaneSigningQuestion,
  LaneSigningRows,
  SigningTerms,
} from "../../../ports/lane-questions.ts";
import type { LaneRowStore } from "../../../ports/lane-row-store.ts";
import { readLane, readOpen } from "../lane-store.ts";
import { readSigningTerms, readStepRows } from "./decision-rows.ts";
import type { Readers } from "./readers.ts";
import { readGrantTerms } from "./reconciliation-answers.ts";
import type { RowStore } from "./row-store.ts";

/** Answers what is asked for lanes. */
export function createLaneAnswers(rows: RowStore, lanes: () => LaneRowStore): Readers<keyof LaneQuestions> {
  return {
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
    "intent-account": ({ intentId }) => lanes().intent(intentId)?.account,
  };
}

/**
 * Reads what signing for a lane's intent goes by, and what a move of it is decided on.
 * @param termsOf reads what is needed of the run that the intent belongs to
 * @throws Error when that run is not there: a broken invariant
 */
function readLaneSigning<Terms extends SigningTerms>(
  rows: RowStore,
  lanes: LaneRowStore,
  { question, termsOf }: { readonly question: LaneSigningQuestion; termsOf(run: Run, swapId: string): Terms },
): LaneSigningRows<Terms> {
  const lane = readLane(lanes, question);
  const { intent } = lane;
  const found = intent === undefined ? undefined : rows.runOfIntent(intent.id);
  return {
    lane,
    owner: found === undefined ? undefined : ownerOf(rows, found, termsOf),
    revocation:
      intent === undefined || found !== undefined ? undefined : readGrantTerms(rows, intent.account, intent.to),
    database: question.withDatabase ? rows.databaseState() : undefined,
  };
}

function ownerOf<Terms>(
  rows: RowStore,
  { runId, swapId }: { readonly runId: string; readonly swapId: string },
  termsOf: (run: Run, swapId: string) => Terms,
): { run: Run; swapId: string; rows: Terms } {
  const run = rows.run(runId);
  if (run === undefined) throw new Error(`run ${runId} is not in the database`);
  return { run, swapId, rows: termsOf(run, swapId) };
}
