import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { id } from "ethers";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type Service, startService } from "../../../src/service/service.ts";
import { startTestChain, type TestChain } from "../support/chain.ts";
import { type Client, createClient } from "../support/client.ts";
import { followSwap, gaslessQuote, newSeller, submitOrder } from "../support/gasless.ts";
import { type LyingNode, startLyingNode } from "../support/lying-node.ts";
import { deployMarket, type Market, serviceOptions } from "../support/market.ts";
import { createRecordingLogger } from "../support/recording-logger.ts";
import { RELAYER_SETTINGS, relayerParts } from "../support/relayer.ts";
import { systemClock } from "../support/system-clock.ts";

// What is read of a sold token's permits and allowances goes one by one, besides the reads of a block.

let chain: TestChain;
let market: Market;
let node: LyingNode;
let service: Service;
let client: Client;
const directory = mkdtempSync(join(tmpdir(), "swapd-permits-"));

beforeAll(async () => {
  chain = await startTestChain();
  market = await deployMarket(chain);
  node = await startLyingNode(() => chain.url);
  const network = { relayer: RELAYER_SETTINGS, rpcUrls: [node.url] };
  const options = serviceOptions(chain, market, { database: join(directory, "service.db"), network });
  const parts = relayerParts(chain, id("permit-reads"));
  await chain.rpc.call("anvil_setBalance", [parts.signer.address, "0x8ac7230489e80000"]);
  service = await startService(options, {
    logger: createRecordingLogger(),
    clock: systemClock,
    relayers: new Map([["testnet", parts]]),
  });
  client = await createClient(service.url);
});

beforeEach(() => node.lie(undefined));

afterAll(async () => {
  await service?.stop();
  await node?.stop();
  await chain?.stop();
  rmSync(directory, { recursive: true });
});

/** Calls of the sold token itself are answered so, for those with this function only where one is named. */
function lieOfTheToken(answer: unknown, selector = "0x"): void {
  node.lie(({ method, params: [call] }) => {
    const { to, data } = (call ?? {}) as { to?: string; data?: string };
    return method === "eth_call" && to === market.usdc && data?.startsWith(selector) ? { answer } : undefined;
  });
}

test("a node that answers no bytes when a token's permit is looked for is not taken for a token without one", async () => {
  const seller = await newSeller(chain, market);
  lieOfTheToken(null);
  expect(await gaslessQuote(client, market, seller)).toMatchObject({
    status: 503,
    body: { error: "CHAIN_UNREACHABLE" },
  });
  node.lie(undefined);
  const { status, body } = await gaslessQuote(client, market, seller);
  expect({ status, permit: body.permit?.primaryType }).toEqual({ status: 200, permit: "Permit" });
});

test("a node that answers no bytes when a permit is checked makes no wrong one of it", async () => {
  const seller = await newSeller(chain, market);
  const { body: quote } = await gaslessQuote(client, market, seller);
  const nonces = id("nonces(address)").slice(0, 10);
  lieOfTheToken({}, nonces);
  expect(await submitOrder(client, seller, quote)).toMatchObject({ status: 503, body: { error: "CHAIN_UNREACHABLE" } });
  node.lie(undefined);
  expect(await submitOrder(client, seller, quote)).toMatchObject({ status: 200, body: { status: "pending" } });
});

test("a permit whose nonce an earlier swap used is said to be that, and not to be badly signed", async () => {
  const seller = await newSeller(chain, market, 9_000_000_000n);
  const { body: first } = await gaslessQuote(client, market, seller);
  const { body: second } = await gaslessQuote(client, market, seller);
  expect((await submitOrder(client, seller, first)).status).toBe(200);
  await followSwap(client, first.id, ({ hash, blockNumber }) => hash !== null && blockNumber !== null);
  const { status, body } = await submitOrder(client, seller, second);
  expect({ status, error: body.error }).toEqual({ status: 400, error: "PERMIT_SIGNATURE_INVALID" });
  expect(body.message).toContain("nonce 0, which is used: the next one is 1");
});
