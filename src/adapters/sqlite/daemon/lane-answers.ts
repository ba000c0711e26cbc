import type { Address } from "../../../domain/money/address.ts";
import { GLOBAL_SCOPE } from "../../../domain/run/operating-mode.ts";
import type { Run } from "../../../domain/run/run.ts";
import type { LaneSigningRows, RevocationRows, SigningTerms } from "../../../ports/lane-questions.ts";
import type { LaneRowStore } from "../../../ports/lane-row-store.ts";
import type { LaneQuestion } from "../../../ports/lane-unit-of-work.ts";
import { readLane, readOpen } from "../lane-store.ts";
import { readSigningTerms, readStepRows } from "./decision-rows.ts";
import type { Readers } from "./readers.ts";
import type { RowStore } from "./row-store.ts";

type LaneKinds = "lane-open" | "lane" | "lane-signing" | "lane-move" | "revocation";

/** Answers what is asked for lanes. */
export function createLaneAnswers(rows: RowStore, lanes: () => LaneRowStore): Pick<Readers, LaneKinds> {
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
    revocation: (grant) => readRevocation(rows, grant),
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
  { question, termsOf }: { readonly question: LaneQuestion; termsOf(run: Run, swapId: string): Terms },
): LaneSigningRows<Terms> {
  const lane = readLane(lanes, question);
  const { intent } = lane;
  const found = intent === undefined ? undefined : rows.runOfIntent(intent.id);
  return {
    lane,
    owner: found === undefined ? undefined : ownerOf(rows, found, termsOf),
    revocation:
      intent === undefined || found !== undefined
        ? undefined
        : readRevocation(rows, { wallet: intent.account, token: intent.to }),
    database: rows.databaseState(),
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

/** Reads what taking back a wallet's allowance of a token goes by. */
function readRevocation(
  rows: RowStore,
  { wallet, token }: { readonly wallet: Address; readonly token: Address },
): RevocationRows {
  return {
    differences: rows.openDifferences(),
    global: rows.mode(GLOBAL_SCOPE),
    grantors: rows
      .grantors(wallet, token)
      .map((strategyId) => ({ strategyId, own: rows.mode(strategyId), spec: rows.strategy(strategyId)?.spec })),
  };
}
