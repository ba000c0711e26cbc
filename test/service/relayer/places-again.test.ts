import { expect, test } from "vitest";
import type { Head } from "../../../src/chain/at-block/head.ts";
import { type JsonRpc, RpcError, type RpcRequest } from "../../../src/chain/json-rpc.ts";
import { type Address, type Hex, toAddress } from "../../../src/domain/money/address.ts";
import type { IntentRow } from "../../../src/ports/lane-store.ts";
import type { SettledNetwork } from "../../../src/service/options.ts";
import { createPlaces } from "../../../src/service/relayer/places.ts";
import type { RelayBook } from "../../../src/service/relayer/relay-book.ts";
import { createSendGate, type SendGate } from "../../../src/service/relayer/send-gate.ts";
import type { ServiceStore, SwapRow } from "../../../src/service/store/service-store.ts";
import { createRecordingLogger } from "../support/recording-logger.ts";

const addressOf = (place: number): Address => toAddress(`0x${place.toString(16).padStart(40, "0")}`);
const RELAYER = addressOf(0xa);
const TOKEN = addressOf(0xb);
const revert = new RpcError({ kind: "rpc", host: "node", code: 3, message: "execution reverted", data: "0x" });

interface Swap {
  readonly wallet: Address;
  readonly caller: string;
}

/** A gate and its places over swaps that wait and sell 10 each, at a node where none works while `isEmpty`. */
function gateOver(swaps: readonly Swap[]) {
  const chain = { block: 1, isEmpty: true, balance: 1_000n };
  const rows = swaps.map(({ wallet }, place) => {
    const names = { id: String(place), intentId: String(place), wallet, fromToken: TOKEN, toToken: TOKEN };
    return { ...names, sellAmount: "10", nonce: "1", blockNumber: null, deadlineSeconds: 1 } as unknown as SwapRow;
  });
  const intents = rows.map(({ id }) => {
    return { id, to: RELAYER, data: "0x", gasLimit: 200_000n, maxFeePerGasCap: 1n } as unknown as IntentRow;
  });
  const answerTo = ({ method }: RpcRequest) => {
    if (method === "eth_call") return `0x${chain.balance.toString(16).padStart(64, "0")}` as Hex;
    return chain.isEmpty ? revert : "0x186a0";
  };
  const rpc = {
    host: "node",
    call: async () => `0x${"0".repeat(64)}`,
    batch: async (requests: readonly RpcRequest[]) => requests.map(answerTo),
  } as unknown as JsonRpc;
  const terms = (id: string) => {
    const caller = swaps[Number(id)]?.caller ?? "";
    return { feeWorth: 10n ** 18n, expectedCost: 1n, dataFee: 0n, caller, isKeyed: caller.startsWith("key") };
  };
  const book = { terms, hasReverted: () => false } as unknown as RelayBook;
  const open = () => {
    const gate: SendGate = createSendGate(
      { relayer: RELAYER, network: { settlement: RELAYER, chainId: 1 } as unknown as SettledNetwork, feeMarginPpm: 0n },
      {
        ...{ rpc, book, logger: createRecordingLogger() },
        head: async () => ({ number: chain.block, hash: `0x${chain.block}`, gasPrice: 10n ** 9n }) as unknown as Head,
        store: {
          swapBy: (_: string, id: string) => rows[Number(id)],
          quote: () => undefined,
        } as unknown as ServiceStore,
        waiting: () => intents,
        inFlight: () => [],
        maySpend: () => 10n ** 18n,
        losses: { against: () => undefined },
        placeAgain: (row, balance) => places.refusalAgain(row, balance),
        cancel: async () => ({ kind: "dropping" }),
      },
    );
    const places = createPlaces(new Set([TOKEN]), {
      store: { unminedSwaps: () => rows },
      chainSeconds: () => 1,
      book,
      losses: { refusal: () => undefined, maySpend: () => 1n },
      isIdle: gate.isIdle,
      clock: { nowMs: () => 1 },
    });
    return { gate, places };
  };
  /** Looks at so many blocks. */
  const blocks = async (gate: SendGate, count: number) => {
    for (let block = 0; block < count; block += 1) {
      chain.block += 1;
      await gate.check();
    }
  };
  return { chain, open, blocks };
}

const many = (count: number, one: (place: number) => Swap) => Array.from({ length: count }, (_, place) => one(place));
const ONE_ADDRESS = many(100, (place) => ({ wallet: addressOf(0x1000 + place), caller: "address 192.0.2.1" }));

test("swaps of one address that all work again get no more places than its share, and the others report why not", async () => {
  const { chain, open, blocks } = gateOver(ONE_ADDRESS);
  const { gate, places } = open();
  await gate.check();
  expect(places.working()).toHaveLength(0);
  chain.isEmpty = false;
  await blocks(gate, 13);
  expect(places.working()).toHaveLength(10);
  expect(places.full()).toBeUndefined();
  const reasons = new Set(ONE_ADDRESS.map((_, place) => gate.lastReason(String(place))));
  expect(reasons).toEqual(new Set([undefined, "it has no place: 10 swaps that came from you wait, no more may"]));
  // Where one of those that hold a place stops working, another one gets it.
  chain.isEmpty = true;
  await blocks(gate, 1);
  chain.isEmpty = false;
  await blocks(gate, 13);
  expect(places.working()).toHaveLength(10);
});

test("swaps of many that all work again get no more than all places", async () => {
  const { chain, open, blocks } = gateOver(
    many(80, (place) => ({ wallet: addressOf(0x1000 + place), caller: `address ${place}` })),
  );
  const { gate, places } = open();
  await gate.check();
  chain.isEmpty = false;
  await blocks(gate, 10);
  expect(places.working()).toHaveLength(50);
});

test("swaps of one balance that all work again get as many places as it pays for", async () => {
  const { chain, open, blocks } = gateOver(many(4, () => ({ wallet: addressOf(0x1000), caller: "key 1" })));
  const { gate, places } = open();
  await gate.check();
  chain.isEmpty = false;
  chain.balance = 29n;
  await blocks(gate, 2);
  expect(places.working()).toHaveLength(2);
  expect(gate.lastReason("3")).toBe("it has no place: the wallet has 29, and its swaps that wait sell 20 of it");
  chain.balance = 40n;
  await blocks(gate, 1);
  expect(places.working()).toHaveLength(4);
});

test("a restart gives nobody more places than his share either", async () => {
  const { chain, open } = gateOver(ONE_ADDRESS);
  chain.isEmpty = false;
  const { gate, places } = open();
  await gate.check();
  expect(places.working()).toHaveLength(10);
});
