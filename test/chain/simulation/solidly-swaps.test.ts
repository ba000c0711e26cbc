import { afterAll, beforeAll, expect, test } from "vitest";
import { publicRoutersProfile } from "../../../src/adapters/swap-service/public-routers/service.ts";
import { createChain } from "../../../src/chain/chain.ts";
import { checkSimulation } from "../../../src/domain/guard/simulation.ts";
import { SIMULATION_METHODS, type SimulationMethod } from "../../../src/domain/guard/simulation-method.ts";
import { oneContract } from "../../../src/domain/guard/swap-contracts.ts";
import type { Address, Hex } from "../../../src/domain/money/address.ts";
import { Secret } from "../../../src/net/secret.ts";
import type { CallRequest, Chain } from "../../../src/ports/chain.ts";
import { loadContract } from "../../../src/sandbox/artifacts.ts";
import { sortTokens } from "../../../src/service/pools/pool.ts";
import {
  coinsBought,
  coinsSold,
  type Hop,
  hop,
  type Sale,
  tokens,
} from "../../adapters/swap-service/public-routers/solidly-calls.ts";
import { startTestChain, type TestChain } from "../../service/support/chain.ts";
import { deployMarket, type Market } from "../../service/support/market.ts";
import { newOddToken, setHabits } from "../../service/support/odd-token.ts";
import { addSolidlyPools, deploySolidly, type Solidly } from "../../service/support/solidly.ts";
import { systemClock } from "../../service/support/system-clock.ts";
import { balanceOf } from "../../service/support/wallet.ts";

const TOKEN = loadContract("PermitToken").abi;
const E18 = 10n ** 18n;
const GROSS = 3_000n * 10n ** 6n;

let chain: TestChain;
let market: Market;
let exchange: Solidly;
let router: Address;
let trying: Readonly<Record<SimulationMethod, Chain>>;
let deadline: bigint;

beforeAll(async () => {
  chain = await startTestChain(["--gas-price", "0", "--base-fee", "0"]);
  exchange = await deploySolidly(chain);
  market = await deployMarket(chain, [exchange.protocol]);
  await addSolidlyPools(chain, market, exchange);
  router = await exchange.deployRouter(market.weth);
  const by = (way: SimulationMethod) =>
    createChain({ rpcUrls: [new Secret(chain.url)], chainId: 31_337, trialWays: [way] }, { clock: systemClock });
  trying = { simulate: by("simulate"), trace: by("trace"), probe: by("probe") };
  const block = (await chain.rpc.call("eth_getBlockByNumber", ["latest", false])) as { timestamp: string };
  deadline = BigInt(block.timestamp) + 3_600n;
}, 60_000);

afterAll(() => chain?.stop());

const way = (...met: readonly Address[]): readonly Hop[] =>
  met.slice(1).map((to, index) => {
    const from = met[index]!;
    return hop(from, to, ![from, to].includes(market.weth), exchange.protocol.factory);
  });

/** What the guard says to a swap that the decoder reads, bound to what it read. */
async function verdict(data: Hex, method: SimulationMethod, value = 0n): Promise<string | undefined> {
  const { weth, usdc, usdt, dai } = market;
  const contracts = oneContract(router);
  const sale: CallRequest = { from: chain.deployer, to: router, data, value };
  const decoding = publicRoutersProfile.decodeTransaction(
    { ...sale, chainId: 31_337, gasLimit: undefined },
    { chainId: 31_337, contracts, wrappedNative: weth },
  );
  if (!decoding.ok) return decoding.problem;
  const { swap } = decoding;
  const approve = TOKEN.encodeFunctionData("approve", [router, swap.amountIn]) as Hex;
  const calls = value > 0n ? [sale] : [{ ...sale, to: swap.fromAsset, data: approve }, sale];
  const watched = { accounts: [chain.deployer, swap.recipient], tokens: [weth, usdc, usdt, dai], spenders: [router] };
  return checkSimulation(await trying[method].simulate(calls, { watched }), {
    ...{ ours: [chain.deployer], owner: chain.deployer, recipient: swap.recipient },
    ...{ sold: swap.fromAsset, bought: swap.toAsset, gross: swap.amountIn, minimum: swap.amountOutMin },
    ...{ allowanceLimit: swap.amountIn, spender: router, ways: SIMULATION_METHODS },
    tokens: { sold: { symbol: "SOLD", decimals: 0 }, bought: { symbol: "BGHT", decimals: 0 } },
    keepsNothing: { contracts, wrappedNative: weth },
  })?.code;
}

test("a swap of each form passes in each way of trying it out, and one that is late or brings less does not", async () => {
  const { usdc, weth, usdt, dai } = market;
  const forms = (changes: Partial<Sale>): readonly [Hex, bigint?][] => {
    const sale = { amountIn: GROSS, minimum: 1n, to: chain.deployer, deadline, ...changes };
    return [
      [tokens({ ...sale, routes: way(usdc, weth) })],
      [tokens({ ...sale, routes: way(usdc, dai) })],
      [tokens({ ...sale, amountIn: E18, routes: way(weth, usdc, usdt) })],
      [coinsBought({ ...sale, routes: way(usdc, weth) })],
      [coinsSold({ ...sale, routes: way(weth, usdc) }), E18],
    ];
  };
  for (const method of SIMULATION_METHODS) {
    for (const [data, value] of forms({})) expect(await verdict(data, method, value), method).toBeUndefined();
    for (const changes of [{ minimum: 10n ** 24n }, { deadline: 1n }])
      for (const [data, value] of forms(changes))
        expect(await verdict(data, method, value), method).toBe("SIMULATION_REVERTED");
  }
});

test("the short form pays less than its minimum where a token takes a part of what is sent: so it is not read", async () => {
  const { usdc } = market;
  const taxed = await newOddToken(chain, market);
  await market.approve(taxed, exchange.hand);
  const pair = sortTokens(usdc, taxed);
  const held = (token: Address) => (token === usdc ? GROSS * 10n : 10n ** 22n);
  const pool = await exchange.newPool(pair, false, [held(pair[0]), held(pair[1])]);
  await setHabits(chain, taxed, { pool, taxOnBuying: 1_000n });
  await chain.send({ to: usdc, data: TOKEN.encodeFunctionData("approve", [router, GROSS]) as Hex });
  const kept = GROSS - (GROSS * 30n) / 10_000n;
  const said = (held(taxed) * kept) / (held(usdc) + kept);
  const routes = [hop(usdc, taxed, false, exchange.protocol.factory)];
  const sale = { amountIn: GROSS, minimum: said, to: chain.deployer, deadline, routes };
  const before = await balanceOf(chain, taxed, chain.deployer);
  expect(await verdict(tokens(sale, ""), "simulate")).toContain("selector");
  expect(await verdict(tokens(sale), "simulate")).toBe("SIMULATION_REVERTED");
  await chain.send({ to: router, data: tokens(sale, "") });
  expect((await balanceOf(chain, taxed, chain.deployer)) - before).toBeLessThan(said);
});
