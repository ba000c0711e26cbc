import { expect, it } from "vitest";
import { decode, GWEI, type LaneWorld, startLaneWorld } from "../support/lane-world.ts";

/** A private relay in front of the chain; blocks pass quickly for it. */
async function startPrivate(): Promise<LaneWorld & { relay: NonNullable<LaneWorld["relay"]> }> {
  const world = await startLaneWorld({ privateEndpoint: true, cancelPubliclyAfterBlocks: 6 });
  if (world.relay === undefined) throw new Error("there is no relay");
  return world as typeof world & { relay: NonNullable<LaneWorld["relay"]> };
}

/** What a block of the relay's has, and the lane's look at it. */
async function step({ relay, step: next }: Awaited<ReturnType<typeof startPrivate>>, times = 1): Promise<void> {
  for (let time = 0; time < times; time++) {
    await relay.handOver();
    await next();
  }
}

function pass(world: LaneWorld, seconds: number): Promise<unknown> {
  world.clock.advance(seconds * 1_000);
  return world.anvil.rpc.call("evm_increaseTime", [seconds]);
}

const inSeconds = (world: LaneWorld, seconds: number): number => Math.floor(world.clock.nowMs() / 1_000) + seconds;

it("sends to the private endpoint alone, which is asked for nothing else", async () => {
  const world = await startPrivate();
  const to = world.submit("a");
  await world.tick();
  await step(world, 6);
  expect(world.intent("a")).toMatchObject({ state: "final", outcome: "succeeded" });
  expect(await world.received(to)).toBe(5n);
  expect(world.attempts("a").map(({ visibility }) => visibility)).toEqual(["private"]);
  expect([world.sends(), world.relay.reads]).toEqual([[], []]);
});

it("sends again, and with higher fees, to the private endpoint alone, after a restart as well", async () => {
  const world = await startPrivate();
  world.relay.manners.keeps = true;
  world.submit("a", { maxFeePerGasCap: 1_000n * GWEI });
  await world.tick();
  await world.step(3);
  world.restart();
  await world.step(8);
  expect(world.attempts("a").map(({ kind }) => kind)).toEqual(["original", "replacement", "replacement"]);
  expect(new Set(world.attempts("a").map(({ visibility }) => visibility))).toEqual(new Set(["private"]));
  expect(world.relay.sent.length).toBeGreaterThan(4);
  expect(world.sends()).toEqual([]);
});

it("keeps to private what was private when the configuration says public from now on, and goes on when it is back", async () => {
  const world = await startPrivate();
  world.relay.manners.keeps = true;
  world.submit("a");
  await world.tick();
  world.switches.isPublic = true;
  world.restart();
  await world.step(5);
  expect([world.sends(), world.attempts("a").length]).toEqual([[], 1]);
  world.switches.isPublic = false;
  world.restart();
  world.relay.manners.keeps = false;
  await world.step(2);
  await step(world, 4);
  expect(world.intent("a")).toMatchObject({ outcome: "succeeded" });
  expect(world.sends()).toEqual([]);
});

it("cancels what nobody gets any more, with an empty transaction for everybody, and is free for what comes next", async () => {
  const world = await startPrivate();
  world.relay.manners.keeps = true;
  world.submit("a", { purpose: "approve" });
  await world.tick();
  world.switches.isPublic = true;
  world.restart();
  await world.step(10);
  expect(world.attempts("a").map(({ kind, visibility }) => [kind, visibility])).toEqual([
    ["original", "private"],
    ["cancel", "public"],
  ]);
  expect(new Set(world.sends())).toEqual(new Set([world.attempts("a").at(-1)?.raw]));
  const to = world.submit("b");
  await world.step(6);
  expect(world.intent("a")).toMatchObject({ outcome: "cancelled" });
  expect(world.events.findLast(({ intentId }) => intentId === "a")).not.toHaveProperty("cancelledBy");
  expect(await world.received(to)).toBe(5n);
});

it("sends again what the relay dropped, and keeps its nonce until a block has one of them", async () => {
  const world = await startPrivate();
  Object.assign(world.relay.manners, { keeps: true, dropsAfterBlocks: 2 });
  world.submit("a", { maxFeePerGasCap: 1_000n * GWEI });
  world.submit("b");
  await world.tick();
  await step(world, 8);
  expect([world.intent("a").nonce, world.intent("b").nonce]).toEqual([0, undefined]);
  Object.assign(world.relay.manners, { keeps: false, dropsAfterBlocks: 25 });
  await step(world, 12);
  expect(world.intent("a")).toMatchObject({ outcome: "succeeded", nonce: 0 });
  expect(world.intent("b").nonce).toBe(1);
  expect(world.sends()).toEqual([]);
});

