import type { LaneStore } from "../../../ports/lane-store.ts";
import type { ReconciliationChange } from "../../../ports/reconciliation-questions.ts";
import type { WatchChange } from "../../../ports/watch-questions.ts";
import type { RowStore } from "./row-store.ts";

type ChangeBeside = ReconciliationChange | WatchChange;
type Of<K extends ChangeBeside["kind"]> = { readonly kind: K } & Extract<ChangeBeside, { kind: K }>;

/** What is written to, and when. */
interface Target {
  readonly rows: RowStore;
  readonly lanes: () => Pick<LaneStore, "acceptCount">;
  readonly atMs: number;
}

/** What writes changes, by their kinds. */
type Writers<Changes extends ChangeBeside = ChangeBeside> = {
  readonly [K in Changes["kind"]]: (target: Target, change: Of<K>) => void;
};

const RECONCILIATION: Writers<ReconciliationChange> = {
  "database-named": ({ rows }, { id }) => rows.nameDatabase(id),
  "requests-refused": ({ rows, atMs }, { answer }) => rows.answerOpenRequests(answer, atMs),
  difference: ({ rows }, { finding, at }) => void rows.addDifference(finding, at),
  "difference-settled": ({ rows, atMs }, { id, by }) => rows.settleDifference(id, { by, atMs }),
  checked: ({ rows }, { wallet }) => rows.removeUnchecked(wallet),
  "findings-capped": ({ rows, atMs }) => rows.capFindings(atMs),
  "known-chain": ({ rows, atMs }, { known }) => rows.saveKnownChain(known, atMs),
  "count-accepted": ({ lanes, atMs }, { counted, by }) => lanes().acceptCount(counted, { by, atMs }),
  "signatures-counted": ({ rows }, { beyond }) => rows.countBeyond(beyond),
  "open-runs-barred": ({ rows }) => rows.barOpenRuns(),
  "grant-adopted": ({ rows, atMs }, { grant, block }) => rows.adoptGrant(grant, { block, atMs }),
  "sale-accepted": ({ rows }, sale) => rows.countSale(sale),
  "grant-forgotten": ({ rows }, { grant, final }) => rows.forgetGrant(grant, final),
};

const WATCHES: Writers<WatchChange> = {
  identity: ({ rows, atMs }, { network, chainId }) => rows.saveIdentity({ network, chainId, atMs }),
  baseline: ({ rows }, { baseline }) => rows.addBaseline(baseline),
  alive: ({ rows, atMs }) => rows.noteAlive(atMs),
  "daemon-event": ({ rows, atMs }, { event, detail }) => rows.addDaemonEvent(event, detail, atMs),
  "effects-hastened": ({ rows, atMs }) => rows.hastenEffects(atMs),
  "sales-settled-anew": ({ rows, atMs }, { afterMs }) => void rows.settleAnew({ afterMs, atMs: Math.ceil(atMs) }),
  "price-sample": ({ rows, atMs }, { token, usd }) => rows.addPriceSample(token, atMs, usd),
  "price-bars-kept": ({ rows, atMs }, { token, sinceMs }) => rows.prunePriceBars(token, { sinceMs, untilMs: atMs }),
  drawdown: ({ rows, atMs }, { state }) => rows.saveDrawdown(state, atMs),
};

const WRITERS: Writers = { ...RECONCILIATION, ...WATCHES };

/** Writes what is decided beside the steps of runs: where the rows are held against the chain, and by what watches. */
export function writeBeside<K extends ChangeBeside["kind"]>(target: Target, change: Of<K>): void {
  WRITERS[change.kind](target, change);
}
