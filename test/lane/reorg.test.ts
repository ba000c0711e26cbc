import { describe, expect, it } from "vitest";
import type { Address } from "../../src/domain/money/address.ts";
import { type LaneWorld, startLaneWorld } from "../support/lane-world.ts";

async function minedWorld(): Promise<{ world: LaneWorld; to: Address }> {
  const world = await startLaneWorld();
  await world.anvil.mine(3);
  const to = world.submit("a");
  await world.tick();
  await world.step();
  expect(world.intent("a").state).toBe("mined");
  return { world, to };
}

describe("a reorganisation", () => {
  it("takes a mined transaction back into flight; the same bytes are mined again and final once", async () => {
    const { world, to } = await minedWorld();
    await world.anvil.reorg(1);
    await world.tick();
    expect(world.intent("a")).toMatchObject({ state: "broadcast", minedBlockNumber: undefined });
    expect(world.isFree()).toBe(false);
    await world.step(6);
    expect(world.intent("a")).toMatchObject({ state: "final", outcome: "succeeded" });
    const events = ["signed", "broadcast", "mined", "reorged", "mined", "confirmed", "final"];
    expect(world.heard("a")).toEqual(events);
    expect(new Set(world.sends()).size).toBe(1);
    expect(world.signed.length).toBe(1);
    expect(await world.received(to)).toBe(5n);
    expect(await world.count()).toBe(1);
  });

  it("takes a confirmed one back too, and what waits behind it is not started meanwhile", async () => {
    const { world, to } = await minedWorld();
    await world.step();
    expect(world.intent("a").state).toBe("confirmed");
    world.submit("b", { signBySeconds: Math.floor(world.clock.nowMs() / 1_000) + 3_600 });
    await world.anvil.reorg(2);
    await world.tick();
    expect(world.intent("a").state).toBe("broadcast");
    expect(world.intent("b").nonce).toBeUndefined();
    expect(world.history("a")).toContain("original 1: confirmed -> broadcast");
    await world.step(10);
    expect(world.heard("a").slice(4)).toEqual(["reorged", "mined", "confirmed", "final"]);
    expect(world.intent("b")).toMatchObject({ state: "final", nonce: 1 });
    expect(await world.received(to)).toBe(5n);
  });

  it("takes back an older one alongside the younger one in flight, and both are mined once", async () => {
    const world = await startLaneWorld({ confirmations: 1 });
    await world.anvil.mine(3);
    const to = world.submit("a");
    const next = world.submit("b");
    await world.tick();
    await world.step();
    expect([world.intent("a").state, world.intent("b").state]).toEqual(["confirmed", "broadcast"]);
    await world.step();
    await world.anvil.reorg(2);
    await world.tick();
    expect([world.intent("a").state, world.intent("b").state]).toEqual(["broadcast", "broadcast"]);
    await world.step(12);
    expect([world.intent("a").state, world.intent("b").state]).toEqual(["final", "final"]);
    expect([world.intent("a").nonce, world.intent("b").nonce]).toEqual([0, 1]);
    expect(await world.received(to)).toBe(5n);
    expect(await world.received(next)).toBe(5n);
    expect(await world.count()).toBe(2);
  });

  it("that puts the transaction into another block is seen, and the new receipt is reported", async () => {
    const { world, to } = await minedWorld();
    const before = world.intent("a").minedBlockHash;
    await world.anvil.reorg(2, [[world.attempts("a")[0]?.raw ?? "0x", 1]]);
    await world.tick();
    expect(world.intent("a").state).toBe("mined");
    expect(world.intent("a").minedBlockHash).not.toBe(before);
    expect(world.heard("a")).toEqual(["signed", "broadcast", "mined", "reorged", "mined"]);
    const reported = world.events.at(-1)?.receipt;
    expect(reported?.blockHash).toBe(world.intent("a").minedBlockHash);
    await world.step(3);
    expect(world.intent("a").state).toBe("final");
    expect(await world.received(to)).toBe(5n);
  });

  it("is believed, and not the receipt of a block that is gone, which a node still shows", async () => {
    const { world, to } = await minedWorld();
    const [attempt] = world.attempts("a");
    const receipt = await world.anvil.rpc.call("eth_getTransactionReceipt", [attempt?.hash]);
    await world.anvil.reorg(1);
    world.proxy.fault("eth_getTransactionReceipt", { kind: "answer", result: receipt });
    world.proxy.fault("eth_sendRawTransaction", { kind: "drop-before" });
    await world.step(5);
    expect(world.intent("a")).toMatchObject({ state: "broadcast", outcome: undefined });
    world.proxy.clear();
    await world.step(6);
    expect(world.intent("a")).toMatchObject({ state: "final", outcome: "succeeded" });
    expect(await world.received(to)).toBe(5n);
  });

  it("does not make the transaction dearer: it was no fault of its fees", async () => {
    const world = await startLaneWorld({ bumpAfterBlocks: 4 });
    await world.anvil.mine(3);
    const to = world.submit("a");
    world.proxy.fault("eth_sendRawTransaction", { kind: "drop-before" }, 3);
    await world.tick();
    await world.step(4);
    expect(world.intent("a")).toMatchObject({ state: "mined", minedBlockNumber: 7 });
    await world.anvil.reorg(1);
    await world.tick();
    expect(world.intent("a").state).toBe("broadcast");
    await world.step(6);
    expect(world.intent("a").state).toBe("final");
    expect(world.attempts("a").length).toBe(1);
    expect(await world.received(to)).toBe(5n);
  });
});

describe("a reverted receipt", () => {
  it("is provisional: a reorganisation may turn it into a success", async () => {
    const world = await startLaneWorld();
    await world.anvil.mine(3);
    const to = world.submit("a");
    await world.anvil.rpc.call("anvil_setCode", [to, "0x60006000fd"]);
    await world.tick();
    await world.step(2);
    expect(world.intent("a")).toMatchObject({ state: "confirmed", outcome: undefined });
    expect(world.attempts("a")[0]?.state).toBe("reverted");
    await world.anvil.reorg(2);
    await world.anvil.rpc.call("anvil_setCode", [to, "0x"]);
    await world.tick();
    expect(world.history("a")).toContain("original 1: reverted -> broadcast");
    await world.step(6);
    expect(world.intent("a")).toMatchObject({ state: "final", outcome: "succeeded" });
    expect(world.signed.length).toBe(1);
    expect(await world.received(to)).toBe(5n);
  });

  it("may come of a success in the same way, and the last one in a finalised block is the end", async () => {
    const { world, to } = await minedWorld();
    await world.anvil.reorg(1);
    await world.anvil.rpc.call("anvil_setCode", [to, "0x60006000fd"]);
    await world.tick();
    await world.step(6);
    expect(world.intent("a")).toMatchObject({ state: "final", outcome: "reverted" });
    const reported = world.events.filter(({ kind }) => kind === "mined").map(({ receipt }) => receipt?.succeeded);
    expect(reported).toEqual([true, false]);
    expect(await world.received(to)).toBe(0n);
  });
});
