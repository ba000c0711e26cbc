import type { LaneRowStore } from "../../../ports/lane-row-store.ts";
import type { ReconciliationChange } from "../../../ports/reconciliation-questions.ts";
import type { WatchChange } from "../../../ports/watch-questions.ts";
import type { RowStore } from "./row-store.ts";
import { quietly, type Writers } from "./writers.ts";

/** Writes what is decided where the rows are checked against the chain. */
export function reconciliationWriters(
  rows: RowStore,
  lanes: () => Pick<LaneRowStore, "acceptCount">,
): Writers<ReconciliationChange["kind"]> {
  return {
    "database-named": quietly(({ id }) => rows.nameDatabase(id)),
    "requests-refused": quietly(({ answer }, atMs) => rows.answerOpenRequests(answer, atMs)),
    difference: quietly(({ finding, at }) => rows.addDifference(finding, at)),
    "difference-settled": quietly(({ id, by }, atMs) => rows.settleDifference(id, { by, atMs })),
    checked: quietly(({ wallet }) => rows.removeUnchecked(wallet)),
    "findings-capped": quietly((_, atMs) => rows.capFindings(atMs)),
    "acceptances-capped": quietly((_, atMs) => rows.capAcceptances(atMs)),
    "known-chain": quietly(({ known, baselines }, atMs) => {
      rows.saveKnownChain(known, atMs);
      if (baselines !== undefined) rows.replaceBaselines(known.wallet, baselines);
    }),
    "count-accepted": quietly(({ counted, by }, atMs) => lanes().acceptCount(counted, { by, atMs })),
    "signatures-counted": quietly(({ beyond }) => rows.countBeyond(beyond)),
    "open-runs-barred": quietly(() => rows.barOpenRuns()),
    "grant-adopted": quietly(({ grant, block }, atMs) => rows.adoptGrant(grant, { block, atMs })),
    "sale-accepted": quietly((sale) => rows.countSale(sale)),
    "grant-forgotten": quietly(({ grant, final }) => rows.forgetGrant(grant, final)),
  };
}

/** Writes what the background watches decide. */
export function watchWriters(rows: RowStore): Writers<WatchChange["kind"]> {
  return {
    identity: quietly(({ network, chainId }, atMs) => rows.saveIdentity({ network, chainId, atMs })),
    baseline: quietly(({ baseline }) => rows.addBaseline(baseline)),
    alive: quietly((_, atMs) => rows.noteAlive(atMs)),
    "daemon-event": quietly(({ event, detail }, atMs) => rows.addDaemonEvent(event, detail, atMs)),
    "effects-hastened": quietly((_, atMs) => rows.hastenEffects(atMs)),
    "sales-settled-anew": quietly(({ afterMs }, atMs) => rows.settleAnew({ afterMs, atMs: Math.ceil(atMs) })),
    "price-sample": quietly(({ token, usd }, atMs) => rows.addPriceSample(token, atMs, usd)),
    "price-bars-kept": quietly(({ token, sinceMs }, atMs) => rows.prunePriceBars(token, { sinceMs, untilMs: atMs })),
    "chat-heard": quietly(({ bot, nextUpdate }, atMs) =>
      rows.saveChatOffset(bot, { nextUpdate, atMs: Math.ceil(atMs) }),
    ),
    "digests-kept": quietly(({ periods }) => rows.keepDigestMarks(periods)),
    "digest-written": quietly(({ period, mark }) => rows.saveDigestMark(period, mark)),
    drawdown: quietly(({ state }, atMs) => rows.saveDrawdown(state, atMs)),
  };
}
