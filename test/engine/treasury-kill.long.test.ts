import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createProposalFolder } from "../../src/adapters/proposals/folder.ts";
import { isRunEnd, isSwapEnd } from "../../src/domain/run/states.ts";
import { HUNDRED_USDC, SLOT_MS } from "../support/builders.ts";
import { ACCOUNT, createOutside, type Life, type Outside, openLife, turnUntil } from "../support/engine-life.ts";
import { replayAll } from "../support/replays.ts";
import { expectRowsToAddUp, leftForPools } from "../support/rows-add-up.ts";
import { readBatchFile } from "../support/safe.ts";
import { SafeChain } from "../support/safe-chain.ts";
import { memoryDirectory } from "../support/temporary-directory.ts";

const SLOTS = 2;

interface World extends Outside {
  readonly chain: SafeChain;
  readonly folder: string;
  /** files that owners have looked at, the last one last */
  readonly seen: string[];
}

function createWorld(): World {
  const outside = createOutside(SLOT_MS - 1_500, { gasless: "never" }, (clock) => new SafeChain(clock));
  return { ...outside, chain: outside.chain as SafeChain, folder: join(memoryDirectory(), "proposals"), seen: [] };
}

type Way = (world: World, name: string) => void;

const callsOf = (world: World, name: string) => readBatchFile(join(world.folder, name));
const asAsked: Way = (world, name) => {
  const { calls, nonce } = callsOf(world, name);
  world.chain.byOwners(calls, { nonce });
};

/** What owners do with the n-th file that they see; each way fills each slot once at most. */
const WAYS: Readonly<Record<string, Way>> = {
  "as asked": asAsked,
  "with another nonce": (world, name) => {
    world.chain.byOwners([]);
    world.chain.byOwners(callsOf(world, name).calls);
  },
  twice: (world, name) => {
    asAsked(world, name);
    world.chain.byOwners(callsOf(world, name).calls);
  },
  "an old one beside the one that replaces it": (world, name) => {
    if (world.seen.length % 2 === 1) return;
    const before = world.seen.at(-2) ?? name;
    world.chain.byOwners(callsOf(world, before).calls);
    world.chain.byOwners(callsOf(world, name).calls);
    world.chain.byOwners(callsOf(world, before).calls);
  },
  "rejected, and executed all the same": (world, name) => {
    world.chain.byOwners([]);
    asAsked(world, name);
    world.chain.byOwners(callsOf(world, name).calls);
  },
};

function lookAt(world: World, way: Way): void {
  const files = existsSync(world.folder) ? readdirSync(world.folder).filter((name) => name.endsWith(".json")) : [];
  for (const name of files.sort()) {
    if (world.seen.includes(name)) continue;
    world.seen.push(name);
    way(world, name);
  }
}

interface Row {
  readonly id: string;
}

function runsOf({ db, store }: Life) {
  return db
    .prepare<[], Row>("SELECT id FROM runs ORDER BY slot_ms")
    .all()
    .flatMap(({ id }) => store.run(id) ?? []);
}

function isSettled(life: Life): boolean {
  const runs = runsOf(life);
  const isOver = runs.every((run) => isRunEnd(run.state) && run.swaps.every((swap) => isSwapEnd(swap.state)));
  return runs.length >= SLOTS && isOver && life.store.nextEffectMs() === undefined;
}

async function liveOn(world: World, way: Way, killAfter?: number): Promise<Life> {
  const life = openLife(world, {
    settings: { safes: new Set([ACCOUNT]) },
    treasury: createProposalFolder({ safe: ACCOUNT, folder: world.folder }, { clock: world.clock }),
    ...(killAfter !== undefined && { killAt: (_label, passed) => passed.length === killAfter }),
  });
  await life.engine.start();
  const isDone = (): boolean => {
    lookAt(world, way);
    return isSettled(life);
  };
  await turnUntil(world, life, { maxSeconds: 150, isDone });
  expect(life.errors).toEqual([]);
  return life;
}

function expectEachSlotOnce(world: World, life: Life, what: string): void {
  expect(
    isSettled(life),
    `${what}: ${JSON.stringify(runsOf(life).map(({ state, swaps }) => [state, swaps.map((one) => one.state)]))}`,
  ).toBe(true);
  const left = leftForPools(world);
  const fills = runsOf(life).flatMap(({ swaps }) => swaps.flatMap(({ fill }) => fill ?? []));
  expect([...left.map(({ hash }) => hash)].sort(), what).toEqual(fills.map(({ hash }) => hash).sort());
  for (const run of runsOf(life))
    expect(run.swaps.filter(({ fill }) => fill !== undefined).length, what).toBeLessThanOrEqual(1);
  expect(
    left.every(({ amount }) => amount === HUNDRED_USDC),
    what,
  ).toBe(true);
  const spent = life.db.prepare<[], string>("SELECT amount FROM ledger WHERE state = 'spent'").pluck().all();
  expect(
    spent.reduce((sum, amount) => sum + BigInt(amount), 0n),
    what,
  ).toBe(HUNDRED_USDC * BigInt(left.length));
  expect(replayAll(world.file).problems, what).toEqual([]);
  expectRowsToAddUp(life);
}

let kills = 0;

test.each(Object.entries(WAYS))(
  "a slot of a Safe is executed once, wherever the daemon is killed, by owners who execute %s",
  async (name, way) => {
    const whole = createWorld();
    const first = await liveOn(whole, way);
    expectEachSlotOnce(whole, first, "undisturbed");
    expect(leftForPools(whole).length).toBeGreaterThan(0);
    expect(first.passed).toEqual(expect.arrayContaining(["proposal.sign.before", "proposal.publish.after"]));
    for (const [index, label] of first.passed.entries()) {
      const world = createWorld();
      const killed = await liveOn(world, way, index + 1);
      expect(killed.isDead()).toBe(true);
      killed.db.close();
      kills += 1;
      expectEachSlotOnce(world, await liveOn(world, way), `${name}, killed at ${label} (${index})`);
    }
  },
  600_000,
);

test("at least two hundred kills were survived", () => {
  expect(kills).toBeGreaterThanOrEqual(200);
});
