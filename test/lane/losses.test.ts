import { describe, expect, it } from "vitest";
import { ANVIL_ACCOUNT } from "../support/bare-anvil.ts";
import { Killed, type LaneWorld, startLaneWorld } from "../support/lane-world.ts";

/** The same bytes every time, and on the chain once. */
async function expectOnce(world: LaneWorld, to: Parameters<LaneWorld["received"]>[0]): Promise<void> {
  expect(new Set(world.sends()).size).toBe(1);
  expect(world.signed.length).toBe(1);
  expect(await world.received(to)).toBe(5n);
  expect(await world.count()).toBe(1);
}

describe("a send whose answer is lost", () => {
  it.each(["reset", "502", "truncated"] as const)(
    "is sent again as the same bytes and mined once: %s",
    async (loss) => {
      const world = await startLaneWorld();
      world.proxy.gethRules(true);
      const to = world.submit("a");
      world.proxy.fault("eth_sendRawTransaction", { kind: "drop-after", loss }, 1);
      await world.tick();
      expect(world.intent("a").state).toBe("signed");
      await world.fullStep();
      expect(world.sends().length).toBe(2);
      expect(world.intent("a").state).toBe("broadcast");
      await world.step(3);
      expect(world.intent("a")).toMatchObject({ state: "final", outcome: "succeeded" });
      expect(world.heard("a")).toEqual(["signed", "broadcast", "mined", "confirmed", "final"]);
      await expectOnce(world, to);
    },
  );

  it("and that is mined before anybody asked again is found by its hash", async () => {
    const world = await startLaneWorld();
    const to = world.submit("a");
    world.proxy.fault("eth_sendRawTransaction", { kind: "drop-after", loss: "reset" }, 1);
    await world.tick();
    await world.step(3);
    expect(world.heard("a")).toEqual(["signed", "mined", "confirmed", "final"]);
    expect(world.sends().length).toBe(1);
    await expectOnce(world, to);
  });
});

describe("a send that never arrived", () => {
  it("is sent again with each block until a node has it", async () => {
    const world = await startLaneWorld();
    const to = world.submit("a");
    world.proxy.fault("eth_sendRawTransaction", { kind: "drop-before" }, 3);
    await world.tick(3);
    expect(world.sends().length).toBe(1);
    await world.step(3);
    expect(world.sends().length).toBe(4);
    expect(world.intent("a").state).toBe("broadcast");
    await world.step(3);
    expect(world.intent("a").state).toBe("final");
    await expectOnce(world, to);
  });

  it("and that a node refuses is kept, because another node may have it", async () => {
    const world = await startLaneWorld({ bumpAfterBlocks: 20 });
    const to = world.submit("a");
    for (const message of [
      "insufficient funds for gas",
      "nonce too high",
      "transaction underpriced",
      "txpool is full",
    ]) {
      world.proxy.fault("eth_sendRawTransaction", { kind: "error", message }, 1);
      await world.step();
      expect(world.intent("a")).toMatchObject({ state: "signed", nonce: 0 });
    }
    await world.step(4);
    expect(world.intent("a").state).toBe("final");
    await expectOnce(world, to);
  });
});

describe("a pool that forgets", () => {
  it("gets the same bytes again", async () => {
    const world = await startLaneWorld();
    const to = world.submit("a");
    await world.tick();
    await world.anvil.rpc.call("anvil_dropAllTransactions", []);
    await world.step();
    expect(world.sends().length).toBe(1);
    await world.step();
    expect(world.sends().length).toBe(2);
    await world.step(3);
    expect(world.intent("a").state).toBe("final");
    await expectOnce(world, to);
  });
});

describe("a node that does not know the receipt of a mined transaction", () => {
  it("makes the lane wait: no second transaction, no higher fee, no halt", async () => {
    const world = await startLaneWorld();
    const to = world.submit("a", { deadlineSeconds: Math.floor(world.clock.nowMs() / 1_000) + 5 });
    await world.tick();
    await world.anvil.mine();
    world.proxy.fault("eth_getTransactionReceipt", { kind: "answer", result: null });
    await world.anvil.rpc.call("evm_increaseTime", [3_600]);
    await world.anvil.mine();
    await world.tick(10);
    expect(world.intent("a").state).toBe("broadcast");
    expect(world.sends().length).toBe(1);
    world.proxy.clear();
    await world.step(2);
    expect(world.intent("a").state).toBe("final");
    expect(world.halted()).toBeUndefined();
    await expectOnce(world, to);
  });

  it("and that counts it neither is reported so by the answer to the same bytes, which is no reason to halt", async () => {
    const world = await startLaneWorld();
    const to = world.submit("a");
    await world.tick();
    await world.anvil.mine();
    world.proxy.fault("eth_getTransactionReceipt", { kind: "answer", result: null });
    world.proxy.fault("eth_getTransactionCount", { kind: "answer", result: "0x0" });
    await world.step(2);
    const refusal = world.logger.lines.find(({ fields }) => fields.outcome === "nonce-used");
    expect(refusal?.level).toBe("warn");
    expect(world.intent("a").state).toBe("broadcast");
    world.proxy.clear();
    await world.tick();
    expect(world.intent("a").state).toBe("final");
    expect(world.halted()).toBeUndefined();
    await expectOnce(world, to);
  });

  it("and that forgets one which was seen mined does not bring it back into flight", async () => {
    const world = await startLaneWorld();
    const to = world.submit("a");
    await world.tick();
    await world.step();
    expect(world.intent("a").state).toBe("mined");
    world.proxy.fault("eth_getTransactionReceipt", { kind: "answer", result: null });
    await world.step(4);
    expect(world.intent("a").state).toBe("mined");
    world.proxy.clear();
    await world.tick();
    expect(world.heard("a")).toEqual(["signed", "broadcast", "mined", "confirmed", "final"]);
    await expectOnce(world, to);
  });
});

