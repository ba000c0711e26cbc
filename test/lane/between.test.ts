import { expect, test } from "vitest";
import { ANVIL_ACCOUNT } from "../support/bare-anvil.ts";
import { type LaneWorld, startLaneWorld } from "../support/lane-world.ts";

const ACCOUNT = { account: ANVIL_ACCOUNT, chainId: 31_337 } as const;

/** Lets the lane take a turn in which something happens after its n-th answer. @returns whether it came to that */
async function turnWith(world: LaneWorld, n: number, happen: () => Promise<void> | void): Promise<boolean> {
  let left = n;
  world.switches.between = async () => {
    left -= 1;
    if (left !== 0) return;
    world.switches.between = undefined;
    await happen();
  };
  await world.tick();
  world.switches.between = undefined;
  return left <= 0;
}

/** Blocks until an intent is over, at most so many. */
async function finish(world: LaneWorld, id: string): Promise<void> {
  for (let turn = 0; turn < 20 && !["final", "dropped"].includes(world.intent(id).state); turn++) await world.step();
}

/** Does something at each moment of a turn, each time with a transaction of its own, until no moment is left. */
async function atEachMoment(each: (n: number, id: string) => Promise<boolean>): Promise<number> {
  for (let n = 1; n < 200; n++) if (!(await each(n, `tx${n}`))) return n - 1;
  throw new Error("the turn does not end");
}

test("a cancellation between any two steps of a turn is kept: what was to be dropped is never sent", async () => {
  const world = await startLaneWorld();
  const answers = new Set<string>();
  const moments = await atEachMoment(async (n, id) => {
    const to = world.submit(id);
    const sent = world.sends().length;
    let answer = "";
    const isReached = await turnWith(world, n, async () => {
      answer = (await world.lane.cancel(id, "ops")).kind;
      answers.add(answer);
    });
    await finish(world, id);
    if (answer === "dropping") expect([n, world.sends().length, world.intent(id).state]).toEqual([n, sent, "dropped"]);
    const isDropped = world.intent(id).state === "dropped";
    expect([n, world.attempts(id).length === 0]).toEqual([n, isDropped]);
    if (isDropped) expect([n, await world.received(to)]).toEqual([n, 0n]);
    return isReached;
  });
  expect(moments).toBeGreaterThan(10);
  expect(answers).toEqual(new Set(["dropping", "cancelling"]));
  expect(await world.count()).toBe(moments + 1 - droppedOf(world, moments + 1));
});

function droppedOf(world: LaneWorld, count: number): number {
  const ids = Array.from({ length: count }, (_none, index) => `tx${index + 1}`);
  return ids.filter((id) => world.intent(id).state === "dropped").length;
}

/** What stands in the rows of an intent that may still be sent. */
function standing(world: LaneWorld, id: string) {
  const sent = world.attempts(id).filter(({ firstBroadcastBlock }) => firstBroadcastBlock !== undefined);
  return { signings: world.store.signings(id).length, sent: sent.map(({ raw }) => raw) };
}

/** Halts the account at a moment of a turn, and checks what the lane does after that against what stood then. */
async function haltAt(world: LaneWorld, n: number, id: string): Promise<boolean> {
  let before = standing(world, id);
  let sends = world.sends().length;
  const isReached = await turnWith(world, n, () => {
    before = standing(world, id);
    sends = world.sends().length;
    world.store.addHalt({ ...ACCOUNT, reason: "a stranger", transactionCount: 0, atMs: 1 });
  });
  if (!isReached) return false;
  expect([n, standing(world, id)]).toEqual([n, before]);
  expect([n, world.attempts(id).length <= before.signings]).toEqual([n, true]);
  for (const raw of world.sends().slice(sends))
    expect([n, before.sent.includes(raw as `0x${string}`)]).toEqual([n, true]);
  world.release("ann");
  return true;
}

test("a halt between any two steps of a turn lets nothing be written down to be signed, or sent for the first time", async () => {
  const world = await startLaneWorld();
  const moments = await atEachMoment(async (n, id) => {
    const to = world.submit(id);
    const isReached = await haltAt(world, n, id);
    await finish(world, id);
    expect([n, world.intent(id).outcome, await world.received(to)]).toEqual([n, "succeeded", 5n]);
    return isReached;
  });
  expect(moments).toBeGreaterThan(10);
  expect(await world.count()).toBe(moments + 1);
});

