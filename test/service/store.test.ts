import { describe, expect, test } from "vitest";
import type { Address } from "../../src/domain/money/address.ts";
import type { Quote } from "../../src/service/quotes/quote.ts";
import {
  createServiceStore,
  openServiceDatabase,
  type SwapRow,
  unfollowedSwaps,
} from "../../src/service/store/service-store.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const owner = "0x00000000000000000000000000000000000000aa" as Address;
const token = "0x00000000000000000000000000000000000000bb" as Address;

const quote: Quote = {
  id: "3f0f6a52-8f0e-4f57-9f0e-0c9a3ab8c1d2",
  createdAtMs: 1,
  expiresAtSeconds: 100,
  blockNumber: 7,
  gasless: true,
  owner,
  sender: token,
  router: undefined,
  order: {
    recipient: owner,
    fromAsset: token,
    toAsset: owner,
    deadline: 5n,
    amountOutMin: 1n,
    swapFee: 2n,
    amountIn: (1n << 256n) - 1n,
    nonce: 1n << 255n,
    affiliate: "0x0000000000000000000000000000000000000000" as Address,
    affiliateFee: 0n,
  },
  amountOut: 10n ** 30n,
  legs: [
    {
      pool: { kind: 2, protocol: 1, address: token, token0: owner, token1: token, feePips: 500, tickSpacing: 10 },
      tokenIn: token,
      tokenOut: owner,
      portion: 10n ** 18n,
      amountIn: 1n,
      amountOut: 2n,
      feePips: 600,
    },
  ],
  gasLimit: 1n,
  gasRefund: 3n,
  gasCost: 2n,
  priceImpactPpm: 3n,
  permit: undefined,
};

const row: SwapRow = {
  id: "swap",
  quoteId: quote.id,
  intentId: "intent",
  network: "testnet",
  wallet: owner,
  recipient: owner,
  fromToken: token,
  toToken: owner,
  sellAmount: "5",
  nonce: "9",
  deadlineSeconds: 5,
  swapSignature: "0x01",
  permitSignature: null,
  permitDeadline: null,
  status: "pending",
  amountOut: null,
  hash: null,
  blockNumber: null,
  errorCode: null,
  errorMessage: null,
  createdAtMs: 1,
  updatedAtMs: 1,
};

/** The rows of the one network that most tests have. */
function open(file = `${temporaryDirectory()}/service.db`) {
  const db = openServiceDatabase(file);
  return { db, store: createServiceStore(db, "testnet") };
}

