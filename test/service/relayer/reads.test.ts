import { expect, onTestFinished, test } from "vitest";
import { createLaneRows } from "../../../src/adapters/sqlite/lane-rows.ts";
import { createLanes } from "../../../src/adapters/sqlite/lane-store.ts";
import { migrateLane } from "../../../src/adapters/sqlite/lanes.ts";
import type { Head } from "../../../src/chain/at-block/head.ts";
import type { JsonRpc } from "../../../src/chain/json-rpc.ts";
import { type Address, toAddress } from "../../../src/domain/money/address.ts";
import type { LaneChain } from "../../../src/ports/chain.ts";
import type { Signer } from "../../../src/ports/signer.ts";
import type { SettledNetwork } from "../../../src/service/options.ts";
import type { Quote } from "../../../src/service/quotes/quote.ts";
import { openRelayBook } from "../../../src/service/relayer/relay-book.ts";
import { openRelayer } from "../../../src/service/relayer/relayer.ts";
import { createServiceStore, openServiceDatabase } from "../../../src/service/store/service-store.ts";
import { intentRow } from "../../support/lane-database.ts";
import { silentLogger } from "../../support/silent-logger.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { createHandClock } from "../support/hand-clock.ts";
import { RELAYER_SETTINGS } from "../support/relayer.ts";

const NOW_MS = 1_900_000_000_000;
const DAY_MS = 86_400_000;
const addressOf = (place: number): Address => toAddress(`0x${place.toString(16).padStart(40, "0")}`);
const RELAYER = addressOf(0xa);

/** A relayer over swaps that wait, whose node keeps its lane waiting; what it reads from its database is counted. */
function openRelayerOver(count: number) {
  const db = openServiceDatabase(`${temporaryDirectory()}/service.db`);
  db.pragma("synchronous = OFF");
  migrateLane(db);
  const reads = { open: 0, waiting: 0, sums: 0, snapshots: 0 };
  const counted =
    <Values extends readonly unknown[], T>(what: keyof typeof reads, read: (...values: Values) => T) =>
    (...values: Values): T => {
      reads[what] += 1;
      return read(...values);
    };
  const prepare = db.prepare.bind(db);
  db.prepare = ((sql: string) => {
    const statement = prepare(sql);
    if (sql.includes("sum(")) statement.get = counted("sums", statement.get.bind(statement));
    return statement;
  }) as typeof db.prepare;
  const laneStore = createLaneRows(db);
  const store = createServiceStore(db, "testnet");
  const book = openRelayBook(db, "testnet");
  for (let place = 0; place < count; place += 1) {
    const id = String(place);
    store.insertQuote({ id, expiresAtSeconds: 1, createdAtMs: 1 } as Quote, "key 1");
    const names = { id, quoteId: id, intentId: id, network: "testnet", wallet: addressOf(0x1000 + place) };
    const order = { recipient: RELAYER, fromToken: RELAYER, toToken: RELAYER, sellAmount: "1", nonce: id };
    const signed = { swapSignature: "0x", permitSignature: null, permitDeadline: null } as const;
    const ends = { amountOut: null, hash: null, blockNumber: null, errorCode: null, errorMessage: null };
    const at = { deadlineSeconds: 2_000_000_000, createdAtMs: 1, updatedAtMs: 1 };
    store.insertSwap({ ...names, ...order, ...signed, ...ends, ...at, status: "pending" });
    book.insert(id, { feeWorth: 1n, expectedCost: 1n, dataFee: 0n, caller: "key 1", isKeyed: true }, 1);
    laneStore.insertIntent({ ...intentRow({ id, purpose: "relay" }), account: RELAYER, chainId: 1 });
  }
  const stopped = Promise.withResolvers<never>();
  stopped.promise.catch(() => undefined);
  const clock = createHandClock(NOW_MS);
  const network = { name: "testnet", chainId: 1, confirmations: 1, settlement: RELAYER, listedTokens: [] };
  const relayer = openRelayer(
    { relayer: RELAYER_SETTINGS, network: network as unknown as SettledNetwork },
    {
      signer: { address: RELAYER } as Signer,
      chain: { latest: () => stopped.promise, finalized: async () => undefined } as unknown as LaneChain,
      openLanes: () => createLanes({ ...laneStore, openIntents: counted("open", laneStore.openIntents) }),
      store: { ...store, unminedSwaps: counted("waiting", store.unminedSwaps) },
      rpc: { host: "node", call: async () => `0x${(10n ** 20n).toString(16)}` } as unknown as JsonRpc,
      head: counted("snapshots", async () => ({ baseFeePerGas: 1n }) as Head),
      clock,
      logger: silentLogger(),
    },
  );
  onTestFinished(async () => {
    stopped.reject(new Error("the test is over"));
    await relayer.runner.stop();
    db.close();
  });
  return { relayer, store, book, clock, reads };
}

