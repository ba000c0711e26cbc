import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getAddress } from "ethers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Hex, NATIVE_TOKEN } from "../../../src/domain/money/address.ts";
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
const directory = mkdtempSync(join(tmpdir(), "swapd-service-"));

beforeAll(async () => {
  chain = await startTestChain();
  market = await deployMarket(chain);
  const options = serviceOptions(chain, market, { database: join(directory, "service.db") });
  service = await startService(options, { logger: createRecordingLogger(), clock: systemClock });
  client = await createClient(service.url);
});

afterAll(async () => {
  await service?.stop();
  await chain?.stop();
  rmSync(directory, { recursive: true });
});

/** A good request in the seed's names. */
function seedRequest(changes: Record<string, string | readonly string[] | undefined> = {}) {
  const request = {
    fromTokenAddress: market.usdc,
    toTokenAddress: market.weth,
    amount: "3000000000",
    slippage: "0.005",
    fromAddress: chain.deployer,
    toAddress: chain.deployer,
    gasless: "false",
    ...changes,
  };
  return Object.fromEntries(Object.entries(request).filter(([, value]) => value !== undefined)) as Record<
    string,
    string
  >;
}

async function refused(changes: Record<string, string | readonly string[] | undefined>) {
  const { status, body } = await client.get("/aggregator/quote", seedRequest(changes));
  return { status, code: body.code, error: body.error, parameter: body.parameter };
}

describe("quotes", () => {
  test("speak the names of both dialects with equal values", async () => {
    const { status, body } = await client.get("/aggregator/quote", seedRequest());
    expect(status).toBe(200);
    expect(body.id).toBe(body["quote-id"]);
    expect(body.amountOut).toBe(body.toTokenAmount);
    expect(body.amountOutMin).toBe(body.minAmountOut);
    expect(body.message).toEqual(body.typedData.message);
    expect(body.typedData.domain.chainId).toBe("31337");
    expect(Object.keys(body.typedData.types)).toEqual(["Swap"]);
    expect(body.targetAddress).toBe(market.settlement);
    expect(body.fees.find((fee: { type: string }) => fee.type === "gas").value).toMatch(/^[1-9][0-9]*$/);
    expect(Number(body.amountOut) / 1e18).toBeCloseTo(1, 1);
    expect(body.message.sender).toBe(chain.deployer);
    expect(BigInt(body.amountOutMin)).toBe((BigInt(body.amountOut) * 995n + 999n) / 1000n);
  });

  test("accept the wire's own names", async () => {
    const request = seedRequest({ amount: undefined, sellAmount: "3000000000", network: "testnet" });
    const { status, body } = await client.get("/aggregator/quote", request);
    expect(status).toBe(200);
    expect(body.sellAmount).toBe("3000000000");
  });

  test("without fromAddress are indicative and have no transaction", async () => {
    const request = seedRequest({ fromAddress: undefined, toAddress: undefined });
    const { status, body } = await client.get("/aggregator/quote", request);
    expect(status).toBe(200);
    expect(body.typedData).toBeNull();
    const transaction = await client.get("/aggregator/transaction", { quoteId: body.id });
    expect(transaction.body.error).toBe("QUOTE_INDICATIVE");
    const both = await client.get("/aggregator/quote/transaction", request);
    expect(both).toMatchObject({ status: 400, body: { error: "QUOTE_INDICATIVE", parameter: "fromAddress" } });
  });

  test("never mix the two units of an affiliate fee", async () => {
    const affiliateAddress = "0x00000000000000000000000000000000000000AF";
    const percent = await client.get("/aggregator/quote", seedRequest({ affiliateAddress, affiliateFee: "1" }));
    const fraction = seedRequest({ affiliateAddress, affiliateFeeInPercentage: "0.01" });
    const other = await client.get("/aggregator/quote", fraction);
    for (const { body } of [percent, other]) {
      expect(body.message.affiliateFee).toBe("30000000");
      expect(body.message.amountIn).toBe("2970000000");
      expect(body.message.affiliate).toBe(affiliateAddress.toLowerCase());
      expect(body.typedData.types.Swap).toHaveLength(12);
    }
  });

  test("take a route of two hops where no pool is direct", async () => {
    const request = seedRequest({ fromTokenAddress: market.usdt, toTokenAddress: market.dai });
    const { body } = await client.get("/aggregator/quote", request);
    const route = await client.get("/aggregator/distributions", { "quote-id": body.id });
    expect(route.body.distributions).toHaveLength(2);
    expect(route.body.distributions[0].toTokenAddress).toBe(market.weth);
    expect(route.body.distributions[1].amountOut).toBe(body.amountOut);
  });

  test("use the liquidity sources that they may use, and no others", async () => {
    for (const source of ["uniswap-v2", "uniswap-v3"]) {
      const { body } = await client.get("/aggregator/quote", seedRequest({ liquiditySources: source }));
      const route = await client.get("/aggregator/distributions", { quoteId: body.id });
      expect(route.body.distributions.map((leg: { protocol: string }) => leg.protocol)).toEqual([source]);
    }
  });
});

