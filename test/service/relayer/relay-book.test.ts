import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { type Address, toAddress } from "../../../src/domain/money/address.ts";
import type { Receipt } from "../../../src/ports/chain.ts";
import type { SettledNetwork } from "../../../src/service/options.ts";
import type { Quote } from "../../../src/service/quotes/quote.ts";
import { openRelayBook, type RelayBook } from "../../../src/service/relayer/relay-book.ts";
import { THE_RELAYER } from "../../../src/service/relayer/send-gate.ts";
import { createSwapRecorder } from "../../../src/service/relayer/swap-recorder.ts";
import { SETTLEMENT_INTERFACE } from "../../../src/service/settlement/calldata.ts";
import { createServiceStore, openServiceDatabase, type SwapRow } from "../../../src/service/store/service-store.ts";
import type { SqliteDatabase } from "../../../src/storage/database.ts";
import { migrate, readMigrations } from "../../../src/storage/migrations.ts";
import { createHandClock } from "../support/hand-clock.ts";

const directory = mkdtempSync(join(tmpdir(), "swapd-book-"));
afterAll(() => rmSync(directory, { recursive: true }));

const GWEI = 10n ** 9n;
const address = (digit: string) => toAddress(`0x${digit.repeat(40)}`);
const [THIEF, HONEST] = [address("a"), address("b")];

function addSwap(db: SqliteDatabase, intentId: string, wallet: SwapRow["wallet"]): void {
  const store = createServiceStore(db, "testnet");
  store.insertQuote({ id: `quote-${intentId}`, expiresAtSeconds: 1, createdAtMs: 1 } as Quote, "key 1");
  const other = { recipient: wallet, fromToken: wallet, toToken: wallet, sellAmount: "1", nonce: "1" };
  const ends = { amountOut: null, hash: null, blockNumber: null, errorCode: null, errorMessage: null };
  const signed = { swapSignature: "0x", permitSignature: null, permitDeadline: null, deadlineSeconds: 1 } as const;
  const at = { createdAtMs: 1, updatedAtMs: 1, status: "pending" } as const;
  const names = { id: intentId, quoteId: `quote-${intentId}`, intentId, network: "testnet", wallet };
  store.insertSwap({ ...names, ...other, ...ends, ...signed, ...at });
}

const terms = { feeWorth: 1n, expectedCost: 1n, dataFee: 0n, caller: "address 192.0.2.1", isKeyed: false };
const WALLET = { kind: "wallet", name: THIEF } as const;
const CALLER = { kind: "caller", name: terms.caller } as const;

test("who made transactions revert and what that cost is remembered over a restart, for as long as is asked", () => {
  const file = join(directory, "reverts.db");
  let db = openServiceDatabase(file);
  let book = openRelayBook(db, "testnet");
  for (const [id, wallet] of [
    ["first", THIEF],
    ["second", THIEF],
    ["third", HONEST],
  ] as const) {
    addSwap(db, id, wallet);
    book.insert(id, terms, 1);
  }
  book.writeCost("first", { paid: 5n * GWEI, earned: 0n, reverted: true, atMs: 1_000 });
  book.writeCost("second", { paid: 7n * GWEI + 1n, earned: 0n, reverted: true, atMs: 2_000 });
  book.writeCost("third", { paid: 4n * GWEI, earned: 6n * GWEI, reverted: false, atMs: 2_000 });
  db.close();
  db = openServiceDatabase(file);
  book = openRelayBook(db, "testnet");
  expect([2_000, 2_001].map((sinceMs) => book.hasReverted(THIEF, sinceMs))).toEqual([true, false]);
  expect(book.hasReverted(HONEST, 0)).toBe(false);
  expect(book.lostSince(WALLET, 0)).toBe(13n * GWEI);
  expect(book.lostSince(WALLET, 1_500)).toBe(8n * GWEI);
  // What fills earned is set off against what their own wallet, caller or token lost, and is never owed to anybody.
  expect(book.lostSince({ kind: "wallet", name: HONEST }, 0)).toBe(0n);
  expect(book.lostSince(CALLER, 0)).toBe(11n * GWEI);
  expect(book.lostSince({ kind: "token", name: THIEF }, 0)).toBe(13n * GWEI);
  expect(book.lostSince({ kind: "keyless" }, 0)).toBe(13n * GWEI);
  // What a swap earned beyond its own cost pays for no other one, and no part of a gwei is forgotten.
  expect(book.costsSince(0)).toEqual({ paid: 17n * GWEI, lost: 13n * GWEI });
  expect(openRelayBook(db, "elsewhere").costsSince(0)).toEqual({ paid: 0n, lost: 0n });
  book.forgetCost("first");
  expect(book.lostSince(WALLET, 0)).toBe(8n * GWEI);
  db.close();
});

