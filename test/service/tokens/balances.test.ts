import { afterAll, beforeAll, expect, test } from "vitest";
import { type Address, NATIVE_TOKEN } from "../../../src/domain/money/address.ts";
import { type JsonRpc, RpcError } from "../../../src/net/json-rpc.ts";
import { loadContract } from "../../../src/sandbox/artifacts.ts";
import { createSnapshots } from "../../../src/service/pools/snapshots.ts";
import { createBalances } from "../../../src/service/tokens/balances.ts";
import { startTestChain, type TestChain } from "../support/chain.ts";
import { systemClock } from "../support/system-clock.ts";
import { createWallet } from "../support/wallet.ts";

let chain: TestChain;

beforeAll(async () => {
  chain = await startTestChain();
}, 60_000);

afterAll(() => chain?.stop());

test("of a wallet are asked for once a block, however often and by however many, and again after a failure", async () => {
  const contract = loadContract("PermitToken");
  const token = await chain.deploy(contract, ["Token", "TK", 18]);
  let [asked, isDown] = [0, true];
  const rpc: JsonRpc = {
    host: chain.rpc.host,
    call: (...request) => chain.rpc.call(...request),
    batch: (requests, ...more) => {
      const isMine = requests.some(({ method }) => method === "eth_getBalance");
      if (isMine) asked += 1;
      if (isMine && isDown) return Promise.reject(new RpcError({ kind: "transport", host: "node", message: "down" }));
      return chain.rpc.batch(requests, ...more);
    },
  };
  const snapshots = createSnapshots({ rpc, chainId: 31_337 }, systemClock);
  const balances = createBalances([NATIVE_TOKEN, token], { rpc, snapshots });
  const [one, other] = [createWallet().address, createWallet().address];
  const amountsOf = async (...wallets: Address[]) => (await balances.of(wallets)).map(({ amount }) => amount);
  await chain.send({ to: one, value: 5n });
  await expect(balances.of([one])).rejects.toThrow("down");
  isDown = false;
  expect(await Promise.all([amountsOf(one), amountsOf(one, other), amountsOf(other, one)])).toEqual([[5n], [5n], [5n]]);
  expect(asked).toBe(3);
  expect(await amountsOf(one, other)).toEqual([5n]);
  expect(asked).toBe(3);
  await chain.send({ to: token, data: contract.abi.encodeFunctionData("mint", [other, 7n]) as `0x${string}` });
  await expect.poll(() => amountsOf(one, other)).toEqual([5n, 7n]);
  snapshots.stop();
}, 20_000);
