import { Wallet } from "ethers";
import { describe, expect, it, onTestFinished } from "vitest";
import { systemClock } from "../../src/adapters/clock/system-clock.ts";
import { createRemoteSigner } from "../../src/adapters/remote-signer/remote-signer.ts";
import { boundedFetch } from "../../src/net/bounded-fetch.ts";
import { ANVIL_ACCOUNT, ANVIL_KEY } from "../support/bare-anvil.ts";
import { GWEI, Killed, type LaneWorld, startLaneWorld } from "../support/lane-world.ts";
import { type SignerDouble, startSignerDouble } from "../support/signer-double/signer-double.ts";

interface Elsewhere {
  readonly world: LaneWorld;
  readonly double: SignerDouble;
}

/** A lane whose key is with a signer that draws a number for each signature. */
async function begin(options: Parameters<typeof startLaneWorld>[0] = {}): Promise<Elsewhere> {
  const double = await startSignerDouble({ chainId: 31337, keys: [ANVIL_KEY], isDeterministic: false });
  onTestFinished(double.stop);
  const signer = createRemoteSigner(
    { url: double.url, address: ANVIL_ACCOUNT, token: undefined, timeoutMs: 1_500 },
    { clock: systemClock, fetch: boundedFetch },
  );
  return { world: await startLaneWorld({ signer, ...options }), double };
}

/** Turns until there is a signature: a turn waits a second for it, and a busy machine may take longer. */
async function begunBySigner(world: LaneWorld): Promise<void> {
  for (let turn = 0; turn < 20 && world.attempts("a").length === 0; turn++) await world.tick();
}

const FOREVER = (): Promise<never> => new Promise(() => undefined);

