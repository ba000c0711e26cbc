import { join } from "node:path";
import { expect, test } from "vitest";
import { createAlertOutbox, setAlertChannels } from "../../../../src/adapters/sqlite/daemon/alert-outbox.ts";
import { createHistoryReader, type HistoryReader } from "../../../../src/adapters/sqlite/daemon/history-rows.ts";
import { copyRecent } from "../../../../src/adapters/sqlite/daemon/recent-copy.ts";
import type { DaemonStore } from "../../../../src/adapters/sqlite/daemon/store.ts";
import { createStore } from "../../../../src/adapters/sqlite/daemon/store.ts";
import { readLaneHistory } from "../../../../src/adapters/sqlite/lane-history.ts";
import { createLaneRows } from "../../../../src/adapters/sqlite/lane-rows.ts";
import type { RunRecord } from "../../../../src/domain/run/records.ts";
import type { AlertOutbox } from "../../../../src/ports/alert-store.ts";
import type { Change, StepQuestion } from "../../../../src/ports/changes.ts";
import type { LaneRowStore } from "../../../../src/ports/lane-row-store.ts";
import type { Question, QuestionKind } from "../../../../src/ports/questions.ts";
import { openDatabase } from "../../../../src/storage/database.ts";
import {
  alertSample,
  dcaSpec,
  evidenceSample,
  HUNDRED_USDC,
  NOW_MS,
  priceOf,
  ROUTER,
  runSample,
  SLOT_MS,
  USDC,
  WALLET,
} from "../../../support/builders.ts";
import { addRun, addStrategy, openDaemonDatabase } from "../../../support/daemon-database.ts";
import { ACCOUNT, attemptRow, intentRow } from "../../../support/lane-database.ts";
import { type Calls, callAll, collectStatements, dropTriggers, growingParts } from "../../../support/query-plans.ts";
import { hash, readingFor, swapIn } from "../../../support/reading-samples.ts";
import { temporaryDirectory } from "../../../support/temporary-directory.ts";

const swap = swapIn("confirmed");
const run = runSample({ swaps: [swap] });
const swapId = swap.id;
const sold = { id: swapId, wallet: swap.wallet, token: swap.sell.address };
const SIDES = { wallet: swap.wallet, sell: swap.sell.address, recipient: swap.recipient, buy: swap.buy.address };
const chainId = 31_337;
const FINAL = { number: 9, timestamp: 9 };

const QUESTION: StepQuestion = {
  ...{ daySinceMs: 1, monthSinceMs: 1 },
  failures: { sinceMs: 1, untilMs: 2, except: ["node_unavailable"] },
  everybodys: ["clock"],
};