test("costs of an earlier release are costs of their network and their wallet afterwards", () => {
  const db = openServiceDatabase(join(directory, "old.db"));
  const migrations = readMigrations(new URL("../../../src/service/relayer/migrations/", import.meta.url));
  migrate(db, { set: "relay", migrations: migrations.slice(0, 2), backup: false });
  addSwap(db, "old", THIEF);
  db.prepare("INSERT INTO relay_costs (intent_id, gas_paid, loss, paid_at_ms) VALUES ('old', ?, ?, 5)").run(
    (3n * GWEI).toString(),
    (GWEI + 1n).toString(),
  );
  expect(openRelayBook(db, "testnet").costsSince(0)).toEqual({ paid: 3n * GWEI, lost: 2n * GWEI });
  db.close();
});

test("losses of a release that reported keys by their names alone are those of the same callers and tokens afterwards", () => {
  const db = openServiceDatabase(join(directory, "named.db"));
  const migrations = readMigrations(new URL("../../../src/service/relayer/migrations/", import.meta.url));
  migrate(db, { set: "relay", migrations: migrations.slice(0, 3), backup: false });
  const relay = db.prepare(
    "INSERT INTO relays (intent_id, fee_worth, expected_cost, caller, created_at_ms) VALUES (?, '1', '1', ?, 1)",
  );
  const cost = db.prepare(
    `INSERT INTO relay_costs (intent_id, gas_paid, loss, paid_at_ms, network, wallet, caller, paid_gwei, loss_gwei)
     VALUES (?, '9', '9', 5, 'testnet', ?, ?, 9, ?)`,
  );
  for (const [id, wallet, caller, lostGwei] of [
    ["first", THIEF, "key 1", 4],
    ["second", HONEST, terms.caller, 3],
  ] as const) {
    addSwap(db, id, wallet);
    relay.run(id, caller);
    cost.run(id, wallet, caller, lostGwei);
  }
  const book = openRelayBook(db, "testnet");
  expect(["first", "second"].map((id) => book.terms(id)?.isKeyed)).toEqual([true, false]);
  expect(book.lostSince({ kind: "caller", name: "key 1" }, 0)).toBe(4n * GWEI);
  expect(book.lostSince({ kind: "token", name: HONEST }, 0)).toBe(3n * GWEI);
  expect(book.lostSince({ kind: "keyless" }, 0)).toBe(3n * GWEI);
  db.close();
});

test("what a transaction cost is booked by its receipt: a revert stands against its wallet until it is gone from the chain", () => {
  const db = openServiceDatabase(join(directory, "receipts.db"));
  const book = openRelayBook(db, "testnet");
  const network = { settlement: address("e") } as SettledNetwork;
  const parts = { store: createServiceStore(db, "testnet"), book, lastReason: () => undefined };
  const recorder = createSwapRecorder(network, { ...parts, clock: createHandClock(1_000) });
  for (const id of ["reverts", "fills"]) {
    addSwap(db, id, id === "reverts" ? THIEF : HONEST);
    book.insert(id, { ...terms, feeWorth: 9n * GWEI }, 1);
  }
  const receipt = { hash: "0xab", blockNumber: 7, blockHash: "0xcd", gasUsed: 4n, effectiveGasPrice: GWEI, logs: [] };
  const mined = (intentId: string, change: object): void =>
    recorder.onIntent({ intentId, kind: "mined", receipt: { ...receipt, ...change } as unknown as Receipt });
  const standing = () => [THIEF, HONEST].map((wallet) => [book.hasReverted(wallet, 0), lostBy(book, wallet)]);
  mined("reverts", { succeeded: false });
  mined("fills", { succeeded: true, logs: [swappedLog(network.settlement, HONEST)] });
  expect([standing(), book.costsSince(0)]).toEqual([
    [
      [true, 4n * GWEI],
      [false, 0n],
    ],
    { paid: 8n * GWEI, lost: 4n * GWEI },
  ]);
  recorder.onIntent({ intentId: "reverts", kind: "reorged" });
  expect([standing(), book.costsSince(0)]).toEqual([
    [
      [false, 0n],
      [false, 0n],
    ],
    { paid: 4n * GWEI, lost: 0n },
  ]);
  db.close();
});

