import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Address } from "../../../src/domain/money/address.ts";
import type { NetworkOptions } from "../../../src/service/options.ts";
import { startService } from "../../../src/service/service.ts";
import { startTestChain, type TestChain } from "../support/chain.ts";
import { createClient } from "../support/client.ts";
import { deployMarket, type Market, serviceOptions } from "../support/market.ts";
import { deploySwapRouter } from "../support/public-router.ts";
import { createRecordingLogger } from "../support/recording-logger.ts";
import { addSolidlyPools, deploySolidly, type Solidly } from "../support/solidly.ts";
import { systemClock } from "../support/system-clock.ts";

const directory = mkdtempSync(join(tmpdir(), "swapd-solidly-router-"));

let chain: TestChain;
let market: Market;
let exchange: Solidly;
/** Solidly's router, and Uniswap's */
let its: Address;
let uniswaps: Address;
let services = 0;

beforeAll(async () => {
  chain = await startTestChain();
  exchange = await deploySolidly(chain);
  market = await deployMarket(chain, [exchange.protocol]);
  await addSolidlyPools(chain, market, exchange);
  its = await exchange.deployRouter(market.weth);
  uniswaps = await deploySwapRouter(chain, market);
}, 60_000);

afterAll(async () => {
  await chain?.stop();
  rmSync(directory, { recursive: true });
});

const unpinned = (address: Address) => ({ address, codeHash: undefined });

/** What a service with these routers answers, and what its operator is told. */
async function asked(network: Partial<NetworkOptions>, liquiditySources?: string) {
  services += 1;
  const database = join(directory, `service-${services}.db`);
  const options = serviceOptions(chain, market, {
    ...{ database, network: { settlement: undefined, executor: undefined, ...network } },
  });
  const service = await startService(options, { logger: createRecordingLogger(), clock: systemClock });
  try {
    const client = await createClient(service.url);
    const { body } = await client.get("/aggregator/quote", {
      ...{ fromTokenAddress: market.usdc, toTokenAddress: market.weth, amount: "3000000000", slippage: "0.005" },
      ...{ fromAddress: chain.deployer, gasless: "false" },
      ...(liquiditySources === undefined ? {} : { liquiditySources }),
    });
    if (body.error === undefined) return { target: body.targetAddress };
    return body.error === "NO_ROUTE" ? { error: body.error } : { says: String(await service.failed) };
  } finally {
    await service.stop();
  }
}

test("Solidly's router of its own factory trades, alone and beside Uniswap's", async () => {
  expect(await asked({ router: unpinned(its), protocols: [exchange.protocol] })).toEqual({ target: its });
  const both = { router: unpinned(uniswaps), furtherRouters: [unpinned(its)] };
  expect(await asked(both, "solidly")).toEqual({ target: its });
  expect(await asked(both, "uniswap-v3")).toEqual({ target: uniswaps });
});

test("one of another factory is refused, and so is one over a factory that is called another maker's", async () => {
  const other = await deploySolidly(chain);
  const networks: Partial<NetworkOptions>[] = [
    { router: unpinned(its), protocols: [other.protocol] },
    { router: unpinned(its), protocols: [{ ...exchange.protocol, kind: 1, feePips: 3_000 }] },
    { router: unpinned(uniswaps), protocols: market.protocols.map((one) => ({ ...one, kind: 8 })) },
  ];
  // Each waits for seconds until its quote is given up.
  const [foreign, named, turned] = await Promise.all(networks.map((network) => asked(network)));
  expect(foreign?.says).toContain(`trades with pools of ${exchange.protocol.factory}, and`);
  expect(named?.says).toContain("has a defaultFactory(): is this Uniswap's SwapRouter02?");
  expect(turned?.says).toContain("has no defaultFactory(): is this Solidly's router?");
});

test("a further one that wraps another coin is left out, and all goes on without it", async () => {
  const furtherRouters = [unpinned(await exchange.deployRouter(market.dai))];
  const network = { router: unpinned(uniswaps), furtherRouters };
  expect(await asked(network)).toEqual({ target: uniswaps });
  expect(await asked(network, "solidly")).toEqual({ error: "NO_ROUTE" });
});
