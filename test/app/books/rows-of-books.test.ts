import { expect, it, test } from "vitest";
import { createReadModel } from "../../../src/adapters/sqlite/daemon/read-model.ts";
import { buildEntries } from "../../../src/app/books/build-entries.ts";
import type { BookFill, BookRows, BookTransaction } from "../../../src/ports/book-rows.ts";
import { ETH, MAIN, OTHER, priced, STRANGER, USDC, WETH } from "../../support/book-samples.ts";
import { letAllGo, live } from "../../support/old-runs.ts";

const SETTINGS = { nativeSymbol: "ETH", ownWallets: new Set([MAIN, OTHER]) };
const HASH = { swap: `0x${"1".repeat(64)}`, approve: `0x${"2".repeat(64)}`, other: `0x${"3".repeat(64)}` } as const;

it("books of archived runs are those of before, to the letter", async () => {
  const { life } = await live({ gasless: "never" });
  const reads = createReadModel(life.db);
  const before = await reads.books();
  expect(before.fills.length).toBeGreaterThan(1);
  expect(before.transactions.length).toBeGreaterThan(before.fills.length);
  expect(before.transactions.every(({ cost, swap }) => cost > 0n && swap !== undefined)).toBe(true);
  expect(letAllGo(life.store).archived).toBeGreaterThan(0);
  const after = await reads.books();
  const byId = (one: { readonly id: string }, other: { readonly id: string }): number => (one.id < other.id ? -1 : 1);
  expect({ ...after, transactions: after.transactions.toSorted(byId) }).toEqual({
    ...before,
    transactions: before.transactions.toSorted(byId),
  });
  const entries = buildEntries(before, { nativeSymbol: "ETH", ownWallets: new Set() });
  const gas = entries.map((entry) => (entry.kind === "swap" || entry.kind === "gas" ? (entry.gas?.raw ?? 0n) : 0n));
  const paid = before.transactions.reduce((sum, { cost }) => sum + cost, 0n);
  expect(gas.reduce((sum, raw) => sum + raw, 0n)).toBe(paid);
});

const fill: BookFill = {
  ...{ swapId: "run_1.0.1", strategy: "weekly", slotMs: 5_000, mode: "self-executed", wallet: MAIN, recipient: MAIN },
  ...{ sell: USDC, buy: WETH, sold: 100n, bought: 7n, swapFee: 1n, affiliateFee: 0n, hash: HASH.swap },
  ...{ blockNumber: 9, blockTimeSeconds: 10, isAssumed: false },
  prices: { readAtMs: 9_000, sold: priced(1n), bought: priced(2500n), native: priced(2500n) },
};
const swapOf = { id: fill.swapId, strategy: "weekly", prices: fill.prices };
const own = (change: Partial<BookTransaction>): BookTransaction => ({
  ...{ id: "run_1.0.1.swap", account: MAIN, purpose: "swap", isCancellation: false, succeeded: true, hash: HASH.swap },
  ...{ blockNumber: 9, blockTimeSeconds: 10, cost: 50n, swap: swapOf },
  ...change,
});
const rowsOf = (change: Partial<BookRows>): BookRows => ({
  ...{
    createdAtMs: 1_000,
    baselines: [],
    fills: [fill],
    transactions: [own({})],
    open: [],
    lotOrders: [],
    isPaper: false,
  },
  ...change,
});
const entriesOf = (change: Partial<BookRows>) => buildEntries(rowsOf(change), SETTINGS);

test("the gas of a fill is its own, and that of all else is an entry that says for what", () => {
  const entries = entriesOf({
    transactions: [
      own({}),
      own({ id: "run_1.0.1.approve1", purpose: "approve", hash: HASH.approve, cost: 20n, blockNumber: 8 }),
      own({ id: "run_2.0.1.swap", succeeded: false, hash: HASH.other, cost: 30n, blockNumber: 10 }),
      own({ id: "revoke_3", purpose: "revoke", hash: HASH.other, cost: 40n, blockNumber: 11, swap: undefined }),
      own({ id: "run_4.0.1.swap", isCancellation: true, hash: HASH.other, cost: 60n, blockNumber: 12 }),
    ],
  });
  const shown = entries.map((entry) => {
    if (entry.kind === "gas") return [entry.purpose, entry.gas.raw, entry.price?.usd];
    return entry.kind === "swap" ? [entry.kind, entry.gas?.raw, entry.prices.native?.usd] : [entry.kind];
  });
  const usd = priced(2500n).usd;
  expect(shown).toEqual([
    ["approval", 20n, usd],
    ["swap", 50n, usd],
    ["failed transaction", 30n, usd],
    ["revocation", 40n, undefined],
    ["cancellation", 60n, usd],
  ]);
});

test("gas of a fill that is not final yet waits for its fill", () => {
  const open = [{ swapId: fill.swapId, state: "confirmed" }];
  expect(entriesOf({ fills: [], open })).toEqual([]);
  expect(entriesOf({ fills: [], open, transactions: [own({ succeeded: false })] })).toHaveLength(1);
});

test("what a swap buys for another wallet goes there by an entry of its own", () => {
  const [swap, transfer] = entriesOf({ fills: [{ ...fill, recipient: OTHER }] });
  expect([swap?.kind, transfer]).toMatchObject([
    "swap",
    { kind: "transfer", isOwn: true, recipient: OTHER, swapId: fill.swapId },
  ]);
  const [, away] = entriesOf({ fills: [{ ...fill, recipient: STRANGER }] });
  expect(away).toMatchObject({ kind: "transfer", isOwn: false, moved: { raw: 7n } });
});

test("rows of an older release without a time take the slot's, and without prices none", () => {
  const [swap] = entriesOf({
    fills: [{ ...fill, blockTimeSeconds: undefined, prices: undefined, swapFee: undefined }],
  });
  expect(swap).toMatchObject({
    atMs: 5_000,
    prices: { sold: undefined, bought: undefined },
    fees: { service: undefined },
  });
});

test("what was held before comes first, by an older release with a time between the entries around its block, and at no cost that is known", () => {
  const older = { wallet: MAIN, blockTimeSeconds: undefined };
  const baselines = [
    { ...older, token: ETH, blockNumber: 3, balance: 5n },
    { ...older, token: WETH, blockNumber: 9, balance: 9n },
  ];
  const entries = entriesOf({ baselines });
  expect(entries.map(({ kind, atMs }) => [kind, atMs])).toEqual([
    ["opening", 1_000],
    ["opening", 10_000],
    ["swap", 10_000],
  ]);
  expect(entries.every((entry) => entry.kind !== "opening" || entry.basis === undefined)).toBe(true);
});