const READ = { kind: "facts-read", swapId, reading: readingFor(swap) } as const;
const GRANT = { wallet: WALLET, token: USDC.address, spender: ROUTER };
const LANE = { account: ACCOUNT, chainId };
const BARS = { token: USDC.address, sinceMs: 1 };
/** One question of each kind. */
const QUESTIONS: { readonly [K in QuestionKind]: Question<K> } = {
  nothing: { kind: "nothing" },
  step: { kind: "step", runId: run.id, event: READ, of: QUESTION },
  slots: { kind: "slots", strategyIds: ["weekly"] },
  "next-slot": { kind: "next-slot", strategyId: "weekly", fromMs: NOW_MS },
  editions: { kind: "editions", strategyIds: ["weekly"], fromMs: NOW_MS },
  busy: { kind: "busy" },
  scope: { kind: "scope", scope: "weekly" },
  start: { kind: "start" },
  requests: { kind: "requests" },
  modes: { kind: "modes" },
  "newest-request": { kind: "newest-request" },
  "request-answer": { kind: "request-answer", requestId: 1 },
  "newest-fill": { kind: "newest-fill" },
  "due-runs": { kind: "due-runs", limit: 10 },
  "due-effects": { kind: "due-effects", nowMs: NOW_MS, limit: 9, group: "no routes" },
  "next-effect": { kind: "next-effect" },
  effect: { kind: "effect", effectId: 1, runId: run.id },
  hold: { kind: "hold", runId: run.id },
  differences: { kind: "differences" },
  strategy: { kind: "strategy", strategyId: "weekly" },
  "view-start": { kind: "view-start", strategyId: "weekly", wallet: ACCOUNT },
  view: {
    kind: "view",
    strategyId: "weekly",
    wallet: ACCOUNT,
    tokens: [USDC.address],
    bars: [BARS],
    soldSinceMs: [0, SLOT_MS],
  },
  "sold-usd": { kind: "sold-usd", daySinceMs: 1, monthSinceMs: 1 },
  "newest-block": { kind: "newest-block", wallets: [ACCOUNT] },
  traded: { kind: "traded", wallet: ACCOUNT, sell: USDC.address, buy: USDC.address },
  outflows: { kind: "outflows", swap: sold, hashes: [hash("ab")], keys: ["key"] },
  beside: { kind: "beside", swapId, hash: hash("ab"), sides: SIDES },
  "known-chain": { kind: "known-chain", wallet: ACCOUNT },
  signing: { kind: "signing", runId: run.id, strategyId: "weekly", digests: [hash("ab")] },
  "dry-run-step": { kind: "dry-run-step", run, event: READ, of: QUESTION },
  standing: { kind: "standing", keys: ["nonce"], wallets: [WALLET] },
  acceptance: { kind: "acceptance" },
  "first-look": { kind: "first-look", wallet: WALLET, spender: ROUTER, tokens: [USDC.address] },
  ours: { kind: "ours", wallet: WALLET, moves: [{ hash: hash("ab"), token: USDC.address }], nonces: [7n] },
  allowance: { kind: "allowance", ...GRANT, final: FINAL },
  "idle-grants": { kind: "idle-grants" },
  grant: { kind: "grant", wallet: WALLET, token: USDC.address },
  beginning: { kind: "beginning" },
  downtime: { kind: "downtime", swapIds: [swapId] },
  "left-ahead": { kind: "left-ahead", nowMs: NOW_MS, salesAfterMs: NOW_MS },
  "chat-offset": { kind: "chat-offset", bot: "1" },
  digest: { kind: "digest", period: "day", nowMs: NOW_MS },
  drawdown: { kind: "drawdown", wallets: [WALLET], tokens: [USDC.address], unmoved: [] },
  "lane-open": { kind: "lane-open", ...LANE },
  lane: { kind: "lane", ...LANE, intent: { nonce: 1 } },
  "lane-signing": { kind: "lane-signing", ...LANE, withDatabase: true, intent: { id: `${swapId}.swap` } },
  "lane-move": { kind: "lane-move", ...LANE, withDatabase: true, intent: { id: `${swapId}.swap` }, of: QUESTION },
  "intent-account": { kind: "intent-account", intentId: "tx_1" },
};

const planned = intentRow({ id: "run_1.0.1.swap", state: "planned", nonce: undefined });
const CHANGES: readonly Change[] = [
  { kind: "intent", intent: planned },
  { kind: "mode", row: { scope: "weekly", mode: "paused", setBy: "ops", reason: "r", atMs: NOW_MS } },
];

const RETENTION = {
  ...{ unsignedBeforeMs: NOW_MS * 2, signedBeforeMs: NOW_MS * 2 },
  ...{ nowMs: NOW_MS, after: undefined, mayGoOn: () => true },
};

const BASELINE = {
  ...{ wallet: WALLET, token: USDC.address, symbol: "USDC", decimals: 6 },
  ...{ blockNumber: 1, blockTimeSeconds: 1, balance: 1n },
};

