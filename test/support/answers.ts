import type { AlertStore } from "../../src/adapters/sqlite/daemon/row-store.ts";
import type { DaemonStore } from "../../src/adapters/sqlite/daemon/store.ts";
import { type Address, type Hex, toAddress } from "../../src/domain/money/address.ts";
import type { LaneRowStore } from "../../src/ports/lane-row-store.ts";
import type { SqliteDatabase } from "../../src/storage/database.ts";
import type { DaemonDatabase } from "./daemon-database.ts";

const CHAIN = 31_337;
const HOUR_MS = 3_600_000;

/** What rows are about, as they stand before anything of them goes. */
interface Subjects {
  readonly strategies: readonly string[];
  readonly addresses: readonly Address[];
  readonly tokens: readonly Address[];
  readonly spenders: readonly Address[];
  /** runs and transactions that are not over */
  readonly openRuns: readonly string[];
  readonly openIntents: readonly string[];
  readonly swaps: readonly string[];
  readonly intents: readonly string[];
  /** transactions that may have moved a token: those of swaps */
  readonly hashes: readonly Hex[];
  /** of orders, and of transactions */
  readonly nonces: readonly bigint[];
  readonly used: readonly number[];
  readonly slots: readonly number[];
  /** the newest block that any row knows, and an instant long after all that the rows report */
  readonly block: number;
  readonly nowMs: number;
}

/** What methods answer, or why one is not asked of what is old. */
type Asked<Port> = {
  readonly [Name in keyof Port as Port[Name] extends (...args: never[]) => infer Answer
    ? Answer extends void
      ? never
      : Name
    : Name]: ((port: Port, of: Subjects) => unknown) | "writes" | "of what is young";
};

function each<T>(values: readonly T[], ask: (value: T) => unknown): readonly unknown[] {
  return values.map((value) => [value, ask(value)]);
}

function ofTokens({ addresses, tokens }: Subjects, ask: (wallet: Address, token: Address) => unknown): unknown {
  return each(addresses, (wallet) => each(tokens, (token) => ask(wallet, token)));
}

function ofGrants(of: Subjects, ask: (grant: { wallet: Address; token: Address; spender: Address }) => unknown) {
  return ofTokens(of, (wallet, token) => each(of.spenders, (spender) => ask({ wallet, token, spender })));
}

