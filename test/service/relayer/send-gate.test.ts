import { expect, test } from "vitest";
import type { Head } from "../../../src/chain/at-block/head.ts";
import { type JsonRpc, RpcError, type RpcRequest } from "../../../src/chain/json-rpc.ts";
import { type Hex, toAddress } from "../../../src/domain/money/address.ts";
import type { IntentRow } from "../../../src/ports/lane-store.ts";
import { refuse } from "../../../src/service/errors/errors.ts";
import type { SettledNetwork } from "../../../src/service/options.ts";
import { createSendGate } from "../../../src/service/relayer/send-gate.ts";
import { SETTLEMENT_INTERFACE } from "../../../src/service/settlement/calldata.ts";
import type { ServiceStore } from "../../../src/service/store/service-store.ts";
import { createRecordingLogger } from "../support/recording-logger.ts";

const account = toAddress(`0x${"0a".repeat(20)}`);
const GAS = 200_000n;

const TOO_LATE = SETTLEMENT_INTERFACE.encodeErrorResult("DeadlinePassed", [7, 8]) as Hex;

const revertOf = (data: Hex) =>
  new RpcError({ kind: "rpc", host: "node", code: 3, message: "execution reverted", data });

/** A gate over swaps that wait, of which some revert, on a node that counts what it is asked. */
function gateOver(count: number) {
  let waiting: readonly IntentRow[] = [];
  const accepted = Array.from({ length: count }, (_, place) => {
    const intent = { id: `swap-${place}`, to: account, data: `0x${place.toString(16).padStart(8, "0")}` };
    return { ...intent, gasLimit: GAS, maxFeePerGasCap: 10n ** 9n } as unknown as IntentRow;
  });
  const dead = new Set<string>();
  const late = new Set<string>();
  const cancelled: string[] = [];
  const barred = new Set<string>();
  const seen = { reads: 0, simulations: 0, atOnce: 0, most: 0, block: 1, fork: "a", silent: false };
  const rpc = {
    host: "node",
    call: async () => `0x${"0".repeat(64)}`,
    batch: async ([request]: readonly RpcRequest[]) => {
      seen.simulations += 1;
      seen.atOnce += 1;
      seen.most = Math.max(seen.most, seen.atOnce);
      await new Promise((resolve) => setImmediate(resolve));
      seen.atOnce -= 1;
      const { data } = (request as unknown as { params: [{ data: string }] }).params[0];
      if (seen.silent) throw new RpcError({ kind: "transport", host: "node", message: "silence" });
      const id = `swap-${Number.parseInt(data, 16)}`;
      if (late.has(id)) return [revertOf(TOO_LATE)];
      if (!dead.has(id)) return ["0x186a0"];
      return [revertOf("0x")];
    },
  } as unknown as JsonRpc;
  const gate = createSendGate(
    { relayer: account, network: { settlement: account, chainId: 1 } as unknown as SettledNetwork, feeMarginPpm: 0n },
    {
      rpc,
      head: async () =>
        ({ number: seen.block, hash: `0x${seen.fork}${seen.block}`, gasPrice: 10n ** 9n }) as unknown as Head,
      book: {
        terms: () => ({ feeWorth: 10n ** 18n, expectedCost: 1n, dataFee: 0n, caller: "" }),
      } as unknown as Parameters<typeof createSendGate>[1]["book"],
      store: { swapBy: () => undefined, quote: () => undefined } as unknown as ServiceStore,
      waiting: () => {
        seen.reads += 1;
        return waiting;
      },
      inFlight: () => [],
      maySpend: () => 10n ** 18n,
      placeAgain: () => undefined,
      losses: { against: ({ id }) => (barred.has(id) ? refuse("GASLESS_STANDING", { detail: "lost" }) : undefined) },
      cancel: async (id) => {
        cancelled.push(id);
        waiting = waiting.filter((intent) => intent.id !== id);
        return { kind: "dropping" };
      },
      logger: createRecordingLogger(),
    },
  );
  waiting = accepted;
  const at = (place: number) => waiting.find(({ id }) => id === `swap-${place}`) as IntentRow;
  return {
    gate,
    dead,
    late,
    barred,
    cancelled,
    seen,
    at,
    idle: () => waiting.filter(({ id }) => gate.isIdle(id)).length,
  };
}

