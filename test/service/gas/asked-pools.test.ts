import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Address, NATIVE_TOKEN } from "../../../src/domain/money/address.ts";
import type { Protocol } from "../../../src/service/pools/pool.ts";
import { startService } from "../../../src/service/service.ts";
import { startTestChain, type TestChain } from "../support/chain.ts";
import { type Client, createClient } from "../support/client.ts";
import { forgetHashes } from "../support/exchange.ts";
import { blocksOfSeconds, deviation, expectedGas, seasonPools } from "../support/gas-check.ts";
import { deployMarket, type Market, serviceOptions } from "../support/market.ts";
import { execute, quoteAtHead } from "../support/quoted-swap.ts";
import { createRecordingLogger } from "../support/recording-logger.ts";
import { systemClock } from "../support/system-clock.ts";

/** Has some of every token after the first swaps. */
const RECIPIENT = "0x00000000000000000000000000000000000a11ce" as Address;
const directory = mkdtempSync(join(tmpdir(), "swapd-asked-"));

let chain: TestChain;
let market: Market;

beforeAll(async () => {
  chain = await startTestChain();
  market = await deployMarket(chain, [], false);
  await blocksOfSeconds(chain);
});

afterAll(async () => {
  await chain?.stop();
  rmSync(directory, { recursive: true });
});

async function serve(name: string, protocols: readonly Protocol[], use: (client: Client) => Promise<void>) {
  const options = serviceOptions(chain, market, { database: join(directory, name), network: { protocols } });
  const service = await startService(options, { logger: createRecordingLogger(), clock: systemClock });
  await use(await createClient(service.url)).finally(() => service.stop());
}

async function expectRightGas(client: Client): Promise<void> {
  const { weth, usdc, dai } = market;
  for (const [source, from, to, amount] of [
    ["uniswap-v2", usdc, weth, "3000000000"],
    ["uniswap-v3", weth, usdc, "1000000000000000000"],
    ["uniswap-v2", dai, usdc, "3000000000000000000000"],
    ["uniswap-v2", usdc, NATIVE_TOKEN, "3000000000"],
  ] as const) {
    const request = {
      ...{ fromTokenAddress: from, toTokenAddress: to, amount, slippage: "0.005", liquiditySources: source },
      ...{ fromAddress: chain.deployer, toAddress: RECIPIENT, gasless: "false" },
    };
    const { quote, transaction } = await quoteAtHead({ chain, client }, request);
    const { isDone, gasUsed } = await execute(chain, transaction);
    expect(isDone, source).toBe(true);
    expect(Math.abs(deviation(await expectedGas(chain, quote), gasUsed)), `${source} ${gasUsed}`).toBeLessThan(0.03);
  }
}

describe("expected gas is right where the executor asks factories for pools", () => {
  test("because nobody knows by what code they create them", async () => {
    const protocols = market.protocols.map(({ initCodeHash: _, ...protocol }) => protocol);
    await serve("unknown.db", protocols, async (client) => {
      await seasonPools(chain, market, client);
      await expectRightGas(client);
    });
  });

  test("because it is one of an earlier release", async () => {
    await forgetHashes(chain, market.executor);
    await serve("earlier.db", market.protocols, expectRightGas);
  });
});