describe("a node that lags behind", () => {
  it("takes nothing back", async () => {
    const world = await startLaneWorld({ confirmations: 3 });
    const to = world.submit("a");
    await world.tick();
    await world.step(2);
    expect(world.intent("a").state).toBe("mined");
    world.proxy.stale(2);
    await world.tick(3);
    expect(world.intent("a").state).toBe("mined");
    world.proxy.stale(0);
    await world.step();
    expect(world.heard("a")).toEqual(["signed", "broadcast", "mined", "confirmed", "final"]);
    await expectOnce(world, to);
  });
});

describe("a chain that cannot be read", () => {
  it("is waited for: the lane says so and changes nothing", async () => {
    const world = await startLaneWorld();
    const to = world.submit("a");
    world.proxy.fault("eth_getBlockByNumber", { kind: "drop-before" }, 1);
    await world.tick();
    expect(world.intent("a").state).toBe("planned");
    expect(world.logger.lines.at(-1)?.message).toBe("the lane could not read its chain");
    await world.tick();
    world.proxy.fault("eth_getTransactionReceipt", { kind: "error", message: "internal error" }, 1);
    await world.tick();
    expect(world.intent("a").state).toBe("broadcast");
    await world.step(3);
    expect(world.intent("a").state).toBe("final");
    await expectOnce(world, to);
  });

  it("only in its suggestion of a fee still gets lost bytes again", async () => {
    const world = await startLaneWorld();
    const to = world.submit("a");
    await world.tick();
    await world.anvil.rpc.call("anvil_dropAllTransactions", []);
    world.proxy.fault("eth_maxPriorityFeePerGas", { kind: "drop-before" });
    await world.step(5);
    expect(world.intent("a").state).toBe("final");
    await expectOnce(world, to);
  });
});

describe("a chain that is another one", () => {
  it("gets neither a signature nor bytes", async () => {
    const world = await startLaneWorld();
    world.submit("a");
    world.proxy.fault("eth_chainId", { kind: "answer", result: "0x1" });
    await world.tick(3);
    expect(world.intent("a")).toMatchObject({ state: "planned", nonce: undefined });
    expect(world.signed).toEqual([]);
    expect(world.sends()).toEqual([]);
  });
});

describe("a kill between any two checks", () => {
  it("changes nothing: the next lane goes on from the rows", async () => {
    const world = await startLaneWorld();
    const to = world.submit("a");
    world.switches.crashAt = (label) => label === "lane.broadcast.after";
    await expect(world.tick()).rejects.toThrow(Killed);
    for (let block = 0; block < 4; block++) {
      world.restart();
      await world.step();
    }
    expect(world.intent("a").state).toBe("final");
    await expectOnce(world, to);
  });
});

describe("an account whose coin is taken away while its transaction is out", () => {
  it("is told of, whatever node had taken that before, and goes on once it has coin again", async () => {
    const world = await startLaneWorld();
    const to = world.submit("a");
    await world.tick();
    expect(world.intent("a").state).toBe("broadcast");
    await world.anvil.rpc.call("anvil_setBalance", [ANVIL_ACCOUNT, "0x1"]);
    await world.step(10);
    const told = world.refusals.flatMap(({ detail }) => detail ?? []);
    expect(told[0]).toMatch(/cannot pay for the gas of swap a .*: send it the network's coin/);
    expect(world.halted()).toBeUndefined();
    await world.anvil.rpc.call("anvil_setBalance", [ANVIL_ACCOUNT, "0x56bc75e2d63100000"]);
    await world.step(8);
    expect(world.intent("a")).toMatchObject({ state: "final", outcome: "succeeded" });
    expect(await world.received(to)).toBe(5n);
    expect(world.refusals.at(-1)).toEqual({ intentId: "a", detail: undefined });
  });
});
