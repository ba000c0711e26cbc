import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { toAddress } from "../../../src/domain/money/address.ts";
import { checkOptions } from "../../../src/service/check-options.ts";
import { sortTokens } from "../../../src/service/pools/pool.ts";
import { sqrtRatioAtTick } from "../../../src/service/pools/uniswap-v3/tick-math.ts";
import { type Service, startService } from "../../../src/service/service.ts";
import { startTestChain, type TestChain } from "../support/chain.ts";
import { type Client, createClient } from "../support/client.ts";
import { deployMarket, type Market, serviceOptions } from "../support/market.ts";
import { addPancakePools, deployPancake, type Pancake } from "../support/pancake.ts";
import { execute, quoteAtHead } from "../support/quoted-swap.ts";
import { createRecordingLogger } from "../support/recording-logger.ts";
import { deploySlipstream } from "../support/slipstream.ts";
import { deploySolidly } from "../support/solidly.ts";
import { systemClock } from "../support/system-clock.ts";
import { balanceOf } from "../support/wallet.ts";

const RECIPIENT = toAddress("0x00000000000000000000000000000000000a11ce");

let chain: TestChain;
let pancake: Pancake;
let market: Market;
let service: Service;
let client: Client;
const directory = mkdtempSync(join(tmpdir(), "swapd-branch-"));

beforeAll(async () => {
  chain = await startTestChain();
  pancake = await deployPancake(chain);
  const exchange = await deploySlipstream(chain);
  const pairs = await deploySolidly(chain);
  market = await deployMarket(chain, [...pancake.protocols, exchange.protocol, pairs.protocol]);
  await addPancakePools(chain, market, pancake);
  for (const token of [market.weth, market.usdc])
    for (const hand of [exchange.hand, pairs.hand]) await market.approve(token, hand);
  const center = (market.weth < market.usdc ? -1 : 1) * 196_200;
  const positions = [{ lower: center - 6_000, upper: center + 6_000, liquidity: 10n ** 15n }];
  const pair = sortTokens(market.weth, market.usdc);
  await exchange.newPool(pair, { spacing: 100, sqrtPrice: sqrtRatioAtTick(center), positions });
  const held = (token: string) => (token === market.weth ? 10n ** 20n : 3n * 10n ** 11n);
  await pairs.newPool(pair, false, [held(pair[0]), held(pair[1])]);
  const options = serviceOptions(chain, market, { database: join(directory, "service.db") });
  service = await startService(options, { logger: createRecordingLogger(), clock: systemClock });
  client = await createClient(service.url);
}, 60_000);

afterAll(async () => {
  await service?.stop();
  await chain?.stop();
  rmSync(directory, { recursive: true });
});

const request = (liquiditySources: string) => ({
  ...{ fromTokenAddress: market.usdc, toTokenAddress: market.weth, amount: "3000000000", slippage: "0.005" },
  ...{ fromAddress: chain.deployer, toAddress: RECIPIENT, gasless: "false", liquiditySources },
});

describe("our own settlement", () => {
  test("trades in pairs of PancakeSwap, to the wei: they speak as those of Uniswap do", async () => {
    const before = await balanceOf(chain, market.weth, RECIPIENT);
    const { quote, transaction } = await quoteAtHead({ chain, client }, request("pancakeswap-v2"));
    expect(await execute(chain, transaction)).toMatchObject({ isDone: true });
    expect((await balanceOf(chain, market.weth, RECIPIENT)) - before).toBe(BigInt(quote.amountOut));
  });

  test("quotes nothing over pools that its executor has no branch for, also beside others", async () => {
    for (const source of ["pancakeswap-v3", "slipstream", "solidly"])
      expect((await client.get("/aggregator/quote", request(source))).body.error).toBe("NO_ROUTE");
    const { quote } = await quoteAtHead({ chain, client }, request("pancakeswap-v2,pancakeswap-v3,slipstream,solidly"));
    const { body } = await client.get("/aggregator/distributions", { quoteId: quote.id });
    expect(body.distributions.map(({ protocol }: { protocol: string }) => protocol)).toEqual(["pancakeswap-v2"]);
  });

  test("is not served where such a factory stands before one that it lists: places would be another's", () => {
    const [v2, v3] = pancake.protocols;
    const options = serviceOptions(chain, market, { database: "never-opened.db", network: { protocols: [v3, v2] } });
    expect(() => checkOptions(options, new Set())).toThrow(
      `our executor cannot trade with the pools of ${v3.factory} on testnet: list that factory after ${v2.factory}`,
    );
  });
});

test("quotes that nothing settles see all pools", async () => {
  const network = { settlement: undefined, executor: undefined, router: undefined };
  const options = serviceOptions(chain, market, { database: join(directory, "unsettled.db"), network });
  const unsettled = await startService(options, { logger: createRecordingLogger(), clock: systemClock });
  try {
    const asking = await createClient(unsettled.url);
    // One that no public router takes, and some that no single one takes together.
    for (const source of ["pancakeswap-v3", "slipstream", "solidly", "uniswap-v3,pancakeswap-v3,slipstream,solidly"]) {
      const { fromAddress, toAddress, ...asked } = request(source);
      expect((await asking.get("/aggregator/quote", asked)).status, source).toBe(200);
    }
  } finally {
    await unsettled.stop();
  }
});
