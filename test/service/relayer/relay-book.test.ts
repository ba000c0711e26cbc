import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { toAddress } from "../../../src/domain/money/address.ts";
import type { Receipt } from "../../../src/ports/chain.ts";
import type { SettledNetwork } from "../../../src/service/options.ts";
import type { Quote } from "../../../src/service/quotes/quote.ts";
import { openRelayBook } from "../../../src/service/relayer/relay-book.ts";
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

const terms = { feeWorth: 1n, expectedCost: 1n, dataFee: 0n, caller: "address 192.0.2.1" };

test("who made transactions revert is remembered over a restart, by wallet and by caller, for as long as is asked", () => {
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
  expect(book.revertsSince({ kind: "wallet", name: THIEF }, 0)).toBe(2);
  expect(book.revertsSince({ kind: "wallet", name: THIEF }, 1_500)).toBe(1);
  expect(book.revertsSince({ kind: "wallet", name: HONEST }, 0)).toBe(0);
  expect(book.revertsSince({ kind: "caller", name: terms.caller }, 0)).toBe(2);
  // What a swap earned beyond its own cost pays for no other one, and no part of a gwei is forgotten.
  expect(book.costsSince(0)).toEqual({ paid: 17n * GWEI, lost: 13n * GWEI });
  expect(openRelayBook(db, "elsewhere").costsSince(0)).toEqual({ paid: 0n, lost: 0n });
  book.forgetCost("first");
  expect(book.revertsSince({ kind: "wallet", name: THIEF }, 0)).toBe(1);
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

test("what a transaction cost is booked by its receipt: a revert stands against wallet and caller until it is gone from the chain", () => {
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
  const standing = () =>
    [
      { kind: "wallet", name: THIEF },
      { kind: "caller", name: terms.caller },
      { kind: "wallet", name: HONEST },
    ].map((of) => book.revertsSince(of as Parameters<typeof book.revertsSince>[0], 0));
  mined("reverts", { succeeded: false });
  mined("fills", { succeeded: true, logs: [swappedLog(network.settlement, HONEST)] });
  expect([standing(), book.costsSince(0)]).toEqual([[1, 1, 0], { paid: 8n * GWEI, lost: 4n * GWEI }]);
  recorder.onIntent({ intentId: "reverts", kind: "reorged" });
  expect([standing(), book.costsSince(0)]).toEqual([[0, 0, 0], { paid: 4n * GWEI, lost: 0n }]);
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

/** The event of a fill of 5 by the order with the nonce 1. */
function swappedLog(settlement: string, owner: string): object {
  const fields = [owner, 1n, owner, owner, owner, owner, 1n, 5n, 0n, owner, 0n];
  return { address: settlement, ...SETTLEMENT_INTERFACE.encodeEventLog("Swapped", fields), logIndex: 0 };
}
