import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { ANVIL_ACCOUNT } from "../support/bare-anvil.ts";
import { decode, GWEI, Killed, type LaneWorld, startLaneWorld } from "../support/lane-world.ts";

describe("one transaction", () => {
  it("is written down before each step, mined once, and final only in a finalised block", async () => {
    const world = await startLaneWorld();
    const to = world.submit("a");
    expect(world.isFree()).toBe(false);
    await world.tick();
    expect(world.intent("a")).toMatchObject({ state: "broadcast", nonce: 0 });
    expect(await world.received(to)).toBe(0n);
    await world.step();
    expect(world.intent("a")).toMatchObject({ state: "mined", minedBlockNumber: 1 });
    await world.step();
    expect(world.intent("a")).toMatchObject({ state: "confirmed", outcome: undefined });
    expect(world.isFree()).toBe(true);
    await world.step();
    expect(world.intent("a")).toMatchObject({ state: "final", outcome: "succeeded" });
    expect(world.history("a")).toEqual([
      "intent: none -> planned",
      "original 1: none -> signed",
      "intent: planned -> signed",
      "original 1: signed -> broadcast",
      "intent: signed -> broadcast",
      "original 1: broadcast -> mined",
      "intent: broadcast -> mined",
      "original 1: mined -> confirmed",
      "intent: mined -> confirmed",
      "intent: confirmed -> final",
    ]);
    expect(world.heard("a")).toEqual(["signed", "broadcast", "mined", "confirmed", "final"]);
    const [attempt] = world.attempts("a");
    expect(world.events.map(({ hash, receipt }) => hash ?? receipt?.hash)).toEqual(Array(5).fill(attempt?.hash));
    expect(world.sends()).toEqual([attempt?.raw]);
    expect(decode(attempt?.raw)).toMatchObject({ nonce: 0, value: 5n, gasLimit: 50_000n, maxFeePerGas: 3n * GWEI });
    expect(await world.received(to)).toBe(5n);
  });

  it("passes every state also when it was final before anybody looked", async () => {
    const world = await startLaneWorld({ confirmations: 50 });
    world.submit("a");
    await world.tick();
    await world.anvil.mine(5);
    await world.tick();
    expect(world.intent("a").state).toBe("final");
    expect(world.heard("a")).toEqual(["signed", "broadcast", "mined", "confirmed", "final"]);
    expect(world.attempts("a").map(({ state }) => state)).toEqual(["confirmed"]);
  });

  it("that reverts is reported as mined, and ends as reverted only in a finalised block", async () => {
    const world = await startLaneWorld();
    const to = world.submit("a");
    await world.anvil.rpc.call("anvil_setCode", [to, "0x60006000fd"]);
    await world.tick();
    await world.step(2);
    expect(world.intent("a")).toMatchObject({ state: "confirmed", outcome: undefined });
    expect(world.attempts("a")[0]?.state).toBe("reverted");
    expect(world.events.find(({ kind }) => kind === "mined")?.receipt?.succeeded).toBe(false);
    await world.step();
    expect(world.intent("a")).toMatchObject({ state: "final", outcome: "reverted" });
    expect(world.events.at(-1)).toMatchObject({ kind: "final", outcome: "reverted" });
  });
});

describe("several transactions", () => {
  it("go out one after the other, in the order in which they were asked for, with no nonce left out", async () => {
    const world = await startLaneWorld();
    const recipients = ["z", "a", "m"].map((id) => world.submit(id));
    const inFlight: number[] = [];
    for (let block = 0; block < 12; block++) {
      await world.tick();
      const open = ["z", "a", "m"].filter((id) => ["signed", "broadcast", "mined"].includes(world.intent(id).state));
      inFlight.push(open.length);
      await world.anvil.mine();
    }
    expect(Math.max(...inFlight)).toBe(1);
    expect(["z", "a", "m"].map((id) => world.intent(id).nonce)).toEqual([0, 1, 2]);
    expect(["z", "a", "m"].map((id) => world.intent(id).state)).toEqual(["final", "final", "final"]);
    expect(world.signed.map(({ nonce }) => nonce)).toEqual([0, 1, 2]);
    for (const to of recipients) expect(await world.received(to)).toBe(5n);
  });

  it("start at what the chain counts when the account was used before swapd had it", async () => {
    const world = await startLaneWorld();
    await world.sendForeign(0);
    await world.sendForeign(1);
    await world.anvil.mine();
    world.submit("a");
    await world.tick();
    expect(world.halted()).toBeUndefined();
    expect(world.intent("a").nonce).toBe(2);
  });
});

/** Time passes here and on the chain. */
async function passTime(world: LaneWorld, seconds: number): Promise<void> {
  world.clock.advance(seconds * 1_000);
  await world.anvil.rpc.call("evm_increaseTime", [seconds]);
  await world.anvil.mine();
}

