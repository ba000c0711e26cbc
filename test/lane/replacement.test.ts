import { describe, expect, it } from "vitest";
import type { LaneOptions } from "../../src/lane/lane-context.ts";
import type { AttemptRow } from "../../src/ports/lane-store.ts";
import { decode, GWEI, type LaneWorld, startLaneWorld } from "../support/lane-world.ts";

/** A world whose nodes take a replacement only by Geth's rules. */
async function strictWorld(options: Partial<LaneOptions> = {}): Promise<LaneWorld> {
  const world = await startLaneWorld(options);
  world.proxy.gethRules(true);
  return world;
}

/** Blocks that leave out what offers less than so much. */
async function stepAt(world: LaneWorld, gwei: number, times: number): Promise<void> {
  for (let time = 0; time < times; time++) {
    await world.baseFee(gwei);
    await world.step();
  }
}

async function passSeconds(world: LaneWorld, seconds: number): Promise<void> {
  await world.anvil.rpc.call("evm_increaseTime", [seconds]);
}

function chainSeconds(world: LaneWorld): number {
  return Math.floor(world.clock.nowMs() / 1_000);
}

function expectRaised(attempts: readonly AttemptRow[]): void {
  for (const [index, attempt] of attempts.entries()) {
    const before = attempts[index - 1];
    if (before === undefined) continue;
    expect(attempt.maxFeePerGas * 8n >= before.maxFeePerGas * 9n).toBe(true);
    expect(attempt.maxPriorityFeePerGas * 8n >= before.maxPriorityFeePerGas * 9n).toBe(true);
  }
}

function refusals(world: LaneWorld): unknown[] {
  return world.logger.lines.map(({ fields }) => fields.outcome).filter((outcome) => outcome !== undefined);
}

