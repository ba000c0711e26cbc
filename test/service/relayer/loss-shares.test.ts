import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { type Address, toAddress } from "../../../src/domain/money/address.ts";
import type { IntentRow } from "../../../src/ports/lane-store.ts";
import type { Quote } from "../../../src/service/quotes/quote.ts";
import { createLossShares, type LossShares, type Parties } from "../../../src/service/relayer/loss-shares.ts";
import { openRelayBook, type RelayBook } from "../../../src/service/relayer/relay-book.ts";
import {
  createServiceStore,
  openServiceDatabase,
  type ServiceStore,
  type SwapRow,
} from "../../../src/service/store/service-store.ts";
import { createHandClock } from "../support/hand-clock.ts";

const GWEI = 10n ** 9n;
const MAX = 1_000n * GWEI;
const DAY_MS = 86_400_000;
const START_MS = 1_900_000_000_000;
const addressOf = (place: number): Address => toAddress(`0x${place.toString(16).padStart(40, "0")}`);
const LISTED = addressOf(0xaa);
const STRANGE = addressOf(0xbb);
const KEY = { name: "key 1", isKeyed: true };
const home = (place: number) => ({ name: `address 192.0.2.${place}`, isKeyed: false });

const directory = mkdtempSync(join(tmpdir(), "swapd-shares-"));
afterAll(() => rmSync(directory, { recursive: true }));

let names = 0;
let wallets = 0x1000;
let store: ServiceStore;
let book: RelayBook;
let clock: ReturnType<typeof createHandClock>;
let losses: LossShares;

beforeEach(() => {
  names += 1;
  const db = openServiceDatabase(join(directory, `${names}.db`));
  [store, book, clock] = [createServiceStore(db, "testnet"), openRelayBook(db, "testnet"), createHandClock(START_MS)];
  losses = createLossShares({ listed: new Set([LISTED]), maxDailyLoss: MAX }, { book, store, clock });
});

const of = (sender: Parties["sender"], change: Partial<Parties> = {}): Parties => {
  wallets += 1;
  return { owner: addressOf(wallets), toToken: LISTED, sender, ...change };
};

/** A swap that was accepted, of which so many wei may be spent. */
function accept({ owner, toToken, sender }: Parties, atMost = GWEI): IntentRow {
  names += 1;
  const intentId = `relay-${names}`;
  store.insertQuote({ id: intentId, expiresAtSeconds: 1, createdAtMs: 1 } as Quote, sender.name);
  const none = { amountOut: null, hash: null, blockNumber: null, errorCode: null, errorMessage: null };
  const signed = { swapSignature: "0x", permitSignature: null, permitDeadline: null, deadlineSeconds: 1 } as const;
  const order = { recipient: owner, fromToken: LISTED, toToken, sellAmount: "1", nonce: "1", wallet: owner };
  const at = { createdAtMs: 1, updatedAtMs: 1, status: "pending", network: "testnet" } as const;
  store.insertSwap({ id: intentId, quoteId: intentId, intentId, ...order, ...none, ...signed, ...at } as SwapRow);
  const amounts = { feeWorth: 1n, expectedCost: 1n, dataFee: 0n };
  book.insert(intentId, { ...amounts, caller: sender.name, isKeyed: sender.isKeyed }, 1);
  return { id: intentId, gasLimit: 1n, maxFeePerGasCap: atMost } as unknown as IntentRow;
}

function pay(swap: Parties, paid: bigint, earned = 0n): void {
  const { id } = accept(swap);
  book.writeCost(id, { paid, earned, reverted: earned === 0n, atMs: clock.nowMs() });
}

const refusalOf = (swap: Parties) => losses.refusal(swap)?.error;