const STORE: Calls<DaemonStore> = {
  transaction: (store) => store.transaction(() => 1),
  commit: (store) =>
    store.commit([{ question: QUESTIONS.step, decide: () => ({ changes: CHANGES, atMs: NOW_MS, value: undefined }) }]),
  sameEndsOf: (store) => store.sameEndsOf(["weekly"]),
  warnings: (store) => store.warnings(),
  soldBySince: (store) => [store.soldBySince("weekly", 0), store.soldBySince("weekly", SLOT_MS, swapId)],
  tradedRuns: (store) => store.tradedRuns("weekly"),
  acceptedBy: (store) => store.acceptedBy("weekly"),
  endedAhead: (store) => store.endedAhead(["weekly"]),
  slotsWithRun: (store) => store.slotsWithRun("weekly", 1),
  begun: (store) => store.begun(1),
  holds: (store) => store.holds("run_1"),
  answerHolds: (store) => store.answerHolds("run_1", { decision: "approved", by: "ada", atMs: NOW_MS }),
  hastenQuotes: (store) => store.hastenQuotes("run_1", NOW_MS),
  insertRun: (store) => store.insertRun(runSample({ id: "run_2", slotMs: SLOT_MS + 1_000, swaps: [] }), NOW_MS),
  run: (store) => store.run(run.id),
  saveRun: (store) =>
    store.saveRun(
      { ...run, state: "filled" },
      [{ subject: "run", subjectId: run.id, from: "executing", to: "filled", reason: undefined, detail: undefined }],
      NOW_MS,
    ),
  dueRuns: (store) => store.dueRuns(10),
  hasOpenRun: (store) => store.hasOpenRun("weekly"),
  barOpenRuns: (store) => store.barOpenRuns(),
  isRunBarred: (store) => store.isRunBarred("run_1"),
  strategiesWithOpenRun: (store) => store.strategiesWithOpenRun(),
  unsettledSwaps: (store) => store.unsettledSwaps(),
  openWork: (store) => store.openWork(),
  swapState: (store) => store.swapState(swapId),
  runOfIntent: (store) => store.runOfIntent(`${swapId}.swap`),
  hashOfOther: (store) => store.hashOfOther(hash("ab"), sold),
  filledBeside: (store) => store.filledBeside("another", hash("ab"), SIDES),
  intendedSignature: (store) => store.intendedSignature(hash("ab")),
  addEffects: (store) =>
    store.addEffects(run.id, [{ effect: { kind: "ReadChain", swapId }, notBeforeMs: NOW_MS }], NOW_MS),
  addStep: (store) => store.addStep(run.id, { event: { kind: "started" }, evidence: evidenceSample() }),
  dueEffects: (store) =>
    (["polls", "routes", "others", "no routes"] as const).map((group) => store.dueEffects(NOW_MS, 9, group)),
  nextEffectMs: (store) => store.nextEffectMs(),
  beginEffect: (store) => store.beginEffect(1),
  read: (store) => Promise.all(Object.values(QUESTIONS).map((question) => store.read(question as never))),
  finishEffect: (store) => store.finishEffect(1),
  postponeEffect: (store) => store.postponeEffect(1, NOW_MS),
  hastenEffects: (store) => store.hastenEffects(NOW_MS),
  isAnyEffectAhead: (store) => store.isAnyEffectAhead(NOW_MS),
  writeRecord: (store) => Object.values(RECORDS).map((record) => store.writeRecord(run, record, NOW_MS)),
  ledgerVersion: (store) => store.ledgerVersion(WALLET),
  reserved: (store) => store.reserved(WALLET, USDC.address),
  soldBy: (store) => store.soldBy("weekly"),
  boughtBy: (store) => store.boughtBy("weekly"),
  netOfSwaps: (store) => store.netOfSwaps(WALLET, USDC.address),
  newestBlock: (store) => store.newestBlock(WALLET),
  hasBought: (store) => store.hasBought(WALLET, USDC.address),
  soldUsdSince: (store) => store.soldUsdSince(NOW_MS - 86_400_000, swapId),
  salesAhead: (store) => store.salesAhead(NOW_MS),
  settleAnew: (store) => store.settleAnew({ afterMs: NOW_MS, atMs: NOW_MS }),
  isWalletBusy: (store) => store.isWalletBusy(WALLET, swapId),
  isAllowanceNewer: (store) => store.isAllowanceNewer(WALLET, USDC.address, FINAL.number),
  isTokenBusy: (store) => store.isTokenBusy(WALLET, USDC.address, swapId),
  lastFreed: (store) => store.lastFreed(WALLET, USDC.address),
  isNonceOfOther: (store) => store.isNonceOfOther(WALLET, 7n, swapId),
  failuresBetween: (store) => store.failuresBetween("weekly", { sinceMs: NOW_MS, untilMs: NOW_MS }, []),
  idleGrants: (store) => store.idleGrants(),
  grantors: (store) => store.grantors(WALLET, USDC.address),
  isAllowanceOpen: (store) => store.isAllowanceOpen(WALLET, USDC.address, FINAL),
  forgetGrant: (store) => store.forgetGrant({ wallet: WALLET, token: USDC.address, spender: ROUTER }, FINAL),
  identity: (store) => store.identity(),
  saveIdentity: (store) => store.saveIdentity({ network: "sandbox", chainId, atMs: NOW_MS }),
  strategy: (store) => store.strategy("weekly"),
  saveStrategy: (store) => addStrategy(store, dcaSpec()),
  lastSlots: (store) => store.lastSlots(["weekly"]),
  setLastSlot: (store) => store.setLastSlot("weekly", SLOT_MS),
  markGone: (store) => store.markGone(["weekly"]),
  strategyIds: (store) => store.strategyIds(),
  goneStrategies: (store) => store.goneStrategies(),
  comeBack: (store) => store.comeBack("weekly", SLOT_MS),
  mode: (store) => store.mode("weekly"),
  modes: (store) => store.modes(),
  setMode: (store) => store.setMode({ scope: "weekly", mode: "paused", setBy: "ops", reason: "r", atMs: NOW_MS }),
  addGap: (store) =>
    store.addGap(
      { strategy: "weekly", firstSlotMs: SLOT_MS, lastSlotMs: SLOT_MS, count: 1, reason: "downtime" },
      SLOT_MS - 1,
      NOW_MS,
    ),
  addPriceSample: (store) => store.addPriceSample(USDC.address, NOW_MS, priceOf(USDC).usd),
  priceBars: (store) => store.priceBars(USDC.address, NOW_MS),
  prunePriceBars: (store) => store.prunePriceBars(USDC.address, { sinceMs: NOW_MS, untilMs: NOW_MS }),
  deliveredToOthers: (store) => store.deliveredToOthers([WALLET], USDC.address),
  proposedSwaps: (store) => store.proposedSwaps(),
  drawdown: (store) => store.drawdown(),
  digestMark: (store) => store.digestMark("day"),
  keepDigestMarks: (store) => store.keepDigestMarks(["day"]),
  saveDigestMark: (store) =>
    store.saveDigestMark("day", { untilMs: NOW_MS, lastTransition: 1, lastLaneTransition: 1, gaps: {} }),
  chatOffset: (store) => store.chatOffset("1"),
  saveChatOffset: (store) => store.saveChatOffset("1", { nextUpdate: 1, atMs: NOW_MS }),
  newestTransition: (store) => store.newestTransition(),
  newestLaneTransition: (store) => store.newestLaneTransition(),
  filledSince: (store) => store.filledSince(1),
  paidSince: (store) => store.paidSince(1),
  endsSince: (store) => store.endsSince(1),
  gapsSince: (store) => store.gapsSince(NOW_MS),
  historyHead: (store) => store.historyHead(),
  saveDrawdown: (store) => store.saveDrawdown({} as never, NOW_MS),
  baselines: (store) => store.baselines(),
  addBaseline: (store) => store.addBaseline(BASELINE),
  replaceBaselines: (store) => store.replaceBaselines(WALLET, [BASELINE]),
  addLotOrder: (store) => store.addLotOrder({ wallet: WALLET, pick: "oldest", madeBy: "ops", sinceMs: 1 }),
  newestFillMs: (store) => store.newestFillMs(),
  addRequest: (store) => store.addRequest({ command: "run", arguments: {}, madeBy: "ops", madeAtMs: NOW_MS }),
  openRequests: (store) => store.openRequests(),
  newestRequest: (store) => store.newestRequest(),
  answerRequest: (store) => store.answerRequest(1, "done", NOW_MS),
  answerOpenRequests: (store) => store.answerOpenRequests("refused", NOW_MS),
  answerOf: (store) => store.answerOf(1),
  lastAliveMs: (store) => store.lastAliveMs(),
  noteAlive: (store) => store.noteAlive(NOW_MS),
  addDaemonEvent: (store) => store.addDaemonEvent("start", "", NOW_MS),
  raiseAlert: (store) => store.raiseAlert(alertSample()),
  rewordAlert: (store) => store.rewordAlert(alertSample()),
  replaceAlert: (store) => store.replaceAlert(alertSample(), NOW_MS),
  addMessage: (store) => store.addMessage(alertSample({ id: "fill_1" })),
  endAlertsOfWants: (store) => store.endAlertsOfWants("weekly", { raisedUntilMs: NOW_MS, atMs: NOW_MS }),
  trueWarnings: (store) => store.trueWarnings("weekly", ["clock"]),
  endAlerts: (store) => store.endAlerts("swap", NOW_MS),
  endAlertsOfFills: (store) => store.endAlertsOfFills("weekly", NOW_MS),
  endAlertsOfOthersOutside: (store) =>
    store.endAlertsOfOthersOutside({ hosts: ["service.example"], signed: ["main"] }, NOW_MS),
  endAlertsOfOthers: (store) => store.endAlertsOfOthers(["weekly"], NOW_MS),
  sameEnds: (store) => store.sameEnds("weekly"),
  saveSameEnds: (store) => store.saveSameEnds("weekly", { reason: "overlap", count: 3, firstSlotMs: SLOT_MS }),
  clearancePrices: (store) => store.clearancePrices(swapId),
  databaseState: (store) => store.databaseState(),
  capFindings: (store) => store.capFindings(NOW_MS),
  capAcceptances: (store) => store.capAcceptances(NOW_MS),
  countBeyond: (store) => store.countBeyond(3),
  nameDatabase: (store) => store.nameDatabase("database_1"),
  openDifferences: (store) => store.openDifferences(),
  addDifference: (store) =>
    store.addDifference(
      {
        ...{ key: "nonce", wallet: WALLET, token: undefined, kind: "nonce", scope: "wallet", text: "t" },
        facts: {},
      },
      { ms: NOW_MS, sinceBoot: { id: "boot", ms: 0 } },
    ),
  isReported: (store) => store.isReported("nonce"),
  wasAccepted: (store) => store.wasAccepted("nonce"),
  acceptedOthers: (store) => store.acceptedOthers(),
  acceptedUnproved: (store) => store.acceptedUnproved(),
  settleDifference: (store) => store.settleDifference(1, { by: "ops", atMs: NOW_MS }),
  removeUnchecked: (store) => store.removeUnchecked(WALLET),
  knownChain: (store) => store.knownChain(WALLET),
  knownChains: (store) => store.knownChains(),
  saveKnownChain: (store) => {
    const baseline = { block: 1, transactionCount: 2 };
    store.saveKnownChain({ wallet: WALLET, ...baseline, balances: new Map(), baseline }, NOW_MS);
  },
  signedHistory: (store) => store.signedHistory(WALLET),
  knowsMove: (store) => store.knowsMove(hash("ab"), swap.wallet, swap.sell.address),
  knowsNonce: (store) => store.knowsNonce(WALLET, 7n),
  hasGrant: (store) => store.hasGrant({ wallet: WALLET, token: USDC.address, spender: ROUTER }),
  adoptGrant: (store) =>
    store.adoptGrant({ wallet: WALLET, token: USDC.address, spender: ROUTER }, { block: 9, atMs: NOW_MS }),
  closeIdleGaps: (store) => store.closeIdleGaps({ sinceMs: NOW_MS * 2, atLeastOneSinceMs: NOW_MS * 2 }),
  closeGaps: (store) => store.closeGaps({ sinceMs: NOW_MS * 2, atLeastOneSinceMs: NOW_MS * 2 }),
  letGo: (store) => store.letGo(RETENTION),
  letRunsGo: (store) => store.letRunsGo(RETENTION),
  countSale: (store) => store.countSale({ differenceId: 1, strategy: "weekly", token: USDC.address, amount: 1n }),
};