/** Everything that the daemon asks its store. A new method is missing here until somebody thought of what is old. */
const STORE: Asked<Omit<DaemonStore, keyof AlertStore>> = {
  transaction: "writes",
  insertRun: "writes",
  run: (store, of) => each(of.openRuns, store.run),
  dueRuns: (store) => store.dueRuns(99),
  hasOpenRun: (store, of) => each(of.strategies, store.hasOpenRun),
  strategiesWithOpenRun: (store) => [...store.strategiesWithOpenRun()].sort(),
  isRunBarred: (store, of) => each(of.openRuns, store.isRunBarred),
  unsettledSwaps: (store) => store.unsettledSwaps(),
  openWork: (store) => store.openWork(),
  swapState: (store, of) => each(of.swaps, store.swapState),
  runOfIntent: (store, of) => each(of.intents, store.runOfIntent),
  // Asked for the end of an open order, of what moved its token.
  hashOfOther: (store, of) =>
    each(of.hashes, (hash) =>
      ofTokens(of, (wallet, token) => store.hashOfOther(hash, { id: "an open one", wallet, token })),
    ),
  filledBeside: "of what is young",
  intendedSignature: "of what is young",
  clearancePrices: "of what is young",
  dueEffects: (store, of) => [store.dueEffects(of.nowMs, 99, "no routes"), store.dueEffects(of.nowMs, 99, "routes")],
  nextEffectMs: (store) => store.nextEffectMs(),
  isAnyEffectAhead: "of what is young",
  beginEffect: "writes",
  holds: (store, of) => each(of.openRuns, store.holds),
  ledgerVersion: (store, of) => [store.ledgerVersion(), each(of.addresses, store.ledgerVersion)],
  soldBySince: (store, of) =>
    each(of.strategies, (id) => [store.soldBySince(id, 0), store.soldBySince(id, of.nowMs - 31 * 86_400_000)]),
  tradedRuns: (store, of) => each(of.strategies, store.tradedRuns),
  reserved: (store, of) => ofTokens(of, (wallet, token) => store.reserved(wallet, token)),
  soldBy: (store, of) => each(of.strategies, store.soldBy),
  acceptedBy: (store, of) => each(of.strategies, store.acceptedBy),
  boughtBy: (store, of) => each(of.strategies, store.boughtBy),
  netOfSwaps: (store, of) => ofTokens(of, store.netOfSwaps),
  newestBlock: (store, of) => each(of.addresses, store.newestBlock),
  hasBought: (store, of) => ofTokens(of, store.hasBought),
  // Of the hour in which a window begins sales are read one by one: those of old hours are in no window any more.
  soldUsdSince: (store, of) =>
    each(of.slots, (atMs) => store.soldUsdSince(Math.ceil(atMs / HOUR_MS) * HOUR_MS, "none")),
  settleAnew: "writes",
  isWalletBusy: (store, of) => ofTokens(of, (wallet) => store.isWalletBusy(wallet, "")),
  isAllowanceNewer: "of what is young",
  isTokenBusy: (store, of) => ofTokens(of, (wallet, token) => store.isTokenBusy(wallet, token, "")),
  lastFreed: (store, of) => ofTokens(of, store.lastFreed),
  isNonceOfOther: (store, of) =>
    each(of.addresses, (wallet) =>
      each(of.nonces, (nonce) => each(of.swaps, (swap) => store.isNonceOfOther(wallet, nonce, swap))),
    ),
  failuresBetween: "of what is young",
  idleGrants: (store) => store.idleGrants(),
  grantors: (store, of) => ofTokens(of, store.grantors),
  isAllowanceOpen: (store, of) =>
    ofTokens(of, (wallet, token) =>
      store.isAllowanceOpen(wallet, token, { number: of.block, timestamp: of.nowMs / 1_000 }),
    ),
  identity: (store) => store.identity(),
  strategy: (store, of) => each(of.strategies, store.strategy),
  sameEndsOf: (store, of) => store.sameEndsOf(of.strategies),
  warnings: (store) => store.warnings(),
  slotsWithRun: "of what is young",
  endedAhead: "of what is young",
  begun: "of what is young",
  salesAhead: "of what is young",
  isReported: (store) => store.isReported("k"),
  knownChains: (store) => store.knownChains(),
  baselines: (store) => store.baselines(),
  // What questions answer is put together from these rows.
  read: "of what is young",
  commit: "writes",
  lastSlots: (store, of) => store.lastSlots(of.strategies),
  strategyIds: (store) => store.strategyIds(),
  goneStrategies: (store) => store.goneStrategies(),
  mode: (store, of) => each(of.strategies, store.mode),
  modes: (store) => store.modes(),
  sameEnds: (store, of) => each(of.strategies, store.sameEnds),
  priceBars: (store, of) => each(of.tokens, (token) => store.priceBars(token, 0)),
  proposedSwaps: (store) => store.proposedSwaps(),
  deliveredToOthers: (store, of) =>
    each(of.tokens, (token) => each(of.addresses, (wallet) => store.deliveredToOthers([wallet], token))),
  drawdown: (store) => store.drawdown(),
  digestMark: (store) => store.digestMark("day"),
  chatOffset: (store) => store.chatOffset("1"),
  newestTransition: "of what is young",
  newestLaneTransition: "of what is young",
  filledSince: "of what is young",
  paidSince: "of what is young",
  endsSince: "of what is young",
  gapsSince: "of what is young",
  historyHead: "of what is young",
  addRequest: "writes",
  newestFillMs: (store) => store.newestFillMs(),
  newestRequest: (store) => store.newestRequest(),
  openRequests: (store) => store.openRequests(),
  answerOf: (store) => store.answerOf(1),
  lastAliveMs: (store) => store.lastAliveMs(),
  letGo: "writes",
  letRunsGo: "writes",
  closeIdleGaps: "writes",
  closeGaps: "writes",
  raiseAlert: "writes",
  addMessage: "writes",
  databaseState: (store) => store.databaseState(),
  openDifferences: (store) => store.openDifferences(),
  wasAccepted: (store) => store.wasAccepted("k"),
  acceptedOthers: (store) => [...store.acceptedOthers()],
  acceptedUnproved: (store) => [...store.acceptedUnproved()],
  addDifference: "writes",
  knownChain: (store, of) => each(of.addresses, store.knownChain),
  signedHistory: (store, of) => each(of.addresses, store.signedHistory),
  knowsMove: (store, of) =>
    each(of.hashes, (hash) => ofTokens(of, (wallet, token) => store.knowsMove(hash, wallet, token))),
  knowsNonce: (store, of) =>
    each(of.addresses, (wallet) => each(of.nonces, (nonce) => store.knowsNonce(wallet, nonce))),
  hasGrant: (store, of) => ofGrants(of, store.hasGrant),
};

