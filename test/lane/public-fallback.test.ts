import { expect, it } from "vitest";
import { decode, type LaneWorld, startLaneWorld } from "../support/lane-world.ts";

const AFTER_BLOCKS = 6;

async function startWith(change: Parameters<typeof startLaneWorld>[0] = {}) {
  const world = await startLaneWorld({ privateEndpoint: true, fallbackAfterBlocks: AFTER_BLOCKS, ...change });
  if (world.relay === undefined) throw new Error("there is no relay");
  world.relay.manners.keeps = true;
  return world;
}

const ended = (world: LaneWorld, id: string) => world.events.filter((one) => one.intentId === id).at(-1);

it("takes the nonce of what a relay keeps with an empty transaction for everybody, and says that it was kept back", async () => {
  const world = await startWith();
  const to = world.submit("a");
  await world.tick();
  await world.step(AFTER_BLOCKS - 1);
  expect(world.sends()).toEqual([]);
  await world.step(5);
  expect(world.intent("a")).toMatchObject({ state: "final", outcome: "cancelled" });
  expect(ended(world, "a")).toMatchObject({ kind: "final", outcome: "cancelled", keptBack: true });
  const hidden = world.attempts("a").filter(({ visibility }) => visibility === "private");
  expect(hidden.length).toBeGreaterThan(0);
  for (const raw of world.sends()) {
    expect(hidden.map((one) => one.raw)).not.toContain(raw);
    expect(decode(raw)).toMatchObject({ data: "0x", value: 0n, nonce: 0 });
  }
  expect(await world.received(to)).toBe(0n);
});

it("lets the private one count where a block has it first", async () => {
  const world = await startWith();
  const to = world.submit("a");
  await world.tick();
  await world.step(AFTER_BLOCKS - 2);
  if (world.relay === undefined) throw new Error("there is no relay");
  world.relay.manners.keeps = false;
  await world.relay.handOver();
  await world.step(6);
  expect(world.intent("a")).toMatchObject({ state: "final", outcome: "succeeded" });
  expect([ended(world, "a")?.keptBack, await world.received(to), world.sends()]).toEqual([undefined, 5n, []]);
});

it("says of nothing that a person cancelled, and of no revocation, that it was kept back", async () => {
  const world = await startWith({ cancelPubliclyAfterBlocks: 2 });
  world.submit("a");
  await world.tick();
  await world.lane.cancel("a", "ann");
  await world.step(10);
  expect(ended(world, "a")).toMatchObject({ kind: "final", outcome: "cancelled" });
  expect(ended(world, "a")?.keptBack).toBeUndefined();
  world.submit("b", { purpose: "revoke" });
  await world.tick();
  await world.step(AFTER_BLOCKS + 4);
  expect(world.intent("b").outcome).toBeUndefined();
});

it("shows the cancellation that a person asked for as late as any other, also where the fallback's blocks have passed", async () => {
  const world = await startWith({ cancelPubliclyAfterBlocks: 25 });
  world.submit("a");
  await world.tick();
  await world.step(AFTER_BLOCKS - 2);
  await world.lane.cancel("a", "ann");
  await world.step(AFTER_BLOCKS);
  expect(world.attempts("a").map(({ kind, visibility }) => `${kind} ${visibility}`)).toContain("cancel private");
  expect(world.sends()).toEqual([]);
});

it("says of what expired before that time that it was cancelled, and of nothing that it was kept back", async () => {
  const world = await startWith({ fallbackAfterBlocks: 60, cancelPubliclyAfterBlocks: 2 });
  world.submit("a", { deadlineSeconds: Math.floor(world.clock.nowMs() / 1_000) + 60 });
  await world.tick();
  world.clock.advance(120_000);
  await world.anvil.rpc.call("evm_increaseTime", [120]);
  await world.step(20);
  expect(ended(world, "a")).toMatchObject({ kind: "final", outcome: "cancelled" });
  expect(ended(world, "a")?.keptBack).toBeUndefined();
});

it("waits for the relay where no fallback is configured", async () => {
  const world = await startWith({ fallbackAfterBlocks: undefined });
  world.submit("a");
  await world.tick();
  await world.step(AFTER_BLOCKS + 4);
  expect([world.sends(), world.intent("a").outcome]).toEqual([[], undefined]);
});

it("shows to everybody, from its first version on, what is said to be for everybody", async () => {
  const world = await startWith({ visibilityOf: async ({ id }) => (id === "b" ? "public" : undefined) });
  const to = world.submit("b");
  await world.tick();
  await world.step(4);
  expect(world.attempts("b").map(({ visibility }) => visibility)).toEqual(["public"]);
  expect([await world.received(to), world.relay?.sent]).toEqual([5n, []]);
});