describe("the service's rows", () => {
  test("give a quote back to the last digit after a restart", () => {
    const file = `${temporaryDirectory()}/service.db`;
    const first = open(file);
    first.store.insertQuote(quote, "key 1");
    first.db.close();
    const second = open(file);
    expect(second.store.quote(quote.id)).toEqual(quote);
    expect(second.store.quote("unknown")).toBeUndefined();
    second.db.close();
  });

  test("record every status once, and let no transition be changed or taken away", () => {
    const { db, store } = open();
    store.insertQuote(quote, "key 1");
    store.insertSwap(row);
    store.updateSwap("swap", { hash: "0xab" }, { ms: 2, detail: null });
    store.updateSwap("swap", { status: "success", amountOut: "7" }, { ms: 3, detail: "final in block 9" });
    expect(store.swapBy("hash", "0xab")).toEqual({
      ...row,
      hash: "0xab",
      status: "success",
      amountOut: "7",
      updatedAtMs: 3,
    });
    expect(store.transitions("swap")).toEqual([
      { fromStatus: null, toStatus: "pending", detail: null, atMs: 1 },
      { fromStatus: "pending", toStatus: "success", detail: "final in block 9", atMs: 3 },
    ]);
    expect(store.statusCounts(owner)).toEqual({ pending: 0, success: 1, error: 0, expired: 0 });
    expect(store.pendingSwaps()).toEqual([]);
    expect(() => db.exec("UPDATE swap_transitions SET to_status = 'error'")).toThrow("append-only");
    expect(() => db.exec("DELETE FROM swap_transitions")).toThrow("append-only");
    db.close();
  });

  test("are found by every hash that a swap ever had: fees were raised, or a cancellation took its nonce", () => {
    const { db, store } = open();
    store.insertQuote(quote, "key 1");
    store.insertSwap(row);
    for (const hash of ["0xaa", "0xbb", "0xbb"] as const) store.updateSwap("swap", { hash }, { ms: 2, detail: null });
    expect([store.swapBy("hash", "0xaa")?.hash, store.swapBy("hash", "0xbb")?.hash]).toEqual(["0xbb", "0xbb"]);
    store.updateSwap("swap", { status: "expired", hash: null }, { ms: 3, detail: "the deadline passed" });
    expect(store.swapBy("hash", "0xaa")).toMatchObject({ id: "swap", status: "expired", hash: null });
    expect(store.swapBy("hash", "0xcc")).toBeUndefined();
    expect(createServiceStore(db, "another").swapBy("hash", "0xaa")).toBeUndefined();
    db.close();
  });

  test("hold no place for a swap that is in a block, and one again where a reorganisation takes it out", () => {
    const { db, store } = open();
    store.insertQuote(quote, "key 1");
    store.insertSwap(row);
    expect(store.unminedSwaps()).toEqual([row]);
    store.updateSwap("swap", { blockNumber: 7 }, { ms: 1, detail: null });
    expect(store.unminedSwaps()).toEqual([]);
    expect(store.pendingCount()).toBe(1);
    store.updateSwap("swap", { blockNumber: null }, { ms: 1, detail: null });
    expect(store.unminedSwaps()).toEqual([row]);
    store.updateSwap("swap", { status: "expired" }, { ms: 2, detail: null });
    expect([store.unminedSwaps(), store.pendingCount()]).toEqual([[], 0]);
    db.close();
  });

  test("take one swap for a quote, and keep the quotes of swaps when the others are forgotten", () => {
    const { db, store } = open();
    store.insertQuote(quote, "key 1");
    store.insertQuote({ ...quote, id: "unused" }, "key 1");
    store.insertSwap(row);
    expect(() => store.insertSwap({ ...row, id: "second", intentId: "other" })).toThrow("UNIQUE");
    store.pruneQuotes(1_000, 100);
    expect(store.quote(quote.id)).toBeDefined();
    expect(store.quote("unused")).toBeUndefined();
    db.close();
  });

  test("of one network are not another's, though they are in one file", () => {
    const { db, store } = open();
    const other = createServiceStore(db, "othernet");
    store.insertQuote(quote, "key 1");
    store.insertSwap({ ...row, hash: "0xab" });
    expect(other.quote(quote.id)).toBeUndefined();
    expect(other.pendingSwaps()).toEqual([]);
    expect(other.unminedSwaps()).toEqual([]);
    expect(other.pendingCount()).toBe(0);
    expect(other.statusCounts(owner)).toEqual({ pending: 0, success: 0, error: 0, expired: 0 });
    for (const [key, value] of [
      ["id", row.id],
      ["quote_id", quote.id],
      ["hash", "0xab"],
    ] as const) {
      expect(store.swapBy(key, value), key).toBeDefined();
      expect(other.swapBy(key, value), key).toBeUndefined();
    }
    // What a lane sent has its end written down also when its network has got another name since.
    expect(other.swapBy("intent_id", row.intentId)).toBeDefined();
    db.close();
  });

  test("report swaps that nobody looks after, because no relayer serves their network", () => {
    const { db, store } = open();
    store.insertQuote(quote, "key 1");
    store.insertSwap(row);
    expect(unfollowedSwaps(db, ["testnet", "othernet"])).toEqual([]);
    expect(unfollowedSwaps(db, ["othernet"])).toEqual([{ network: "testnet", pending: 1 }]);
    store.updateSwap("swap", { status: "expired" }, { ms: 2, detail: null });
    expect(unfollowedSwaps(db, ["othernet"])).toEqual([]);
    db.close();
  });
});
