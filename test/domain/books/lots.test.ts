import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import {
  type Asset,
  type Entry,
  inOrder,
  type SwapEntry,
  worthOf,
  worthOfSwap,
} from "../../../src/domain/books/entry.ts";
import { keepLots, LOT_METHODS, type LotBook, type LotRules } from "../../../src/domain/books/lots.ts";
import {
  DAY_MS,
  dollarsOf,
  ETH,
  handedOn,
  MAIN,
  OTHER,
  opening,
  priced,
  START_MS,
  STRANGER,
  spentGas,
  swapped,
  USDC,
  WETH,
} from "../../support/book-samples.ts";
import { histories } from "../../support/random-books.ts";

const FIFO: LotRules = { method: "fifo", orders: [] };

/** Bought 1 WETH at a price, and 1 WETH at another, then sells some of it. */
const bought = (day: number, usd: bigint, change: Partial<SwapEntry> = {}): SwapEntry =>
  swapped(day, {
    sold: { asset: USDC, raw: usd * 10n ** 6n },
    bought: { asset: WETH, raw: 10n ** 18n },
    prices: { sold: priced(1n, day), bought: priced(usd, day), native: priced(usd, day) },
    gas: undefined,
    ...change,
  });
const soldWeth = (day: number, raw: bigint, usd: bigint): SwapEntry =>
  swapped(day, {
    ...{
      sold: { asset: WETH, raw },
      bought: { asset: USDC, raw: (raw * usd * 10n ** 6n) / 10n ** 18n },
      gas: undefined,
    },
    prices: { sold: priced(usd, day), bought: priced(1n, day), native: priced(usd, day) },
  });
const resultsOf = ({ disposals }: LotBook, asset: Asset) =>
  disposals
    .filter((part) => part.asset.address === asset.address)
    .map(({ lot, raw, basis, proceeds }) => [lot, raw, basis, proceeds]);
const WHOLE = 10n ** 18n;
const HALF = WHOLE / 2n;
const STORY = [opening(0), bought(1, 1000n), bought(2, 3000n), bought(3, 2000n), soldWeth(5, WHOLE + HALF, 4000n)];

describe("a sale takes", () => {
  it("the oldest lots first by FIFO, and the newest by LIFO", () => {
    expect(resultsOf(keepLots(STORY, FIFO), WETH)).toEqual([
      ["run_1.0.1", WHOLE, dollarsOf(1000n), dollarsOf(4000n)],
      ["run_2.0.1", HALF, dollarsOf(1500n), dollarsOf(2000n)],
    ]);
    expect(resultsOf(keepLots(STORY, { method: "lifo", orders: [] }), WETH)).toEqual([
      ["run_3.0.1", WHOLE, dollarsOf(2000n), dollarsOf(4000n)],
      ["run_2.0.1", HALF, dollarsOf(1500n), dollarsOf(2000n)],
    ]);
  });

  it("of an average, and of one pool of all wallets", () => {
    expect(resultsOf(keepLots(STORY, { method: "average", orders: [] }), WETH)).toEqual([
      ["average", WHOLE + HALF, dollarsOf(3000n), dollarsOf(6000n)],
    ]);
    const apart = [...STORY.slice(0, 2), bought(2, 3000n, { wallet: OTHER }), soldWeth(5, WHOLE, 4000n)];
    expect(resultsOf(keepLots(apart, { method: "average", orders: [] }), WETH)[0]?.[2]).toBe(dollarsOf(1000n));
    const pool = keepLots(apart, { method: "pool", orders: [] });
    expect(resultsOf(pool, WETH)[0]?.[2]).toBe(dollarsOf(2000n));
    expect(pool.lots.map(({ wallet }) => wallet)).not.toContain(MAIN);
  });

  it("what a standing order names, from when it was written down, and never before", () => {
    const at = (day: number, pick: "highest-cost" | "lowest-cost", id: number) => ({
      id,
      wallet: MAIN,
      pick,
      sinceMs: START_MS + day * DAY_MS,
    });
    const lots = (orders: LotRules["orders"]) =>
      resultsOf(keepLots(STORY, { method: "specific", orders }), WETH).map(([lot]) => lot);
    expect(lots([])).toEqual(["run_1.0.1", "run_2.0.1"]);
    expect(lots([at(4, "highest-cost", 1)])).toEqual(["run_2.0.1", "run_3.0.1"]);
    expect(lots([at(4, "highest-cost", 1), at(4.5, "lowest-cost", 2)])).toEqual(["run_1.0.1", "run_3.0.1"]);
    expect(lots([at(5, "highest-cost", 1)])).toEqual(["run_1.0.1", "run_2.0.1"]);
    const [part] = keepLots(STORY, { method: "specific", orders: [at(4, "highest-cost", 7)] }).disposals.slice(-2);
    expect(part?.order).toBe(7);
    const passes = [...STORY, swapped(9, { recipient: STRANGER }), handedOn(9, { recipient: STRANGER, isOwn: false })];
    const sent = keepLots(passes, { method: "specific", orders: [at(4, "highest-cost", 7)] }).disposals.at(-1);
    expect(sent).toMatchObject({ why: "sent", order: undefined });
    expect(lots([{ ...at(4, "highest-cost", 1), wallet: OTHER }])).toEqual(["run_1.0.1", "run_2.0.1"]);
  });
});

