import { type TransactionLike, Wallet } from "ethers";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { LaneRequest } from "../../src/lane/planned-intent.ts";
import { ANVIL_ACCOUNT, ANVIL_KEY } from "../support/bare-anvil.ts";
import { openLaneDatabase } from "../support/lane-database.ts";
import { GWEI, type LaneWorld, startLaneWorld } from "../support/lane-world.ts";

/** Ours did not arrive, and somebody's transaction with its nonce does what it was to do. */
async function beginWhereTheSameWasDone(change: Partial<LaneRequest> = {}) {
  const world = await startLaneWorld();
  world.proxy.fault("eth_sendRawTransaction", { kind: "drop-before" });
  world.submit("a", { to: ANVIL_ACCOUNT, ...change });
  await world.tick();
  await world.sendForeign(0, 5n);
  await world.step(4);
  return world;
}

/** The nodes list the transactions of a block without their signatures. */
async function hideSignatures({ anvil, proxy }: LaneWorld, number: number): Promise<void> {
  const block = await anvil.rpc.call("eth_getBlockByNumber", [`0x${number.toString(16)}`, true]);
  const { transactions, ...head } = z.looseObject({ transactions: z.array(z.looseObject({})) }).parse(block);
  const result = { ...head, transactions: transactions.map(({ r: _r, s: _s, ...listed }) => listed) };
  const where = ([asked, isWhole]: readonly unknown[]): boolean => isWhole === true && Number(asked) === number;
  proxy.faultWhere({ method: "eth_getBlockByNumber", where }, { kind: "answer", result });
}

/** What a person signs with the same key in another program: here with higher fees than the daemon's. */
async function byHand(change: TransactionLike): Promise<string> {
  const fees = change.type === 0 ? { gasPrice: 50n * GWEI } : { maxFeePerGas: 50n * GWEI, maxPriorityFeePerGas: GWEI };
  return await new Wallet(ANVIL_KEY).signTransaction({
    ...{ type: 2, chainId: 31_337, nonce: 0, gasLimit: 60_000n, ...fees },
    ...change,
  });
}

describe("a transaction of somebody else at the nonce of ours", () => {
  it("proves nothing at the tip, and halts the account once two finalised blocks show it", async () => {
    const world = await startLaneWorld();
    world.proxy.fault("eth_sendRawTransaction", { kind: "drop-before" });
    world.submit("a");
    world.submit("b");
    await world.tick();
    await world.sendForeign(0);
    await world.step();
    expect(world.halted()).toBeUndefined();
    await world.step();
    expect(world.halted()).toBeUndefined();
    await world.step();
    expect(world.halted()).toBeUndefined();
    await world.step();
    const halt = world.halted();
    expect(halt).toMatchObject({ transactionCount: 1 });
    expect(halt?.reason).toContain("nonce 0 was used in a finalised block by a transaction that is not ours");
    expect(halt?.reason).toContain(world.attempts("a")[0]?.hash);
    world.proxy.clear();
    await world.step(8);
    world.restart();
    await world.step();
    expect(world.signed.length).toBe(1);
    expect(world.intent("b")).toMatchObject({ state: "planned", nonce: undefined });
    expect(world.intent("a").state).toBe("signed");
    expect(world.logger.lines.filter(({ level }) => level === "error").length).toBe(1);
  });

  it("that a reorganisation takes away again was never there: ours goes on", async () => {
    const world = await startLaneWorld();
    world.proxy.fault("eth_sendRawTransaction", { kind: "drop-before" });
    const to = world.submit("a");
    await world.tick();
    await world.sendForeign(0);
    await world.step(2);
    await world.anvil.reorg(2);
    world.proxy.clear();
    await world.step(4);
    expect(world.halted()).toBeUndefined();
    expect(world.intent("a")).toMatchObject({ state: "final", outcome: "succeeded" });
    expect(await world.received(to)).toBe(5n);
    expect(world.signed.length).toBe(1);
  });
});

describe("a chain that counts more transactions than the rows", () => {
  it("halts the account before anything is signed", async () => {
    const world = await startLaneWorld();
    world.submit("a");
    await world.tick();
    await world.step(3);
    await world.sendForeign(1);
    await world.anvil.mine();
    world.submit("b");
    await world.tick();
    expect(world.halted()).toBeUndefined();
    await world.step(3);
    expect(world.halted()?.reason).toBe(
      "finalised blocks count 2 transactions of this account, the rows know 1: another program uses its key",
    );
    expect(world.intent("b")).toMatchObject({ state: "planned", nonce: undefined });
    await world.step(3);
    expect(world.signed.length).toBe(1);
  });
});

