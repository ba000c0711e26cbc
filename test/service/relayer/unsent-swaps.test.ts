import { expect, onTestFinished, test, vi } from "vitest";
import { createLaneRows } from "../../../src/adapters/sqlite/lane-rows.ts";
import { createLanes } from "../../../src/adapters/sqlite/lane-store.ts";
import { migrateLane } from "../../../src/adapters/sqlite/lanes.ts";
import type { JsonRpc } from "../../../src/chain/json-rpc.ts";
import { toAddress } from "../../../src/domain/money/address.ts";
import type { LaneChain } from "../../../src/ports/chain.ts";
import type { IntentState } from "../../../src/ports/lane-store.ts";
import type { Signer } from "../../../src/ports/signer.ts";
import type { SettledNetwork } from "../../../src/service/options.ts";
import type { Quote } from "../../../src/service/quotes/quote.ts";
import { openRelayBook } from "../../../src/service/relayer/relay-book.ts";
import { openRelayer } from "../../../src/service/relayer/relayer.ts";
import { createUnsentSwaps } from "../../../src/service/relayer/unsent-swaps.ts";
import { createServiceStore, openServiceDatabase, type SwapStatus } from "../../../src/service/store/service-store.ts";
import { intentRow } from "../../support/lane-database.ts";
import { silentLogger } from "../../support/silent-logger.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { createHandClock } from "../support/hand-clock.ts";
import { RELAYER_SETTINGS } from "../support/relayer.ts";

const NOW_SECONDS = 1_900_000_000;
const WEEK_SECONDS = 7 * 86_400;
const OLD = NOW_SECONDS - WEEK_SECONDS - 1;
const owner = toAddress(`0x${"a".repeat(40)}`);

function open() {
  const db = openServiceDatabase(`${temporaryDirectory()}/service.db`);
  onTestFinished(() => void db.close());
  db.pragma("synchronous = OFF");
  migrateLane(db);
  const laneStore = createLaneRows(db);
  const store = createServiceStore(db, "testnet");
  const book = openRelayBook(db, "testnet");
  const at = { monotonicMs: 0 };
  const clock = { nowMs: () => NOW_SECONDS * 1_000, monotonicMs: () => at.monotonicMs };
  const prune = createUnsentSwaps(db, { rows: laneStore, clock });
  const count = (table: string) => db.prepare<[], number>(`SELECT count(*) FROM ${table}`).pluck().get();
  /** A swap that was accepted, and what came of it. */
  function add(
    id: string,
    end: {
      status: SwapStatus;
      state: IntentState;
      deadlineSeconds?: number;
      /** `begun`: it was written down to be signed; `signed`: it was */
      attempt?: "begun" | "signed";
      isPaid?: boolean;
    },
  ): void {
    const { status, state, deadlineSeconds = OLD } = end;
    store.insertQuote({ id: `quote-${id}`, expiresAtSeconds: 1, createdAtMs: 1 } as Quote, "key 1");
    const names = { id, quoteId: `quote-${id}`, intentId: id, network: "testnet", wallet: owner };
    const order = { recipient: owner, fromToken: owner, toToken: owner, sellAmount: "1", nonce: "1", deadlineSeconds };
    const signed = { swapSignature: "0x", permitSignature: null, permitDeadline: null } as const;
    const ends = { amountOut: null, hash: null, blockNumber: null, errorCode: null, errorMessage: null };
    store.insertSwap({ ...names, ...order, ...signed, ...ends, status: "pending", createdAtMs: 1, updatedAtMs: 1 });
    book.insert(id, { feeWorth: 1n, expectedCost: 1n, dataFee: 0n, caller: "key 1", isKeyed: true }, 1);
    const intent = intentRow({ id, purpose: "relay" });
    laneStore.insertIntent(intent);
    const move = { intentId: id, attemptHash: undefined, atMs: 1, detail: undefined };
    laneStore.recordTransition({ ...move, from: undefined, to: "planned" });
    laneStore.requestCancel({ intentId: id, by: "test", atMs: 1 });
    const { to, data, value, gasLimit } = intent;
    const fees = { maxFeePerGas: 1n, maxPriorityFeePerGas: 1n };
    if (end.attempt !== undefined) {
      laneStore.insertSigning({
        intentId: id,
        kind: "original",
        nonce: 0,
        to,
        data,
        value,
        gasLimit,
        ...fees,
        visibility: "public",
        atMs: 1,
      });
    }
    if (end.attempt === "signed") {
      const unsent = { firstBroadcastBlock: undefined, lastBroadcastAtMs: undefined, lastBroadcastBlock: undefined };
      const hash = `0x${Buffer.from(id).toString("hex").padStart(64, "0")}` as const;
      const bytes = { hash, raw: "0x", nonce: 0, ...fees, visibility: "public", signedAtMs: 1 } as const;
      laneStore.insertAttempt({ intentId: id, kind: "original", state: "signed", ...bytes, ...unsent });
    }
    if (end.isPaid === true) book.writeCost(id, { paid: 1n, earned: 0n, reverted: false, atMs: 1 });
    if (state !== "planned") laneStore.updateIntent(id, { state, ...(state === "signed" ? { nonce: 0 } : {}) });
    if (status !== "pending") store.updateSwap(id, { status }, { ms: 2, detail: null });
  }
  return { db, store, laneStore, book, at, prune, count, add };
}

