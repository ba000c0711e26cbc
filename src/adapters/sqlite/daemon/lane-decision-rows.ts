import type { Address } from "../../../domain/money/address.ts";
import { GLOBAL_SCOPE } from "../../../domain/run/operating-mode.ts";
import type { Run } from "../../../domain/run/run.ts";
import type { LaneRowStore } from "../../../ports/lane-row-store.ts";
import type { LaneQuestion } from "../../../ports/lane-unit-of-work.ts";
import type { LaneSigningRows, RevocationRows, SigningTerms } from "../../../ports/questions.ts";
import { readLane } from "../lane-store.ts";
import type { RowStore } from "./row-store.ts";

/**
 * Reads what signing for a lane's intent goes by, and what a move of it is decided on.
 * @param termsOf reads what is needed of the run that the intent belongs to
 * @throws Error when that run is not there: a broken invariant
 */
export function readLaneSigning<Terms extends SigningTerms>(
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
export function readRevocation(
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
