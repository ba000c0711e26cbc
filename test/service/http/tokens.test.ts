import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Address, type Hex, NATIVE_TOKEN } from "../../../src/domain/money/address.ts";
import { loadContract } from "../../../src/sandbox/artifacts.ts";
import { type Service, startService } from "../../../src/service/service.ts";
import { startTestChain, type TestChain } from "../support/chain.ts";
import { type Client, createClient } from "../support/client.ts";
import { deployMarket, type Market, serviceOptions } from "../support/market.ts";
import { createRecordingLogger } from "../support/recording-logger.ts";
import { systemClock } from "../support/system-clock.ts";

let chain: TestChain;
let market: Market;
let service: Service;
let client: Client;
let feed: Address;
let staleFeed: Address;

const directory = mkdtempSync(join(tmpdir(), "swapd-service-"));
const NOBODY = "0x00000000000000000000000000000000000000ee";
const MAX_UINT256 = ((1n << 256n) - 1n).toString();
const FEED_MAX_AGE_SECONDS = 3_600;

beforeAll(async () => {
  chain = await startTestChain();
  market = await deployMarket(chain);
  feed = await chain.deploy(loadContract("PriceFeed"), [8, "ETH / USD", 300_012_000_000n]);
  staleFeed = await chain.deploy(loadContract("PriceFeed"), [8, "DAI / USD", 100_000_000n]);
  await chain.rpc.call("evm_increaseTime", [FEED_MAX_AGE_SECONDS + 60]);
  await chain.send({
    to: feed,
    data: loadContract("PriceFeed").abi.encodeFunctionData("set", [300_012_000_000n]) as Hex,
  });
  const priced = (address: Address, by: Address | undefined) => {
    return { address, feed: by === undefined ? undefined : { address: by, maxAgeSeconds: FEED_MAX_AGE_SECONDS } };
  };
  const listedTokens = [
    priced(NATIVE_TOKEN, feed),
    priced(market.weth, feed),
    priced(market.usdc, undefined),
    priced(market.dai, staleFeed),
  ];
  const options = serviceOptions(chain, market, { database: join(directory, "service.db"), network: { listedTokens } });
  service = await startService(options, { logger: createRecordingLogger(), clock: systemClock });
  client = await createClient(service.url);
});

afterAll(async () => {
  await service?.stop();
  await chain?.stop();
  rmSync(directory, { recursive: true });
});

const NETWORK = { id: 31_337, name: "testnet", chainId: 31_337, logoUrl: null };

/** Answers to each of its views with the same word, and says that it has 18 decimals: what Maker's token does. */
function bytes32Token(word: string): Hex {
  const runtime = `60003560e01c63313ce56714603857${"7f"}${word}60005260206000f35b601260005260206000f3`;
  return `0x6043600c60003960436000f3${runtime}`;
}

/** The service looks for a new block at most each tenth of a second. */
async function newSnapshot(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 150));
}

describe("networks and sources", () => {
  test("are those that quotes accept", async () => {
    expect((await client.get("/token-manager/networks")).body).toEqual([NETWORK]);
    const sources = await client.get("/aggregator/liquidity-sources", { networkName: "testnet" });
    expect(sources.body).toEqual(["uniswap-v2", "uniswap-v3", "curve"]);
    const other = await client.get("/aggregator/liquidity-sources", { networkName: "base" });
    expect(other).toMatchObject({ status: 400, body: { error: "NETWORK_UNKNOWN", parameter: "networkName" } });
  });
});