test("swaps that were never sent go a week after their deadline, with all that was written of them", () => {
  const { prune, count, add, store } = open();
  add("expired", { status: "expired", state: "dropped" });
  add("ended", { status: "error", state: "dropped" });
  // It got a nonce in its last second, and was too late to be signed with it.
  add("begun", { status: "expired", state: "dropped", attempt: "begun" });
  prune();
  const tables = ["swaps", "swap_transitions", "quotes", "relays", "lane_intents", "lane_transitions"];
  for (const table of [...tables, "lane_signings", "lane_cancel_wishes"]) expect(count(table), table).toBe(0);
  expect(store.swapBy("quote_id", "quote-expired")).toBeUndefined();
});

test("until then they are found, and what was signed, paid for or is not over stays for ever", () => {
  const { prune, add, store, laneStore, book, db } = open();
  add("young", { status: "expired", state: "dropped", deadlineSeconds: OLD + 1 });
  add("cancelled", { status: "expired", state: "signed", attempt: "signed", isPaid: true });
  add("signed", { status: "expired", state: "dropped", attempt: "signed" });
  add("waits", { status: "pending", state: "planned" });
  prune();
  for (const id of ["young", "cancelled", "signed", "waits"]) {
    expect(store.swapBy("quote_id", `quote-${id}`)?.id, id).toBe(id);
    expect(store.transitions(id), id).not.toEqual([]);
    expect(laneStore.transitions(id), id).not.toEqual([]);
    expect(book.terms(id), id).toBeDefined();
  }
  // The database itself refuses what no swap of a stranger's is.
  for (const id of ["signed", "waits"]) {
    expect(() => db.exec(`DELETE FROM lane_transitions WHERE intent_id = '${id}'`)).toThrow("append-only");
  }
  expect(() => db.exec("DELETE FROM lane_signings WHERE intent_id = 'signed'")).toThrow("append-only");
  expect(() => db.exec("DELETE FROM swap_transitions WHERE swap_id = 'waits'")).toThrow("append-only");
});

test("they go a hundred at a time, once a second, and the file gives back what they took", () => {
  const { prune, count, add, at, db } = open();
  for (let place = 0; place < 150; place += 1) add(String(place), { status: "expired", state: "dropped" });
  const pages = () => db.pragma("page_count", { simple: true }) as number;
  const before = pages();
  prune();
  expect(count("swaps")).toBe(50);
  prune();
  expect(count("swaps")).toBe(50);
  at.monotonicMs += 1_000;
  prune();
  expect(count("swaps")).toBe(0);
  expect(pages()).toBeLessThan(before);
});

test("those that have to stay, however many there are, hold up none of the others", () => {
  const { prune, count, add, at, store } = open();
  const deadlineSeconds = OLD - 1;
  for (let place = 0; place < 250; place += 1) {
    add(`signed-${place}`, { status: "expired", state: "dropped", deadlineSeconds, attempt: "signed" });
  }
  const slice = () => {
    at.monotonicMs += 1_000;
    prune();
  };
  for (const [round, id] of ["ordinary", "later"].entries()) {
    add(id, { status: "expired", state: "dropped", deadlineSeconds: deadlineSeconds + 1 - round });
    for (let second = 0; second < 4; second += 1) slice();
    expect(store.swapBy("id", id), id).toBeUndefined();
  }
  expect(count("swaps")).toBe(250);
});

test("the relayer lets them go by itself, between the turns of its lane", async () => {
  const { store, laneStore, add, count } = open();
  add("expired", { status: "expired", state: "dropped" });
  const network = { name: "testnet", chainId: 1, confirmations: 1, settlement: owner, listedTokens: [] };
  const { runner } = openRelayer(
    { relayer: RELAYER_SETTINGS, network: network as unknown as SettledNetwork },
    {
      signer: { address: owner } as Signer,
      chain: {} as LaneChain,
      openLanes: () => createLanes(laneStore),
      store,
      rpc: { host: "node", call: async () => "0x1" } as unknown as JsonRpc,
      head: () => Promise.reject(new Error("nothing waits")),
      clock: createHandClock(NOW_SECONDS * 1_000),
      logger: silentLogger(),
    },
  );
  onTestFinished(() => runner.stop());
  await vi.waitFor(() => expect(count("swaps")).toBe(0));
});
