import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { publicRoutersProfile } from "../../../src/adapters/swap-service/public-routers/service.ts";
import { createChain } from "../../../src/chain/chain.ts";
import { checkSimulation } from "../../../src/domain/guard/simulation.ts";
import { SIMULATION_METHODS, type SimulationMethod } from "../../../src/domain/guard/simulation-method.ts";
import { oneContract } from "../../../src/domain/guard/swap-contracts.ts";
import { type Address, type Hex, NATIVE_TOKEN } from "../../../src/domain/money/address.ts";
import { Secret } from "../../../src/net/secret.ts";
import type { CallRequest, Chain } from "../../../src/ports/chain.ts";
import { loadContract } from "../../../src/sandbox/artifacts.ts";
import { sqrtRatioAtTick } from "../../../src/service/pools/uniswap-v3/tick-math.ts";
import { pathOf } from "../../adapters/swap-service/public-routers/router-calls.ts";
import {
  all,
  one,
  refunded,
  several,
  slip,
  swept,
} from "../../adapters/swap-service/public-routers/slipstream-calls.ts";
import { startTestChain, type TestChain } from "../../service/support/chain.ts";
import { deployMarket, type Market } from "../../service/support/market.ts";
import { deploySwapRouter, loadSwapRouter } from "../../service/support/public-router.ts";
import { addSlipstreamPools, deploySlipstream } from "../../service/support/slipstream.ts";
import { systemClock } from "../../service/support/system-clock.ts";
import { balanceOf } from "../../service/support/wallet.ts";

const TOKEN = loadContract("PermitToken").abi;
const E18 = 10n ** 18n;
const E6 = 10n ** 6n;

let chain: TestChain;
let market: Market;
/** Slipstream's, a double; and Uniswap's in its own bytecode */
let router: Address;
let uniswap: Address;
let trying: Readonly<Record<SimulationMethod, Chain>>;

beforeAll(async () => {
  chain = await startTestChain(["--gas-price", "0", "--base-fee", "0"]);
  const exchange = await deploySlipstream(chain);
  market = await deployMarket(chain, [exchange.protocol]);
  await addSlipstreamPools(chain, market, exchange);
  const { weth, orphan } = market;
  await market.approve(orphan, exchange.hand);
  // So little liquidity that a swap of any size runs dry.
  const positions = [{ lower: -200, upper: 200, liquidity: 10n ** 9n }];
  await exchange.newPool([weth, orphan], { spacing: 200, sqrtPrice: sqrtRatioAtTick(0), positions });
  router = await exchange.deployRouter({ weth });
  uniswap = await deploySwapRouter(chain, market);
  const by = (way: SimulationMethod) =>
    createChain({ rpcUrls: [new Secret(chain.url)], chainId: 31_337, trialWays: [way] }, { clock: systemClock });
  trying = { simulate: by("simulate"), trace: by("trace"), probe: by("probe") };
});

afterAll(() => chain?.stop());

const soon = async (): Promise<bigint> => {
  const block = (await chain.rpc.call("eth_getBlockByNumber", ["latest", false])) as { timestamp: string };
  return BigInt(block.timestamp) + 3_600n;
};

function approving(token: Address, amount: bigint, spender = router): CallRequest {
  const data = TOKEN.encodeFunctionData("approve", [spender, amount]) as Hex;
  return { from: chain.deployer, to: token, data, value: 0n };
}

/** What the guard says to a swap that the decoder reads, bound to what it read. */
async function verdict(
  data: Hex,
  way: SimulationMethod,
  { value = 0n, to = router } = {},
): Promise<string | undefined> {
  const { weth, usdc, usdt, dai, orphan } = market;
  const pinned = { chainId: 31_337, contracts: oneContract(to), wrappedNative: weth };
  const proposed = { from: chain.deployer, to, data, value, chainId: 31_337, gasLimit: undefined };
  const decoding = publicRoutersProfile.decodeTransaction(proposed, pinned);
  if (!decoding.ok) return decoding.problem;
  const { swap } = decoding;
  const sale: CallRequest = { from: chain.deployer, to, data, value };
  const calls = value > 0n ? [sale] : [approving(swap.fromAsset, swap.amountIn, to), sale];
  const watched = {
    accounts: [chain.deployer, swap.recipient],
    tokens: [weth, usdc, usdt, dai, orphan],
    spenders: [to],
  };
  const outcome = await trying[way].simulate(calls, { watched });
  return checkSimulation(outcome, {
    ...{ ours: [chain.deployer], owner: chain.deployer, recipient: swap.recipient },
    ...{ sold: swap.fromAsset, bought: swap.toAsset, gross: swap.amountIn, minimum: swap.amountOutMin },
    ...{ allowanceLimit: swap.amountIn, spender: to, ways: SIMULATION_METHODS },
    tokens: { sold: { symbol: "SOLD", decimals: 0 }, bought: { symbol: "BGHT", decimals: 0 } },
    keepsNothing: { contracts: oneContract(to), wrappedNative: weth },
  })?.code;
}

