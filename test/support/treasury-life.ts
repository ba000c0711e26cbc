import { expect } from "vitest";
import type { SafeCall } from "../../src/domain/guard/multi-send.ts";
import type { Hex } from "../../src/domain/money/address.ts";
import { isRunEnd, isSwapEnd } from "../../src/domain/run/states.ts";
import type { Treasury } from "../../src/ports/treasury.ts";
import { HUNDRED_USDC, SLOT_MS } from "./builders.ts";
import { ACCOUNT, createOutside, type Life, type Outside, openLife, turnUntil } from "./engine-life.ts";
import { replayAll } from "./replays.ts";
import { expectRowsToAddUp, leftForPools } from "./rows-add-up.ts";
import { SafeChain } from "./safe-chain.ts";

/** How many slots a life of a treasury has. */
const SLOTS = 2;

/** What owners are asked for, as they find it. */
export interface Asked {
  readonly calls: readonly SafeCall[];
  readonly nonce: bigint;
  /** undefined where nothing but the calls reaches them */
  readonly hash: Hex | undefined;
}

/** A Safe on the fake chain, whose owners look at the place of its proposals. */
export interface TreasuryLife extends Outside {
  readonly chain: SafeChain;
  /** what owners have looked at, the last one last */
  readonly seen: Asked[];
  /** what is there now, the oldest first */
  asked(): readonly Asked[];
  readonly treasury: Treasury;
}

/** A world shortly before its first slot. */
export function createTreasuryOutside(): Outside & { readonly chain: SafeChain } {
  const outside = createOutside(SLOT_MS - 1_500, { gasless: "never" }, (clock) => new SafeChain(clock));
  return { ...outside, chain: outside.chain as SafeChain };
}

/** What owners do with the newest proposal that they see; each way fills each slot once at most. */
export type Way = (world: TreasuryLife, asked: Asked) => void;

/** They sign and execute it as it asks. */
export const asAsked: Way = ({ chain }, { calls, nonce, hash }) => {
  chain.byOwners(calls, { nonce, ...(hash !== undefined && { hash }) });
};

function lookAt(world: TreasuryLife, way: Way): void {
  for (const asked of world.asked().slice(world.seen.length)) {
    world.seen.push(asked);
    way(world, asked);
  }
}

interface Row {
  readonly id: string;
}

/** Its runs, the first slot first. */
export function runsOf({ db, store }: Life) {
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

/** Lives until both slots are settled, or until it is killed at its n-th named place. */
export async function liveOn(
  world: TreasuryLife,
  way: Way,
  { killAfter, maxSeconds = 200 }: { readonly killAfter?: number; readonly maxSeconds?: number } = {},
): Promise<Life> {
  const life = openLife(world, {
    settings: { safes: new Set([ACCOUNT]) },
    treasury: world.treasury,
    ...(killAfter !== undefined && { killAt: (_label, passed) => passed.length === killAfter }),
  });
  await life.engine.start();
  const isDone = (): boolean => {
    lookAt(world, way);
    return isSettled(life);
  };
  await turnUntil(world, life, { maxSeconds, isDone });
  expect(life.errors).toEqual([]);
  return life;
}

/** Every slot came to its end, was executed once at most, and the rows say what the chain shows. */
export function expectEachSlotOnce(world: TreasuryLife, life: Life, what: string): void {
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
