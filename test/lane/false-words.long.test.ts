import { describe, expect, it } from "vitest";
import { decode, type LaneWorld, startLaneWorld } from "../support/lane-world.ts";

function refuse(world: LaneWorld, message: string, times?: number): void {
  world.proxy.fault("eth_sendRawTransaction", { kind: "error", message }, times);
}

/** Deadlines in chain time: the worlds' clocks stand where their chains began. */
function inSeconds(world: LaneWorld, seconds: number): number {
  return Math.floor(world.clock.nowMs() / 1_000) + seconds;
}

async function passSeconds(world: LaneWorld, seconds: number): Promise<void> {
  await world.anvil.rpc.call("evm_increaseTime", [seconds]);
}

function orderSends(world: LaneWorld): number {
  return world.sends().filter((raw) => decode(raw).value !== 0n).length;
}

const FALSE_WORDS = [
  "replacement transaction underpriced",
  "OwnNonceAlreadyUsed",
  "nonce too low",
  "nonce too high",
  "exceeds block gas limit",
  "invalid sender",
  "intrinsic gas too low: have 1, want 2",
  "address already reserved",
  "invalid chain id for signer",
  "insufficient funds for gas * price + value",
  "transaction underpriced",
  "tx fee (1.10 ether) exceeds the configured cap (1.00 ether)",
  "txpool is full",
  "something unheard of",
];

describe("a false word of the only node", () => {
  it.each(FALSE_WORDS)("halts nobody: the same bytes are sent again with the next block: %s", async (message) => {
    const world = await startLaneWorld();
    refuse(world, message, 1);
    const to = world.submit("a");
    await world.tick();
    expect(world.intent("a").state).toBe("signed");
    await world.step();
    expect(world.intent("a").state).toBe("broadcast");
    await world.step(4);
    expect(world.halted()).toBeUndefined();
    expect(world.intent("a")).toMatchObject({ state: "final", outcome: "succeeded" });
    expect(await world.received(to)).toBe(5n);
    expect(world.signed.length).toBe(1);
  });

  it.each(["Known transaction", "already known"])("that ours is there is not trusted for long: %s", async (message) => {
    const world = await startLaneWorld();
    refuse(world, message, 1);
    const to = world.submit("a");
    await world.tick();
    expect(world.intent("a").state).toBe("broadcast");
    await world.step(6);
    expect(world.intent("a")).toMatchObject({ state: "final", outcome: "succeeded" });
    expect(await world.received(to)).toBe(5n);
  });

  it("said for long is reported once, and over as soon as a node takes the transaction", async () => {
    const world = await startLaneWorld();
    refuse(world, "exceeds block gas limit");
    world.submit("a");
    await world.tick();
    await world.step(3);
    expect(world.refusals.length).toBe(0);
    await world.step(3);
    expect(world.refusals[0]?.intentId).toBe("a");
    expect(world.refusals[0]?.detail).toMatch(/no node takes swap a .*exceeds block gas limit/);
    expect(world.halted()).toBeUndefined();
    world.proxy.clear();
    await world.step(5);
    expect(world.refusals.at(-1)).toEqual({ intentId: "a", detail: undefined });
    expect(world.intent("a")).toMatchObject({ state: "final", outcome: "succeeded" });
  });
});

describe("a false count of one node", () => {
  it("once halts nobody: the next check decides", async () => {
    const world = await startLaneWorld();
    world.submit("a");
    await world.tick();
    await world.step(3);
    world.proxy.fault("eth_getTransactionCount", { kind: "answer", result: "0x9" });
    const to = world.submit("b");
    await world.tick(3);
    expect(world.intent("b").nonce).toBeUndefined();
    world.proxy.clear();
    await world.step(5);
    expect(world.halted()).toBeUndefined();
    expect(world.intent("b")).toMatchObject({ state: "final", outcome: "succeeded", nonce: 1 });
    expect(await world.received(to)).toBe(5n);
  });

  it("while ours is in flight halts nobody either", async () => {
    const world = await startLaneWorld();
    const to = world.submit("a");
    world.proxy.fault("eth_getTransactionCount", { kind: "answer", result: "0x0" }, 2);
    await world.tick();
    world.proxy.fault("eth_getTransactionCount", { kind: "answer", result: "0x9" });
    world.proxy.fault("eth_getTransactionReceipt", { kind: "answer", result: null });
    await world.step();
    await world.tick(3);
    world.proxy.clear();
    await world.step(3);
    expect(world.halted()).toBeUndefined();
    expect(world.intent("a")).toMatchObject({ state: "final", outcome: "succeeded" });
    expect(await world.received(to)).toBe(5n);
    expect(world.signed.length).toBe(1);
  });

  it("before the first transaction gives no nonce until the endpoints agree", async () => {
    const world = await startLaneWorld();
    world.proxy.fault("eth_getTransactionCount", { kind: "answer", result: "0x3" }, 1);
    world.submit("a");
    await world.tick();
    expect(world.intent("a").nonce).toBeUndefined();
    await world.tick();
    expect(world.intent("a").nonce).toBe(0);
  });
});