describe("a basis that nobody knows", () => {
  it("stays unknown, and is never zero", () => {
    const { lots, disposals } = keepLots([opening(0), swapped(1)], FIFO);
    expect(disposals.filter(({ why }) => why === "swap").map(({ basis, proceeds }) => [basis, proceeds])).toEqual([
      [undefined, dollarsOf(100n)],
    ]);
    expect(lots.map(({ asset, basis }) => [asset.symbol, basis])).toEqual([
      ["USDC", undefined],
      ["WETH", dollarsOf(100n)],
    ]);
  });

  it("is that of a purchase without a price, and what it brought later is known", () => {
    const prices = { sold: undefined, bought: undefined, native: undefined };
    const { disposals } = keepLots([opening(0), bought(1, 1000n, { prices }), soldWeth(2, WHOLE, 1500n)], FIFO);
    expect(disposals.map(({ basis, proceeds }) => [basis, proceeds])).toEqual([
      [undefined, undefined],
      [undefined, dollarsOf(1500n)],
    ]);
  });

  it("is in no average: of what is known and what is not the same share leaves", () => {
    const entries = [opening(0, { held: { asset: WETH, raw: WHOLE } }), bought(1, 1000n), soldWeth(2, WHOLE, 2000n)];
    const parts = resultsOf(keepLots(entries, { method: "average", orders: [] }), WETH);
    expect(parts).toEqual([
      ["average", HALF, dollarsOf(500n), dollarsOf(1000n)],
      ["unknown", HALF, undefined, dollarsOf(1000n)],
    ]);
  });

  it("is that of what came in without a record", () => {
    const { unrecorded, disposals } = keepLots(
      [opening(0, { held: { asset: USDC, raw: 40_000_000n } }), swapped(1, { gas: undefined })],
      FIFO,
    );
    expect(unrecorded).toEqual([{ wallet: MAIN, entry: "run_1.0.1", asset: USDC, raw: 60_000_000n }]);
    expect(disposals.map(({ raw, basis }) => [raw, basis])).toEqual([
      [40_000_000n, undefined],
      [60_000_000n, undefined],
    ]);
  });

  it("is taken last where the costliest or the cheapest goes first", () => {
    for (const pick of ["highest-cost", "lowest-cost"] as const) {
      const order = { id: 1, wallet: MAIN, pick, sinceMs: 0 };
      const entries = [opening(0, { held: { asset: WETH, raw: WHOLE } }), bought(1, 1000n), soldWeth(2, WHOLE, 2000n)];
      expect(resultsOf(keepLots(entries, { method: "specific", orders: [order] }), WETH)[0]?.[0]).toBe("run_1.0.1");
    }
  });
});

