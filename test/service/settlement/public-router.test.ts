import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, type TestContext, test } from "vitest";
import { type Address, NATIVE_TOKEN, toAddress } from "../../../src/domain/money/address.ts";
import type { Clock } from "../../../src/ports/clock.ts";
import type { NetworkOptions } from "../../../src/service/options.ts";
import type { Protocol } from "../../../src/service/pools/pool.ts";
import { type Service, startService } from "../../../src/service/service.ts";
import { startTestChain, type TestChain } from "../support/chain.ts";
import { createClient } from "../support/client.ts";
import { deployMarket, type Market, serviceOptions } from "../support/market.ts";
import { addPancakePools, deployPancake, type Pancake } from "../support/pancake.ts";
import { deploySwapRouter, loadSwapRouter } from "../support/public-router.ts";
import { createRecordingLogger } from "../support/recording-logger.ts";
import { addSlipstreamPools, deploySlipstream, type Slipstream } from "../support/slipstream.ts";
import { systemClock } from "../support/system-clock.ts";

let chain: TestChain;
let market: Market;
let right: Address;
const directory = mkdtempSync(join(tmpdir(), "swapd-router-facts-"));

beforeAll(async () => {
  chain = await startTestChain();
  market = await deployMarket(chain);
  right = await deploySwapRouter(chain, market);
});

afterAll(async () => {
  await chain?.stop();
  rmSync(directory, { recursive: true });
});

const factory = (kind: number): Address => market.protocols.find((one) => one.kind === kind)?.factory ?? NATIVE_TOKEN;

let deployed: Promise<unknown> = Promise.resolve();

/** One deployment at a time: each has the account's next nonce. */
function inTurn<T>(deploy: () => Promise<T>): Promise<T> {
  const next = deployed.then(deploy);
  deployed = next.catch(() => undefined);
  return next;
}

/** A router over other contracts than the market's. */
async function routerOver({ v2 = factory(1), v3 = factory(2), weth = market.weth }): Promise<Address> {
  return inTurn(() => chain.deploy(loadSwapRouter(), [v2, v3, NATIVE_TOKEN, weth]));
}

/** Nothing stands there. */
const NOWHERE = toAddress(`0x${"9".repeat(40)}`);

let services = 0;

/** The test's own context: they run alongside each other, because each waits for seconds until a quote is given up. */
type Running = Pick<TestContext, "onTestFinished">;

async function serve(
  { onTestFinished }: Running,
  router: NetworkOptions["router"],
  changes: Pick<Partial<NetworkOptions>, "protocols" | "furtherRouters"> = {},
  clock: Clock = systemClock,
): Promise<Service> {
  services += 1;
  const database = join(directory, `service-${services}.db`);
  const network = { settlement: undefined, executor: undefined, router, ...changes };
  const options = serviceOptions(chain, market, { database, network });
  const service = await startService(options, { logger: createRecordingLogger(), clock });
  onTestFinished(() => service.stop());
  return service;
}

/** What the operator is told, and nobody else. */
async function messageOf({ failed }: Service): Promise<string> {
  return String(await failed);
}

async function quote({ url }: Service, changes: Record<string, string> = {}) {
  const client = await createClient(url);
  return client.get("/aggregator/quote", {
    fromTokenAddress: market.usdc,
    toTokenAddress: market.weth,
    amount: "3000000000",
    slippage: "0.005",
    fromAddress: chain.deployer,
    gasless: "false",
    ...changes,
  });
}