test("a receipt that came without its logs once makes no error of a swap whose final receipt has them", () => {
  const db = openServiceDatabase(join(directory, "without-logs.db"));
  const book = openRelayBook(db, "testnet");
  const store = createServiceStore(db, "testnet");
  const network = { settlement: address("e") } as SettledNetwork;
  const recorder = createSwapRecorder(network, { store, book, lastReason: () => undefined, clock: createHandClock(1) });
  addSwap(db, "fills", HONEST);
  book.insert("fills", { ...terms, feeWorth: 9n * GWEI }, 1);
  const receipt = { hash: "0xab", blockNumber: 7, blockHash: "0xcd", gasUsed: 4n, effectiveGasPrice: GWEI };
  const heard = (kind: "mined" | "final", logs: readonly object[]): void =>
    recorder.onIntent({
      ...{ intentId: "fills", kind, ...(kind === "final" ? { outcome: "succeeded" } : {}) },
      receipt: { ...receipt, succeeded: true, logs } as unknown as Receipt,
    });
  heard("mined", []);
  expect(store.swapBy("intent_id", "fills")).toMatchObject({ status: "pending", amountOut: null });
  heard("final", [swappedLog(network.settlement, HONEST)]);
  expect(store.swapBy("intent_id", "fills")).toMatchObject({ status: "success", amountOut: "5", errorCode: null });
  expect(book.costsSince(0)).toEqual({ paid: 4n * GWEI, lost: 0n });
  db.close();
});

test("a swap is found by a transaction with raised fees while the record names the one before, which no node may know any more", () => {
  const db = openServiceDatabase(join(directory, "raised.db"));
  const parts = { store: createServiceStore(db, "testnet"), book: openRelayBook(db, "testnet") };
  const network = { settlement: address("e") } as SettledNetwork;
  const recorder = createSwapRecorder(network, { ...parts, lastReason: () => undefined, clock: createHandClock(1) });
  addSwap(db, "raised", HONEST);
  recorder.onIntent({ intentId: "raised", kind: "signed", hash: "0xaa" });
  recorder.onIntent({ intentId: "raised", kind: "replaced", hash: "0xbb" });
  recorder.onIntent({ intentId: "raised", kind: "replaced", hash: "0xcc" });
  const found = ["0xaa", "0xbb", "0xcc"].map((hash) => parts.store.swapBy("hash", hash));
  expect(found.map((row) => [row?.id, row?.hash])).toEqual(Array(3).fill(["raised", "0xaa"]));
  db.close();
});

test.each([
  ["it would revert Expired()", "The swap would revert"],
  ["its fee is worth 1 gwei, and its gas costs 2 gwei", "The relayer ended the swap, which was not worth sending"],
  ["it has no place: all are taken", "The relayer ended the swap, which was not worth sending"],
])("a swap that the relayer ends since %s is recorded so: %s", (reason, errorMessage) => {
  const db = openServiceDatabase(join(directory, `${reason.length}.db`));
  const parts = { store: createServiceStore(db, "testnet"), book: openRelayBook(db, "testnet") };
  const network = { settlement: address("e") } as SettledNetwork;
  const recorder = createSwapRecorder(network, { ...parts, lastReason: () => reason, clock: createHandClock(1) });
  addSwap(db, "idle", HONEST);
  recorder.onIntent({ intentId: "idle", kind: "dropped", cancelledBy: THE_RELAYER });
  const row = { status: "error", errorCode: 2305, errorMessage };
  expect(parts.store.swapBy("intent_id", "idle")).toMatchObject(row);
  db.close();
});

const lostBy = (book: RelayBook, wallet: Address) => book.lostSince({ kind: "wallet", name: wallet }, 0);

/** The event of a fill of 5 by the order with the nonce 1. */
function swappedLog(settlement: string, owner: string): object {
  const fields = [owner, 1n, owner, owner, owner, owner, 1n, 5n, 0n, owner, 0n];
  return { address: settlement, ...SETTLEMENT_INTERFACE.encodeEventLog("Swapped", fields), logIndex: 0 };
}