describe("tokens", () => {
  test("report names, permits and prices; a stale feed reports no price", async () => {
    const { body } = await client.post("/token-manager/tokens", { networkNames: ["ethereum", "testnet"] });
    expect(body.map((token: { address: string }) => token.address)).toEqual([
      NATIVE_TOKEN,
      market.weth,
      market.usdc,
      market.dai,
    ]);
    const [native, , usdc, dai] = body;
    expect(native).toMatchObject({ symbol: "ETH", decimals: 18, usdPrice: "3000.12", permit: false, network: NETWORK });
    expect(usdc).toMatchObject({ symbol: "TK1", decimals: 6, displayDecimals: 6, permit: true, usdPrice: null });
    expect(usdc).toMatchObject({ name: "Token 1", isReliable: true });
    expect(dai).toMatchObject({ permit: false, usdPrice: null });
  });

  test("are found by part of a name, by a whole symbol, and by address also when nobody lists them", async () => {
    const find = async (more: object) => {
      const { body } = await client.post("/token-manager/tokens", { networkNames: ["testnet"], ...more });
      return body.map((token: { address: string }) => token.address);
    };
    expect(await find({ searchValue: "token" })).toEqual([market.usdc, market.dai]);
    expect(await find({ searchValue: "TK", exact: true })).toEqual([]);
    expect(await find({ searchValue: "tk1", exact: true })).toEqual([market.usdc]);
    expect(await find({ searchValue: [market.orphan, market.usdt, NOBODY] })).toEqual([market.orphan, market.usdt]);
    expect(await find({ searchValue: [""], offset: 3 })).toEqual([market.dai]);
    expect(await find({ exclude: [market.usdc, NATIVE_TOKEN] })).toEqual([market.weth, market.dai]);
    const { body } = await client.get("/token-manager/token", { address: market.orphan });
    expect(body).toMatchObject({ address: market.orphan, isReliable: false });
  });

  test("cannot move what is shown around their names, and may have the old kind of text", async () => {
    const evil = `Safe\u202eto\u2028ken\u2029\u0000${"x".repeat(200)}`;
    const hostile = await chain.deploy(loadContract("UsdtLikeToken"), [evil, "", 6]);
    const word = Buffer.from("MKR").toString("hex").padEnd(64, "0");
    const old = await chain.send({ data: bytes32Token(word) });
    await newSnapshot();
    const { body } = await client.get("/token-manager/token", { address: hostile });
    expect(body.name).toMatch(/^Safetokenx{50,}$/);
    expect(Buffer.byteLength(body.name)).toBeLessThan(96);
    expect(body.symbol).toBe("");
    const answer = await client.get("/token-manager/token", { address: old ?? "" });
    expect(answer.body).toMatchObject({ name: "MKR", symbol: "MKR", decimals: 18 });
  });

  test("that do not exist are 404, and a list of unserved networks is 400", async () => {
    const unknown = await client.get("/token-manager/token", { networkName: "testnet", address: NOBODY });
    expect(unknown).toMatchObject({ status: 404, body: { error: "TOKEN_UNKNOWN", parameter: "address" } });
    const elsewhere = await client.post("/token-manager/tokens", { networkNames: ["base"] });
    expect(elsewhere).toMatchObject({ status: 400, body: { error: "NETWORK_UNKNOWN", parameter: "networkNames" } });
    const many = await client.post("/token-manager/tokens", {
      networkNames: ["testnet"],
      searchValue: Array(21).fill(NOBODY),
    });
    expect(many).toMatchObject({ status: 400, body: { parameter: "searchValue" } });
  });
});

test("each contract that a request names takes a part of its caller's limit", async () => {
  const ask = async (searchValue: readonly string[]): Promise<number> => {
    // Well inside of a second, in which nobody else asks.
    await new Promise((resolve) => setTimeout(resolve, 1_100 - (Date.now() % 1_000)));
    const { headers } = await client.post("/token-manager/tokens", { networkNames: ["testnet"], searchValue });
    return Number(headers.get("RateLimit-Limit")) - Number(headers.get("RateLimit-Remaining"));
  };
  const strangers = Array.from({ length: 20 }, (_, place) => `0x${(place + 1).toString(16).padStart(40, "e")}`);
  expect([await ask(["token"]), await ask(strangers.slice(0, 3)), await ask(strangers)]).toEqual([1, 3, 20]);
});

describe("balances and allowances", () => {
  const owner = "0x00000000000000000000000000000000000000c1";
  const holder = "0x00000000000000000000000000000000000000c2";

  test("are the chain's own, for each wallet, above zero", async () => {
    await chain.send({ to: owner as Address, value: 5n });
    const transfer = loadContract("PermitToken").abi.encodeFunctionData("transfer", [holder, 7n]) as Hex;
    await chain.send({ to: market.usdc, data: transfer });
    await newSnapshot();
    const body = { networkNames: ["testnet"], walletAddresses: [owner, holder, owner, NOBODY] };
    const all = await client.post("/balance-manager/balances", body);
    const native = { walletAddress: owner, tokenAddress: NATIVE_TOKEN, amount: "5", networkId: 31_337 };
    const held = { walletAddress: holder, tokenAddress: market.usdc, amount: "7", networkId: 31_337 };
    expect(all.body).toEqual([native, held]);
    expect((await client.post("/balance-manager/balances", { ...body, offset: 1 })).body).toEqual([held]);
    const many = { networkNames: ["testnet"], walletAddresses: Array(11).fill(owner) };
    expect((await client.post("/balance-manager/balances", many)).status).toBe(400);
  });

  test("of the native token need no approval, of no token are 404", async () => {
    const query = { walletAddress: chain.deployer, tokenAddress: market.usdc, spenderAddress: market.settlement };
    const ask = async (changes: object) => client.get("/balance-manager/allowance", { ...query, ...changes });
    expect((await ask({})).body).toEqual({ allowance: MAX_UINT256 });
    expect((await ask({ spenderAddress: NOBODY })).body).toEqual({ allowance: "0" });
    expect((await ask({ tokenAddress: NATIVE_TOKEN })).body).toEqual({ allowance: MAX_UINT256 });
    expect(await ask({ tokenAddress: NOBODY })).toMatchObject({ status: 404, body: { parameter: "tokenAddress" } });
  });
});