describe("a pool that holds a stranger's transaction", () => {
  it("halts the account only once that one is in finalised blocks, and what is signed stays one transaction", async () => {
    const world = await startLaneWorld();
    world.proxy.gethRules(true);
    await world.sendForeign(0);
    const to = world.submit("a");
    world.submit("b");
    await world.tick();
    expect(world.halted()).toBeUndefined();
    expect(world.intent("a")).toMatchObject({ state: "signed", nonce: 0 });
    await world.step(5);
    expect(world.halted()?.reason).toContain("finalised block");
    expect(world.intent("a").state).toBe("signed");
    world.release("bob");
    await world.step();
    expect(world.intent("a")).toMatchObject({ state: "final", outcome: "cancelled" });
    expect(world.intent("b").nonce).toBe(1);
    expect(await world.received(to)).toBe(0n);
  });

  it("is no trouble when that is an older version of ours", async () => {
    const world = await startLaneWorld();
    world.submit("a");
    await world.tick();
    await world.fullStep(3);
    refuse(world, "replacement transaction underpriced");
    await world.fullStep(2);
    expect(world.attempts("a").map(({ kind, state }) => [kind, state])).toEqual([
      ["original", "broadcast"],
      ["replacement", "signed"],
    ]);
    world.proxy.clear();
    await world.step(4);
    expect(world.intent("a")).toMatchObject({ state: "final", outcome: "succeeded" });
    expect(world.refusals.filter(({ detail }) => detail !== undefined)).toEqual([]);
  });
});

describe("an order past its deadline", () => {
  it.each([
    ["was refused with a false word", "exceeds block gas limit"],
    ["was falsely called known", "Known transaction"],
  ])("that %s is never sent again: a cancellation closes its nonce", async (_what, message) => {
    const world = await startLaneWorld();
    refuse(world, message);
    const to = world.submit("a", { deadlineSeconds: inSeconds(world, 60) });
    await world.tick();
    world.proxy.clear();
    await passSeconds(world, 120);
    await world.step(5);
    expect(orderSends(world)).toBe(1);
    expect(world.attempts("a").map(({ kind }) => kind)).toEqual(["original", "cancel"]);
    expect(world.intent("a")).toMatchObject({ state: "final", outcome: "cancelled" });
    expect(await world.received(to)).toBe(0n);
  });

  it("is never sent while its account is halted, nor after the release", async () => {
    const world = await startLaneWorld();
    refuse(world, "txpool is full", 1);
    world.submit("a", { deadlineSeconds: inSeconds(world, 60) });
    await world.tick();
    const halt = { account: world.intent("a").account, chainId: world.intent("a").chainId };
    world.store.addHalt({ ...halt, reason: "a person wanted it", transactionCount: 0, atMs: 1 });
    await passSeconds(world, 120);
    await world.step(5);
    expect(orderSends(world)).toBe(1);
    expect(world.attempts("a").length).toBe(1);
    world.restart();
    await world.step();
    world.release("ann");
    await world.step(4);
    expect(orderSends(world)).toBe(1);
    expect(world.intent("a")).toMatchObject({ state: "final", outcome: "cancelled" });
  });

  it("is never sent after a long outage in which only this machine's clock went on", async () => {
    const world = await startLaneWorld();
    refuse(world, "txpool is full", 1);
    world.submit("a", { deadlineSeconds: inSeconds(world, 60) });
    await world.tick();
    world.clock.advance(120_000);
    world.restart();
    await world.step(3);
    expect(orderSends(world)).toBe(1);
    await passSeconds(world, 200);
    await world.step(4);
    expect(orderSends(world)).toBe(1);
    expect(world.intent("a")).toMatchObject({ state: "final", outcome: "cancelled" });
  });

  it("is never sent for the first time either: signed before a kill, it is cancelled after it", async () => {
    const world = await startLaneWorld();
    world.switches.crashAt = (label) => label === "lane.broadcast.before";
    world.submit("a", { deadlineSeconds: inSeconds(world, 60) });
    await expect(world.tick()).rejects.toThrow();
    await passSeconds(world, 120);
    world.restart();
    await world.step(5);
    expect(orderSends(world)).toBe(0);
    expect(world.intent("a")).toMatchObject({ state: "final", outcome: "cancelled" });
  });
});

