import { randomInt } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Address } from "../../../src/domain/money/address.ts";
import { createRandom } from "../../../src/sandbox/market/random.ts";
import { type Service, startService } from "../../../src/service/service.ts";
import { startTestChain, type TestChain } from "../support/chain.ts";
import { type Client, createClient } from "../support/client.ts";
import { blocksOfSeconds, seasonPools, summary } from "../support/gas-check.ts";
import { addStablePools, deployMarket, type Market, serviceOptions } from "../support/market.ts";
import { addPancakePools, deployPancake } from "../support/pancake.ts";
import { createRecordingLogger } from "../support/recording-logger.ts";
import { approveRouter, executeQuotes } from "../support/routed-swaps.ts";
import { systemClock } from "../support/system-clock.ts";

/** `SWAPD_QUOTED_SWAPS=500` is the long form; the seed is printed with a failure. */
const SWAPS = Number(process.env.SWAPD_QUOTED_SWAPS ?? 24);
const seed = Number(process.env.SWAPD_TEST_SEED ?? randomInt(1 << 30));
const random = createRandom(seed, 0, 0x70616e63);

let chain: TestChain;
let market: Market;
let router: Address;
let service: Service;
let client: Client;
const directory = mkdtempSync(join(tmpdir(), "swapd-pancake-"));

beforeAll(async () => {
  chain = await startTestChain();
  const pancake = await deployPancake(chain);
  // Uniswap's pools are there too, and out of this router's reach.
  market = await deployMarket(chain, pancake.protocols);
  await addStablePools(market);
  await addPancakePools(chain, market, pancake);
  router = await pancake.deployRouter({ weth: market.weth });
  await approveRouter(chain, router, market);
  const network = { settlement: undefined, executor: undefined, router: { address: router, codeHash: undefined } };
  const options = serviceOptions(chain, market, { database: join(directory, "service.db"), network });
  service = await startService(options, { logger: createRecordingLogger(), clock: systemClock });
  client = await createClient(service.url);
  await blocksOfSeconds(chain);
  await seasonPools(chain, market, client, "pancakeswap");
}, 120_000);

afterAll(async () => {
  await service?.stop();
  await chain?.stop();
  rmSync(directory, { recursive: true });
});

test(`quotes through a router like PancakeSwap's, executed on the same state, bring what they say to the wei (seed ${seed})`, async () => {
  const world = { chain, market, router, client };
  // The router is a double: what it costs says nothing of the real one.
  const { seen, deviations } = await executeQuotes(world, {
    ...{ swaps: SWAPS, seed, random, gasWithin: undefined },
    kinds: ["split", "hops", "v2", "v3", "native"],
  });
  if (process.env.SWAPD_QUOTED_SWAPS !== undefined) {
    console.log(`of ${SWAPS}: ${JSON.stringify(seen)}; gas off by ${JSON.stringify(summary(deviations))}`);
  }
}, 600_000);

test("pools of another maker are no part of its routes", async () => {
  const request = {
    ...{ fromTokenAddress: market.usdc, toTokenAddress: market.weth, amount: "3000000000", slippage: "0.005" },
    ...{ fromAddress: chain.deployer, gasless: "false" },
  };
  for (const liquiditySources of ["uniswap-v2", "uniswap-v3", "curve"]) {
    const { body } = await client.get("/aggregator/quote", { ...request, liquiditySources });
    expect(body.error, liquiditySources).toBe("NO_ROUTE");
  }
});
