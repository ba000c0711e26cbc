import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { toAddress } from "../../../src/domain/money/address.ts";
import type { Pool, PoolState } from "../../../src/service/pools/pool.ts";
import { pairState } from "../../../src/service/pools/uniswap-v2/pair.ts";
import { type RouteTrade, searchRoute } from "../../../src/service/routing/best-route.ts";
import { createEdge } from "../../../src/service/routing/edge.ts";
import { createSearcher } from "../../../src/service/routing/searcher.ts";
import { runToEnd, type Steps } from "../../../src/service/routing/steps.ts";
import {
  createTimeSlices,
  type SearchStoppedError,
  type TimeSlices,
} from "../../../src/service/routing/time-slices.ts";
import { createTimeLimit, type TimeLimit } from "../../../src/service/time-limit.ts";
import { systemClock as clock } from "../support/system-clock.ts";
import { type LargeWorld, largeWorld } from "./support/large-world.ts";

const [SOLD, BOUGHT] = [toAddress(`0x${"0a".repeat(20)}`), toAddress(`0x${"0b".repeat(20)}`)];
const LARGE = { hubs: 6, curvesOfPair: 3, ticks: 60 };
const UNLIMITED = () => createTimeLimit(60_000, clock);

function tradeIn(world: LargeWorld): RouteTrade {
  return { from: world.sold, to: world.bought, amountIn: 300_000n * 10n ** 18n };
}

/** Work of so many parts that each fill a turn. */
function* parts(count: number, onPart: (part: number) => void = () => undefined): Steps<number> {
  for (let part = 0; part < count; part += 1) {
    const endsMs = performance.now() + 2;
    while (performance.now() < endsMs);
    onPart(part);
    yield;
  }
  return count;
}

/** Is over after being asked so often, which is once a turn: whatever else the machine does meanwhile. */
function slicesLimit(slices: number): TimeLimit {
  let left = slices;
  return {
    ...createTimeLimit(60_000, clock),
    isOver: () => {
      left -= 1;
      return left < 0;
    },
    part: (share) => slicesLimit(Math.floor(left * share)),
  };
}

/** Work of one part. */
function* finish<T>(work: () => T): Steps<T> {
  if (!Number.isFinite(performance.now())) yield;
  return work();
}

/** How often the event loop came round while something was waited for, and the CPU time of its rounds above 10 ms. */
async function watchLoop<T>(work: Promise<T>) {
  const rounds: number[] = [];
  let isOver = false;
  const cpuMs = () => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1_000;
  };
  const watching = (async () => {
    while (!isOver) {
      const beganMs = cpuMs();
      await nextTurn();
      rounds.push(cpuMs() - beganMs);
    }
  })();
  const beganMs = cpuMs();
  const value = await work;
  const usedMs = cpuMs() - beganMs;
  isOver = true;
  await watching;
  const longMs = rounds.filter((ms) => ms > 10).reduce((sum, ms) => sum + ms, 0);
  return { value, usedMs, rounds: rounds.length, longMs };
}