describe("a transaction that no block takes", () => {
  it("is replaced with fees that nodes accept, stored before it is sent, at the same nonce", async () => {
    const world = await strictWorld();
    const to = world.submit("a");
    await world.tick();
    await world.fullStep(3);
    expect(world.attempts("a").length).toBe(1);
    await world.fullStep();
    const attempts = world.attempts("a");
    expect(attempts.map(({ kind, state }) => [kind, state])).toEqual([
      ["original", "broadcast"],
      ["replacement", "broadcast"],
    ]);
    const raised = { maxFeePerGas: 3_375_000_000n, maxPriorityFeePerGas: 1_125_000_000n };
    expect(decode(attempts[1]?.raw)).toMatchObject({ nonce: 0, value: 5n, ...raised });
    await world.step(3);
    expect(world.intent("a")).toMatchObject({ state: "final", minedAttemptHash: attempts[1]?.hash });
    expect(world.attempts("a").map(({ state }) => state)).toEqual(["replaced", "confirmed"]);
    expect(world.heard("a")).toEqual(["signed", "broadcast", "replaced", "mined", "confirmed", "final"]);
    expect(world.history("a")).toEqual([
      "intent: none -> planned",
      "original 1: none -> signed",
      "intent: planned -> signed",
      "original 1: signed -> broadcast",
      "intent: signed -> broadcast",
      "replacement 2: none -> signed",
      "replacement 2: signed -> broadcast",
      "replacement 2: broadcast -> mined",
      "intent: broadcast -> mined",
      "replacement 2: mined -> confirmed",
      "intent: mined -> confirmed",
      "original 1: broadcast -> replaced",
      "intent: confirmed -> final",
    ]);
    expect(refusals(world)).toEqual([]);
    expect(await world.received(to)).toBe(5n);
    expect(await world.count()).toBe(1);
  });

  it("would be refused with less than that, by the nodes of these tests", async () => {
    const world = await strictWorld();
    world.submit("a");
    await world.tick();
    const small = await world.signForeign(0, 3_290_000_000n);
    const answer = await fetch(world.proxy.url, {
      method: "POST",
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_sendRawTransaction", params: [small.raw] }),
    });
    expect(await answer.json()).toMatchObject({ error: { message: "replacement transaction underpriced" } });
  });

  it("is offered what the market asks for, where that is more than an eighth", async () => {
    const world = await strictWorld();
    world.submit("a");
    await world.tick();
    await stepAt(world, 5, 4);
    expect(world.attempts("a")[1]?.maxFeePerGas).toBe(11n * GWEI);
    await stepAt(world, 5, 1);
    expect(world.intent("a").state).toBe("mined");
  });

  it("is raised only up to its cap, and from there on the same bytes are sent again", async () => {
    const world = await strictWorld();
    world.submit("a", { maxFeePerGasCap: 4n * GWEI });
    await world.tick();
    await stepAt(world, 3.5, 12);
    const attempts = world.attempts("a");
    expect(attempts.map(({ maxFeePerGas }) => maxFeePerGas)).toEqual([3n * GWEI, 4n * GWEI]);
    expect(world.intent("a").state).toBe("final");
    const dear = await strictWorld();
    dear.submit("a", { maxFeePerGasCap: 4n * GWEI });
    await dear.tick();
    await stepAt(dear, 60, 12);
    expect(dear.attempts("a").length).toBe(1);
    expect(dear.sends().length).toBeGreaterThan(4);
    expect(new Set(dear.sends()).size).toBe(1);
  });

  it("offers no more than is allowed today, whatever it was planned with, the first time too", async () => {
    let today = 1_000n * GWEI;
    const world = await strictWorld({ maxFeePerGas: () => today });
    world.submit("a", { maxFeePerGasCap: 1_000n * GWEI });
    await world.tick();
    today = 4n * GWEI;
    await stepAt(world, 60, 6);
    expect(world.attempts("a")).toHaveLength(1);
    await stepAt(world, 3.5, 6);
    expect(world.attempts("a").map(({ maxFeePerGas }) => maxFeePerGas)).toEqual([3n * GWEI, 4n * GWEI]);
    today = 1n;
    world.submit("b", { maxFeePerGasCap: 1_000n * GWEI });
    await world.step(2);
    expect(world.intent("b").state).toBe("planned");
  });

  it("is replaced so many times and no more", async () => {
    const world = await strictWorld({ maxReplacements: 2, bumpAfterBlocks: 1 });
    world.submit("a", { maxFeePerGasCap: 1_000n * GWEI });
    await world.tick();
    for (const fee of [50, 150, 450, 450, 450, 450]) await stepAt(world, fee, 1);
    expect(world.attempts("a").map(({ kind }) => kind)).toEqual(["original", "replacement", "replacement"]);
    expectRaised(world.attempts("a"));
  });

  it("is not replaced while nothing may be signed", async () => {
    const world = await strictWorld();
    world.submit("a");
    await world.tick();
    world.switches.signing = false;
    await world.fullStep(10);
    expect(world.attempts("a").length).toBe(1);
    expect(world.sends().length).toBeGreaterThan(3);
  });

  it("does not make the next one dearer, which waits for it and not for its fees", async () => {
    const world = await strictWorld();
    world.submit("a");
    await world.tick();
    await world.step(2);
    world.submit("b");
    await world.tick();
    expect(world.intent("b")).toMatchObject({ state: "broadcast", nonce: 1 });
    await world.anvil.reorg(2);
    world.proxy.fault("eth_sendRawTransaction", { kind: "drop-before" });
    await world.step(12);
    expect(world.intent("a").state).toBe("broadcast");
    expect(world.attempts("a").length).toBeGreaterThan(1);
    expect(world.attempts("b").length).toBe(1);
    world.proxy.clear();
    await world.step(6);
    expect([world.intent("a").state, world.intent("b").state]).toEqual(["final", "final"]);
    expect(await world.count()).toBe(2);
  });
});

describe("an older version that is mined after all", () => {
  it("counts, whatever was sent after it", async () => {
    const world = await strictWorld();
    const to = world.submit("a");
    await world.tick();
    await stepAt(world, 5, 5);
    const [original, replacement] = world.attempts("a");
    expect(world.intent("a")).toMatchObject({ state: "mined", minedAttemptHash: replacement?.hash });
    await world.baseFee(1);
    await world.anvil.reorg(1, [[original?.raw ?? "0x", 0]]);
    await world.tick();
    expect(world.intent("a")).toMatchObject({ state: "mined", minedAttemptHash: original?.hash });
    await world.step(3);
    expect(world.intent("a")).toMatchObject({ state: "final", outcome: "succeeded" });
    expect(world.attempts("a").map(({ state }) => state)).toEqual(["confirmed", "replaced"]);
    expect(world.heard("a").slice(3)).toEqual(["mined", "reorged", "mined", "confirmed", "final"]);
    expect(world.history("a")).toContain("replacement 2: mined -> broadcast");
    expect(await world.received(to)).toBe(5n);
    expect(await world.count()).toBe(1);
  });
});