describe("what may be lost of the relayer's money", () => {
  test("is a twentieth for a wallet, anyone who hands its swaps over, until the loss is a day old", () => {
    const thief = of(KEY);
    pay(thief, 50n * GWEI - 1n * GWEI);
    expect(refusalOf(thief)).toBeUndefined();
    pay(thief, GWEI);
    expect(refusalOf({ ...thief, sender: home(1) })).toBe("GASLESS_STANDING");
    expect(refusalOf(of(KEY))).toBeUndefined();
    clock.advance(DAY_MS + 1);
    expect(refusalOf(thief)).toBeUndefined();
  });

  test("is a tenth for an address without a key, whatever wallets it comes with, and a half for a key", () => {
    for (let loss = 0; loss < 10; loss += 1) pay(of(home(1)), 10n * GWEI);
    expect(refusalOf(of(home(1)))).toBe("GASLESS_STANDING");
    expect(refusalOf(of(home(2)))).toBeUndefined();
    for (let loss = 0; loss < 49; loss += 1) pay(of(KEY), 10n * GWEI);
    expect(refusalOf(of(KEY))).toBeUndefined();
    pay(of(KEY), 10n * GWEI);
    expect(refusalOf(of(KEY))).toBe("GASLESS_STANDING");
    expect(refusalOf(of({ name: "key 2", isKeyed: true }))).toBeUndefined();
  });

  test("is nothing beyond what its fills repay for a busy wallet app, of whose thousands of swaps one in a hundred reverts", () => {
    const isRevert = (swap: number) => swap % 100 === 0;
    store.db.transaction(() => {
      for (let swap = 0; swap < 4_000; swap += 1) pay(of(KEY), 20n * GWEI, isRevert(swap) ? 0n : 21n * GWEI);
    })();
    expect(book.costsSince(0).lost).toBe(800n * GWEI);
    expect(refusalOf(of(KEY))).toBeUndefined();
  });

  test("is a half for all without a key together, at worst, and leaves the other half to those who have one", () => {
    for (let stranger = 0; stranger < 48; stranger += 1) pay(of(home(stranger)), 10n * GWEI);
    // Fills of strangers repay no other stranger's losses.
    pay(of(home(60)), GWEI, 500n * GWEI);
    expect(losses.maySpend(of(home(70)))).toBe(20n * GWEI);
    expect(losses.maySpend(of(KEY))).toBe(MAX);
    expect(losses.against(accept(of(home(70)), 20n * GWEI))).toBeUndefined();
    expect(losses.against(accept(of(home(70)), 20n * GWEI + 1n))?.error).toBe("GASLESS_LOSS_LIMIT");
    expect(losses.against(accept(of(KEY), MAX))).toBeUndefined();
    pay(of(home(71)), 20n * GWEI);
    expect(refusalOf(of(home(72)))).toBe("GASLESS_LOSS_LIMIT");
    expect(refusalOf(of(KEY))).toBeUndefined();
  });

  test("is a tenth for swaps into a token that the operator does not list, at worst, anyone who submits them", () => {
    const into = { toToken: STRANGE };
    expect(losses.maySpend(of(KEY, into))).toBe(100n * GWEI);
    expect(losses.against(accept(of(KEY, into), 100n * GWEI + 1n))?.error).toBe("GASLESS_LOSS_LIMIT");
    pay(of(KEY, into), 40n * GWEI);
    pay(of(home(1), into), 40n * GWEI);
    expect(losses.maySpend(of(KEY, into))).toBe(20n * GWEI);
    // What a token that many trade brings in keeps those who revert on purpose from barring it.
    pay(of(KEY, into), 100n * GWEI, 150n * GWEI);
    expect(losses.maySpend(of(KEY, into))).toBe(70n * GWEI);
    pay(of(home(2), into), 70n * GWEI);
    expect(refusalOf(of(KEY, into))).toBe("GASLESS_LOSS_LIMIT");
    expect(refusalOf(of(KEY, { toToken: addressOf(0xcc) }))).toBeUndefined();
    expect(refusalOf(of(KEY))).toBeUndefined();
  });

  test("counts what is in flight as if all that it may cost were lost, against its own wallet, caller and token", () => {
    const thief = of(home(1));
    const flying = accept(thief, 50n * GWEI);
    expect(losses.against(accept(thief))).toBeUndefined();
    expect(losses.against(accept(thief), [flying])?.error).toBe("GASLESS_STANDING");
    expect(losses.against(accept(of(home(1))), [flying])).toBeUndefined();
    const more = accept(of(home(1)), 50n * GWEI);
    expect(losses.against(accept(of(home(1))), [flying, more])?.error).toBe("GASLESS_STANDING");
    expect(losses.against(accept(of(home(2))), [flying, more])).toBeUndefined();
    const all = [accept(of(home(3)), 499n * GWEI)];
    expect(losses.against(accept(of(home(2)), 2n * GWEI), all)?.error).toBe("GASLESS_LOSS_LIMIT");
    expect(losses.against(accept(of(KEY), 2n * GWEI), all)).toBeUndefined();
    const into = { toToken: STRANGE };
    expect(losses.against(accept(of(KEY, into)), [accept(of(home(4), into), 100n * GWEI)])?.error).toBe(
      "GASLESS_LOSS_LIMIT",
    );
  });
});