describe("a person who releases a halted account", () => {
  it("accepts what was counted: the next nonce lies above it", async () => {
    const world = await startLaneWorld();
    world.submit("a");
    await world.tick();
    await world.step(3);
    await world.sendForeign(1);
    await world.sendForeign(2);
    await world.anvil.mine();
    const to = world.submit("b");
    await world.step(4);
    expect(world.release("ann")).toMatchObject({ transactionCount: 3 });
    expect(world.halted()).toBeUndefined();
    expect(world.release("ann")).toBeUndefined();
    world.restart();
    await world.tick();
    expect(world.intent("b").nonce).toBe(3);
    await world.step(3);
    expect(world.intent("b")).toMatchObject({ state: "final", outcome: "succeeded" });
    expect(await world.received(to)).toBe(5n);
  });

  it("may do so through another connection to the same rows: the lane heeds it from its next turn on", async () => {
    const world = await startLaneWorld();
    world.submit("a");
    await world.tick();
    await world.step(3);
    await world.sendForeign(1);
    await world.anvil.mine();
    world.submit("b");
    await world.step(4);
    const { store } = openLaneDatabase(world.db.name);
    for (const { account, chainId } of store.halts()) store.releaseHalt(account, chainId, { by: "ann", atMs: 1 });
    await world.tick();
    expect(world.halted()).toBeUndefined();
    expect(world.intent("b")).toMatchObject({ state: "broadcast", nonce: 2 });
  });

  it("does not accept what comes later: one more transaction halts it again", async () => {
    const world = await startLaneWorld();
    world.submit("a");
    await world.tick();
    await world.step(3);
    await world.sendForeign(1);
    await world.anvil.mine();
    world.submit("b");
    await world.step(4);
    await world.sendForeign(2);
    await world.anvil.mine();
    world.release("ann");
    await world.step(4);
    expect(world.halted()).toMatchObject({ transactionCount: 3 });
    expect(world.signed.length).toBe(1);
    world.release("ann");
    await world.tick();
    expect(world.intent("b").nonce).toBe(3);
  });

  it("ends what the other transaction made impossible, and nothing that may still happen", async () => {
    const world = await startLaneWorld();
    world.proxy.fault("eth_sendRawTransaction", { kind: "drop-before" });
    const lost = world.submit("a");
    const next = world.submit("b");
    await world.tick();
    await world.sendForeign(0);
    await world.step(4);
    expect(world.halted()).toBeDefined();
    world.proxy.clear();
    world.release("ann");
    await world.tick();
    expect(world.intent("a")).toMatchObject({ state: "final", outcome: "cancelled", minedBlockNumber: undefined });
    expect(world.attempts("a").map(({ state }) => state)).toEqual(["dropped"]);
    expect(world.events.find(({ kind }) => kind === "final")).toMatchObject({ intentId: "a", outcome: "cancelled" });
    expect(world.intent("b")).toMatchObject({ state: "broadcast", nonce: 1 });
    await world.step(3);
    expect(world.intent("b")).toMatchObject({ state: "final", outcome: "succeeded" });
    expect(await world.received(lost)).toBe(0n);
    expect(await world.received(next)).toBe(5n);
    expect(world.halted()).toBeUndefined();
  });

  it("is told which transaction ended it, and the row says so", async () => {
    const world = await startLaneWorld();
    world.proxy.fault("eth_sendRawTransaction", { kind: "drop-before" });
    world.submit("a");
    await world.tick();
    await world.anvil.mine(40);
    const foreign = await world.signForeign(0, 50n * GWEI);
    await world.sendForeign(0);
    await world.step(20);
    expect(world.halted()?.reason).toContain(foreign.hash);
    world.release("ann");
    await world.tick();
    expect(world.intent("a")).toMatchObject({ state: "final", outcome: "cancelled" });
    expect(world.store.transitions("a").at(-1)?.detail).toContain(foreign.hash);
  });

  it.each([
    ["no node shows the block's transactions", "eth_getBlockByNumber"],
    ["no node keeps the state of that block", "eth_getTransactionCount"],
  ])("does not end a transaction that may have landed while %s", async (_case, method) => {
    const world = await startLaneWorld();
    const to = world.submit("a");
    await world.tick();
    world.proxy.fault("eth_getTransactionReceipt", { kind: "answer", result: null });
    await world.anvil.mine(6);
    const isHidden = (params: readonly unknown[]): boolean =>
      method === "eth_getBlockByNumber" ? params[1] === true : Number(params[1]) < 4;
    const refusal = { kind: "error", message: "missing trie node" } as const;
    world.proxy.faultWhere({ method, where: isHidden }, refusal);
    await world.step(2);
    expect(world.halted()?.reason).toContain("no node shows the transaction");
    world.release("ann");
    await world.step(3);
    expect(world.halted()).toBeUndefined();
    expect(world.intent("a").state).toBe("broadcast");
    world.proxy.clear();
    await world.tick();
    expect(world.intent("a")).toMatchObject({ state: "final", outcome: "succeeded" });
    expect(await world.received(to)).toBe(5n);
    expect(world.signed.length).toBe(1);
  });

  it("does not end one either when what is there does the same and only its row is missing", async () => {
    const world = await startLaneWorld();
    world.proxy.fault("eth_sendRawTransaction", { kind: "drop-before" });
    world.submit("a", { to: ANVIL_ACCOUNT });
    await world.tick();
    await world.sendForeign(0);
    await world.step(4);
    expect(world.halted()?.reason).toContain("does what ours was to do");
    world.release("ann");
    await world.step(2);
    expect(world.intent("a").state).toBe("signed");
    expect(world.attempts("a").length, "its value is another one").toBe(1);
    expect(world.refusals.at(-1)?.detail).toContain("does what ours was to do");
  });

  it("ends one by the receipt of a version of it whose row is gone, as after a start from an old copy", async () => {
    const world = await beginWhereTheSameWasDone();
    expect(world.halted()?.reason).toContain("does what ours was to do");
    world.release("ann");
    await world.step(3);
    expect(world.intent("a")).toMatchObject({ state: "final", outcome: "succeeded" });
    expect(world.heard("a")).toContain("mined");
    expect(world.halted()).toBeUndefined();
    expect(world.attempts("a").map(({ state }) => state)).toEqual(["replaced", "confirmed"]);
    world.submit("b");
    await world.step(2);
    expect(world.intent("b").nonce).toBe(1);
  });
});