describe("a transaction that comes too late", () => {
  it("waits while only this machine's clock says so, and is sent once that clock is right again", async () => {
    const world = await startLaneWorld();
    world.submit("a", { signBySeconds: Math.floor(world.clock.nowMs() / 1_000) + 10 });
    world.clock.advance(24 * 3_600_000);
    await world.tick();
    expect(world.intent("a")).toMatchObject({ state: "planned", nonce: undefined });
    expect(world.signed).toEqual([]);
    world.clock.advance(-24 * 3_600_000);
    await world.tick();
    expect(world.intent("a")).toMatchObject({ state: "broadcast", nonce: 0 });
  });

  it("is dropped without a signature, and the next one gets the nonce that it would have had", async () => {
    const world = await startLaneWorld();
    world.submit("late", { signBySeconds: Math.floor(world.clock.nowMs() / 1_000) - 1 });
    world.submit("next");
    await passTime(world, 2);
    await world.tick();
    expect(world.intent("late")).toMatchObject({ state: "dropped", nonce: undefined });
    expect(world.intent("next")).toMatchObject({ state: "broadcast", nonce: 0 });
    expect(world.events[0]).toMatchObject({ intentId: "late", kind: "dropped" });
    expect(world.events[0]?.reason).toContain("was to be signed until");
    expect(world.signed.length).toBe(1);
  });

  it("is dropped also when its nonce was given already, which is free again", async () => {
    const world = await startLaneWorld();
    world.submit("late", { signBySeconds: Math.floor(world.clock.nowMs() / 1_000) + 10 });
    world.switches.crashAt = (label) => label === "lane.reserve.after";
    await expect(world.tick()).rejects.toThrow(Killed);
    expect(world.intent("late")).toMatchObject({ state: "planned", nonce: 0 });
    world.restart();
    await passTime(world, 60);
    await world.tick();
    expect(world.intent("late")).toMatchObject({ state: "dropped", nonce: undefined });
    world.submit("next");
    await world.tick();
    expect(world.intent("next").nonce).toBe(0);
  });

  it("is dropped while another one is in flight, and while nothing may be signed", async () => {
    const world = await startLaneWorld();
    const signBySeconds = Math.floor(world.clock.nowMs() / 1_000) + 10;
    world.submit("first", { signBySeconds });
    world.submit("second", { signBySeconds });
    await world.tick();
    await world.anvil.rpc.call("anvil_dropTransaction", [world.attempts("first")[0]?.hash]);
    await passTime(world, 60);
    await world.tick();
    expect(world.intent("first").state).toBe("broadcast");
    expect(world.intent("second").state).toBe("dropped");
    world.switches.signing = false;
    world.submit("third", { signBySeconds });
    await world.tick();
    expect(world.intent("third").state).toBe("dropped");
  });
});

describe("a transaction that cannot be paid for", () => {
  it("waits while gas costs more than it may pay, and is dropped when its time is over", async () => {
    const world = await startLaneWorld();
    await world.baseFee(20);
    await world.anvil.mine();
    world.submit("a", { maxFeePerGasCap: 10n * GWEI });
    await world.tick(2);
    expect(world.intent("a")).toMatchObject({ state: "planned", nonce: undefined });
    expect(world.logger.lines.some(({ message }) => message.startsWith("gas costs more"))).toBe(true);
    await world.baseFee(9);
    await world.anvil.mine();
    await world.tick();
    expect(world.attempts("a")[0]?.maxFeePerGas).toBe(10n * GWEI);
    world.submit("b", { maxFeePerGasCap: 1n });
    await world.step(2);
    expect(world.intent("b").state).toBe("planned");
    await passTime(world, 2 * 3_600);
    await world.tick();
    expect(world.intent("b").state).toBe("dropped");
    expect(world.signed.length).toBe(1);
  });

  it("waits while the account cannot pay the most that it may cost", async () => {
    const world = await startLaneWorld();
    world.submit("a");
    const needed = 5n + 50_000n * 3n * GWEI;
    const balance = (wei: bigint) => world.anvil.rpc.call("anvil_setBalance", [ANVIL_ACCOUNT, `0x${wei.toString(16)}`]);
    await balance(needed - 1n);
    await world.tick(2);
    expect(world.intent("a")).toMatchObject({ state: "planned", nonce: undefined });
    expect(world.signed).toEqual([]);
    await balance(needed);
    await world.tick();
    expect(world.intent("a").state).toBe("broadcast");
  });

  it("holds up nobody behind it, whether gas or the balance keeps it, and goes out once it can be paid", async () => {
    const world = await startLaneWorld();
    await world.anvil.rpc.call("anvil_setBalance", [ANVIL_ACCOUNT, `0x${(10n ** 18n).toString(16)}`]);
    world.submit("too large", { value: 10n ** 18n });
    world.submit("too cheap", { maxFeePerGasCap: 1n });
    world.submit("next");
    await world.tick();
    expect(world.intent("next")).toMatchObject({ state: "broadcast", nonce: 0 });
    for (const id of ["too large", "too cheap"])
      expect(world.intent(id), id).toMatchObject({ state: "planned", nonce: undefined });
    await world.anvil.rpc.call("anvil_setBalance", [ANVIL_ACCOUNT, `0x${(10n ** 19n).toString(16)}`]);
    await world.step(4);
    expect(world.intent("too large")).toMatchObject({ nonce: 1 });
  });
});