describe("a swap through Slipstream's router", () => {
  test("of each form passes in each way of trying it out, and one that is late or brings less does not", async () => {
    const { usdc, weth, usdt } = market;
    const deadline = await soon();
    const to = { recipient: chain.deployer, deadline };
    const pair = { tokenIn: usdc, tokenOut: weth };
    const gross = 3_000n * E6;
    const legs = [100, 200].map((spacing) =>
      one({ ...pair, spacing, amountIn: gross, recipient: NATIVE_TOKEN, minimum: 0n, deadline }),
    );
    const forms = (minimum: bigint, until: bigint): readonly [Hex, bigint?][] => [
      [all(one({ ...to, ...pair, amountIn: gross, minimum, deadline: until }))],
      [all(several(pathOf(weth, 100, usdc, 1, usdt), { ...to, amountIn: E18, minimum, deadline: until }))],
      [all(...legs, swept(weth, minimum, chain.deployer))],
      [all(one({ ...to, tokenIn: weth, tokenOut: usdc, amountIn: E18, minimum, deadline: until }), refunded), E18],
    ];
    for (const way of SIMULATION_METHODS) {
      for (const [data, value] of forms(1n, deadline)) expect(await verdict(data, way, { value }), way).toBeUndefined();
      for (const [data, value] of forms(10n ** 24n, deadline))
        expect(await verdict(data, way, { value }), way).toBe("SIMULATION_REVERTED");
      for (const [index, [data, value]] of forms(1n, 1n).entries())
        if (index !== 2) expect(await verdict(data, way, { value }), way).toBe("SIMULATION_REVERTED");
    }
  });

  test("over a pool that runs dry on the way leaves a token in the router, which is denied where transfers are seen", async () => {
    const { usdc, weth, orphan } = market;
    const path = pathOf(usdc, 100, weth, 200, orphan);
    const data = all(
      several(path, { recipient: chain.deployer, deadline: await soon(), amountIn: 3_000n * E6, minimum: 1n }),
    );
    for (const way of ["simulate", "trace"] as const) expect(await verdict(data, way), way).toBe("SIMULATION_MISMATCH");
  });

  test("that sells coins in two legs takes wrapped coins of the wallet for the second: so it is not read", async () => {
    const { usdc, weth } = market;
    const leg = { tokenIn: weth, tokenOut: usdc, amountIn: E18, deadline: await soon() };
    const legs = [100, 200].map((spacing) => one({ ...leg, spacing, recipient: NATIVE_TOKEN, minimum: 0n }));
    const data = all(...legs, swept(usdc, 1n, chain.deployer), refunded);
    await chain.send({ to: weth, data: approving(weth, E18).data });
    const before = await balanceOf(chain, weth, chain.deployer);
    await chain.send({ to: router, data, value: 2n * E18 });
    expect(before - (await balanceOf(chain, weth, chain.deployer))).toBe(E18);
    expect(await verdict(data, "simulate", { value: 2n * E18 })).toContain("several legs");
  });
});

test("what is written for one router's form reverts at the other's, which has none of its legs", async () => {
  const { usdc, weth } = market;
  const deadline = await soon();
  const gross = 3_000n * E6;
  const slipstreams = all(
    one({ tokenIn: usdc, tokenOut: weth, amountIn: gross, minimum: 1n, recipient: chain.deployer, deadline }),
  );
  const leg = loadSwapRouter().abi.encodeFunctionData("exactInputSingle", [
    [usdc, weth, 500, chain.deployer, gross, 1n, 0n],
  ]);
  const uniswaps = loadSwapRouter().abi.encodeFunctionData("multicall(uint256,bytes[])", [deadline, [leg]]) as Hex;
  for (const way of SIMULATION_METHODS) {
    expect(await verdict(slipstreams, way), way).toBeUndefined();
    expect(await verdict(uniswaps, way, { to: uniswap }), way).toBeUndefined();
    expect(await verdict(slipstreams, way, { to: uniswap }), way).toBe("SIMULATION_REVERTED");
    expect(await verdict(uniswaps, way), way).toBe("SIMULATION_REVERTED");
  }
  expect(slip("multicall", []).slice(0, 10)).not.toBe(uniswaps.slice(0, 10));
});