describe("a transaction that is past its deadline", () => {
  it("is cancelled at its own nonce, by the rule for replacements, and that is reported only when it is final", async () => {
    const world = await strictWorld({ bumpAfterBlocks: 20, emptyGasLimit: 1_000_000n });
    const to = world.submit("a", { deadlineSeconds: chainSeconds(world) + 60 });
    await world.tick();
    await world.fullStep(2);
    expect(world.attempts("a").length).toBe(1);
    await passSeconds(world, 120);
    await world.fullStep();
    const attempts = world.attempts("a");
    expect(attempts.map(({ kind, state }) => [kind, state])).toEqual([
      ["original", "broadcast"],
      ["cancel", "broadcast"],
    ]);
    expectRaised(attempts);
    expect(refusals(world)).toEqual([]);
    const cancel = decode(attempts[1]?.raw);
    expect(cancel).toMatchObject({ nonce: 0, value: 0n, data: "0x", gasLimit: 1_000_000n });
    expect(cancel.to).toBe(cancel.from);
    await world.fullStep(3);
    expect(world.attempts("a").length).toBe(2);
    await world.step(2);
    expect(world.intent("a").state).toBe("confirmed");
    expect(world.heard("a")).toEqual(["signed", "broadcast", "replaced"]);
    await world.step();
    expect(world.intent("a")).toMatchObject({ state: "final", outcome: "cancelled" });
    expect(world.events.at(-1)).toMatchObject({ kind: "final", outcome: "cancelled" });
    expect(world.attempts("a").map(({ state }) => state)).toEqual(["replaced", "confirmed"]);
    expect(await world.received(to)).toBe(0n);
    expect(await world.count()).toBe(1);
  });

  it("is not signed with higher fees before it is cancelled: that would never be sent", async () => {
    const world = await strictWorld({ bumpAfterBlocks: 2, cancelMarginSeconds: 60 });
    world.submit("a", { deadlineSeconds: chainSeconds(world) + 60 });
    await world.tick();
    await passSeconds(world, 80);
    await world.fullStep(5);
    expect(world.attempts("a").map(({ kind }) => kind)).toEqual(["original"]);
    expect(world.store.signings("a").map(({ kind }) => kind)).toEqual(["original"]);
    await passSeconds(world, 80);
    await world.fullStep();
    expect(world.attempts("a").map(({ kind }) => kind)).toEqual(["original", "cancel"]);
  });

  it("but was mined all the same has its real end, although a cancellation is out", async () => {
    const world = await strictWorld({ bumpAfterBlocks: 20 });
    const to = world.submit("a", { deadlineSeconds: chainSeconds(world) + 60 });
    await world.tick();
    await passSeconds(world, 120);
    await stepAt(world, 5, 2);
    const [original, cancel] = world.attempts("a");
    expect(world.intent("a")).toMatchObject({ state: "mined", minedAttemptHash: cancel?.hash });
    await world.baseFee(1);
    await world.anvil.reorg(1, [[original?.raw ?? "0x", 0]]);
    await world.tick();
    await world.step(3);
    expect(world.intent("a")).toMatchObject({ state: "final", outcome: "succeeded" });
    expect(world.heard("a")).toEqual(["signed", "broadcast", "replaced", "mined", "confirmed", "final"]);
    expect(await world.received(to)).toBe(5n);
  });

  it("and was mined, and is reorganised away for its cancellation, is taken back before it is cancelled", async () => {
    const world = await strictWorld({ bumpAfterBlocks: 20 });
    const to = world.submit("a", { deadlineSeconds: chainSeconds(world) + 60 });
    world.proxy.fault("eth_sendRawTransaction", { kind: "drop-before" }, 2);
    await world.tick();
    await passSeconds(world, 120);
    await world.step();
    const [original, cancel] = world.attempts("a");
    world.proxy.clear();
    await world.anvil.rpc.call("eth_sendRawTransaction", [original?.raw]);
    await world.step();
    expect(world.intent("a")).toMatchObject({ state: "mined", minedAttemptHash: original?.hash });
    await world.anvil.reorg(1, [[cancel?.raw ?? "0x", 0]]);
    await world.tick();
    await world.step(3);
    expect(world.intent("a")).toMatchObject({ state: "final", outcome: "cancelled" });
    expect(world.heard("a")).toEqual(["signed", "replaced", "mined", "reorged", "final"]);
    expect(await world.received(to)).toBe(0n);
  });

  it("is cancelled by ever higher fees, at most twice its cap, and is itself never sent again", async () => {
    const world = await strictWorld({ bumpAfterBlocks: 2, maxReplacements: 1 });
    world.submit("a", { maxFeePerGasCap: 4n * GWEI, deadlineSeconds: chainSeconds(world) + 60 });
    await world.tick();
    await passSeconds(world, 120);
    await world.fullStep(3);
    // Blocks at 7.9 gwei take only what offers more than almost twice the cap.
    await stepAt(world, 7.9, 20);
    const attempts = world.attempts("a");
    expect(new Set(attempts.slice(1).map(({ kind }) => kind))).toEqual(new Set(["cancel"]));
    expectRaised(attempts);
    for (const { maxFeePerGas } of attempts) expect(maxFeePerGas <= 8n * GWEI).toBe(true);
    const cancelledAt = world.sends().findIndex((raw) => decode(raw).value === 0n);
    expect(
      world
        .sends()
        .slice(cancelledAt)
        .every((raw) => decode(raw).value === 0n),
    ).toBe(true);
    expect(world.intent("a")).toMatchObject({ state: "final", outcome: "cancelled" });
  });

  it("is cancelled by what anything may pay, where it could pay less itself: everything waits for its nonce", async () => {
    const world = await strictWorld({ bumpAfterBlocks: 2, maxFeePerGas: () => 10n * GWEI });
    world.submit("a", { maxFeePerGasCap: 4n * GWEI, deadlineSeconds: chainSeconds(world) + 60 });
    await world.tick();
    await passSeconds(world, 120);
    await stepAt(world, 15, 12);
    const [original, ...others] = world.attempts("a");
    expect(original?.maxFeePerGas).toBeLessThanOrEqual(4n * GWEI);
    expect(new Set(others.map(({ kind }) => kind))).toEqual(new Set(["cancel"]));
    for (const { maxFeePerGas } of others) expect(maxFeePerGas).toBeLessThanOrEqual(20n * GWEI);
    expect(world.intent("a")).toMatchObject({ state: "final", outcome: "cancelled" });
  });

  it("is cancelled so many times and no more: then the last cancellation is sent again and again", async () => {
    const world = await strictWorld({ bumpAfterBlocks: 1, maxCancellations: 2 });
    world.submit("a", { maxFeePerGasCap: 1_000n * GWEI, deadlineSeconds: chainSeconds(world) + 60 });
    await world.tick();
    await passSeconds(world, 120);
    await world.fullStep(12);
    expect(world.attempts("a").map(({ kind }) => kind)).toEqual(["original", "cancel", "cancel"]);
    expect(world.sends().filter((raw) => raw === world.attempts("a")[2]?.raw).length).toBeGreaterThan(2);
    await world.step(3);
    expect(world.intent("a")).toMatchObject({ state: "final", outcome: "cancelled" });
  });

  it("is not cancelled while nothing may be signed", async () => {
    const world = await strictWorld();
    world.submit("a", { deadlineSeconds: chainSeconds(world) + 60 });
    await world.tick();
    world.switches.signing = false;
    await passSeconds(world, 120);
    await world.fullStep(5);
    expect(world.attempts("a").length).toBe(1);
    world.switches.signing = true;
    await world.fullStep();
    expect(world.attempts("a").map(({ kind }) => kind)).toEqual(["original", "cancel"]);
  });
});
