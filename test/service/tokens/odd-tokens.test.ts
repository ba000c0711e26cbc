import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { Address } from "../../../src/domain/money/address.ts";
import { sqrtRatioAtTick } from "../../../src/service/pools/uniswap-v3/tick-math.ts";
import { type Service, startService } from "../../../src/service/service.ts";
import { PROBE_ADDRESS } from "../../../src/service/tokens/transfer-probe.ts";
import { startTestChain, type TestChain } from "../support/chain.ts";
import { type Client, createClient } from "../support/client.ts";
import { newGuardedToken } from "../support/guarded-token.ts";
import { createHandClock } from "../support/hand-clock.ts";
import { type LyingNode, startLyingNode } from "../support/lying-node.ts";
import { deployMarket, type Market, serviceOptions } from "../support/market.ts";
import { type Habits, newOddToken, setHabits } from "../support/odd-token.ts";
import { createRecordingLogger } from "../support/recording-logger.ts";

const E18 = 10n ** 18n;
const A_MINUTE_MS = 61_000;
const LONG_MS = 11 * 60_000;
const folder = mkdtempSync(join(tmpdir(), "swapd-odd-tokens-"));
const WARNING = "transfers of tokens cannot be simulated; quotes go on, and only the contracts check what arrives";

let chain: TestChain;
let market: Market;
let node: LyingNode;
let service: Service;
let client: Client;
let logger: ReturnType<typeof createRecordingLogger>;
let nowMs = 1_000_000;
const clock = { ...createHandClock(1_900_000_000_000), monotonicMs: () => nowMs };
/** traded for WETH in a pair, and in a V3 pool; the last is a hub token, and the only way to one more token */
let inPair: Address;
let inPool: Address;
let hub: Address;
let behindHub: Address;
/** uses more gas than others, and is nobody's before its test */
let guarded: Address;
const homes = new Map<Address, Address>();

async function start(name: string): Promise<void> {
  logger = createRecordingLogger();
  const network = { rpcUrls: [node.url], hubTokens: [market.weth, market.usdc, hub] };
  const options = serviceOptions(chain, market, { database: join(folder, `${name}.db`), network });
  service = await startService(options, { logger, clock });
  client = await createClient(service.url);
}

beforeAll(async () => {
  chain = await startTestChain();
  market = await deployMarket(chain);
  const { weth } = market;
  [inPair, inPool, hub] = [
    await newOddToken(chain, market),
    await newOddToken(chain, market),
    await newOddToken(chain, market),
  ];
  behindHub = await market.newToken(18);
  const amounts = { amountA: 100n * E18, amountB: 100n * E18 };
  homes.set(inPair, await market.newPair(inPair, weth, amounts));
  const positions = [{ lower: -6000, upper: 6000, liquidity: 1_000n * E18 }];
  const plan = { fee: 3000, sqrtPrice: sqrtRatioAtTick(0), positions };
  homes.set(inPool, await market.newPool(inPool, weth, plan));
  homes.set(hub, await market.newPair(hub, weth, amounts));
  await market.newPair(hub, behindHub, { amountA: 10n * E18, amountB: 10n * E18 });
  guarded = await newGuardedToken(chain, market);
  await market.newPair(guarded, weth, { amountA: 10n ** 20n, amountB: 100n * E18 });
  node = await startLyingNode(() => chain.url);
  await start("main");
});

afterAll(async () => {
  await service?.stop();
  await node?.stop();
  await chain?.stop();
  rmSync(folder, { recursive: true });
});

afterEach(async () => {
  node.lie(undefined);
  for (const token of homes.keys()) await setHabits(chain, token, {});
  nowMs += LONG_MS;
});

async function quote(fromTokenAddress: Address, toTokenAddress: Address) {
  const parameters = { amount: "100000000000000000", slippage: "0.01", gasless: "false" };
  const { status, body } = await client.get("/aggregator/quote", { ...parameters, fromTokenAddress, toTokenAddress });
  const { error, parameter, message, fees } = body;
  return { status, error, parameter, message, gas: fees?.find((fee: { type: string }) => fee.type === "gas")?.value };
}

const isSimulation = (params: readonly unknown[]) => (params[0] as { to?: string } | undefined)?.to === PROBE_ADDRESS;

const bought = (token: Address) => quote(market.weth, token);
const sold = (token: Address) => quote(token, market.weth);

describe.each(["in a pair", "in a V3 pool"])("a token %s", (where) => {
  const token = () => (where === "in a pair" ? inPair : inPool);
  const cases: readonly [string, (pool: Address) => Habits, string][] = [
    ["that taxes", () => ({ pool: homes.get(token())!, taxOnBuying: 30_000n }), "TOKEN_TAXED"],
    ["that taxes sales only", () => ({ pool: homes.get(token())!, taxOnSelling: 30_000n }), "TOKEN_TAXED"],
    ["that counts in shares", () => ({ rate: E18 + 123_456_789_012_345n }), "TOKEN_INEXACT"],
    ["that can only be bought", () => ({ pool: homes.get(token())!, unsellable: true }), "TOKEN_UNSELLABLE"],
    ["that is paused", () => ({ paused: true }), "TOKEN_FROZEN"],
    ["that blocks the executor", () => ({ blocked: market.executor }), "TOKEN_FROZEN"],
  ];
  test.each(cases)(
    "%s is refused by name, whatever the direction, and quoted without the habit",
    async (_, habits, error) => {
      expect(await bought(token())).toMatchObject({ status: 200 });
      await setHabits(chain, token(), habits(token()));
      // After the block: what the service read before it is old by now.
      nowMs += LONG_MS;
      expect(await bought(token())).toMatchObject({ status: 400, error, parameter: "toTokenAddress" });
      const refused = await sold(token());
      expect(refused).toMatchObject({ status: 400, error, parameter: "fromTokenAddress" });
      expect(refused.message).toContain(token());
    },
  );
});