/** One record of every kind, in an order in which a swap could write them. */
const RECORDS: { readonly [Kind in RunRecord["kind"]]: Extract<RunRecord, { kind: Kind }> } = {
  memory: { kind: "memory", memory: "{}" },
  pause: { kind: "pause", pause: { code: "c", detail: "d" } as never },
  reserve: { kind: "reserve", swapId, token: USDC, amount: HUNDRED_USDC },
  value: { kind: "value", swapId, usd: 5n },
  spend: { kind: "spend", swapId, amount: HUNDRED_USDC },
  unspend: { kind: "unspend", swapId, amount: HUNDRED_USDC },
  release: { kind: "release", swapId },
  "open-capability": {
    ...{ kind: "open-capability", swapId, wallet: WALLET, token: USDC.address, spender: ROUTER },
    untilSeconds: undefined,
  },
  "close-capability": { kind: "close-capability", swapId },
  grant: { kind: "grant", wallet: WALLET, token: USDC.address, spender: ROUTER },
  "intend-signature": {
    ...{ kind: "intend-signature", swapId, purpose: "swap", digest: hash("ab"), typedData: "{}" },
    validUntilSeconds: 9,
  },
  signature: { kind: "signature", digest: hash("ab"), signature: "0xab" },
  transaction: { kind: "transaction", request: {} as never },
  checks: {
    kind: "checks",
    swapId,
    checks: [{ code: "QUOTE_EXPIRED", subject: "s", value: "1", limit: "2", ok: true }],
  },
  prices: { kind: "prices", swapId, prices: { readAtMs: 1, sold: undefined, bought: undefined, native: undefined } },
  hold: {
    kind: "hold",
    hold: { kind: "approval", swapId, untilMs: NOW_MS, windowEndsMs: NOW_MS, answer: undefined },
  },
  retry: { kind: "retry", about: swapId, reason: "r", detail: "d", nextMs: NOW_MS },
  route: { kind: "route", swapId, distributions: undefined, serviceRecord: undefined },
  alert: { kind: "alert", severity: "info", code: "SWAP_UNKNOWN", subject: "s", text: "t" } as never,
};