test("an honest swap behind fifty dead ones is tried with the first check of a block, and sent then", async () => {
  const { gate, dead, seen, at, idle } = gateOver(51);
  for (let place = 0; place < 50; place += 1) dead.add(`swap-${place}`);
  // The lane asks for one after the other, oldest first.
  const answers: boolean[] = [];
  for (let place = 0; place <= 50; place += 1) answers.push(await gate.isWorthSending(at(place)));
  expect(answers.lastIndexOf(true)).toBe(50);
  expect(answers.filter(Boolean)).toHaveLength(1);
  expect(idle()).toBe(50);
  expect(seen.simulations).toBe(51);
  expect(seen.most).toBe(8);
  // At the next block the dead ones cost the node eight simulations, and hold nobody up.
  seen.block += 1;
  seen.simulations = 0;
  expect(await gate.isWorthSending(at(50))).toBe(true);
  expect(seen.simulations).toBe(9);
});

test("a swap that worked in a block is tried again in another one that took its place at the same height", async () => {
  const { gate, dead, seen, at } = gateOver(2);
  expect(await gate.isWorthSending(at(0))).toBe(true);
  // In the other block its owner has spent what it sells: it would revert at the relayer's expense.
  seen.fork = "b";
  dead.add("swap-0");
  expect([await gate.isWorthSending(at(0)), await gate.isWorthSending(at(1))]).toEqual([false, true]);
  seen.fork = "a";
  dead.clear();
  expect(await gate.isWorthSending(at(0))).toBe(true);
});

test("asking for each of fifty dead swaps in a turn reads what waits once a block, not once for each", async () => {
  const { gate, dead, seen, at } = gateOver(52);
  for (let place = 0; place < 50; place += 1) dead.add(`swap-${place}`);
  await gate.check();
  seen.reads = 0;
  for (let place = 0; place < 52; place += 1) expect(await gate.isWorthSending(at(place))).toBe(place >= 50);
  expect(seen.reads).toBe(0);
  seen.block += 1;
  for (let place = 0; place < 52; place += 1) await gate.isWorthSending(at(place));
  expect(seen.reads).toBe(1);
});

test("a swap that works again is found within the turns of the dead ones, and holds its place again", async () => {
  const { gate, dead, seen, idle } = gateOver(20);
  for (let place = 0; place < 20; place += 1) dead.add(`swap-${place}`);
  await gate.check();
  expect(idle()).toBe(20);
  dead.clear();
  for (let block = 0; block < 3; block += 1) {
    seen.block += 1;
    await gate.check();
  }
  expect(idle()).toBe(0);
});

test("of swaps that do not work only a hundred are kept, and the relayer ends those that were tried longest ago", async () => {
  const { gate, dead, cancelled, seen, idle } = gateOver(120);
  for (let place = 0; place < 120; place += 1) dead.add(`swap-${place}`);
  await gate.check();
  seen.block += 1;
  await gate.check();
  expect(cancelled).toHaveLength(20);
  expect(cancelled[0]).toBe("swap-0");
  expect(idle()).toBe(100);
});

test("a node that does not answer simulations sends nothing and takes no place away", async () => {
  const { gate, seen, at, idle } = gateOver(2);
  seen.silent = true;
  expect(await gate.isWorthSending(at(0))).toBe(false);
  expect(idle()).toBe(0);
  seen.silent = false;
  expect(await gate.isWorthSending(at(0))).toBe(true);
});

test("a swap whose time is over keeps the reason why it was not sent before", async () => {
  const { gate, dead, late, seen } = gateOver(2);
  dead.add("swap-0");
  await gate.check();
  const reason = gate.lastReason("swap-0");
  expect(reason).toMatch(/^it would revert/);
  seen.block += 1;
  for (const id of ["swap-0", "swap-1"]) late.add(id);
  await gate.check();
  expect(gate.lastReason("swap-0")).toBe(reason);
  expect(gate.lastReason("swap-1")).toBe("it would revert DeadlinePassed(deadline 7, timestamp 8)");
});

test("a swap of anyone who lost too much since it was accepted is not sent, also in the same block, and loses its place", async () => {
  const { gate, barred, seen, at } = gateOver(2);
  await gate.check();
  barred.add("swap-0");
  expect(await gate.isWorthSending(at(0))).toBe(false);
  expect(await gate.isWorthSending(at(1))).toBe(true);
  expect(gate.lastReason("swap-0")).toBe("it could have cost more than the relayer may spend");
  seen.block += 1;
  await gate.check();
  expect(gate.isIdle("swap-0")).toBe(true);
  expect(gate.lastReason("swap-0")).toBe("it could have cost more than the relayer may spend: lost");
  barred.clear();
  seen.block += 1;
  await gate.check();
  expect(gate.isIdle("swap-0")).toBe(false);
});
