import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { id } from "ethers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Service, startService } from "../../../src/service/service.ts";
import { startTestChain, type TestChain } from "../support/chain.ts";
import { type Client, createClient } from "../support/client.ts";
import { gaslessQuote, newSeller, submitOrder } from "../support/gasless.ts";
import { deployMarket, type Market, serviceOptions } from "../support/market.ts";
import { createRecordingLogger } from "../support/recording-logger.ts";
import { RELAYER_SETTINGS, relayerParts } from "../support/relayer.ts";
import { systemClock } from "../support/system-clock.ts";

let chain: TestChain;
let market: Market;
let service: Service;
let client: Client;
const directory = mkdtempSync(join(tmpdir(), "swapd-one-balance-"));

beforeAll(async () => {
  chain = await startTestChain();
  market = await deployMarket(chain);
  const parts = relayerParts(chain, id(directory));
  await chain.rpc.call("anvil_setBalance", [parts.signer.address, "0x8ac7230489e80000"]);
  const database = join(directory, "service.db");
  const options = serviceOptions(chain, market, { database, network: { relayer: RELAYER_SETTINGS } });
  const relayers = new Map([["testnet", parts]]);
  service = await startService(options, { logger: createRecordingLogger(), clock: systemClock, relayers });
  client = await createClient(service.url);
});

afterAll(async () => {
  await service?.stop();
  await chain?.stop();
  rmSync(directory, { recursive: true });
});

test("swaps that a wallet submits at once get as many places as its balance pays for", async () => {
  // Each sells 3,000 dollars.
  for (const [dollars, taken] of [
    [5_000n, 1],
    [9_500n, 3],
  ] as const) {
    await chain.rpc.call("evm_setAutomine", [true]);
    const seller = await newSeller(chain, market, dollars * 1_000_000n);
    const quotes = await Promise.all([1, 2, 3].map(() => gaslessQuote(client, market, seller)));
    await chain.rpc.call("evm_setAutomine", [false]);
    const answers = await Promise.all(quotes.map(({ body }) => submitOrder(client, seller, body)));
    const refused = answers.filter(({ status }) => status !== 200);
    expect(refused.map(({ body }) => body.error)).toEqual(Array(3 - taken).fill("SIMULATION_REVERTED"));
    for (const { body } of refused) expect(body.message).toContain("its swaps that wait sell");
  }
});
