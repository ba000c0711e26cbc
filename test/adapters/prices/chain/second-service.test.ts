import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createSecondService } from "../../../../src/adapters/prices/second-service.ts";
import { swapd } from "../../../../src/adapters/swap-service/swapd/service.ts";
import { toPpm } from "../../../../src/domain/money/fraction.ts";
import { type Service, startService } from "../../../../src/service/service.ts";
import { startTestChain, type TestChain } from "../../../service/support/chain.ts";
import { deployMarket, type Market, serviceOptions } from "../../../service/support/market.ts";
import { createRecordingLogger } from "../../../service/support/recording-logger.ts";
import { systemClock } from "../../../service/support/system-clock.ts";
import { silentLogger } from "../../../support/silent-logger.ts";

let chain: TestChain;
let market: Market;
let service: Service;
const directory = mkdtempSync(join(tmpdir(), "swapd-second-"));

beforeAll(async () => {
  chain = await startTestChain();
  market = await deployMarket(chain);
  const options = serviceOptions(chain, market, { database: join(directory, "service.db") });
  service = await startService(options, { logger: createRecordingLogger(), clock: systemClock });
});

afterAll(async () => {
  await service?.stop();
  await chain?.stop();
  rmSync(directory, { recursive: true });
});

function secondAt(baseUrl: string) {
  const limiter = { acquire: () => Promise.resolve("granted" as const), observe: () => undefined };
  const options = {
    chainId: 31_337,
    baseUrl,
    network: "testnet",
    timeoutMs: 5_000,
    maxBytes: 100_000,
    retries: 0,
  };
  return createSecondService(swapd.open(options, { limiter, clock: systemClock, logger: silentLogger() }), "second");
}

it("GRD-14 a real second service says what it would give at this size, impact included, or why it does not", async () => {
  const request = (amount: bigint, buy = market.weth) => ({
    sell: { symbol: "USDC", address: market.usdc, decimals: 6 },
    buy: { symbol: "WETH", address: buy, decimals: 18 },
    ...{ amount, slippage: toPpm(5_000), owner: chain.deployer, recipient: chain.deployer },
  });
  const second = secondAt(service.url);
  const [small, large] = [
    await second.output(request(3_000n * 10n ** 6n)),
    await second.output(request(300_000n * 10n ** 6n)),
  ];
  if ("missing" in small || "missing" in large) throw new Error("no output");
  expect(small.amountOut).toBeGreaterThan(99n * 10n ** 16n);
  expect(small.amountOut).toBeLessThan(101n * 10n ** 16n);
  expect(large.amountOut).toBeLessThan(100n * small.amountOut);
  expect(await second.output(request(3_000n * 10n ** 6n, market.orphan))).toMatchObject({ missing: "unreachable" });
  expect(await secondAt("http://127.0.0.1:1").output(request(1n))).toMatchObject({
    ...{ missing: "unreachable", detail: expect.stringContaining("second gives no quote") },
  });
});