describe.concurrent("a public router is held against its network before anything is quoted for it", () => {
  test.for([
    { name: "that wraps another coin", over: () => ({ weth: market.dai }), says: "wraps into" },
    {
      name: "of other factories",
      over: () => ({ v2: market.dai, v3: market.usdc }),
      says: "the network's factories are none of them",
    },
  ])("one $name is refused", async ({ over, says }, running) => {
    const address = await routerOver(over());
    const service = await serve(running, { address, codeHash: undefined });
    expect((await quote(service)).status).toBeGreaterThanOrEqual(500);
    expect(await messageOf(service)).toContain(address);
    expect(await messageOf(service)).toContain(says);
  });

  test("one without code is refused", async (running) => {
    const service = await serve(running, { address: chain.deployer, codeHash: undefined });
    expect((await quote(service)).status).toBeGreaterThanOrEqual(500);
    expect(await messageOf(service)).toContain(
      "is this Uniswap's SwapRouter02, or PancakeSwap's SmartRouter, or Slipstream's SwapRouter, or Solidly's router?",
    );
  });

  test("one with other code than is stated is refused, and with the stated one it trades", async (running) => {
    const wrong = await serve(running, { address: right, codeHash: `0x${"12".repeat(32)}` });
    expect((await quote(wrong)).status).toBeGreaterThanOrEqual(500);
    const message = await messageOf(wrong);
    expect(message).toContain(`not 0x${"12".repeat(32)}`);
    const [hash] = /0x[0-9a-f]{64}/.exec(message) ?? [];
    const same = await serve(running, { address: right, codeHash: hash as `0x${string}` });
    expect(await quote(same)).toMatchObject({ status: 200, body: { targetAddress: right } });
  });

  test("pools of a factory that it does not know stay out of routes", async (running) => {
    const older = await serve(running, { address: await routerOver({ v2: NATIVE_TOKEN }), codeHash: undefined });
    expect(await quote(older)).toMatchObject({ status: 200 });
    // Only pairs of the second version have this token.
    expect(await quote(older, { toTokenAddress: market.dai })).toMatchObject({ body: { error: "NO_ROUTE" } });
    const newer = await serve(running, { address: right, codeHash: undefined });
    expect(await quote(newer, { toTokenAddress: market.dai })).toMatchObject({ status: 200 });
  });
});

describe.concurrent("a router of PancakeSwap is held against its factory and against who deploys its pools", () => {
  let pancake: Pancake;

  beforeAll(async () => {
    // Tests of the other group deploy meanwhile.
    pancake = await inTurn(() => deployPancake(chain));
    await inTurn(() => addPancakePools(chain, market, pancake));
  });

  const refusal = async (running: Running, address: Address, protocols: readonly Protocol[]): Promise<string> => {
    const service = await serve(running, { address, codeHash: undefined }, { protocols });
    expect((await quote(service)).status).toBeGreaterThanOrEqual(500);
    return messageOf(service);
  };

  test("one of its own factories trades", async (running) => {
    const router = await inTurn(() => pancake.deployRouter({ weth: market.weth }));
    const protocols = [...market.protocols, ...pancake.protocols];
    const service = await serve(running, { address: router, codeHash: undefined }, { protocols });
    const { status, body } = await quote(service);
    expect({ status, target: body.targetAddress }).toEqual({ status: 200, target: router });
  });

  test("one that computes pools of another deployer is refused: what it trades with is unknown", async (running) => {
    const router = await inTurn(() => pancake.deployRouter({ weth: market.weth, deployer: market.minter }));
    const says = await refusal(running, router, pancake.protocols);
    expect(says).toContain(`computes pools of the deployer ${market.minter}, and its factory's is ${pancake.deployer}`);
  });

  test("a factory whose kind is another maker's is named", async (running) => {
    const router = await inTurn(() => pancake.deployRouter({ weth: market.weth }));
    const [v2, v3] = pancake.protocols;
    const says = await refusal(running, router, [{ ...v2, kind: 1 }, v3]);
    expect(says).toContain("the kind of a factory is wrong");
  });

  test("Uniswap's router over a factory that is called PancakeSwap's is refused", async (running) => {
    const says = await refusal(running, right, [{ kind: 4, factory: factory(2), feePips: 0 }]);
    expect(says).toContain("has no deployer(): is this PancakeSwap's SmartRouter?");
  });
});