test("a halt between any two steps of a turn that replaces a transaction does the same", async () => {
  const world = await startLaneWorld({ maxReplacements: 50 });
  world.submit("a");
  await world.fullStep();
  let moments = 0;
  for (let n = 1, isReached = true; isReached && n < 60; n++, moments++) {
    world.switches.signing = false;
    await world.fullStep(5);
    world.switches.signing = true;
    isReached = await haltAt(world, n, "a");
  }
  expect(moments).toBeGreaterThan(8);
  await finish(world, "a");
  expect(world.intent("a").outcome).toBe("succeeded");
  expect(await world.count()).toBe(1);
});

test("a request between any two steps of a turn gets a nonce of its own, and a stop loses nothing", async () => {
  const world = await startLaneWorld();
  const moments = await atEachMoment(async (n, id) => {
    world.submit(id);
    const isReached = await turnWith(world, n, () => void world.submit(`${id} too`));
    if (isReached) await finish(world, `${id} too`);
    await finish(world, id);
    return isReached;
  });
  const stopped = await atEachMoment(async (n, id) => {
    const stopping = new AbortController();
    world.submit(`${id} stopped`);
    let left = n;
    world.switches.between = async () => {
      left -= 1;
      if (left === 0) stopping.abort();
    };
    await world.lane.tick(stopping.signal);
    world.switches.between = undefined;
    world.restart();
    await finish(world, `${id} stopped`);
    return left <= 0;
  });
  const all = world.db.prepare<[], { nonce: number; outcome: string }>("SELECT nonce, outcome FROM lane_intents").all();
  expect(all.every(({ outcome }) => outcome === "succeeded")).toBe(true);
  expect(new Set(all.map(({ nonce }) => nonce)).size).toBe(2 * moments + 1 + stopped + 1);
  expect(await world.count()).toBe(all.length);
});

/** A stranger's transaction is in a block. @returns how many of the account are */
async function useKey(world: LaneWorld): Promise<number> {
  const nonce = await world.count();
  await world.sendForeign(nonce);
  await world.anvil.mine();
  return nonce + 1;
}

test("what a person accepts while the chain is read counts for the nonce that is given in that turn", async () => {
  const world = await startLaneWorld();
  world.submit("first");
  await finish(world, "first");
  let accepted = 0;
  await atEachMoment(async (n, id) => {
    world.submit(id);
    const isReached = await turnWith(world, n, async () => {
      if (world.intent(id).nonce !== undefined) return;
      accepted = await useKey(world);
      world.store.acceptCount({ ...ACCOUNT, transactionCount: accepted }, { by: "ann", atMs: 1 });
    });
    await finish(world, id);
    expect([n, world.intent(id).outcome]).toEqual([n, "succeeded"]);
    return isReached;
  });
  expect(accepted).toBeGreaterThan(5);
  expect(world.halted()).toBeUndefined();
});

test("an account is not halted for what a person accepted while the chain was read", async () => {
  const world = await startLaneWorld();
  world.submit("first");
  await finish(world, "first");
  const blocksBefore = 2;
  let [inTime, tooLate] = [0, 0];
  await atEachMoment(async (n, id) => {
    const transactionCount = await useKey(world);
    world.submit(id);
    await world.step(blocksBefore);
    expect([n, world.halted()]).toEqual([n, undefined]);
    await world.anvil.mine();
    let isInTime = false;
    const isReached = await turnWith(world, n, () => {
      isInTime = world.halted() === undefined;
      if (isInTime) world.store.acceptCount({ ...ACCOUNT, transactionCount }, { by: "ann", atMs: 1 });
    });
    if (isInTime) expect([n, world.halted()]).toEqual([n, undefined]);
    if (isInTime) inTime += 1;
    else if (world.halted() !== undefined) tooLate += 1;
    world.release("ann");
    await finish(world, id);
    return isReached;
  });
  expect(inTime).toBeGreaterThan(2);
  expect(tooLate).toBeGreaterThan(0);
});