it("cancels privately first, and with an empty transaction for everybody once no block had that for so long", async () => {
  const world = await startPrivate();
  world.relay.manners.isAway = true;
  const to = world.submit("a", { deadlineSeconds: inSeconds(world, 60) });
  await world.tick();
  await pass(world, 120);
  await world.step(6);
  expect(world.attempts("a").map(({ kind, visibility }) => [kind, visibility])).toEqual([
    ["original", "private"],
    ["cancel", "private"],
  ]);
  expect(world.sends()).toEqual([]);
  await world.step(6);
  const shown = world.attempts("a").at(-1);
  expect(shown).toMatchObject({ kind: "cancel", visibility: "public" });
  expect(decode(shown?.raw)).toMatchObject({ data: "0x", value: 0n, nonce: 0 });
  expect(new Set(world.sends())).toEqual(new Set([shown?.raw]));
  expect(world.intent("a")).toMatchObject({ state: "final", outcome: "cancelled" });
  expect(await world.received(to)).toBe(0n);
});

it("goes on raising a cancellation that everybody sees, and never shows the order", async () => {
  const world = await startPrivate();
  world.relay.manners.keeps = true;
  world.submit("a", { deadlineSeconds: inSeconds(world, 60), maxFeePerGasCap: 1_000n * GWEI });
  await world.tick();
  await pass(world, 120);
  await world.fullStep(20);
  const shown = world.attempts("a").filter(({ visibility }) => visibility === "public");
  expect(shown.length).toBeGreaterThan(1);
  expect(shown.every(({ kind }) => kind === "cancel")).toBe(true);
  expect(world.sends().every((raw) => decode(raw).value === 0n)).toBe(true);
  await world.step(4);
  expect(world.intent("a")).toMatchObject({ outcome: "cancelled" });
});

it("notifies a person of what the relay takes and no block has, until one does", async () => {
  const world = await startPrivate();
  world.relay.manners.keeps = true;
  world.submit("a", { purpose: "approve" });
  await world.tick();
  await step(world, 9);
  expect(world.refusals.at(-1)?.detail).toMatch(
    /approve a of 0x.* was sent to the endpoints for private sending at block .* swapd tx cancel a/,
  );
  world.relay.manners.keeps = false;
  await step(world, 4);
  expect(world.refusals.at(-1)).toEqual({ intentId: "a", detail: undefined });
});

it("says of what is being cancelled that it is, and not that it is sent again", async () => {
  const world = await startPrivate();
  world.relay.manners.keeps = true;
  world.submit("a", { deadlineSeconds: inSeconds(world, 60), maxFeePerGasCap: 1_000n * GWEI });
  await world.tick();
  await world.step(5);
  await pass(world, 120);
  await world.step(3);
  expect(world.attempts("a").at(-1)).toMatchObject({ kind: "cancel", visibility: "private" });
  expect(world.refusals.at(-1)?.detail).toMatch(
    /^swap a of 0x.* no block has it; so was its cancellation.* Check network.submit$/,
  );
});

it("notifies a person when no private endpoint answers, and names where to look", async () => {
  const world = await startPrivate();
  world.relay.manners.isAway = true;
  world.submit("a");
  await world.tick();
  await world.step(5);
  expect(world.refusals.at(-1)?.detail).toMatch(
    /no endpoint for private sending takes swap a .* Check that network.submit/,
  );
});

it("refuses in the database what would show a private order to everybody", async () => {
  const world = await startPrivate();
  world.submit("a");
  await world.tick();
  const [signing] = world.store.signings("a");
  if (signing === undefined) throw new Error("nothing was signed");
  const shown = { ...signing, visibility: "public" as const };
  const write = (row: typeof signing) => () => world.store.transaction(() => world.store.insertSigning(row));
  expect(write({ ...shown, kind: "replacement" })).toThrow("a private transaction stays private");
  expect(write({ ...shown, kind: "cancel", data: "0x12" })).toThrow("a private transaction stays private");
  const [attempt] = world.attempts("a");
  if (attempt === undefined) throw new Error("nothing was signed");
  const copy = { ...attempt, hash: `0x${"77".repeat(32)}`, visibility: "public" } as const;
  expect(() => world.store.insertAttempt(copy)).toThrow("written down as private");
});