test("a tax that is switched on later is seen within a minute, alongside the quotes, and so is its end", async () => {
  expect(await sold(inPair)).toMatchObject({ status: 200 });
  await setHabits(chain, inPair, { taxOnPulling: 25_000n });
  expect(await sold(inPair)).toMatchObject({ status: 200 });
  nowMs += A_MINUTE_MS;
  // This one asks for the check, and does not wait for it.
  expect(await sold(inPair)).toMatchObject({ status: 200 });
  await expect.poll(() => sold(inPair)).toMatchObject({ status: 400, error: "TOKEN_TAXED" });
  expect((await sold(inPair)).message).toContain("takes 2.5% of what is moved from a wallet by transferFrom");
  await setHabits(chain, inPair, {});
  expect(await sold(inPair)).toMatchObject({ status: 400 });
  nowMs += A_MINUTE_MS;
  // A refusal waits for the check: the next quote of this token may come in a week.
  expect(await sold(inPair)).toMatchObject({ status: 200 });
});

test("what a token uses beyond a usual one is in its first quote, though its simulation is answered last", async () => {
  const isItsProbe = (params: readonly unknown[]) => JSON.stringify(params).includes(`"data":"${guarded}`);
  node.lie(({ params }) => (isSimulation(params) && isItsProbe(params) ? sleep(200, undefined) : undefined));
  const first = await quote(guarded, market.weth);
  expect(first).toMatchObject({ status: 200, gas: expect.any(String) });
  // A block that the service saw meanwhile moves the price of gas a little; without the simulation it would be a tenth less.
  const { gas } = await quote(guarded, market.weth);
  expect(Number(first.gas) / Number(gas)).toBeCloseTo(1, 3);
});

test("no path goes through a hub token that taxes", async () => {
  expect(await bought(behindHub)).toMatchObject({ status: 200 });
  await setHabits(chain, hub, { taxOnPulling: 10_000n });
  // A service that has not seen that block yet finds the hub in order, for as long again.
  const boughtLater = () => {
    nowMs += LONG_MS;
    return bought(behindHub);
  };
  await expect.poll(boughtLater).toMatchObject({ status: 400, error: "NO_ROUTE" });
});

test("the tokens of the market pass, and a pair that was quoted before asks the node nothing", async () => {
  const tokens = [market.weth, market.usdc, market.dai, market.usdt];
  for (const token of tokens.slice(1)) expect(await sold(token)).toMatchObject({ status: 200 });
  const before = node.requests("eth_call");
  for (const token of tokens.slice(1)) expect(await sold(token)).toMatchObject({ status: 200 });
  expect(node.requests("eth_call")).toBe(before);
});

describe("a node", () => {
  test("that answers simulations with nonsense gives no verdict: quotes go on, and the log says it once", async () => {
    await setHabits(chain, inPair, { paused: true });
    node.lie(({ params }) => (isSimulation(params) ? { answer: "0x1234" } : undefined));
    for (let count = 0; count < 3; count += 1) expect(await sold(inPair)).toMatchObject({ status: 200 });
    expect(logger.lines.filter(({ message }) => message === WARNING)).toHaveLength(1);
    node.lie(undefined);
    nowMs += A_MINUTE_MS;
    expect(await sold(inPair)).toMatchObject({ status: 400, error: "TOKEN_FROZEN" });
  });

  test("that can try tokens no longer does not keep one refused for ever", async () => {
    await setHabits(chain, inPair, { paused: true });
    expect(await sold(inPair)).toMatchObject({ status: 400, error: "TOKEN_FROZEN" });
    node.lie(({ params }) => (isSimulation(params) ? { answer: "0x1234" } : undefined));
    nowMs += A_MINUTE_MS;
    expect(await sold(inPair)).toMatchObject({ status: 400, error: "TOKEN_FROZEN" });
    nowMs += LONG_MS;
    expect(await sold(inPair)).toMatchObject({ status: 200 });
  });

  test("that cannot lend code is no reason to stop: quotes go on, and the log says it once", async () => {
    await setHabits(chain, inPair, { paused: true });
    node.lie(({ method, params }) =>
      method === "eth_call" && params.length > 2 ? { method, params: params.slice(0, 2) } : undefined,
    );
    await service.stop();
    await start("without");
    for (let count = 0; count < 3; count += 1) expect(await sold(inPair)).toMatchObject({ status: 200 });
    const warnings = logger.lines.filter(({ message }) => message === WARNING);
    expect(warnings).toMatchObject([{ fields: { readMode: "plain" } }]);
  });
});
