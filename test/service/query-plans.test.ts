import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createLaneRows } from "../../src/adapters/sqlite/lane-rows.ts";
import { migrateLane } from "../../src/adapters/sqlite/lanes.ts";
import { createKeyStore, type KeyStore } from "../../src/service/keys/key-store.ts";
import { openPoolBook, type PoolBook } from "../../src/service/pools/pool-book.ts";
import type { Quote } from "../../src/service/quotes/quote.ts";
import { openRelayBook, type RelayBook } from "../../src/service/relayer/relay-book.ts";
import { createUnsentSwaps } from "../../src/service/relayer/unsent-swaps.ts";
import {
  createServiceStore,
  openServiceDatabase,
  type ServiceStore,
  unfollowedSwaps,
} from "../../src/service/store/service-store.ts";
import { USDC, WALLET } from "../support/builders.ts";
import { type Calls, callAll, collectStatements, growingParts } from "../support/query-plans.ts";
import { silentLogger } from "../support/silent-logger.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { createHandClock } from "./support/hand-clock.ts";

const quote = { id: "quote", expiresAtSeconds: 9, createdAtMs: 1 } as Quote;
const hash = "0xab";
const terms = { feeWorth: 1n, expectedCost: 1n, dataFee: 0n, caller: "key 1", isKeyed: true };

const STORE: Calls<Omit<ServiceStore, "db">> = {
  insertQuote: (store) => store.insertQuote(quote, "key 1"),
  keepQuote: (store) => store.keepQuote({ ...quote, id: "kept" }),
  quote: (store) => store.quote("unknown"),
  makeRoomForQuote: (store) => store.makeRoomForQuote("key 1", { most: 1, nowSeconds: 10 }),
  pruneQuotes: (store) => store.pruneQuotes(1, 100),
  insertSwap: (store) =>
    store.insertSwap({
      ...{ id: "swap", quoteId: "kept", intentId: "intent", network: "testnet", wallet: WALLET, recipient: WALLET },
      ...{ fromToken: USDC.address, toToken: USDC.address, sellAmount: "1", nonce: "1", deadlineSeconds: 5 },
      ...{ swapSignature: "0x", permitSignature: null, permitDeadline: null, status: "pending", amountOut: null },
      ...{ hash: null, blockNumber: null, errorCode: null, errorMessage: null, createdAtMs: 1, updatedAtMs: 1 },
    }),
  updateSwap: (store) => store.updateSwap("swap", { status: "success", hash }, { ms: 2, detail: null }),
  addHash: (store) => store.addHash("swap", "0xcd"),
  swapBy: (store) => (["id", "quote_id", "intent_id", "hash"] as const).map((key) => store.swapBy(key, "swap")),
  pendingSwaps: (store) => store.pendingSwaps(),
  unminedSwaps: (store) => store.unminedSwaps(),
  pendingCount: (store) => store.pendingCount(),
  transitions: (store) => store.transitions("swap"),
  statusCounts: (store) => store.statusCounts(WALLET),
};

const BOOK: Calls<RelayBook> = {
  insert: (book) => book.insert("intent", terms, 1),
  terms: (book) => book.terms("intent"),
  writeCost: (book) => book.writeCost("intent", { paid: 1n, earned: 0n, reverted: true, atMs: 1 }),
  isPaid: (book) => book.isPaid("intent"),
  forgetCost: (book) => book.forgetCost("intent"),
  costsSince: (book) => book.costsSince(0),
  lostSince: (book) => {
    for (const kind of ["wallet", "caller", "token"] as const) book.lostSince({ kind, name: "name" }, 0);
    return book.lostSince({ kind: "keyless" }, 0);
  },
  hasReverted: (book) => book.hasReverted(WALLET, 0),
};

/** A row each key that a person added: what a person asks of them walks over them. */
const KEYS: Calls<Omit<KeyStore, "list">> = {
  add: (keys) => keys.add({ name: "partner", requestsPerSecond: null }, 1),
  find: (keys) => keys.find("digest"),
  revoke: (keys) => keys.revoke("partner", 2),
};

const POOLS: Calls<PoolBook> = {
  searches: (book) => book.searches(),
  put: (book) => book.put({ token0: USDC.address, token1: WALLET, pools: [], searchedAtMs: 1 }),
  close: (book) => book.close(),
};

async function openAll() {
  const db = openServiceDatabase(join(temporaryDirectory(), "service.db"));
  onTestFinished(() => void db.close());
  migrateLane(db);
  openRelayBook(db, "testnet");
  createKeyStore(db);
  const clock = createHandClock(1);
  const laneStore = createLaneRows(db);
  const openPools = () => openPoolBook(db, { scope: "testnet", nowMs: 1, logger: silentLogger() });
  openPools().close();
  const statements = collectStatements(db);
  await callAll(STORE, createServiceStore(db, "testnet"));
  unfollowedSwaps(db, []);
  await callAll(BOOK, openRelayBook(db, "testnet"));
  createUnsentSwaps(db, { rows: laneStore, clock })();
  await callAll(KEYS, createKeyStore(db));
  await callAll(POOLS, openPools());
  return { db, statements: [...statements] };
}

test("no statement of the service grows with its history", async () => {
  const { db, statements } = await openAll();
  expect(statements.length).toBeGreaterThan(40);
  const growing = statements.flatMap((sql) => {
    const parts = growingParts(db, sql);
    return parts.length === 0 ? [] : [{ sql: sql.replaceAll(/\s+/g, " "), parts }];
  });
  expect(growing).toEqual([]);
});

test("every file of the service that has statements is judged", () => {
  const files = readdirSync("src/service", { recursive: true, encoding: "utf8" }).filter(
    (file) => file.endsWith(".ts") && /\.prepare[<(]/.test(readFileSync(join("src/service", file), "utf8")),
  );
  expect(files.sort()).toEqual([
    "keys/key-store.ts",
    "pools/pool-book.ts",
    "relayer/relay-book.ts",
    "relayer/unsent-swaps.ts",
    "store/read-memory.ts",
    "store/service-store.ts",
  ]);
});