/** The same of a lane's rows. */
const LANES: Asked<LaneRowStore> = {
  transaction: "writes",
  intent: (lanes, of) => each(of.openIntents, lanes.intent),
  // Of a nonce below all that a lane follows it is told whether something of ours had it, which is archived.
  intentAt: (lanes, of) =>
    each(of.addresses, (account) =>
      each(
        of.used,
        (nonce) => lanes.intentAt(account, CHAIN, nonce) !== undefined || lanes.isArchivedNonce(account, CHAIN, nonce),
      ),
    ),
  isArchivedNonce: "of what is young",
  openIntents: (lanes, of) => each(of.addresses, (account) => lanes.openIntents(account, CHAIN)),
  forgetUnsigned: "writes",
  signings: (lanes, of) => each(of.openIntents, lanes.signings),
  attempts: (lanes, of) => each(of.openIntents, lanes.attempts),
  cost: (lanes, of) => each(of.openIntents, lanes.cost),
  transitions: (lanes, of) => each(of.openIntents, lanes.transitions),
  cancelRequest: (lanes, of) => each(of.openIntents, lanes.cancelRequest),
  waitingCancelRequests: (lanes, of) => each(of.addresses, (account) => lanes.waitingCancelRequests(account, CHAIN)),
  halt: (lanes, of) => each(of.addresses, (account) => lanes.halt(account, CHAIN)),
  halts: (lanes) => lanes.halts(),
  account: (lanes, of) => each(of.addresses, (account) => lanes.account(account, CHAIN)),
};

/** What the rows are about now. */
function subjectsOf(db: SqliteDatabase): Subjects {
  const column = <T>(sql: string): readonly T[] => db.prepare<[], T>(sql).pluck().all();
  const addresses = (sql: string) => column<string>(sql).map(toAddress);
  return {
    strategies: column("SELECT id FROM strategies"),
    addresses: addresses("SELECT wallet FROM swaps UNION SELECT recipient FROM swaps"),
    tokens: addresses("SELECT sell_token FROM swaps UNION SELECT buy_token FROM swaps"),
    spenders: addresses("SELECT spender FROM capabilities UNION SELECT spender FROM grants"),
    openRuns: column("SELECT id FROM runs WHERE ended_at_ms IS NULL"),
    openIntents: column("SELECT id FROM lane_intents WHERE state NOT IN ('final', 'dropped')"),
    swaps: column("SELECT id FROM swaps WHERE state NOT IN ('skipped', 'denied')"),
    intents: column("SELECT id FROM lane_intents"),
    hashes: column(
      `SELECT hash FROM swaps WHERE hash IS NOT NULL UNION SELECT mined_attempt_hash FROM lane_intents
       WHERE purpose = 'swap' AND outcome = 'succeeded'`,
    ),
    nonces: column<string>("SELECT DISTINCT nonce FROM swaps WHERE nonce IS NOT NULL").map(BigInt),
    used: column("SELECT nonce FROM lane_intents WHERE nonce IS NOT NULL"),
    slots: column("SELECT slot_ms FROM runs"),
    block: Math.max(0, ...column<number>("SELECT mined_block_number FROM lane_intents WHERE mined_block_number > 0")),
    nowMs: 6_000_000_000_000,
  };
}

/** @returns a way to ask everything, of what the rows are about now: to be asked again once they went */
export function everyAnswer({ db }: DaemonDatabase): (ports: Pick<DaemonDatabase, "store" | "lanes">) => unknown {
  const subjects = subjectsOf(db);
  return ({ store, lanes }) => [answersOf(STORE, store, subjects), answersOf(LANES, lanes, subjects)];
}

function answersOf<Port>(asked: object, port: Port, subjects: Subjects): Readonly<Record<string, unknown>> {
  const entries = Object.entries(asked as Record<string, string | ((port: Port, of: Subjects) => unknown)>);
  return Object.fromEntries(
    entries.flatMap(([name, ask]) => (typeof ask === "string" ? [] : [[name, ask(port, subjects)]])),
  );
}
