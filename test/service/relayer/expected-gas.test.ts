import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { id } from "ethers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Address, type Hex, NATIVE_TOKEN } from "../../../src/domain/money/address.ts";
import { MAX_UINT256 } from "../../../src/domain/money/amount.ts";
import { loadContract } from "../../../src/sandbox/artifacts.ts";
import { type Service, startService } from "../../../src/service/service.ts";
import { startTestChain, type TestChain } from "../support/chain.ts";
import { type Answer, type Client, createClient } from "../support/client.ts";
import { blocksOfSeconds, deviation, expectedGas, reckonedBeyond, seasonPools, summary } from "../support/gas-check.ts";
import { followSwap, newSeller, submitOrder } from "../support/gasless.ts";
import { deployMarket, type Market, serviceOptions } from "../support/market.ts";
import { createRecordingLogger } from "../support/recording-logger.ts";
import { RELAYER_SETTINGS, relayerParts } from "../support/relayer.ts";
import { systemClock } from "../support/system-clock.ts";
import { createWallet, type TestWallet } from "../support/wallet.ts";

const TOKEN = loadContract("PermitToken").abi;
const ONE_ETHER = "0xde0b6b3a7640000";

let chain: TestChain;
let market: Market;
let service: Service;
let client: Client;
const directory = mkdtempSync(join(tmpdir(), "swapd-gasless-gas-"));
const database = join(directory, "service.db");

beforeAll(async () => {
  chain = await startTestChain();
  market = await deployMarket(chain);
  const parts = relayerParts(chain, id(database));
  await chain.rpc.call("anvil_setBalance", [parts.signer.address, "0x8ac7230489e80000"]);
  const options = serviceOptions(chain, market, { database, network: { relayer: RELAYER_SETTINGS } });
  const relayers = new Map([["testnet", parts]]);
  service = await startService(options, { logger: createRecordingLogger(), clock: systemClock, relayers });
  client = await createClient(service.url);
  await blocksOfSeconds(chain);
  await seasonPools(chain, market, client);
});

afterAll(async () => {
  await service?.stop();
  await chain?.stop();
  rmSync(directory, { recursive: true });
});

/** Lets the settlement take so much from somebody who has no gas money of his own. */
async function approve(owner: Address, amount: bigint): Promise<void> {
  await chain.rpc.call("anvil_setBalance", [owner, ONE_ETHER]);
  await chain.rpc.call("anvil_impersonateAccount", [owner]);
  const data = TOKEN.encodeFunctionData("approve", [market.settlement, amount]) as Hex;
  await chain.send({ from: owner, to: market.usdc, data });
}

/** A quote that knows of the last approval: the service looks for a new block only now and then. */
async function quoteAtHead(request: Record<string, string>): Promise<Answer["body"]> {
  const head = Number(await chain.rpc.call("eth_blockNumber", []));
  for (let tries = 0; tries < 200; tries += 1) {
    const { status, body } = await client.get("/aggregator/quote", request);
    expect(status, JSON.stringify(body)).toBe(200);
    if (body.blockNumber >= head) return body;
    await sleep(10);
  }
  throw new Error(`the service does not see block ${head}`);
}

/** A gasless swap from its quote to its receipt: how far its expected gas is off. */
async function swap(seller: TestWallet, changes: Record<string, string>) {
  const request = {
    ...{ network: "testnet", fromTokenAddress: market.usdc, toTokenAddress: market.weth, sellAmount: "1000000000" },
    ...{ slippage: "0.05", fromAddress: seller.address, gasless: "true", ...changes },
  };
  const quote = await quoteAtHead(request);
  const taken = await submitOrder(client, seller, quote);
  expect(taken.status, JSON.stringify(taken.body)).toBe(200);
  expect(reckonedBeyond(database, quote)).toBeLessThan(0.06);
  const { hash } = await followSwap(client, quote.id, ({ blockNumber }) => blockNumber !== null);
  const receipt = (await chain.rpc.call("eth_getTransactionReceipt", [hash])) as { status: Hex; gasUsed: Hex };
  expect(receipt.status).toBe("0x1");
  const expected = await expectedGas(chain, quote);
  return { permit: quote.permit !== null, off: deviation(expected, Number(receipt.gasUsed)) };
}

test("a gasless swap uses the gas that its quote expects, within a tenth, anyone who takes part in it", async () => {
  const somebody = createWallet().address;
  const seller = await newSeller(chain, market, 400_000_000_000n);
  const offs: number[] = [];
  const check = async (what: string, who: TestWallet, changes: Record<string, string>, permit = true) => {
    const swapped = await swap(who, changes);
    expect(swapped.permit, what).toBe(permit);
    expect(Math.abs(swapped.off), `${what}: off by ${swapped.off}`).toBeLessThan(0.1);
    offs.push(swapped.off);
  };
  await check("everything for the first time", seller, { toAddress: somebody });
  await check("to an account that is none yet", seller, { toTokenAddress: NATIVE_TOKEN });
  await check("over many ticks, with an affiliate", seller, {
    ...{ sellAmount: "250000000000", toAddress: somebody, affiliateAddress: createWallet().address },
    affiliateFeeInPercentage: "0.002",
  });
  await check("all that there is", await newSeller(chain, market, 1_000_000_000n), { toAddress: somebody });
  await approve(seller.address, 1_000_000_000n);
  await check("an allowance that is used up", seller, { toAddress: somebody }, false);
  if (process.env.SWAPD_QUOTED_SWAPS === undefined) return;
  await check("nothing for the first time", seller, { toAddress: somebody });
  await check("over another token", seller, { toTokenAddress: market.usdt, toAddress: somebody });
  await approve(seller.address, MAX_UINT256);
  await check("an allowance without a limit", seller, { toAddress: somebody }, false);
  console.log(`gasless: gas off by ${JSON.stringify(summary(offs))}`);
});