const LANES: Calls<LaneRowStore> = {
  transaction: (lanes) => lanes.transaction(() => 1),
  insertIntent: (lanes) => lanes.insertIntent(intentRow()),
  intent: (lanes) => lanes.intent("tx_1"),
  openIntents: (lanes) => lanes.openIntents(ACCOUNT, chainId),
  forgetUnsigned: (lanes) => lanes.forgetUnsigned("tx_1"),
  intentAt: (lanes) => lanes.intentAt(ACCOUNT, chainId, 1),
  isArchivedNonce: (lanes) => lanes.isArchivedNonce(ACCOUNT, chainId, 1),
  updateIntent: (lanes) => lanes.updateIntent("tx_1", { nonce: 0 }),
  insertSigning: (lanes) =>
    lanes.insertSigning({
      ...{ intentId: "tx_1", kind: "original", nonce: 0, to: ACCOUNT, data: "0x", value: 0n },
      ...{ gasLimit: 1n, maxFeePerGas: 2n, maxPriorityFeePerGas: 3n, visibility: "public", atMs: 4 },
    }),
  signings: (lanes) => lanes.signings("tx_1"),
  insertAttempt: (lanes) => lanes.insertAttempt(attemptRow()),
  attempts: (lanes) => lanes.attempts("tx_1"),
  updateAttempt: (lanes) => lanes.updateAttempt(attemptRow().hash, { state: "broadcast" }),
  saveCost: (lanes) =>
    lanes.saveCost({
      ...{ intentId: "tx_1", hash: hash("ab"), succeeded: true, blockNumber: 1, blockTimeSeconds: 2 },
      ...{ gasUsed: 1n, gasPrice: 1n, dataFee: undefined },
    }),
  forgetCost: (lanes) => lanes.forgetCost("tx_1"),
  cost: (lanes) => lanes.cost("tx_1"),
  recordTransition: (lanes) =>
    lanes.recordTransition({
      ...{ intentId: "tx_1", attemptHash: undefined, from: undefined, to: "planned", atMs: 1, detail: undefined },
    }),
  transitions: (lanes) => lanes.transitions("tx_1"),
  requestCancel: (lanes) => lanes.requestCancel({ intentId: "tx_1", by: "ops", atMs: 1 }),
  cancelRequest: (lanes) => lanes.cancelRequest("tx_1"),
  waitingCancelRequests: (lanes) => lanes.waitingCancelRequests(ACCOUNT, chainId),
  account: (lanes) => lanes.account(ACCOUNT, chainId),
  halt: (lanes) => lanes.halt(ACCOUNT, chainId),
  halts: (lanes) => lanes.halts(),
  addHalt: (lanes) => lanes.addHalt({ account: ACCOUNT, chainId, reason: "r", transactionCount: 1, atMs: 1 }),
  releaseHalt: (lanes) => lanes.releaseHalt(ACCOUNT, chainId, { by: "ops", atMs: 2 }),
  acceptCount: (lanes) =>
    lanes.acceptCount({ account: ACCOUNT, chainId, transactionCount: 3 }, { by: "ops", atMs: NOW_MS }),
};