describe("bad requests get a 4xx that names the parameter", () => {
  const cases: [name: string, changes: Record<string, string | readonly string[] | undefined>, expected: object][] = [
    ["no token", { fromTokenAddress: undefined }, { error: "PARAMETER_MISSING", parameter: "fromTokenAddress" }],
    ["half an address", { toTokenAddress: "0x12" }, { error: "PARAMETER_MALFORMED", parameter: "toTokenAddress" }],
    ["a repeated parameter", { slippage: ["0.1", "0.2"] }, { error: "PARAMETER_MALFORMED", parameter: "slippage" }],
    ["no amount", { amount: undefined }, { error: "PARAMETER_MISSING", parameter: "amount" }],
    ["two amounts", { sellAmount: "1" }, { error: "PARAMETER_CONFLICT", parameter: "amount" }],
    ["a decimal amount", { amount: "1.5" }, { error: "PARAMETER_MALFORMED", parameter: "amount" }],
    ["a negative amount", { amount: "-1" }, { error: "PARAMETER_MALFORMED", parameter: "amount" }],
    ["an amount beyond uint256", { amount: "9".repeat(78) }, { error: "PARAMETER_MALFORMED", parameter: "amount" }],
    ["amount zero", { amount: "0" }, { code: 2069, error: "AMOUNT_ZERO" }],
    ["slippage of 100 %", { slippage: "1" }, { error: "SLIPPAGE_OUT_OF_RANGE", parameter: "slippage" }],
    ["negative slippage", { slippage: "-0.01" }, { error: "SLIPPAGE_OUT_OF_RANGE", parameter: "slippage" }],
    ["slippage in words", { slippage: "little" }, { error: "PARAMETER_MALFORMED", parameter: "slippage" }],
    ["gasless maybe", { gasless: "maybe" }, { error: "PARAMETER_MALFORMED", parameter: "gasless" }],
    ["no gasless", { gasless: undefined }, { error: "PARAMETER_MISSING", parameter: "gasless" }],
    ["another network", { network: "mainnet" }, { error: "NETWORK_UNKNOWN", parameter: "network" }],
    ["a network in capitals", { network: "TESTNET" }, { error: "NETWORK_UNKNOWN", parameter: "network" }],
    ["an unknown source", { liquiditySources: "order-book" }, { error: "LIQUIDITY_SOURCE_UNKNOWN" }],
    ["a source twice", { liquiditySources: "uniswap-v2,uniswap-v2" }, { error: "LIQUIDITY_SOURCE_UNKNOWN" }],
    ["an affiliate fee alone", { affiliateFee: "1" }, { error: "PARAMETER_CONFLICT", parameter: "affiliateAddress" }],
    [
      "an affiliate alone",
      { affiliateAddress: "0x00000000000000000000000000000000000000af" },
      { error: "PARAMETER_CONFLICT", parameter: "affiliateFee" },
    ],
    [
      "too high an affiliate fee",
      { affiliateAddress: "0x00000000000000000000000000000000000000af", affiliateFee: "3.1" },
      { error: "AFFILIATE_FEE_TOO_HIGH", parameter: "affiliateFee" },
    ],
    ["nobody as recipient", { toAddress: NATIVE_TOKEN }, { error: "RECIPIENT_FORBIDDEN", parameter: "toAddress" }],
    ["a huge amount", { amount: "9".repeat(60) }, { code: 2069, error: "NO_ROUTE" }],
  ];
  test.each(cases)("%s", async (_name, changes, expected) => {
    expect(await refused(changes)).toMatchObject({ status: 400, ...expected });
  });

  test("unknown tokens keep the interface's own code and sentence", async () => {
    const nobody = "0x00000000000000000000000000000000000000ee";
    const { status, body } = await client.get("/aggregator/quote", seedRequest({ fromTokenAddress: nobody }));
    expect({ status, ...body }).toMatchObject({ status: 404, code: 2003, message: "Couldn't recognize from token" });
    const to = await client.get("/aggregator/quote", seedRequest({ toTokenAddress: nobody }));
    expect(to.body).toMatchObject({ code: 2003, message: "Couldn't recognize to token" });
  });

  test("equal tokens, wrapped forms and tokens without a pool", async () => {
    expect(await refused({ toTokenAddress: market.usdc })).toMatchObject({ error: "TOKENS_EQUAL" });
    const wrapped = { fromTokenAddress: NATIVE_TOKEN, toTokenAddress: market.weth };
    expect(await refused(wrapped)).toMatchObject({ error: "TOKENS_EQUAL" });
    expect(await refused({ toTokenAddress: market.orphan })).toMatchObject({
      status: 400,
      code: 2069,
      error: "NO_ROUTE",
    });
    expect(await refused({ toAddress: market.weth })).toMatchObject({ error: "RECIPIENT_FORBIDDEN" });
  });

  test("an address with a mistyped digit, which its checksum shows; in one case it has none", async () => {
    const right = getAddress("0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266");
    const wrong = right.replace("f39F", "f38F");
    const digits = wrong.slice(2);
    const statusOf = async (changes: Record<string, string>) => (await refused(changes)).status;
    for (const parameter of ["toAddress", "fromAddress", "fromTokenAddress", "toTokenAddress"]) {
      expect(await refused({ [parameter]: wrong })).toMatchObject({
        status: 400,
        error: "PARAMETER_MALFORMED",
        parameter,
      });
    }
    for (const toAddress of [right, `0x${digits.toLowerCase()}`, `0x${digits.toUpperCase()}`]) {
      expect(await statusOf({ toAddress }), toAddress).toBe(200);
    }
  });

  test("a gasless quote when no relayer runs, and of the native token", async () => {
    expect(await refused({ gasless: "true" })).toMatchObject({ status: 400, error: "GASLESS_UNAVAILABLE" });
    const native = { gasless: "true", fromTokenAddress: NATIVE_TOKEN, toTokenAddress: market.usdc };
    expect(await refused(native)).toMatchObject({ status: 400, error: "GASLESS_NATIVE" });
  });

  test("quotes nobody gave, and quotes named twice or not at all", async () => {
    const unknown = { quoteId: "3f0f6a52-8f0e-4f57-9f0e-0c9a3ab8c1d2" };
    for (const path of ["/aggregator/transaction", "/aggregator/distributions"]) {
      expect(await client.get(path, unknown)).toMatchObject({ status: 404, body: { error: "QUOTE_UNKNOWN" } });
      expect(await client.get(path)).toMatchObject({ status: 400, body: { error: "PARAMETER_MISSING" } });
      const both = await client.get(path, { ...unknown, "quote-id": unknown.quoteId });
      expect(both).toMatchObject({ status: 400, body: { error: "PARAMETER_CONFLICT" } });
    }
    expect(await client.get("/user-manager/swap", unknown)).toMatchObject({
      status: 404,
      body: { error: "SWAP_UNKNOWN" },
    });
    const counts = await client.get("/user-manager/status-counts", { walletAddress: chain.deployer });
    expect(counts.body).toEqual({ pending: 0, success: 0, error: 0, expired: 0 });
  });
});

