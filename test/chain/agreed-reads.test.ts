import { expect, test } from "vitest";
import { systemClock } from "../../src/adapters/clock/system-clock.ts";
import { createChain } from "../../src/chain/chain.ts";
import { type BoundedFetch, FetchError } from "../../src/net/bounded-fetch.ts";
import { Secret } from "../../src/net/secret.ts";
import { ANVIL_ACCOUNT, OTHER_ACCOUNT, startBareAnvil } from "../support/bare-anvil.ts";
import { NOW_MS } from "../support/builders.ts";
import { deploy } from "../support/contracts.ts";
import { ERC20 } from "../support/fake-ledger.ts";

test("the highest allowance is the most that any endpoint shows, whichever comes first and whatever the others say", async () => {
  const anvils = [await startBareAnvil(), await startBareAnvil()];
  const tokens = [];
  for (const anvil of anvils) tokens.push((await deploy(anvil, "PermitToken", ["USD Coin", "USDC", 6])).address);
  const [token, same] = tokens;
  if (token === undefined || token !== same) throw new Error("both chains have the token at the same place");
  const [one] = anvils;
  const data = ERC20.encodeFunctionData("approve", [OTHER_ACCOUNT, 5n]);
  await one?.rpc.call("eth_sendTransaction", [{ from: ANVIL_ACCOUNT, to: token, data }]);
  for (const anvil of anvils) await anvil.mine();
  for (const order of [anvils, anvils.toReversed()]) {
    const rpcUrls = order.map(({ url }) => new Secret(url));
    const reads = await createChain({ rpcUrls, chainId: 31337 }, { clock: systemClock }).agreed();
    const grant = { token, owner: ANVIL_ACCOUNT, spender: OTHER_ACCOUNT };
    expect(await reads.highestAllowance(grant, reads.latest.number)).toBe(5n);
    await expect(reads.allowance(grant, reads.latest.number)).rejects.toThrow("disagree");
  }
});

test("an endpoint whose final block is hours older than another's is named, and one that is minutes behind is not", async () => {
  const [ahead, behind] = [await startBareAnvil(), await startBareAnvil()];
  const rpcUrls = [ahead, behind].map(({ url }) => new Secret(url));
  const chain = createChain({ rpcUrls, chainId: 31337 }, { clock: systemClock });
  // Both have a newest block of now; the final one, two below it, is new on one of them alone.
  const passTime = async (seconds: number): Promise<void> => {
    for (const anvil of [ahead, behind]) {
      await anvil.mine(3);
      await anvil.rpc.call("evm_increaseTime", [seconds]);
    }
    await ahead.mine(3);
    await behind.mine();
  };
  await passTime(600);
  expect((await (await chain.agreed()).finalized()).heldBack).toBeUndefined();
  await passTime(7_200);
  const { heldBack, number } = await (await chain.agreed()).finalized();
  expect(heldBack).toMatch(new RegExp(`calls final is ${number}, 1[12]\\d minutes older than block \\d+ of`));
});

const CLOCK = { ...systemClock, nowMs: () => NOW_MS };
const NOW_SECONDS = Math.floor(NOW_MS / 1_000);

/** Nodes whose accounts have sent so many transactions, by the URL's host. */
function answering(nodes: Record<string, { chainId: number; aheadSeconds: number; count: number }>): BoundedFetch {
  return async ({ url, body = "" }) => {
    const { id, method } = JSON.parse(body);
    const { chainId = 0, aheadSeconds = 0, count = 0 } = nodes[new URL(url).hostname] ?? {};
    const hex = (value: number): string => `0x${value.toString(16)}`;
    const block = {
      ...{ number: "0x64", hash: `0x${"ab".repeat(32)}`, baseFeePerGas: "0x7" },
      timestamp: hex(NOW_SECONDS + aheadSeconds),
    };
    const results: Record<string, unknown> = { eth_chainId: hex(chainId), eth_getTransactionCount: hex(count) };
    const result = results[method] ?? block;
    return { status: 200, header: () => null, text: JSON.stringify({ jsonrpc: "2.0", id, result }) };
  };
}

test("an endpoint that fails over to another chain is asked nothing together with others, also within the minute after its id was checked", async () => {
  const node = { chainId: 1, aheadSeconds: 0, count: 7 };
  const rpcUrls = [new Secret("http://one.example")];
  const deps = { clock: CLOCK, fetch: answering({ "one.example": node }) };
  const chain = createChain({ rpcUrls, chainId: 1 }, deps);
  expect(await (await chain.agreed()).transactionCount(ANVIL_ACCOUNT, 100)).toBe(7);
  node.chainId = 8453;
  await expect(chain.agreed()).rejects.toMatchObject({ code: "wrong chain" });
  node.chainId = 1;
  expect(await (await chain.agreed()).transactionCount(ANVIL_ACCOUNT, 100)).toBe(7);
});

test("an endpoint whose newest block is of the future leaves none of the others out", async () => {
  const nodes = {
    "one.example": { chainId: 1, aheadSeconds: -12, count: 7 },
    "two.example": { chainId: 1, aheadSeconds: 119, count: 8 },
  };
  const rpcUrls = Object.keys(nodes).map((host) => new Secret(`http://${host}`));
  const chain = createChain({ rpcUrls, chainId: 1 }, { clock: CLOCK, fetch: answering(nodes) });
  const reads = await chain.agreed();
  await expect(reads.transactionCount(ANVIL_ACCOUNT, 100)).rejects.toMatchObject({ code: "disagreement" });
});

test("which endpoints did not list logs is told: one that is away, one that is far behind, one that refuses, and no other", async () => {
  const nodes = Object.fromEntries(
    ["one", "two", "late"].map((name) => [
      `${name}.example`,
      { chainId: 1, aheadSeconds: name === "late" ? -600 : 0, count: 7 },
    ]),
  );
  let isRefused = false;
  const fetch: BoundedFetch = async (request) => {
    const host = new URL(request.url).hostname;
    if (host === "away.example") throw new FetchError("transport", host, "it is away");
    const { id, method } = JSON.parse(request.body ?? "");
    if (method !== "eth_getLogs") return await answering(nodes)(request);
    const said =
      isRefused && host === "two.example" ? { error: { code: -32005, message: "too many" } } : { result: [] };
    return { status: 200, header: () => null, text: JSON.stringify({ jsonrpc: "2.0", id, ...said }) };
  };
  const rpcUrls = ["one", "two", "late", "away"].map((name) => new Secret(`http://${name}.example`));
  const reads = await createChain({ rpcUrls, chainId: 1 }, { clock: CLOCK, fetch }).agreed();
  const list = () => reads.logs({ address: OTHER_ACCOUNT, topics: [], fromBlock: 90, toBlock: 100 });
  expect(await list()).toEqual([]);
  expect(reads.unlistedBy()).toEqual(["late.example", "away.example"]);
  isRefused = true;
  await list();
  isRefused = false;
  await list();
  expect(reads.unlistedBy()).toEqual(["late.example", "away.example", "two.example"]);
});