test("a transfer between wallets of ours takes the lot along, with its day and its cost", () => {
  const entries = [opening(0), swapped(1, { recipient: OTHER }), handedOn(1)];
  for (const method of LOT_METHODS) {
    const { lots, disposals } = keepLots(entries, { method, orders: [] });
    const moved = lots.find(({ asset }) => asset.address === WETH.address);
    expect(moved).toMatchObject({ raw: swapped(1).bought.raw, basis: dollarsOf(100n) });
    if (method !== "pool") expect(moved?.wallet).toBe(OTHER);
    if (method === "fifo") expect(moved).toMatchObject({ id: "run_1.0.1", acquiredMs: swapped(1).atMs });
    expect(disposals.every(({ asset }) => asset.address !== WETH.address)).toBe(true);
  }
});

test("what is sent to strangers leaves at its value, the very lot that was bought for them", () => {
  const entries = [
    opening(0),
    swapped(1),
    swapped(2, { recipient: STRANGER }),
    handedOn(2, { recipient: STRANGER, isOwn: false }),
  ];
  const { disposals } = keepLots(entries, FIFO);
  expect(disposals.filter(({ why }) => why === "sent")).toMatchObject([
    { lot: "run_2.0.1", basis: dollarsOf(100n), proceeds: dollarsOf(100n), wallet: MAIN },
  ]);
});

describe.each(LOT_METHODS)("by %s, what a swap buys for somebody else", (method) => {
  const held = opening(0, { held: { asset: WETH, raw: WHOLE }, basis: dollarsOf(1000n), acquiredMs: START_MS });
  const story = (to: Partial<ReturnType<typeof handedOn>>): readonly Entry[] => {
    const swap = bought(2, 3000n, { recipient: to.recipient ?? OTHER });
    return [
      held,
      opening(0),
      swap,
      handedOn(2, { moved: swap.bought, price: swap.prices.bought, worth: worthOfSwap(swap), ...to }),
    ];
  };

  it("changes nothing of what its wallet has, and costs a wallet of ours what was paid", () => {
    const { lots, disposals } = keepLots(story({}), { method, orders: [] });
    const weth = lots.filter(({ asset }) => asset.address === WETH.address);
    const costs =
      method === "pool"
        ? [[undefined, dollarsOf(4000n)]]
        : [
            [MAIN, dollarsOf(1000n)],
            [OTHER, dollarsOf(3000n)],
          ];
    expect(weth.map(({ wallet, basis }) => [wallet, basis])).toEqual(costs);
    expect(disposals.some(({ asset }) => asset.address === WETH.address)).toBe(false);
  });

  it("goes to strangers for what it cost: nothing is won or lost by it", () => {
    const { lots, disposals } = keepLots(story({ recipient: STRANGER, isOwn: false }), { method, orders: [] });
    expect(resultsOf({ lots, disposals, unrecorded: [] }, WETH)).toEqual([
      ["run_2.0.1", WHOLE, dollarsOf(3000n), dollarsOf(3000n)],
    ]);
    expect(lots.find(({ asset }) => asset.address === WETH.address)?.basis).toBe(dollarsOf(1000n));
  });

  it("is sold by nobody else of its block", () => {
    const sale = { ...soldWeth(2, WHOLE, 3000n), id: "run_3.0.1" };
    const { disposals } = keepLots(inOrder([...story({}), sale]), { method, orders: [] });
    expect(resultsOf({ lots: [], disposals, unrecorded: [] }, WETH).map((part) => part[2])).toEqual([dollarsOf(1000n)]);
  });
});

test("gas leaves at its value, and without a price at none that is known", () => {
  const { disposals } = keepLots(
    [opening(0, { held: { asset: ETH, raw: WHOLE } }), spentGas(1), spentGas(2, { price: undefined })],
    FIFO,
  );
  expect(disposals.map(({ why, proceeds }) => [why, proceeds])).toEqual([
    ["gas", worthOf(spentGas(1).gas, priced(2500n))],
    ["gas", undefined],
  ]);
});