describe("what has the nonce of ours and does the same", () => {
  it("is not signed with fees above what the intent may pay, whatever all nodes show", async () => {
    const world = await beginWhereTheSameWasDone({ maxFeePerGasCap: 40n * GWEI });
    await hideSignatures(world, 1);
    world.release("ann");
    await world.step(3);
    expect(world.signed.every(({ maxFeePerGas }) => maxFeePerGas <= 40n * GWEI)).toBe(true);
    expect(world.attempts("a").length).toBe(1);
  });

  it("is signed again past the deadline, too, for its receipt: it can be sent nowhere else any more", async () => {
    const world = await beginWhereTheSameWasDone({ deadlineSeconds: Math.floor(Date.now() / 1_000) + 60 });
    await hideSignatures(world, 1);
    world.clock.advance(61_000);
    world.release("ann");
    await world.step(3);
    expect(world.intent("a")).toMatchObject({ state: "final", outcome: "succeeded" });
  });

  it("is signed after a kill between its row and its signature", async () => {
    const world = await beginWhereTheSameWasDone();
    const [first] = world.store.signings("a");
    if (first === undefined) throw new Error("nothing was signed");
    const fees = { maxFeePerGas: 50n * GWEI, maxPriorityFeePerGas: (50n * GWEI) / 3n };
    world.store.insertSigning({ ...first, kind: "replacement", ...fees });
    world.restart();
    world.release("ann");
    await world.step(4);
    expect(world.intent("a")).toMatchObject({ state: "final", outcome: "succeeded" });
  });
});

describe("what a person sent with the key at the nonce of ours, and does the same", () => {
  it.each([
    ["fees above what ours may pay", {}],
    ["a plain gas price", { type: 0 }],
    ["another gas limit", { gasLimit: 90_000n, maxFeePerGas: 30n * GWEI }],
    ["the ceiling of fees of ours, and another tip", "as ours"],
  ] as const)("ends ours by its own receipt, and signs nothing for that: with %s", async (_with, change) => {
    const world = await startLaneWorld();
    world.proxy.fault("eth_sendRawTransaction", { kind: "drop-before" });
    const to = world.submit("a", { maxFeePerGasCap: 40n * GWEI });
    await world.tick();
    const [first] = world.attempts("a");
    const asOurs = { maxFeePerGas: first?.maxFeePerGas ?? 0n, maxPriorityFeePerGas: 1n };
    const raw = await byHand({ to, value: 5n, ...(change === "as ours" ? asOurs : change) });
    await world.anvil.rpc.call("eth_sendRawTransaction", [raw]);
    await world.step(4);
    expect(world.halted()?.reason).toContain("does what ours was to do");
    world.proxy.clear();
    // No kill finds a row of it that waits for a signature.
    world.switches.crashAt = (label) => label.startsWith("lane.bump");
    world.release("ann");
    await world.step(3);
    expect(world.intent("a")).toMatchObject({ state: "final", outcome: "succeeded" });
    expect(world.attempts("a").map(({ raw: bytes, state }) => [bytes === raw, state])).toEqual([
      [false, "replaced"],
      [true, "confirmed"],
    ]);
    expect(world.signed.length).toBe(1);
    expect(await world.received(to)).toBe(5n);
    world.submit("b");
    await world.step(2);
    expect(world.intent("b").nonce).toBe(1);
  });
});

describe("a receipt of ours that no node has", () => {
  it("is waited for where the finalised block shows our transaction: no halt, no end, no second signature", async () => {
    const world = await startLaneWorld();
    const to = world.submit("a");
    world.submit("b");
    await world.tick();
    world.proxy.fault("eth_getTransactionReceipt", { kind: "answer", result: null });
    await world.step(30);
    expect(world.halted()).toBeUndefined();
    expect(world.intent("a").state).toBe("broadcast");
    expect(world.signed.length).toBe(1);
    const before = world.proxy.seen.length;
    await world.tick();
    expect(world.proxy.seen.length - before).toBeLessThan(25);
    world.proxy.clear();
    await world.tick();
    expect(world.intent("a")).toMatchObject({ state: "final", outcome: "succeeded" });
    expect(world.intent("b").nonce).toBe(1);
    expect(await world.received(to)).toBe(5n);
  });
});