const OUTBOX: Calls<AlertOutbox> = {
  makeAllDue: (outbox) => outbox.makeAllDue(),
  next: (outbox) => outbox.next(),
  beginAttempt: (outbox) => outbox.beginAttempt(1, NOW_MS),
  finish: (outbox) => outbox.finish(1, { state: "given-up", outcome: "200", atMs: NOW_MS }),
  noteOutcome: (outbox) => outbox.noteOutcome(1, "500"),
  waitAgain: (outbox) => outbox.waitAgain(),
  giveUp: (outbox) => outbox.giveUp({ upToNumber: 1, mostWaiting: 9 }, NOW_MS),
  newestNumber: (outbox) => outbox.newestNumber(),
};

const READER: Calls<HistoryReader> = {
  runs: (reader) => [reader.runs({ limit: 20 }), reader.runs({ limit: 20, strategy: "weekly" })],
  run: (reader) => reader.run(run.id),
  runOfSwap: (reader) => reader.runOfSwap(swapId),
  runAt: (reader) => reader.runAt("weekly", NOW_MS),
  transitions: (reader) => reader.transitions([run.id]),
  checks: (reader) => reader.checks(swapId),
  retries: (reader) => reader.retries(run.id),
  gaps: (reader) => reader.gaps(),
  gapAt: (reader) => reader.gapAt("weekly", NOW_MS),
  storedRun: (reader) => reader.storedRun(run.id),
  strategies: (reader) => reader.strategies(),
  swapStates: (reader) => reader.swapStates(),
  modes: (reader) => reader.modes(),
  halts: (reader) => reader.halts(),
  unsentAlerts: (reader) => reader.unsentAlerts(),
  channels: (reader) => reader.channels(),
  trueAlerts: (reader) => reader.trueAlerts(),
  openAlerts: (reader) => reader.openAlerts(),
  alertCounts: (reader) => reader.alertCounts(),
  lastClockJump: (reader) => reader.lastClockJump(),
  wallets: (reader) => reader.wallets(),
  startedMode: (reader) => reader.startedMode(),
  lastEvent: (reader) => reader.lastEvent(),
};

