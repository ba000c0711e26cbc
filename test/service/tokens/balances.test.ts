import { afterAll, beforeAll, expect, test } from "vitest";
import { type JsonRpc, RpcError } from "../../../src/chain/json-rpc.ts";
import { type Address, NATIVE_TOKEN, toAddress } from "../../../src/domain/money/address.ts";
import { loadContract } from "../../../src/sandbox/artifacts.ts";
import { createSnapshots } from "../../../src/service/pools/snapshots.ts";
import { createBalances } from "../../../src/service/tokens/balances.ts";
import { startTestChain, type TestChain } from "../support/chain.ts";
import { systemClock } from "../support/system-clock.ts";
import { createWallet } from "../support/wallet.ts";

let chain: TestChain;

beforeAll(async () => {
  chain = await startTestChain();
});

afterAll(() => chain?.stop());

/** The test chain's node, with a count of the questions for native balances, and a switch. */
function countingNode(): { rpc: JsonRpc; seen: { asked: number; isDown: boolean } } {
  const seen = { asked: 0, isDown: false };
  const rpc: JsonRpc = {
    host: chain.rpc.host,
    call: (...request) => chain.rpc.call(...request),
    batch: (requests, ...more) => {
      const isMine = requests.some(({ method }) => method === "eth_getBalance");
      if (isMine) seen.asked += 1;
      if (!isMine || !seen.isDown) return chain.rpc.batch(requests, ...more);
      return Promise.reject(new RpcError({ kind: "transport", host: "node", message: "down" }));
    },
  };
  return { rpc, seen };
}

test("of a wallet are asked for once a block, however often and by however many, and again after a failure", async () => {
  const contract = loadContract("PermitToken");
  const token = await chain.deploy(contract, ["Token", "TK", 18]);
  const { rpc, seen } = countingNode();
  const snapshots = createSnapshots({ rpc, chainId: 31_337 }, systemClock);
  const balances = createBalances([NATIVE_TOKEN, token], { snapshots });
  const [one, other] = [createWallet().address, createWallet().address];
  const amountsOf = async (...wallets: Address[]) => (await balances.of(wallets)).map(({ amount }) => amount);
  await chain.send({ to: one, value: 5n });
  seen.isDown = true;
  await expect(balances.of([one])).rejects.toThrow("down");
  seen.isDown = false;
  expect(await Promise.all([amountsOf(one), amountsOf(one, other), amountsOf(other, one)])).toEqual([[5n], [5n], [5n]]);
  expect(seen.asked).toBe(3);
  expect(await amountsOf(one, other)).toEqual([5n]);
  expect(seen.asked).toBe(3);
  await chain.send({ to: token, data: contract.abi.encodeFunctionData("mint", [other, 7n]) as `0x${string}` });
  await expect.poll(() => amountsOf(one, other)).toEqual([5n, 7n]);
  snapshots.stop();
});

test("are remembered of so many wallets at a block and no more: a stranger with many addresses fills no memory", async () => {
  const { rpc, seen } = countingNode();
  const snapshots = createSnapshots({ rpc, chainId: 31_337 }, systemClock);
  const balances = createBalances([NATIVE_TOKEN], { snapshots });
  const wallets = Array.from({ length: 5_001 }, (_, index) =>
    toAddress(`0x${(0xabc0_0000 + index).toString(16).padStart(40, "0")}`),
  );
  await balances.of(wallets);
  await balances.of(wallets.slice(0, 5_000));
  expect(seen.asked).toBe(1);
  await balances.of(wallets.slice(5_000));
  await balances.of(wallets.slice(5_000));
  expect(seen.asked).toBe(3);
  snapshots.stop();
});
