import { expect, onTestFinished, test } from "vitest";
import { createJsonRpc } from "../../../src/chain/json-rpc.ts";
import { type Address, toAddress } from "../../../src/domain/money/address.ts";
import { connectNetwork } from "../../../src/service/open-network.ts";
import type { NetworkOptions } from "../../../src/service/options.ts";
import type { Pool } from "../../../src/service/pools/pool.ts";
import { createSnapshots, type Snapshot, type Snapshots } from "../../../src/service/pools/snapshots.ts";
import { createRecordingLogger } from "../support/recording-logger.ts";
import { systemClock } from "../support/system-clock.ts";
import { FIRST_SECOND, startTickNode, type TickNode, tickPool } from "../support/tick-node.ts";

/** Longer than any snapshot counts as fresh. */
const LATER_MS = 6_000;
/** Those of a block, and of the one pool that goes beyond. */
const MOST_CALLS = 10_000 + 2_500;
const [LISTED, HUB] = ["5", "6"].map((digit) => toAddress(`0x${digit.repeat(40)}`)) as [Address, Address];
const LISTED_POOL = tickPool(200, [LISTED, HUB]);
const PAIR: Pool = { ...tickPool(201), kind: 1, tickSpacing: 0 };
const CROWD = Array.from({ length: 26 }, (_, number) => tickPool(number));
const [FIRST_POOL, SECOND_POOL] = CROWD as [Pool, Pool];

const rpcOf = (url: string) => createJsonRpc({ url, timeoutMs: 10_000, maxBytes: 16_000_000 });

/** A clock of the node's time that is moved on, so that the next question is of the newest block. */
function movedClock() {
  let skewMs = 0;
  return {
    clock: {
      ...systemClock,
      nowMs: () => FIRST_SECOND * 1_000 + skewMs,
      monotonicMs: () => systemClock.monotonicMs() + skewMs,
    },
    later: () => {
      skewMs += LATER_MS;
    },
  };
}

async function follow(node: TickNode, pools: readonly Pool[]) {
  const { clock, later } = movedClock();
  const isKnown = (contract: Address) => contract === LISTED || contract === HUB;
  const snapshots = createSnapshots({ rpc: rpcOf(node.url), isKnown }, clock);
  onTestFinished(snapshots.stop);
  for (const pool of pools) await quoteOf(await snapshots.current(), pool);
  return { snapshots, next: (tick?: number, moves?: boolean) => nextOf({ node, snapshots, later }, tick, moves) };
}

/** The snapshot of a further block, and how many calls it took. */
async function nextOf(
  of: { node: TickNode; snapshots: Snapshots; later: () => void },
  ...block: Parameters<TickNode["mine"]>
) {
  const before = await of.snapshots.current();
  of.node.mine(...block);
  of.node.callsSince();
  // A check that began before that block may still be under way: then the next one has it.
  for (let checks = 1; ; checks += 1) {
    of.later();
    const snapshot = await of.snapshots.current();
    if (snapshot.head.number > before.head.number) return { snapshot, calls: of.node.callsSince() };
    expect(checks).toBeLessThan(10);
  }
}

async function quoteOf(snapshot: Snapshot, pool: Pool): Promise<string | undefined> {
  return (await snapshot.state(pool))?.quote(pool.token0, 10n ** 16n).kind;
}

/** How many calls a first quote makes that finds its pool read already, or not. */
async function callsOfQuote(node: TickNode, snapshot: Snapshot, pool: Pool): Promise<number> {
  node.callsSince();
  expect(await quoteOf(snapshot, pool)).toBe("filled");
  return node.callsSince();
}

test("pools full of ticks, in all of which liquidity moves, stop nobody: a block reads so many calls, listed tokens and small pools first", async () => {
  const node = await startTickNode();
  const { next } = await follow(node, [PAIR, LISTED_POOL, ...CROWD]);
  const { snapshot, calls } = await next();
  expect(calls).toBeGreaterThan(5_000);
  expect(calls).toBeLessThan(MOST_CALLS);
  for (const pool of [PAIR, LISTED_POOL]) expect(await callsOfQuote(node, snapshot, pool)).toBe(0);
  const own = [];
  for (const pool of CROWD) own.push(await callsOfQuote(node, snapshot, pool));
  expect(own.at(-1), "the pool that was asked for last").toBe(0);
  expect(own.filter((ofOne) => ofOne > 2_000).length, "pools that are left to the quotes").toBeGreaterThan(20);
});

test("pools whose price goes where nobody read ticks cost a block no more calls either", async () => {
  const node = await startTickNode();
  const { next } = await follow(node, [...CROWD, LISTED_POOL]);
  for (const tick of [20_000, 40_000]) {
    const { snapshot, calls } = await next(tick, false);
    expect(calls).toBeGreaterThan(5_000);
    expect(calls).toBeLessThan(MOST_CALLS);
    expect(await callsOfQuote(node, snapshot, LISTED_POOL)).toBe(0);
    expect(await callsOfQuote(node, snapshot, FIRST_POOL)).toBeGreaterThan(2_000);
    for (const pool of CROWD) expect(await quoteOf(snapshot, pool)).toBe("filled");
  }
});

test("a node that breaks at one pool leaves all others to the quotes that ask for them, at its newest block", async () => {
  const node = await startTickNode();
  const { next } = await follow(node, [FIRST_POOL, SECOND_POOL]);
  node.limits.broken = new Set([FIRST_POOL.address]);
  const { snapshot } = await next();
  expect(snapshot.unread?.message).toContain("HTTP status 500");
  expect(await quoteOf(snapshot, SECOND_POOL)).toBe("filled");
  await expect(snapshot.state(FIRST_POOL)).rejects.toThrow("HTTP status 500");
  node.limits.broken = new Set();
  const { snapshot: healed } = await next();
  expect(healed.unread).toBeUndefined();
  expect(await quoteOf(healed, FIRST_POOL)).toBe("filled");
});

test("the operator is notified once when pools cannot be read together, and once when they can again", async () => {
  const node = await startTickNode();
  const { clock, later } = movedClock();
  const logger = createRecordingLogger();
  const options: NetworkOptions = {
    name: "ticks",
    chainId: 1,
    rpcUrls: [node.url],
    nativeSymbol: "ETH",
    wrappedNative: HUB,
    listedTokens: [],
    hubTokens: [],
    settlement: undefined,
    executor: undefined,
    protocols: [],
    feeTiers: [],
    confirmations: 1,
  };
  const { snapshots } = connectNetwork(options, { clock, logger });
  onTestFinished(snapshots.stop);
  await quoteOf(await snapshots.current(), FIRST_POOL);
  const reported = () => logger.lines.splice(0).map(({ level, message }) => `${level}: ${message}`);
  node.limits.broken = new Set([FIRST_POOL.address]);
  await nextOf({ node, snapshots, later });
  await nextOf({ node, snapshots, later });
  expect(reported()).toEqual([
    "warn: the network's node does not answer for all pools in use at once; quotes read those that they need",
  ]);
  node.limits.broken = new Set();
  await nextOf({ node, snapshots, later });
  await nextOf({ node, snapshots, later });
  expect(reported()).toEqual(["info: the network's node can be used again"]);
});