/**
 * Every statement of both stores, of the alerts' sender and of the reading side, as they are called in whatever order
 * without the guards; and a database with guards, whose own questions are part of a plan.
 */
async function allStatements() {
  const { db, store } = openDaemonDatabase();
  addStrategy(store);
  addRun(store, runSample({ swaps: [swapIn("confirmed", { gross: undefined })] }));
  dropTriggers(db);
  const statements = collectStatements(db);
  await callAll(STORE, createStore(db));
  await callAll(LANES, createLaneRows(db));
  await setAlertChannels(db, [{ name: "webhook", severities: ["info", "warning", "critical"], sendsEnds: true }]);
  await callAll(OUTBOX, createAlertOutbox(db, "webhook"));
  await callAll(READER, createHistoryReader(db));
  readLaneHistory(db, 20);
  const copy = openDatabase({ file: join(temporaryDirectory(), "copy.db") });
  copyRecent(db, copy, NOW_MS);
  copy.close();
  return { db: openDaemonDatabase().db, statements: [...statements] };
}

/** Slots that a strategy used up ahead: few, and asked for only where it came further than it is now. */
const AHEAD = { gaps_by_end: "strategy=? AND last_slot_ms>?", sqlite_autoindex_runs_2: "strategy=? AND slot_ms>?" };