describe("the event loop", () => {
  test("comes round every few milliseconds while a first search goes over many pools", async () => {
    const world = largeWorld(LARGE);
    const findRoute = createSearcher({ slices: createTimeSlices(clock), clock });
    const watched = await watchLoop(findRoute(world.paths(), tradeIn(world), { gasRate: undefined }));
    expect(watched.value?.amountOut).toBeGreaterThan(0n);
    // In one go it would be one round of all that time; what the search does is about 3 ms a round, and a collection of
    // garbage makes one of them long.
    expect(watched.usedMs).toBeGreaterThan(15);
    expect(watched.rounds).toBeGreaterThan(watched.usedMs / 10);
    expect(watched.longMs).toBeLessThan(watched.usedMs / 2);
  });

  test("is never held by a first search for more than a few quotes of pools, whatever it looks for", () => {
    let quotes = 0;
    let most = 0;
    const counted = (state: PoolState): PoolState => ({
      pool: state.pool,
      spot: (tokenIn) => state.spot(tokenIn),
      quote: (tokenIn, amountIn) => {
        quotes += 1;
        const quote = state.quote(tokenIn, amountIn);
        return quote.kind === "filled" ? { ...quote, after: counted(quote.after) } : quote;
      },
    });
    const isOver = (): boolean => {
      most = Math.max(most, quotes);
      quotes = 0;
      return false;
    };
    const world = largeWorld(LARGE, { as: counted });
    for (const amount of [300_000n, 1_000_000n]) {
      const trade = { ...tradeIn(world), amountIn: amount * 10n ** 18n };
      runToEnd(searchRoute(world.paths(), trade, { gasRate: undefined, readsMore: false, budget: { isOver } }).steps);
    }
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThan(50);
  });

  test("is shared fairly by long searches, and none of them takes more of it than one does", async () => {
    const slices = createTimeSlices(clock, { sliceMs: 2 });
    const seen: string[] = [];
    const works = ["a", "b", "c"].map((name) =>
      slices.take(
        parts(20, () => seen.push(name)),
        UNLIMITED(),
      ),
    );
    await Promise.all(works);
    expect(seen).toHaveLength(60);
    // By turns: of any stretch everybody has the same share, but for one part.
    for (let end = 3; end <= seen.length; end += 1) {
      const counts = ["a", "b", "c"].map((name) => seen.slice(0, end).filter((one) => one === name).length);
      expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(2);
    }
  });

  test("is left to others after each part, also where many searches begin at the same moment", async () => {
    const slices = createTimeSlices(clock, { sliceMs: 2 });
    let now = 0;
    let most = 0;
    const count = () => {
      now += 1;
      most = Math.max(most, now);
    };
    const works = Promise.all(Array.from({ length: 10 }, () => slices.take(parts(3, count), UNLIMITED())));
    let isOver = false;
    const watching = (async () => {
      while (!isOver) {
        await sleep(0);
        now = 0;
      }
    })();
    await works;
    isOver = true;
    await watching;
    // A timer comes at its time at the latest after the turns of a millisecond or two.
    expect(most).toBeLessThanOrEqual(3);
  });
});

describe("a short search", () => {
  test("is over at once, without waiting for a turn", async () => {
    const slices = createTimeSlices(clock);
    let isDone = false;
    const answer = slices.take(
      finish(() => (isDone = true)),
      UNLIMITED(),
    );
    expect(isDone).toBe(true);
    expect(await answer).toEqual({ value: true });
  });
});

describe("too many long searches", () => {
  test("are refused by name, short ones are not, and those that were taken end", async () => {
    const slices = createTimeSlices(clock, { sliceMs: 2, maxLong: 2 });
    const works = Array.from({ length: 4 }, () => slices.take(parts(8), UNLIMITED()));
    const short = Array.from({ length: 10 }, () => slices.take(parts(0), UNLIMITED()));
    const ends = await Promise.allSettled(works);
    const refused = ends.flatMap((end) => (end.status === "rejected" ? [end.reason as SearchStoppedError] : []));
    expect(refused.map(({ error }) => error)).toEqual(["BUSY", "BUSY"]);
    expect(ends.flatMap((end) => (end.status === "fulfilled" ? [end.value] : []))).toEqual([
      { value: 8 },
      { value: 8 },
    ]);
    expect(await Promise.all(short)).toEqual(short.map(() => ({ value: 0 })));
    expect(await slices.take(parts(4), UNLIMITED())).toEqual({ value: 4 });
  });

  test("of one caller make room for another caller's, who has fewer", async () => {
    const slices = createTimeSlices(clock, { sliceMs: 2, maxLong: 4 });
    const of = (name: string) => createTimeLimit(60_000, clock, { name, isGone: () => false });
    const greedy = Array.from({ length: 6 }, () => slices.take(parts(40), of("greedy")));
    let refusals = 0;
    for (const search of greedy) {
      search.catch(() => {
        refusals += 1;
      });
    }
    // Those beyond the bound are refused when they prove long; then the other one comes.
    while (refusals < 2) await sleep(5);
    const honest = await slices.take(parts(12), of("honest"));
    expect(honest).toEqual({ value: 12 });
    await Promise.allSettled(greedy);
    expect(refusals).toBe(3);
  });

  test("are not those that last a turn or two, however many come at once", async () => {
    // By a clock that nothing else moves: a busy machine would make any work a long one.
    let nowMs = 0;
    const hand = { ...clock, monotonicMs: () => nowMs };
    const slices = createTimeSlices(hand, { sliceMs: 2, maxLong: 2 });
    function* twoSlices(): Steps<number> {
      for (let part = 0; part < 2; part += 1) {
        nowMs += 2;
        yield;
      }
      return 2;
    }
    const works = Array.from({ length: 30 }, () => slices.take(twoSlices(), createTimeLimit(60_000, hand)));
    expect(await Promise.all(works)).toEqual(works.map(() => ({ value: 2 })));
  });

  test("do not take the place of one that is submitted again after half of its time", async () => {
    const slices = createTimeSlices(clock, { sliceMs: 2, maxLong: 1 });
    const work = parts(20);
    expect(await slices.take(work, slicesLimit(6))).toBeUndefined();
    const [newcomer, again] = [slices.take(parts(20), UNLIMITED()), slices.take(work, UNLIMITED())];
    expect(await Promise.allSettled([newcomer, again])).toMatchObject([
      {},
      { status: "fulfilled", value: { value: 20 } },
    ]);
  });
});