describe("self-executed transactions", () => {
  const pairs: [string, () => [Hex, Hex], string, object?][] = [
    ["token to token over ticks", () => [market.usdc, market.weth], "300000000000", { liquiditySources: "uniswap-v3" }],
    [
      "token to token over ticks, upwards",
      () => [market.weth, market.usdc],
      "90000000000000000000",
      { liquiditySources: "uniswap-v3" },
    ],
    ["token to token", () => [market.usdc, market.weth], "3000000000"],
    ["token to native", () => [market.usdc, NATIVE_TOKEN], "3000000000"],
    ["native to token", () => [NATIVE_TOKEN, market.usdc], "1000000000000000000"],
    ["a token without return values, two hops", () => [market.usdt, market.dai], "3000000000"],
  ];
  test.each(pairs)("deliver exactly the quoted amount: %s", async (_name, tokens, amount, changes) => {
    const [fromTokenAddress, toTokenAddress] = tokens();
    const request = seedRequest({ fromTokenAddress, toTokenAddress, amount, ...changes });
    const { status, body } = await client.get("/aggregator/quote/transaction", request);
    expect(status).toBe(200);
    const { quote, transaction } = body;
    expect(transaction).toMatchObject({ from: chain.deployer, to: market.settlement, type: 2, chainId: 31_337 });
    expect(transaction.value).toBe(fromTokenAddress === NATIVE_TOKEN ? amount : "0");
    const call = { to: transaction.to, data: transaction.data, value: BigInt(transaction.value) };
    expect(BigInt(await chain.call(call)).toString()).toBe(quote.amountOut);
    const [estimated, again] = await Promise.all([
      client.get("/aggregator/transaction", { quoteId: quote.id, estimateGas: "true" }),
      client.get("/aggregator/transaction", { "quote-id": quote.id }),
    ]);
    expect(again.body.data).toBe(transaction.data);
    // The estimate of the quote is enough, and not absurdly much.
    expect(BigInt(estimated.body.gasLimit)).toBeLessThan(BigInt(transaction.gasLimit));
    expect(BigInt(estimated.body.gasLimit) * 2n).toBeGreaterThan(BigInt(transaction.gasLimit));
  });

  test("of a wallet without anything are tried as if it had the amount, and it is told what it lacks", async () => {
    const poor = "0x00000000000000000000000000000000000b0b00";
    const { body } = await client.get("/aggregator/quote", seedRequest({ fromAddress: poor }));
    const tried = await client.get("/aggregator/transaction", { quoteId: body.id, estimateGas: "true" });
    expect(tried).toMatchObject({
      status: 200,
      body: { simulation: { status: "ok", funded: false, approved: false } },
    });
    expect(tried.body.simulation.amountOut).toBe(body.amountOut);
  });

  test("to a recipient that takes no coins are said to fail for that", async () => {
    const request = seedRequest({ toTokenAddress: NATIVE_TOKEN, toAddress: market.minter, simulate: "true" });
    const { body } = await client.get("/aggregator/quote", request);
    const reason = `NativeTransferFailed(to ${getAddress(market.minter)}, amount ${body.amountOut})`;
    expect(body.simulation).toMatchObject({ status: "failed", reason });
  });
});