describe("what is not worth sending now", () => {
  it("gets no nonce, holds up nobody, and is asked about again until it is sent or its time is over", async () => {
    const refused = new Set(["a", "c"]);
    const asked: string[] = [];
    const world = await startLaneWorld({
      isWorthSending: async ({ id }) => {
        asked.push(id);
        return !refused.has(id);
      },
    });
    const soon = Math.floor(world.clock.nowMs() / 1_000) + 30;
    world.submit("a");
    world.submit("b");
    world.submit("c", { signBySeconds: soon });
    await world.tick();
    expect(asked).toEqual(["a", "b"]);
    expect(world.intent("a")).toMatchObject({ state: "planned", nonce: undefined });
    expect(world.intent("b")).toMatchObject({ state: "broadcast", nonce: 0 });
    await world.step(4);
    expect(world.signed.length).toBe(1);
    refused.delete("a");
    await world.step(4);
    expect(world.intent("a")).toMatchObject({ state: "final", nonce: 1 });
    await passTime(world, soon + 1 - Math.floor(world.clock.nowMs() / 1_000));
    await world.tick();
    expect(world.intent("c")).toMatchObject({ state: "dropped", nonce: undefined });
    expect(await world.count()).toBe(2);
  });

  it("is not asked about a nonce that was given before a crash", async () => {
    let asked = 0;
    const world = await startLaneWorld({
      isWorthSending: async () => {
        asked += 1;
        return true;
      },
    });
    world.submit("a");
    world.switches.crashAt = (label) => label === "lane.reserve.after";
    await expect(world.tick()).rejects.toThrow(Killed);
    world.switches.crashAt = undefined;
    world.restart();
    await world.step(4);
    expect(asked).toBe(1);
    expect(world.intent("a")).toMatchObject({ nonce: 0, state: "final" });
  });
});

describe("while nothing may be signed", () => {
  it("nothing is signed, and what is in flight is followed to its end", async () => {
    const world = await startLaneWorld();
    world.submit("a");
    await world.tick();
    world.switches.signing = false;
    world.submit("b");
    await world.anvil.rpc.call("anvil_dropAllTransactions", []);
    await world.step(3);
    await world.step(4);
    expect(world.intent("a").state).toBe("final");
    expect(world.intent("b")).toMatchObject({ state: "planned", nonce: undefined });
    expect(world.signed.length).toBe(1);
    expect(new Set(world.sends()).size).toBe(1);
    world.switches.signing = true;
    await world.tick();
    expect(world.intent("b").state).toBe("broadcast");
  });

  it("for one of them only that one waits, and what comes after it goes on", async () => {
    const world = await startLaneWorld();
    world.switches.barred.push("a", "c");
    const [, to] = ["a", "b", "c"].map((id) => world.submit(id));
    await world.tick();
    expect(world.intent("a")).toMatchObject({ state: "planned", nonce: undefined });
    expect(world.intent("b")).toMatchObject({ state: "broadcast", nonce: 0 });
    await world.step(4);
    expect(await world.received(to ?? ANVIL_ACCOUNT)).toBe(5n);
    expect(["a", "b", "c"].map((id) => world.intent(id).state)).toEqual(["planned", "final", "planned"]);
    world.switches.barred.splice(0, 1);
    await world.step(4);
    expect(["a", "b", "c"].map((id) => world.intent(id).state)).toEqual(["final", "final", "planned"]);
    expect(world.signed.length).toBe(2);
  });

  it("for one that is in flight its fees stay as they are, and its deadline cancels nothing", async () => {
    const world = await startLaneWorld();
    world.submit("a", { deadlineSeconds: Math.floor(world.clock.nowMs() / 1_000) + 5 });
    await world.tick();
    world.switches.barred.push("a");
    await world.anvil.rpc.call("evm_increaseTime", [3_600]);
    await world.fullStep(8);
    expect(world.attempts("a").length).toBe(1);
    expect(world.sends().length).toBe(1);
    await world.step(3);
    expect(world.intent("a")).toMatchObject({ state: "final", outcome: "succeeded" });
  });

  it("what was signed before and never sent stays here", async () => {
    const world = await startLaneWorld();
    world.submit("a");
    world.switches.crashAt = (label) => label === "lane.signed.after";
    await expect(world.tick()).rejects.toThrow(Killed);
    world.restart();
    world.switches.signing = false;
    await world.step(3);
    expect(world.intent("a").state).toBe("signed");
    expect(world.sends()).toEqual([]);
    world.switches.signing = true;
    await world.tick();
    expect(world.sends()).toEqual([world.attempts("a")[0]?.raw]);
    expect(world.signed.length).toBe(1);
  });

  it.each([
    ["a first version gets no nonce", "eth_getBalance", 0],
    ["a replacement is not signed", "eth_maxPriorityFeePerGas", 1],
  ])("said while a node answers: %s", async (_what, method, signatures) => {
    const world = await startLaneWorld();
    world.submit("a");
    if (signatures === 1) await world.tick();
    const where = (): boolean => {
      world.switches.signing = false;
      return false;
    };
    world.proxy.faultWhere({ method, where }, { kind: "drop-before" });
    await world.fullStep(6);
    expect(world.switches.signing).toBe(false);
    expect(world.signed.length).toBe(signatures);
    expect(world.intent("a").nonce).toBe(signatures === 1 ? 0 : undefined);
    expect(world.store.signings("a").length).toBe(signatures);
    world.proxy.clear();
    world.switches.signing = true;
    await world.fullStep();
    expect(world.signed.length).toBe(signatures + 1);
  });

  it("a nonce that was given is neither signed nor lost", async () => {
    const world = await startLaneWorld();
    world.submit("a");
    world.switches.crashAt = (label) => label === "lane.reserve.after";
    await expect(world.tick()).rejects.toThrow(Killed);
    world.restart();
    world.switches.signing = false;
    await world.step(2);
    expect(world.intent("a")).toMatchObject({ state: "planned", nonce: 0 });
    expect(world.signed).toEqual([]);
    world.switches.signing = true;
    await world.tick();
    expect(world.intent("a")).toMatchObject({ state: "broadcast", nonce: 0 });
  });
});