/** What each place should hold, added up from the entries alone. */
function balancesOf(entries: readonly Entry[]): ReadonlyMap<string, bigint> {
  const sums = new Map<string, bigint>();
  const add = (wallet: string, { address }: Asset, raw: bigint): void => {
    const key = `${wallet} ${address}`;
    sums.set(key, (sums.get(key) ?? 0n) + raw);
  };
  for (const entry of entries) {
    if (entry.kind === "opening") add(entry.wallet, entry.held.asset, entry.held.raw);
    if (entry.kind === "gas") add(entry.wallet, entry.gas.asset, -entry.gas.raw);
    if (entry.kind === "transfer") {
      add(entry.wallet, entry.moved.asset, -entry.moved.raw);
      if (entry.isOwn) add(entry.recipient, entry.moved.asset, entry.moved.raw);
    }
    if (entry.kind !== "swap") continue;
    add(entry.wallet, entry.sold.asset, -entry.sold.raw);
    add(entry.wallet, entry.bought.asset, entry.bought.raw);
    if (entry.gas !== undefined) add(entry.wallet, entry.gas.asset, -entry.gas.raw);
  }
  return sums;
}

const sum = (parts: readonly (bigint | undefined)[]): bigint =>
  parts.reduce<bigint>((total, part) => total + (part ?? 0n), 0n);

describe.each(LOT_METHODS)("over random histories, by %s,", (method) => {
  const order = { id: 1, wallet: MAIN, pick: "highest-cost", sinceMs: START_MS } as const;
  const rules: LotRules = { method, orders: [order] };

  it("lots are what is held, and what was acquired is what was realised and what remains", () => {
    fc.assert(
      fc.property(histories(), (entries) => {
        const { lots, disposals, unrecorded } = keepLots(entries, rules);
        for (const [key, balance] of balancesOf(entries)) {
          const isAt = (part: { wallet: string | undefined; asset: Asset }): boolean =>
            `${part.wallet} ${part.asset.address}` === key;
          if (method === "pool") continue;
          const held = sum(lots.filter(isAt).map(({ raw }) => raw));
          expect(held).toBe(balance + sum(unrecorded.filter(isAt).map(({ raw }) => raw)));
        }
        const acquired = sum(
          entries
            .flatMap((entry) => (entry.kind === "opening" ? [entry.basis] : []))
            .concat(
              entries.flatMap((entry) =>
                entry.kind === "swap"
                  ? [worthOf(entry.bought, entry.prices.bought) ?? worthOf(entry.sold, entry.prices.sold)]
                  : [],
              ),
            ),
        );
        expect(sum(lots.map(({ basis }) => basis)) + sum(disposals.map(({ basis }) => basis))).toBe(acquired);
        expect(lots.every(({ raw }) => raw > 0n)).toBe(true);
        expect(sum(lots.map(({ raw }) => raw)) + sum(disposals.map(({ raw }) => raw))).toBe(
          sum(unrecorded.map(({ raw }) => raw)) +
            sum(
              entries.map((entry) =>
                entry.kind === "opening" ? entry.held.raw : entry.kind === "swap" ? entry.bought.raw : 0n,
              ),
            ),
        );
      }),
      { numRuns: 100 },
    );
  });

  it("the order in which rows were read changes nothing", () => {
    fc.assert(
      fc.property(histories(), fc.infiniteStream(fc.nat()), (entries, numbers) => {
        const shuffled = entries
          .map((entry) => ({ entry, rank: numbers.next().value ?? 0 }))
          .sort((one, other) => one.rank - other.rank);
        expect(keepLots(inOrder(shuffled.map(({ entry }) => entry)), rules)).toEqual(keepLots(inOrder(entries), rules));
      }),
      { numRuns: 30 },
    );
  });
});