describe.concurrent("a router of Slipstream is held against its factory, alone and beside another", () => {
  let exchange: Slipstream;
  let slipstreams: Address;

  beforeAll(async () => {
    exchange = await inTurn(() => deploySlipstream(chain));
    await inTurn(() => addSlipstreamPools(chain, market, exchange));
    slipstreams = await inTurn(() => exchange.deployRouter({ weth: market.weth }));
  });

  const protocols = (): readonly Protocol[] => [...market.protocols, exchange.protocol];
  const unpinned = (address: Address) => ({ address, codeHash: undefined });

  test("one of its own factory trades, alone and beside Uniswap's", async (running) => {
    const alone = await serve(running, unpinned(slipstreams), { protocols: protocols() });
    expect(await quote(alone)).toMatchObject({ status: 200, body: { targetAddress: slipstreams } });
    const furtherRouters = [unpinned(slipstreams)];
    const both = await serve(running, unpinned(right), { protocols: protocols(), furtherRouters });
    const liquiditySources = "slipstream";
    expect(await quote(both, { liquiditySources })).toMatchObject({
      status: 200,
      body: { targetAddress: slipstreams },
    });
  });

  test("Uniswap's router over a factory that is called Slipstream's is refused, and so is the other way round", async (running) => {
    const wrong = { protocols: [{ ...exchange.protocol, factory: factory(2) }] };
    const uniswaps = await serve(running, unpinned(right), wrong);
    expect((await quote(uniswaps)).status).toBeGreaterThanOrEqual(500);
    expect(await messageOf(uniswaps)).toContain("has a factoryV2(): is this Slipstream's SwapRouter?");
    const named = await serve(running, unpinned(slipstreams), { protocols: [{ ...exchange.protocol, kind: 2 }] });
    expect((await quote(named)).status).toBeGreaterThanOrEqual(500);
    expect(await messageOf(named)).toContain("has no factoryV2(): is this Uniswap's SwapRouter02?");
  });

  test.for([
    { name: "wraps another coin", over: () => inTurn(() => exchange.deployRouter({ weth: market.dai })) },
    { name: "is not there", over: async () => NOWHERE },
    { name: "has other code than is stated", over: async () => slipstreams, codeHash: `0x${"12".repeat(32)}` as const },
  ])("a further one that $name is left out, and all goes on without it", async ({ over, codeHash }, running) => {
    const furtherRouters = [{ address: await over(), codeHash }];
    const service = await serve(running, unpinned(right), { protocols: protocols(), furtherRouters });
    expect(await quote(service)).toMatchObject({ status: 200, body: { targetAddress: right } });
    expect(await quote(service, { liquiditySources: "slipstream" })).toMatchObject({ body: { error: "NO_ROUTE" } });
  });

  test("a further one that was left out at the start is used once it is there, without another start", async (running) => {
    const address = toAddress(`0x${"8".repeat(40)}`);
    let aheadMs = 0;
    const clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + aheadMs };
    const furtherRouters = [unpinned(address)];
    const service = await serve(running, unpinned(right), { protocols: protocols(), furtherRouters }, clock);
    const slipstream = { liquiditySources: "slipstream" };
    expect(await quote(service, slipstream)).toMatchObject({ body: { error: "NO_ROUTE" } });
    const code = await chain.rpc.call("eth_getCode", [slipstreams, "latest"]);
    await chain.rpc.call("anvil_setCode", [address, code]);
    expect(await quote(service, slipstream), "not with every quote").toMatchObject({ body: { error: "NO_ROUTE" } });
    aheadMs = 11 * 60_000;
    // Answers of a block are kept: the next block's quotes see what is there now.
    await chain.rpc.call("anvil_mine", ["0x1"]);
    await running.expect
      .poll(() => quote(service, slipstream), { timeout: 10_000 })
      .toMatchObject({ status: 200, body: { targetAddress: address } });
    expect(await quote(service)).toMatchObject({ status: 200, body: { targetAddress: right } });
  });
});
