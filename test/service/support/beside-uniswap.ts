import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Address } from "../../../src/domain/money/address.ts";
import type { Protocol } from "../../../src/service/pools/pool.ts";
import { startService } from "../../../src/service/service.ts";
import { startTestChain, type TestChain } from "./chain.ts";
import { type Client, createClient } from "./client.ts";
import { blocksOfSeconds } from "./gas-check.ts";
import { deployMarket, type Market, serviceOptions } from "./market.ts";
import { deploySwapRouter } from "./public-router.ts";
import { createRecordingLogger } from "./recording-logger.ts";
import { approveRouter } from "./routed-swaps.ts";
import { systemClock } from "./system-clock.ts";

/** A service whose swaps settle through Uniswap's router or another exchange's: the pools of both have the same tokens. */
export interface BesideUniswap {
  readonly chain: TestChain;
  readonly market: Market;
  readonly router: Address;
  readonly other: Address;
  readonly client: Client;
  stop(): Promise<void>;
}

/** How another exchange is put on a chain. */
interface Exchange<E extends { readonly protocol: Protocol }> {
  deploy(chain: TestChain): Promise<E>;
  addPools(chain: TestChain, market: Market, exchange: E): Promise<void>;
  deployRouter(exchange: E, weth: Address): Promise<Address>;
}

export async function serveBesideUniswap<E extends { readonly protocol: Protocol }>(
  of: Exchange<E>,
): Promise<BesideUniswap> {
  const directory = mkdtempSync(join(tmpdir(), "swapd-two-routers-"));
  const chain = await startTestChain();
  const exchange = await of.deploy(chain);
  const market = await deployMarket(chain, [exchange.protocol]);
  await of.addPools(chain, market, exchange);
  const router = await deploySwapRouter(chain, market);
  const other = await of.deployRouter(exchange, market.weth);
  for (const one of [router, other]) await approveRouter(chain, one, market);
  const [first, ...furtherRouters] = [router, other].map((address) => ({ address, codeHash: undefined }));
  const network = { settlement: undefined, executor: undefined, router: first, furtherRouters };
  const options = serviceOptions(chain, market, { database: join(directory, "service.db"), network });
  const service = await startService(options, { logger: createRecordingLogger(), clock: systemClock });
  const client = await createClient(service.url);
  await blocksOfSeconds(chain);
  const stop = async (): Promise<void> => {
    await service.stop();
    await chain.stop();
    rmSync(directory, { recursive: true });
  };
  return { chain, market, router, other, client, stop };
}