describe("a lane whose signer is elsewhere", () => {
  it("sends the stored bytes alone, once on the chain", async () => {
    const { world, double } = await begin();
    const to = world.submit("a");
    await begunBySigner(world);
    await world.step(3);
    expect(world.intent("a")).toMatchObject({ state: "final", outcome: "succeeded" });
    expect(new Set(world.sends())).toEqual(new Set(world.attempts("a").map(({ raw }) => raw)));
    expect(double.asked.map(({ method }) => method)).toEqual(["eth_signTransaction"]);
    expect(await world.received(to)).toBe(5n);
  });

  it("asks again after a kill between question and row, and only what is stored leaves", async () => {
    const { world, double } = await begin();
    const to = world.submit("a");
    world.switches.crashAt = (label) => label === "lane.signed.before";
    await expect(world.tick()).rejects.toThrow(Killed);
    expect(world.attempts("a")).toEqual([]);
    expect(world.sends()).toEqual([]);
    world.restart();
    await world.tick();
    await world.step(3);
    expect(double.asked.length).toBeLessThanOrEqual(2);
    expect(world.attempts("a").length).toBe(1);
    expect(new Set(world.sends()).size).toBe(1);
    expect(await world.received(to)).toBe(5n);
    expect(await world.count()).toBe(1);
  });

  it("never asks for what is stored, however often it is killed after that", async () => {
    const { world, double } = await begin();
    world.submit("a");
    world.switches.crashAt = (label) => label === "lane.signed.after";
    await expect(world.tick()).rejects.toThrow(Killed);
    const [stored] = world.attempts("a");
    world.restart();
    await world.tick();
    expect(world.sends()).toEqual([stored?.raw]);
    expect(double.asked.length).toBe(1);
  });

  it("sends nothing that is not what it asked for, and goes on once the signer signs that", async () => {
    const { world, double } = await begin();
    const to = world.submit("a");
    double.misbehave = { alter: (asked) => ({ ...asked, value: 6n }) };
    await world.tick();
    expect(world.intent("a")).toMatchObject({ state: "planned", nonce: 0 });
    expect(world.attempts("a")).toEqual([]);
    expect(world.logger.lines.some((line) => JSON.stringify(line).includes("value is 6, asked was 5"))).toBe(true);
    double.misbehave = {};
    await systemClock.sleep(1_100);
    await world.tick();
    await world.step(3);
    expect(world.intent("a")).toMatchObject({ state: "final", outcome: "succeeded" });
    expect(await world.received(to)).toBe(5n);
  });

  it("is held up by a signer that hangs for a second a turn, and follows what is in flight meanwhile", async () => {
    const { world, double } = await begin({ bumpAfterBlocks: 2 });
    world.submit("a");
    await begunBySigner(world);
    double.misbehave = { before: FOREVER };
    await world.fullStep(2);
    expect(world.store.signings("a").length, "a version with higher fees is to be signed").toBe(2);
    expect(world.attempts("a").length).toBe(1);
    const beganMs = Date.now();
    await world.step(3);
    expect(Date.now() - beganMs).toBeLessThan(6_000);
    expect(world.intent("a")).toMatchObject({ state: "final", outcome: "succeeded" });
    expect(world.attempts("a").map(({ state }) => state)).toEqual(["confirmed"]);
  });

  it.each(["cancelled by a person", "past its deadline"] as const)(
    "is away while higher fees wait for a signature, and what is %s meanwhile is not signed again once it is back",
    async (how) => {
      const { world, double } = await begin({ bumpAfterBlocks: 2 });
      const deadlineSeconds = Math.floor(world.clock.nowMs() / 1_000) + 600;
      const to = world.submit("a", { deadlineSeconds });
      await begunBySigner(world);
      double.misbehave = { answer: () => ({ status: 503, body: "" }) };
      await world.fullStep(2);
      expect(world.store.signings("a").map(({ kind }) => kind)).toEqual(["original", "replacement"]);
      if (how === "cancelled by a person") await world.lane.cancel("a", "ann");
      else {
        await world.clock.advance(3_600_000);
        await world.anvil.rpc.call("evm_increaseTime", [3_600]);
      }
      await world.fullStep();
      double.misbehave = {};
      await systemClock.sleep(2_100);
      await world.fullStep();
      expect(world.attempts("a").map(({ kind }) => kind)).toEqual(["original", "cancel"]);
      await world.step(4);
      expect(world.intent("a")).toMatchObject({ state: "final", outcome: "cancelled" });
      expect(await world.received(to)).toBe(0n);
    },
  );

  it("is away while higher fees wait for a signature, and back past the deadline: they are not signed before the cancellation", async () => {
    const { world, double } = await begin({ bumpAfterBlocks: 2, cancelMarginSeconds: 7_200 });
    world.submit("a", { deadlineSeconds: Math.floor(world.clock.nowMs() / 1_000) + 600 });
    await begunBySigner(world);
    double.misbehave = { answer: () => ({ status: 503, body: "" }) };
    await world.fullStep(2);
    await world.clock.advance(3_600_000);
    await world.anvil.rpc.call("evm_increaseTime", [3_600]);
    await world.fullStep();
    double.misbehave = {};
    await systemClock.sleep(2_100);
    await world.fullStep();
    expect(world.store.signings("a").map(({ kind }) => kind)).toEqual(["original", "replacement"]);
    expect(world.attempts("a").map(({ kind }) => kind)).toEqual(["original"]);
  });

  it("is away while a cancellation waits, and higher fees that another copy sent are in a block: they are no cancellation", async () => {
    const { world, double } = await begin({ bumpAfterBlocks: 2 });
    const to = world.submit("a");
    await begunBySigner(world);
    double.misbehave = { answer: () => ({ status: 503, body: "" }) };
    await world.fullStep(2);
    await world.lane.cancel("a", "ann");
    await world.fullStep();
    const [, higher, cancel] = world.store.signings("a");
    if (higher === undefined) throw new Error("no higher fees were written down");
    expect(cancel).toMatchObject({ kind: "cancel", maxFeePerGas: higher.maxFeePerGas });
    const { nonce, data, value, gasLimit, maxFeePerGas, maxPriorityFeePerGas } = higher;
    const raw = await new Wallet(ANVIL_KEY).signTransaction({
      ...{ type: 2, chainId: 31_337, nonce, to, data, value, gasLimit, maxFeePerGas, maxPriorityFeePerGas },
    });
    await world.anvil.rpc.call("eth_sendRawTransaction", [raw]);
    await world.step();
    double.misbehave = {};
    await systemClock.sleep(2_100);
    await world.step(3);
    world.release("ann");
    await world.step(3);
    expect(world.attempts("a").map(({ kind }) => kind)).toEqual(["original", "replacement"]);
    expect(world.intent("a")).toMatchObject({ state: "final", outcome: "succeeded" });
    expect(await world.received(to)).toBe(5n);
  });

  it("drops what its time is over for before any signature came, and its nonce is free", async () => {
    const { world, double } = await begin();
    double.misbehave = { before: FOREVER };
    world.submit("a", { signBySeconds: Math.floor(world.clock.nowMs() / 1_000) + 30 });
    await world.tick();
    expect(world.intent("a")).toMatchObject({ state: "planned", nonce: 0 });
    await world.clock.advance(3_600_000);
    await world.anvil.rpc.call("evm_increaseTime", [3_600]);
    await world.step();
    expect(world.intent("a")).toMatchObject({ state: "dropped", nonce: undefined });
    double.misbehave = {};
    await systemClock.sleep(2_500);
    const to = world.submit("b", { signBySeconds: Math.floor(world.clock.nowMs() / 1_000) + 7_200 });
    await world.tick();
    await world.step(3);
    expect(world.intent("b")).toMatchObject({ state: "final", nonce: 0 });
    expect(await world.received(to)).toBe(5n);
  });

  it("cancels what a person gave up while the signer thinks: a late answer is stored nowhere", async () => {
    const { world, double } = await begin();
    const gate = Promise.withResolvers<void>();
    double.misbehave = { before: () => gate.promise };
    world.submit("a");
    await world.tick();
    await world.lane.cancel("a", "ann");
    await world.tick();
    expect(world.intent("a").state).toBe("dropped");
    gate.resolve();
    await world.step(2);
    expect(world.attempts("a")).toEqual([]);
    expect(world.sends()).toEqual([]);
  });

  it("signs nothing that was halted while the signer thought", async () => {
    const { world, double } = await begin();
    const gate = Promise.withResolvers<void>();
    double.misbehave = { before: () => gate.promise };
    world.submit("a");
    await world.tick();
    world.switches.signing = false;
    gate.resolve();
    await world.tick(2);
    expect(world.attempts("a")).toEqual([]);
    world.switches.signing = true;
    await world.tick();
    expect(world.attempts("a").length).toBe(1);
    expect(double.asked.length).toBe(1);
  });

  it("finds a version of its own again whose row is gone, though it cannot sign the same bytes twice", async () => {
    const { world, double } = await begin();
    world.proxy.fault("eth_sendRawTransaction", { kind: "drop-before" });
    world.submit("a", { to: ANVIL_ACCOUNT });
    await begunBySigner(world);
    const { raw } = await createRemoteSigner(
      { url: double.url, address: ANVIL_ACCOUNT, token: undefined, timeoutMs: 1_500 },
      { clock: systemClock, fetch: boundedFetch },
    ).signTransaction({
      ...{ chainId: 31337, nonce: 0, to: ANVIL_ACCOUNT, data: "0x", value: 5n, gasLimit: 50_000n },
      ...{ maxFeePerGas: 50n * GWEI, maxPriorityFeePerGas: 16n * GWEI },
    });
    await world.anvil.rpc.call("eth_sendRawTransaction", [raw]);
    await world.step(4);
    expect(world.halted()?.reason).toContain("does what ours was to do");
    world.release("ann");
    const asked = double.asked.length;
    await world.step(3);
    expect(world.intent("a")).toMatchObject({ state: "final", outcome: "succeeded" });
    expect(world.attempts("a").map(({ state }) => state)).toEqual(["replaced", "confirmed"]);
    expect(double.asked.length, "its bytes are the block's").toBe(asked);
  });
});
