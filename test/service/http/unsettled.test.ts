import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startService } from "../../../src/service/service.ts";
import { startTestChain } from "../support/chain.ts";
import { createClient } from "../support/client.ts";
import { deployMarket, serviceOptions } from "../support/market.ts";
import { createRecordingLogger } from "../support/recording-logger.ts";
import { systemClock } from "../support/system-clock.ts";

test("without a settlement contract and a public router quotes are indicative, and everything that would be signed is refused by name", async () => {
  const directory = mkdtempSync(join(tmpdir(), "swapd-service-"));
  const chain = await startTestChain();
  const market = await deployMarket(chain);
  const noSettlement = "the settlement contracts do not run on testnet";
  const network = { settlement: undefined, executor: undefined, noSettlement };
  const options = serviceOptions(chain, market, { database: join(directory, "service.db"), network });
  const dependencies = { logger: createRecordingLogger(), clock: systemClock };
  const service = await startService(options, dependencies);
  try {
    const client = await createClient(service.url);
    const request = {
      fromTokenAddress: market.usdc,
      toTokenAddress: market.weth,
      sellAmount: "3000000000",
      slippage: "0.005",
      gasless: "false",
    };
    const { status, body } = await client.get("/aggregator/quote", request);
    expect(status).toBe(200);
    expect(body).toMatchObject({ targetAddress: null, typedData: null });
    expect(BigInt(body.amountOut)).toBeGreaterThan(0n);
    const refused = {
      status: 400,
      body: { error: "SETTLEMENT_MISSING", message: expect.stringContaining(noSettlement) },
    };
    expect(await client.get("/aggregator/quote", { ...request, fromAddress: chain.deployer })).toMatchObject(refused);
    expect(await client.get("/aggregator/quote", { ...request, gasless: "true" })).toMatchObject(refused);
    const built = await client.get("/aggregator/transaction", { quoteId: body.id });
    expect(built).toMatchObject({ status: 400, body: { error: "QUOTE_INDICATIVE" } });
    const usdc = await client.get("/token-manager/token", { address: market.usdc });
    expect(usdc.body).toMatchObject({ permit: true });
  } finally {
    await service.stop();
    await chain.stop();
    rmSync(directory, { recursive: true });
  }
});