test("what waits, what is in flight and the sums of a day are read once for many quotes, until something is written", async () => {
  const { relayer, store, book, reads } = openRelayerOver(40);
  const { state, places } = relayer;
  const place = { owner: addressOf(1), toToken: RELAYER, sender: { name: "key 2", isKeyed: true } };
  const ask = async () => {
    for (let quote = 0; quote < 20; quote += 1) {
      expect(await state.refusal()).toBeUndefined();
      expect(places.refusal(place)).toBeUndefined();
      expect(state.feeCap({ gasPrice: 1n, gasLimit: 1n, dataFee: 0n }, place)).toBe(4n);
      state.maySpendBesideFlight();
    }
  };
  await ask();
  Object.assign(reads, { open: 0, waiting: 0, sums: 0 });
  await ask();
  expect(reads).toMatchObject({ open: 0, waiting: 0, sums: 0 });
  store.insertQuote({ id: "another", expiresAtSeconds: 1, createdAtMs: 1 } as Quote, "key 2");
  await ask();
  // The sums are one of all, one of the wallet, one of the caller, and one of a token that is not listed.
  expect(reads).toMatchObject({ open: 1, waiting: 1, sums: 4 });
  expect((await state.report()).spent).toBe(0n);
  book.writeCost("0", { paid: 10n ** 9n, earned: 0n, reverted: false, atMs: NOW_MS });
  expect((await state.report()).spent).toBe(10n ** 9n);
});

test("a relayer that has nothing to send asks for no snapshot: whoever does has every block followed, for ever", async () => {
  const { relayer, reads } = openRelayerOver(0);
  await relayer.state.watch();
  expect((await relayer.state.report()).pending).toBe(0);
  expect(reads.snapshots).toBe(0);
});

test("a sum of a day that is kept loses what is a day old in the same millisecond", async () => {
  const { relayer, book, clock } = openRelayerOver(2);
  book.writeCost("0", { paid: 10n ** 9n, earned: 0n, reverted: false, atMs: NOW_MS });
  book.writeCost("1", { paid: 10n ** 9n, earned: 0n, reverted: false, atMs: NOW_MS + 5 });
  const spentAt = async (ms: number) => {
    clock.set(ms);
    const ofWallet = book.lostSince({ kind: "wallet", name: addressOf(0x1000) }, ms - DAY_MS);
    const { spent, losses } = await relayer.state.report();
    return [spent, losses, ofWallet].map((wei) => wei / 10n ** 9n);
  };
  expect(await spentAt(NOW_MS + 10)).toEqual([2n, 2n, 1n]);
  expect(await spentAt(NOW_MS + DAY_MS)).toEqual([2n, 2n, 1n]);
  expect(await spentAt(NOW_MS + DAY_MS + 1)).toEqual([1n, 1n, 0n]);
  expect(await spentAt(NOW_MS + DAY_MS + 6)).toEqual([0n, 0n, 0n]);
  // A clock that was put back asks for more than was read.
  expect(await spentAt(NOW_MS + 10)).toEqual([2n, 2n, 1n]);
});