describe("an end that frees money", () => {
  it("is not believed of one endpoint while another shows a success", async () => {
    const world = await startLaneWorld({ secondEndpoint: true });
    world.submit("a");
    await world.tick();
    await world.anvil.mine();
    const [attempt] = world.attempts("a");
    const real = (await world.anvil.rpc.call("eth_getTransactionReceipt", [attempt?.hash])) as object;
    world.proxy.fault("eth_getTransactionReceipt", { kind: "answer", result: { ...real, status: "0x0" } });
    await world.step(6);
    expect(world.intent("a").state).not.toBe("final");
    world.proxy.clear();
    await world.step();
    expect(world.intent("a")).toMatchObject({ state: "final", outcome: "succeeded" });
  });

  it("is believed where the other endpoint stands still far behind, and knows nothing of it", async () => {
    const world = await startLaneWorld({ secondEndpoint: true });
    const old = await world.anvil.rpc.call("eth_getBlockByNumber", ["latest", false]);
    world.submit("a", { to: world.reverting });
    await world.tick();
    world.second?.fault("eth_getBlockByNumber", { kind: "answer", result: old });
    world.second?.fault("eth_getTransactionReceipt", { kind: "answer", result: null });
    world.second?.fault("eth_getTransactionCount", { kind: "answer", result: "0x0" });
    await passSeconds(world, 180);
    world.clock.advance(180_000);
    await world.step(6);
    expect(world.intent("a")).toMatchObject({ state: "final", outcome: "reverted" });
  });

  it("is believed where the other endpoint is away", async () => {
    const world = await startLaneWorld({ secondEndpoint: true });
    world.submit("a", { to: world.reverting });
    await world.tick();
    world.second?.fault("eth_getBlockByNumber", { kind: "drop-before" });
    await world.step(5);
    expect(world.intent("a")).toMatchObject({ state: "final", outcome: "reverted" });
  });

  it("that the endpoints disagree on keeps no other transaction of the account from its end", async () => {
    const world = await startLaneWorld({ secondEndpoint: true });
    world.submit("a", { to: world.reverting });
    await world.tick();
    const [attempt] = world.attempts("a");
    const isOfA = ([hash]: readonly unknown[]): boolean => hash === attempt?.hash;
    const noReceipt = { kind: "answer", result: null } as const;
    world.second?.faultWhere({ method: "eth_getTransactionReceipt", where: isOfA }, noReceipt);
    await world.step(6);
    expect(world.intent("a").state).toBe("confirmed");
    world.submit("b");
    await world.tick();
    await world.step(6);
    expect([world.intent("a").state, world.intent("b").state]).toEqual(["confirmed", "final"]);
    world.second?.clear();
    await world.step();
    expect(world.intent("a")).toMatchObject({ state: "final", outcome: "reverted" });
  });

  it("is reported as confirmed at once where all endpoints show it, and else by its final block: the account waits for neither", async () => {
    for (const isShown of [true, false]) {
      const world = await startLaneWorld({ secondEndpoint: true });
      await world.anvil.mine(3);
      world.submit("a", { to: world.reverting });
      await world.tick();
      if (!isShown) world.second?.fault("eth_getTransactionReceipt", { kind: "answer", result: null });
      const first = await world.anvil.rpc.call("eth_getBlockByNumber", ["0x0", false]);
      const where = ([block]: readonly unknown[]): boolean => block === "finalized";
      world.proxy.faultWhere({ method: "eth_getBlockByNumber", where }, { kind: "answer", result: first });
      await world.step(2);
      expect(world.heard("a").includes("confirmed")).toBe(isShown);
      await world.step(4);
      expect([world.isFree(), world.heard("a").includes("confirmed")]).toEqual([true, isShown]);
      world.proxy.clear();
      world.second?.clear();
      await world.step();
      expect(world.intent("a")).toMatchObject({ state: "final", outcome: "reverted" });
      expect(world.heard("a").at(-1)).toBe("final");
    }
  });

  it("and that one endpoint reported wrongly is put right in the rows before the end", async () => {
    const world = await startLaneWorld();
    await world.anvil.mine(3);
    const to = world.submit("a");
    await world.tick();
    await world.anvil.mine();
    const real = (await world.anvil.rpc.call("eth_getTransactionReceipt", [world.attempts("a")[0]?.hash])) as object;
    world.proxy.fault("eth_getTransactionReceipt", { kind: "answer", result: { ...real, status: "0x0" } });
    await world.step();
    expect(world.attempts("a").map(({ state }) => state)).toEqual(["reverted"]);
    world.proxy.clear();
    await world.step(3);
    expect(world.attempts("a").map(({ state }) => state)).toEqual(["confirmed"]);
    const reported = ["signed", "broadcast", "mined", "confirmed", "reorged", "mined", "confirmed", "final"];
    expect([world.heard("a"), world.intent("a").outcome]).toEqual([reported, "succeeded"]);
    expect(world.db.prepare("SELECT succeeded FROM lane_costs").pluck().all()).toEqual([1]);
    expect(await world.received(to)).toBe(5n);
  });
});
