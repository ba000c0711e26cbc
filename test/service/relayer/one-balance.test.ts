import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { id } from "ethers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Service, startService } from "../../../src/service/service.ts";
import { startTestChain, type TestChain } from "../support/chain.ts";
import { type Client, createClient } from "../support/client.ts";
import { followSwap, gaslessQuote, newSeller, submitOrder } from "../support/gasless.ts";
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

test("a swap that ran out in no block holds nothing of its wallet's balance while the cancellation at its nonce waits to be final", async () => {
  const [before, seller] = [await newSeller(chain, market), await newSeller(chain, market, 3_500_000_000n)];
  // The first swap of a fresh pair takes more gas than its quote expects.
  await chain.rpc.call("evm_increaseTime", [10]);
  const { body: traded } = await gaslessQuote(client, market, before);
  expect(await submitOrder(client, before, traded)).toMatchObject({ status: 200 });
  await followSwap(
    client,
    traded.id,
    ({ amountOut }) => amountOut !== null,
    () => chain.rpc.call("evm_mine", []),
  );
  const { body: quote } = await gaslessQuote(client, market, seller);
  await chain.rpc.call("evm_setAutomine", [false]);
  expect(await submitOrder(client, seller, quote)).toMatchObject({ status: 200 });
  const { hash } = await followSwap(client, quote.id, (record) => record.hash !== null);
  const pool = async () => JSON.stringify(await chain.rpc.call("txpool_content", []));
  for (let attempt = 0; attempt < 50 && !(await pool()).includes(hash); attempt += 1) await sleep(100);
  await chain.rpc.call("anvil_dropTransaction", [hash]);
  await chain.rpc.call("evm_increaseTime", [3_600]);
  await chain.rpc.call("evm_mine", []);
  for (let attempt = 0; attempt < 50 && !(await pool()).includes('"hash"'); attempt += 1) await sleep(100);
  await chain.rpc.call("evm_mine", []);

  const { body: again } = await gaslessQuote(client, market, seller);
  expect(await submitOrder(client, seller, again)).toMatchObject({ status: 200, body: { status: "pending" } });
  const { body: first } = await client.get("/user-manager/swap", { quoteId: quote.id });
  expect([first.status, first.blockNumber]).toEqual(["pending", null]);
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
