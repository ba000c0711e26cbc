import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { addressWord, callData } from "../../../src/chain/at-block/words.ts";
import type { JsonRpc } from "../../../src/chain/json-rpc.ts";
import { type Address, toAddress } from "../../../src/domain/money/address.ts";
import { loadContract } from "../../../src/sandbox/artifacts.ts";
import { SELECTOR } from "../../../src/service/pools/selectors.ts";
import { createSnapshots, type Snapshot } from "../../../src/service/pools/snapshots.ts";
import { startTestChain, type TestChain } from "../support/chain.ts";
import { systemClock } from "../support/system-clock.ts";
import { createWallet } from "../support/wallet.ts";

const TOKEN = loadContract("PermitToken");

let chain: TestChain;
let token: Address;

beforeAll(async () => {
  chain = await startTestChain();
  token = await chain.deploy(TOKEN, ["Token", "TK", 18]);
});

afterAll(() => chain?.stop());

async function mint(to: Address, amount: bigint): Promise<void> {
  await chain.send({ to: token, data: TOKEN.abi.encodeFunctionData("mint", [to, amount]) as `0x${string}` });
}

function countedRpc() {
  let requests = 0;
  const rpc: JsonRpc = {
    host: chain.rpc.host,
    call: (...request) => chain.rpc.call(...request),
    batch: (...request) => {
      requests += 1;
      return chain.rpc.batch(...request);
    },
  };
  return { rpc, batches: () => requests };
}

/** The chain's newest block, read once, and how often the chain was asked since. */
async function oneSnapshot() {
  const { rpc, batches } = countedRpc();
  const snapshots = createSnapshots({ rpc, chainId: 31_337 }, systemClock);
  const snapshot = await snapshots.current();
  snapshots.stop();
  return { snapshot, batches };
}

test("what a quote asked of a wallet is there in the next block before anybody asks, and is of that block", async () => {
  const { rpc, batches } = countedRpc();
  const snapshots = createSnapshots({ rpc, chainId: 31_337 }, systemClock);
  const owner = createWallet().address;
  const held = (snapshot: Snapshot) => snapshot.readKept(token, callData(SELECTOR.balanceOf, addressWord(owner)), 1);
  const first = await snapshots.current();
  expect(await held(first)).toEqual([0n]);
  await mint(owner, 7n);
  let next = first;
  for (let tries = 0; tries < 200 && next.head.number === first.head.number; tries += 1) {
    await sleep(10);
    next = await snapshots.current();
  }
  snapshots.stop();
  await sleep(100);
  const before = batches();
  expect(await held(next)).toEqual([7n]);
  expect(await held(first)).toEqual([0n]);
  expect(batches()).toBe(before);
});

test("of one block no more pools are kept than so many: on a chain that stands still others are read each time", async () => {
  const { snapshot, batches } = await oneSnapshot();
  const state = (place: number) => {
    const address = toAddress(`0x${place.toString(16).padStart(40, "0")}`);
    const [token0, token1] = [token, toAddress(`0x${"f".repeat(40)}`)];
    return snapshot.state({ kind: 1, protocol: 0, address, token0, token1, feePips: 3_000, tickSpacing: 0 });
  };
  await Promise.all(Array.from({ length: 5_001 }, (_, place) => state(place + 1_000)));
  const before = batches();
  expect(await state(5_999)).toBeUndefined();
  expect(batches()).toBe(before);
  await state(6_000);
  expect(batches()).toBe(before + 1);
});

test("of one block no more is kept than so many answers: a chain that stands still is asked again", async () => {
  const { snapshot, batches } = await oneSnapshot();
  const held = (place: number) => {
    const owner = `0x${place.toString(16).padStart(40, "0")}` as Address;
    return snapshot.readKept(token, callData(SELECTOR.balanceOf, addressWord(owner)), 1);
  };
  await Promise.all(Array.from({ length: 5_001 }, (_, place) => held(place + 1)));
  const before = batches();
  await held(5_000);
  expect(batches()).toBe(before);
  await held(5_001);
  expect(batches()).toBe(before + 1);
});