test("no statement of the daemon or of its reading commands grows with the history", async () => {
  const { db, statements } = await allStatements();
  expect(statements.length).toBeGreaterThan(120);
  const growing = statements.flatMap((sql) => {
    const parts = growingParts(db, sql, sql.includes("furthest_slot_ms > ") ? AHEAD : {});
    return parts.length === 0 ? [] : [{ sql: sql.replaceAll(/\s+/g, " "), parts }];
  });
  expect(growing).toEqual([]);
});

test("the newest block of a wallet that never traded is not looked for among what others did", () => {
  const { db } = openDaemonDatabase();
  const statements = collectStatements(db);
  createStore(db).newestBlock(WALLET);
  const plans = [...statements].flatMap((sql) =>
    db.prepare<null[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`).all(null),
  );
  expect(plans.map(({ detail }) => detail.replace(/^.* USING (COVERING )?INDEX /, ""))).toEqual([
    "swaps_by_wallet_block (wallet=? AND block_number>?)",
    "swaps_by_recipient_block (recipient=? AND block_number>?)",
    "lane_intents_mined_of (account=? AND mined_block_number>?)",
  ]);
});

test("what a digest tells of gas is looked for among the moves of its period alone", () => {
  const { db } = openDaemonDatabase();
  const statements = collectStatements(db);
  createStore(db).paidSince(1);
  const [plan] = [...statements].map((sql) =>
    db.prepare<null[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`).all(null),
  );
  const searches = plan?.map(({ detail }) => detail).filter((detail) => /^(SCAN|SEARCH)/.test(detail));
  expect(searches).toEqual([
    "SEARCH moves USING INTEGER PRIMARY KEY (rowid>?)",
    "SEARCH earlier USING INDEX lane_transitions_intent (intent_id=? AND id<?)",
    "SEARCH lane_intents USING INDEX sqlite_autoindex_lane_intents_1 (id=?)",
    "SEARCH lane_costs USING INDEX sqlite_autoindex_lane_costs_1 (intent_id=?)",
  ]);
});

test("the warnings of a strategy are not looked for among all that are true, of which hundreds may be", () => {
  const { db } = openDaemonDatabase();
  const statements = collectStatements(db);
  createStore(db).trueWarnings("weekly", ["clock"]);
  const plans = [...statements].flatMap((sql) =>
    db.prepare<null[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`).all(null, null),
  );
  expect(plans.map(({ detail }) => detail).filter((detail) => detail.includes(" alerts "))).toEqual([
    "SEARCH alerts USING INTEGER PRIMARY KEY (rowid=?)",
    "SEARCH alerts USING INDEX alerts_of_strategy (strategy=?)",
    "SEARCH alerts USING INDEX alerts_true (subject=?)",
  ]);
});

test("the judge of plans sees a table that is read whole, a search by half of an index, and a sort of everything", () => {
  const { db } = openDaemonDatabase();
  expect(growingParts(db, "SELECT 1 FROM ledger WHERE usd = ?")).toEqual(["SCAN ledger"]);
  expect(growingParts(db, "SELECT 1 FROM runs WHERE strategy = ? AND detail = ?")).toHaveLength(1);
  expect(growingParts(db, "SELECT * FROM runs ORDER BY reason LIMIT 1")).toHaveLength(1);
  expect(growingParts(db, "SELECT 1 FROM transitions WHERE id > ?")).toHaveLength(1);
  const newest = "SELECT id FROM transitions ORDER BY id DESC LIMIT 1";
  expect(growingParts(db, `SELECT * FROM transitions WHERE at_ms = ? OR id IN (${newest})`)).toEqual([
    "SCAN transitions",
  ]);
  expect(growingParts(db, `SELECT * FROM transitions WHERE id IN (${newest})`)).toEqual([]);
  expect(growingParts(db, "SELECT 1 FROM runs WHERE strategy = ? AND slot_ms = ?")).toEqual([]);
  expect(growingParts(db, "SELECT * FROM runs WHERE id = ?")).toEqual([]);
});