describe("many transactions that are in blocks and not yet in final ones", () => {
  async function manyConfirmed() {
    const world = await startLaneWorld({ confirmations: 1 });
    const first = await world.anvil.rpc.call("eth_getBlockByNumber", ["0x0", false]);
    const isFinalized = ([block]: readonly unknown[]) => block === "finalized";
    world.proxy.faultWhere({ method: "eth_getBlockByNumber", where: isFinalized }, { kind: "answer", result: first });
    const ids = Array.from({ length: 6 }, (_, place) => String(place));
    for (const id of ids) world.submit(id);
    await world.tick();
    await world.step(ids.length);
    expect(ids.map((id) => world.intent(id).state)).toEqual(ids.map(() => "confirmed"));
    const asked = (method: string, what: (params: readonly unknown[]) => boolean = () => true) =>
      world.proxy.seen.filter((call) => call.method === method && what(call.params)).length;
    const receipts = () => asked("eth_getTransactionReceipt");
    const blocks = () => asked("eth_getBlockByNumber", ([block]) => String(block).startsWith("0x"));
    return { world, ids, receipts, blocks };
  }

  it("are asked for nothing at the same newest block, and for their blocks alone at the next one", async () => {
    const { world, ids, receipts, blocks } = await manyConfirmed();
    await world.tick();
    const before = [receipts(), blocks()];
    await world.tick(5);
    expect([receipts(), blocks()]).toEqual(before);
    await world.step();
    expect([receipts() - (before[0] ?? 0), blocks() - (before[1] ?? 0)]).toEqual([0, ids.length]);
  });

  it("are looked at together once they are final, and before what waits is signed", async () => {
    const { world, ids, receipts } = await manyConfirmed();
    world.submit("next");
    const before = receipts();
    world.proxy.clear();
    await world.anvil.mine(100);
    world.proxy.fault("eth_getTransactionReceipt", { kind: "delay", ms: 1_000 });
    const turn = world.tick();
    await sleep(500);
    expect(receipts() - before).toBe(ids.length);
    expect(world.intent("next").state).toBe("planned");
    await turn;
    expect(receipts() - before).toBe(ids.length);
    expect(ids.map((id) => world.intent(id).state)).toEqual(ids.map(() => "final"));
    expect(world.intent("next").state).toBe("broadcast");
  });

  it("are taken back each by itself when its block is no longer there", async () => {
    const { world } = await manyConfirmed();
    await world.anvil.reorg(2);
    await world.tick();
    const states = ["0", "1", "2", "3", "4", "5"].map((id) => world.intent(id).state);
    expect(states.slice(0, 4)).toEqual(Array(4).fill("confirmed"));
    expect(states.slice(4)).toContain("broadcast");
  });
});