describe("a search that goes on after reads", () => {
  test("and is ended before it is as far as it was answers with the best of all, not with the last", async () => {
    const [tokens, unread] = [{ token0: SOLD, token1: BOUGHT }, { isRead: false }];
    const pool = (index: number): Pool => {
      const address = toAddress(`0x${String(index).repeat(40)}`);
      return { kind: 1, protocol: 0, feePips: 3000, tickSpacing: 0, address, ...tokens };
    };
    const states = [1, 2].map((index) => pairState(pool(index), 10n ** 21n, 10n ** 21n));
    const load = async () => {
      unread.isRead = true;
    };
    const deep: PoolState = {
      pool: pool(3),
      spot: () => ({ numerator: 1n, denominator: 1n }),
      quote: (_token, atMost) => (unread.isRead ? { kind: "short" } : { kind: "unread", atMost, load }),
    };
    const paths = [[createEdge(SOLD, BOUGHT, [...states, deep])]];
    const trade = { from: SOLD, to: BOUGHT, amountIn: 10n ** 20n };
    // The first search ends with reads to do; of the second, there is time for the quick look only.
    const isDone = [true, false, true, false];
    const budget = { isOver: () => false };
    const take: TimeSlices["take"] = async (work) => (isDone.shift() === true ? { value: runToEnd(work) } : undefined);
    const findRoute = createSearcher({ slices: { budget, take }, clock });
    const limit: TimeLimit = { ...UNLIMITED(), part: () => limit };
    const route = await findRoute(paths, trade, { gasRate: undefined, limit });
    expect([isDone, unread]).toEqual([[], { isRead: true }]);
    expect(route!.hops.map(({ pool }) => pool.address)).toHaveLength(2);
  });
});

describe("a limit", () => {
  test("ends work that waits or runs, and the same work can be gone on with", async () => {
    const slices = createTimeSlices(clock, { sliceMs: 2 });
    const work = parts(30);
    const beganMs = performance.now();
    expect(await slices.take(work, createTimeLimit(20, clock))).toBeUndefined();
    expect(performance.now() - beganMs).toBeGreaterThanOrEqual(19);
    expect(await slices.take(work, UNLIMITED())).toEqual({ value: 30 });
  });

  test("whose caller has hung up stops the work", async () => {
    const slices = createTimeSlices(clock, { sliceMs: 2 });
    let [isGone, done] = [false, 0];
    const limit = createTimeLimit(60_000, clock, { isGone: () => isGone });
    const answer = slices.take(
      parts(1_000, (part) => {
        done = part;
        isGone = part === 5;
      }),
      limit,
    );
    expect(await answer).toBeUndefined();
    await nextTurn();
    expect(done).toBe(5);
  });

  test("that ends long before the search gives the best route so far, and that holds in the pools", async () => {
    const world = largeWorld({ ...LARGE, hubs: 12 });
    const findRoute = createSearcher({ slices: createTimeSlices(clock), clock });
    const trade = { ...tradeIn(world), amountIn: 1_000_000n * 10n ** 18n };
    const route = await findRoute(world.paths(), trade, { gasRate: undefined, limit: slicesLimit(40) });
    let amount = trade.amountIn;
    for (const hop of route!.hops) {
      const state = world.states.find(({ pool }) => pool.address === hop.pool.address)!;
      const quote = state.quote(hop.tokenIn, amount);
      expect([hop.amountIn, quote]).toMatchObject([amount, { kind: "filled", amountOut: hop.amountOut }]);
      amount = hop.amountOut;
    }
    expect(amount).toBe(route!.amountOut);
    expect(route!.isWhole).toBe(false);
  });

  test("that is over before any route was found is reported by name", async () => {
    const world = largeWorld(LARGE);
    const findRoute = createSearcher({ slices: createTimeSlices(clock), clock });
    const hurried = findRoute(world.paths(), tradeIn(world), { gasRate: undefined, limit: createTimeLimit(0, clock) });
    await expect(hurried).rejects.toMatchObject({ error: "QUOTE_TIMEOUT" });
  });
});
