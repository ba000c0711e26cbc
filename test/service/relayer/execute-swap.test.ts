import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { id } from "ethers";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { swapdProfile } from "../../../src/adapters/swap-service/swapd/service.ts";
import { readRoute } from "../../../src/adapters/swap-service/wire/read-answers.ts";
import { oneContract } from "../../../src/domain/guard/swap-contracts.ts";
import type { Address } from "../../../src/domain/money/address.ts";
import type { Clock } from "../../../src/ports/clock.ts";
import type { RelayerOptions, ServiceOptions } from "../../../src/service/options.ts";
import { type Service, startService } from "../../../src/service/service.ts";
import { startTestChain, type TestChain } from "../support/chain.ts";
import { type Answer, type Client, createClient } from "../support/client.ts";
import { deployMarket, type Market, serviceOptions } from "../support/market.ts";
import { createRecordingLogger } from "../support/recording-logger.ts";
import { RELAYER_SETTINGS, relayerParts } from "../support/relayer.ts";
import { systemClock } from "../support/system-clock.ts";
import { balanceOf, createWallet, giveTokens, type TestWallet } from "../support/wallet.ts";

const EXECUTE = "/user-manager/execute-swap";

let chain: TestChain;
let market: Market;
let service: Service;
let client: Client;
let relayer: Address;
const directory = mkdtempSync(join(tmpdir(), "swapd-relayer-"));

function optionsFor(
  name: string,
  { relayer: settings = RELAYER_SETTINGS, ...changes }: Partial<ServiceOptions> & { relayer?: RelayerOptions } = {},
): ServiceOptions {
  const database = join(directory, `${name}.db`);
  return serviceOptions(chain, market, { database, network: { relayer: settings }, ...changes });
}

/** Each database has a relayer of its own: two that send from one account would see each other as intruders. */
async function start(
  options: ServiceOptions,
  crashPoint?: (label: string) => void,
  clock: Clock = systemClock,
): Promise<Service> {
  const parts = relayerParts(chain, id(options.database), crashPoint);
  await chain.rpc.call("anvil_setBalance", [parts.signer.address, "0x8ac7230489e80000"]);
  return startService(options, {
    logger: createRecordingLogger(),
    clock,
    relayers: new Map([["testnet", parts]]),
  });
}

beforeAll(async () => {
  chain = await startTestChain();
  market = await deployMarket(chain);
  relayer = relayerParts(chain, id(optionsFor("service").database)).signer.address;
  await chain.rpc.call("evm_setAutomine", [false]);
  await chain.rpc.call("evm_setIntervalMining", [1]);
  service = await start(optionsFor("service"));
  client = await createClient(service.url);
});

afterAll(async () => {
  await service?.stop();
  await chain?.stop();
  rmSync(directory, { recursive: true });
});

async function newSeller(amount = 5_000_000_000n, token = market.usdc): Promise<TestWallet> {
  const seller = createWallet();
  await giveTokens(chain, token, { to: seller.address, amount });
  return seller;
}

function requestOf(seller: TestWallet, changes: Record<string, string> = {}) {
  return {
    network: "testnet",
    fromTokenAddress: market.usdc,
    toTokenAddress: market.weth,
    sellAmount: "3000000000",
    slippage: "0.01",
    fromAddress: seller.address,
    gasless: "true",
    ...changes,
  };
}

async function signedBody(seller: TestWallet, quote: Answer["body"]) {
  return {
    networkName: "testnet",
    quoteId: quote.id as string,
    swapSignature: await seller.sign(quote.typedData),
    permitSignature: await seller.sign(quote.permit),
    permitDeadline: Number(quote.permit.message.deadline),
  };
}

async function follow(client: Client, quoteId: string, until: (body: Answer["body"]) => boolean) {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const { body } = await client.get("/user-manager/swap", { quoteId });
    if (until(body)) return body;
    await sleep(250);
  }
  throw new Error(`swap of quote ${quoteId} did not get there in time`);
}

const ended = (body: Answer["body"]) => body.status !== "pending";

describe("a gasless swap", () => {
  test("is executed for a wallet without gas, and its record reports what the chain did", async () => {
    const seller = await newSeller();
    const recipient = createWallet().address;
    const affiliate = createWallet().address;
    const request = requestOf(seller, {
      toAddress: recipient,
      affiliateAddress: affiliate,
      affiliateFeeInPercentage: "0.002",
    });
    const { body: quote } = await client.get("/aggregator/quote", request);
    expect(quote.typedData.message.sender).toBe(relayer);
    expect(quote.permit.message).toMatchObject({
      owner: seller.address,
      spender: market.settlement,
      value: "3000000000",
    });
    const { amountIn, swapFee, affiliateFee } = quote.message;
    expect(BigInt(amountIn) + BigInt(swapFee) + BigInt(affiliateFee)).toBe(3_000_000_000n);
    expect(affiliateFee).toBe("6000000");
    const relayerBefore = await balanceOf(chain, market.usdc, relayer);

    const body = await signedBody(seller, quote);
    const accepted = await client.post(EXECUTE, body);
    expect(accepted).toMatchObject({
      status: 200,
      body: { status: "pending", quoteId: quote.id, walletAddress: seller.address },
    });
    const done = await follow(client, quote.id, ended);
    expect(done).toMatchObject({ status: "success", id: accepted.body.id, error: null });
    expect(done.transitions.map((one: { to: string }) => one.to)).toEqual(["pending", "success"]);
    const received = await balanceOf(chain, market.weth, recipient);
    expect(done.amountOut).toBe(received.toString());
    expect(received).toBeGreaterThanOrEqual(BigInt(quote.amountOutMin));
    expect(await balanceOf(chain, market.usdc, seller.address)).toBe(2_000_000_000n);
    expect(await balanceOf(chain, market.usdc, affiliate)).toBe(6_000_000n);
    expect((await balanceOf(chain, market.usdc, relayer)) - relayerBefore).toBe(BigInt(swapFee));
    const byHash = await client.get("/user-manager/swap", { networkName: "testnet", hash: done.hash });
    expect(byHash.body.id).toBe(accepted.body.id);
    const counts = await client.get("/user-manager/status-counts", { walletAddress: seller.address });
    expect(counts.body).toEqual({ pending: 0, success: 1, error: 0, expired: 0 });
  });

  test("is one swap however often its body is sent, also at once, and never another one's", async () => {
    const seller = await newSeller();
    const { body: quote } = await client.get("/aggregator/quote", requestOf(seller));
    const body = await signedBody(seller, quote);
    const answers = await Promise.all([1, 2, 3, 4].map(() => client.post(EXECUTE, body)));
    expect(new Set(answers.map((answer) => answer.body.id)).size).toBe(1);
    const shouted = `0x${body.swapSignature.slice(2).toUpperCase()}`;
    const sameInCapitals = await client.post(EXECUTE, { ...body, swapSignature: shouted });
    expect(sameInCapitals.body).toMatchObject({ id: answers[0]!.body.id });
    const changed = {
      ...quote.permit,
      message: { ...quote.permit.message, deadline: String(body.permitDeadline + 1) },
    };
    const other = { ...body, permitSignature: await seller.sign(changed), permitDeadline: body.permitDeadline + 1 };
    expect(await client.post(EXECUTE, other)).toMatchObject({ status: 409, body: { error: "QUOTE_USED" } });
    await follow(client, quote.id, ended);
    const again = await client.post(EXECUTE, body);
    expect(again.body).toMatchObject({ id: answers[0]!.body.id, status: "success" });
    expect(await balanceOf(chain, market.usdc, seller.address)).toBe(2_000_000_000n);
  });

  test("needs no permit where the allowance suffices", async () => {
    const { body: quote } = await client.get(
      "/aggregator/quote",
      requestOf({ ...createWallet(), address: chain.deployer }),
    );
    expect(quote.permit).toBeNull();
    const dai = requestOf(
      { ...createWallet(), address: chain.deployer },
      { fromTokenAddress: market.dai, sellAmount: "3000000000000000000000" },
    );
    expect((await client.get("/aggregator/quote", dai)).status).toBe(200);
  });
});

test("a gasless quote is tried before anything is signed, as far as there is something to try", async () => {
  const affiliate = { affiliateAddress: "0x00000000000000000000000000000000000000af", affiliateFee: "3" };
  for (const [seller, funded] of [
    [await newSeller(), true],
    [createWallet(), false],
  ] as const) {
    const given = Number(await chain.rpc.call("eth_blockNumber", []));
    const tried = async () =>
      (await client.get("/aggregator/quote", requestOf(seller, { ...affiliate, simulate: "true" }))).body;
    // A quote may stand on a block that the node has just left: the one before the tokens came.
    await expect.poll(async () => (await tried()).simulation.blockNumber).toBeGreaterThanOrEqual(given);
    const body = await tried();
    expect(body.simulation).toMatchObject({ status: "ok", funded, approved: false });
    // What gas the relayer needs is not the wallet's business, and cannot be known without the signature.
    expect(body.simulation).not.toHaveProperty("gasUsed");
    expect(body.simulation.blockNumber).toBeGreaterThanOrEqual(body.blockNumber);
    expect(body.simulation.amountOut).toBe(body.amountOut);
  }
});

test("the route of a gasless quote simulates the order as the owner's own call, to the wei and without a signature", async () => {
  const seller = await newSeller();
  const affiliate = { affiliateAddress: "0x00000000000000000000000000000000000000af", affiliateFee: "3" };
  const { body: quote } = await client.get("/aggregator/quote", requestOf(seller, affiliate));
  const { status, body } = await client.get("/aggregator/transaction", { quoteId: quote.id });
  expect({ status, body }).toMatchObject({ status: 200, body: { gasless: true, to: market.settlement } });
  // No calldata: nothing of a gasless quote is the owner's to broadcast.
  expect(body).not.toHaveProperty("data");
  const route = readRoute(body);
  const pinned = { chainId: body.chainId, contracts: oneContract(market.settlement), wrappedNative: market.weth };
  const decoded = swapdProfile.decodeTypedData(quote.typedData, pinned);
  if ("problem" in route || !decoded.ok) throw new Error(`not read: ${JSON.stringify([route, decoded])}`);
  const data = swapdProfile.simulationOfOrder?.(decoded.swap, route);
  const amount = BigInt(quote.sellAmount).toString(16).padStart(64, "0");
  const approve = `0x095ea7b3${market.settlement.slice(2).padStart(64, "0")}${amount}`;
  const from = seller.address;
  const calls = [
    { from, to: market.usdc, data: approve },
    { from, to: market.settlement, data },
  ];
  const [block] = (await chain.rpc.call("eth_simulateV1", [{ blockStateCalls: [{ calls }] }, "latest"])) as [
    { calls: { status: string; returnData: string }[] },
  ];
  expect(block.calls.map((call) => call.status)).toEqual(["0x1", "0x1"]);
  expect(BigInt(block.calls[1]?.returnData ?? "0x0")).toBe(BigInt(quote.amountOut));
});

describe("a gasless quote is refused by name", () => {
  test.each([
    ["Dai's own permit", "dai", "GASLESS_DAI_PERMIT"],
    ["no permit", "usdt", "GASLESS_NO_PERMIT"],
    ["a fallback that accepts permits", "weth", "GASLESS_NO_PERMIT"],
  ] as const)("for %s without allowance", async (_name, symbol, error) => {
    const token = market[symbol];
    const changes = { fromTokenAddress: token, toTokenAddress: symbol === "weth" ? market.usdc : market.weth };
    const { status, body } = await client.get("/aggregator/quote", requestOf(createWallet(), changes));
    expect({ status, error: body.error }).toEqual({ status: 400, error });
  });

  test("when the amount does not even pay the gas", async () => {
    const answer = await client.get("/aggregator/quote", requestOf(createWallet(), { sellAmount: "1" }));
    expect(answer).toMatchObject({ status: 400, body: { error: "AMOUNT_BELOW_FEES" } });
  });

  test("when the relayer is out of gas money", async () => {
    const minimumNativeBalance = 10n ** 30n;
    const poor = await start(optionsFor("poor", { relayer: { ...RELAYER_SETTINGS, minimumNativeBalance } }));
    const answer = await (await createClient(poor.url)).get("/aggregator/quote", requestOf(createWallet()));
    expect(answer).toMatchObject({ status: 400, body: { error: "GASLESS_RELAYER_UNFUNDED" } });
    await poor.stop();
  });
});

describe("what is submitted is refused by name", () => {
  test("a quote that is not gasless, indicative or unknown", async () => {
    const seller = await newSeller();
    const { body: quote } = await client.get("/aggregator/quote", requestOf(seller));
    const body = await signedBody(seller, quote);
    const own = await client.get("/aggregator/quote", requestOf(seller, { gasless: "false" }));
    expect(await client.post(EXECUTE, { ...body, quoteId: own.body.id })).toMatchObject({
      status: 400,
      body: { error: "QUOTE_NOT_GASLESS" },
    });
    const unknown = { ...body, quoteId: "3f0f6a52-8f0e-4f57-9f0e-0c9a3ab8c1d2" };
    expect(await client.post(EXECUTE, unknown)).toMatchObject({ status: 404, body: { error: "QUOTE_UNKNOWN" } });
    expect(await client.post(EXECUTE, { ...body, networkName: "mainnet" })).toMatchObject({
      status: 400,
      body: { error: "NETWORK_UNKNOWN" },
    });
    const both = await client.get("/aggregator/quote/transaction", requestOf(seller));
    expect(both).toMatchObject({ status: 400, body: { error: "QUOTE_GASLESS" } });
  });

  test("signatures of somebody else, of another message, of another shape", async () => {
    const seller = await newSeller();
    const thief = createWallet();
    const { body: quote } = await client.get("/aggregator/quote", requestOf(seller));
    const body = await signedBody(seller, quote);
    const lessMinimum = { ...quote.typedData, message: { ...quote.message, amountOutMin: "1" } };
    const swapCases = [await thief.sign(quote.typedData), await seller.sign(lessMinimum), `0x${"00".repeat(65)}`];
    for (const swapSignature of swapCases) {
      const answer = await client.post(EXECUTE, { ...body, swapSignature });
      expect(answer).toMatchObject({
        status: 400,
        body: { error: "SWAP_SIGNATURE_INVALID", parameter: "swapSignature" },
      });
    }
    expect(await client.post(EXECUTE, { ...body, swapSignature: "0x12" })).toMatchObject({
      status: 400,
      body: { error: "PARAMETER_MALFORMED" },
    });
    const permit = (message: object) => ({ ...quote.permit, message: { ...quote.permit.message, ...message } });
    const permitCases = [
      await thief.sign(quote.permit),
      await seller.sign(permit({ value: "1" })),
      await seller.sign(permit({ nonce: "7" })),
      await seller.sign(permit({ spender: thief.address })),
    ];
    for (const permitSignature of permitCases) {
      const answer = await client.post(EXECUTE, { ...body, permitSignature });
      expect(answer).toMatchObject({ status: 400, body: { error: "PERMIT_SIGNATURE_INVALID" } });
    }
    expect(await client.post(EXECUTE, { ...body, permitDeadline: 1 })).toMatchObject({
      status: 400,
      body: { error: "PERMIT_EXPIRED" },
    });
    // It would be valid in this block and fail in the next one, at the relayer's expense.
    const endsSooner = body.permitDeadline - 1;
    const sooner = {
      ...body,
      permitSignature: await seller.sign(permit({ deadline: String(endsSooner) })),
      permitDeadline: endsSooner,
    };
    // A caller has ten checked in a second.
    await sleep(1_000);
    expect(await client.post(EXECUTE, sooner)).toMatchObject({ status: 400, body: { error: "PERMIT_EXPIRED" } });
    const { permitSignature: _, permitDeadline: __, ...without } = body;
    expect(await client.post(EXECUTE, without)).toMatchObject({ status: 400, body: { error: "PERMIT_MISSING" } });
    expect(await client.post(EXECUTE, { ...without, permitSignature: body.permitSignature })).toMatchObject({
      status: 400,
      body: { parameter: "permitDeadline" },
    });
    expect((await client.post(EXECUTE, body)).status).toBe(200);
    await follow(client, quote.id, ended);
  });

  test("a swap that would revert, before the relayer pays for it", async () => {
    const seller = await newSeller(1n);
    const { body: quote } = await client.get("/aggregator/quote", requestOf(seller));
    const answer = await client.post(EXECUTE, await signedBody(seller, quote));
    expect(answer).toMatchObject({ status: 400, body: { error: "SIMULATION_REVERTED" } });
    expect(answer.body.message).toContain("ERC20InsufficientBalance");
  });

  test("a swap that could not be signed any more, before it is accepted for nothing", async () => {
    let laterMs = 0;
    const clock = { ...systemClock, nowMs: () => systemClock.nowMs() + laterMs };
    const lifetimes = { quoteLifetimeSeconds: 60, permitLifetimeSeconds: 60 };
    const late = await start(optionsFor("late", lifetimes), undefined, clock);
    onTestFinished(() => late.stop());
    const lateClient = await createClient(late.url);
    const seller = await newSeller();
    const { body: quote } = await lateClient.get("/aggregator/quote", requestOf(seller));
    const body = await signedBody(seller, quote);
    laterMs = 55_500;
    const refused = await lateClient.post(EXECUTE, body);
    expect(refused).toMatchObject({ status: 410, body: { error: "QUOTE_EXPIRED", parameter: "quoteId" } });
    expect(refused.body.message).toMatch(/it was to be submitted until \d+, its order holds until \d+/);
    expect((await lateClient.get("/user-manager/swap", { quoteId: quote.id })).status).toBe(404);
  });
});

test("a second service with the same relayer does not start: each would take the other for an intruder", async () => {
  const parts = relayerParts(chain, id(optionsFor("service").database));
  const second = startService(optionsFor("second"), {
    logger: createRecordingLogger(),
    clock: systemClock,
    relayers: new Map([["testnet", parts]]),
  });
  await expect(second).rejects.toThrow(`the relayer ${relayer} sends for another service`);
});

describe("after a restart", () => {
  test("a quote that somebody with a key was signing can still be used, one without a key is told to be forgotten", async () => {
    const seller = await newSeller();
    const options = optionsFor("restart-quote");
    const first = await start(options);
    const client = await createClient(first.url);
    const { body: quote } = await client.get("/aggregator/quote", requestOf(seller), { apikey: "test-key" });
    const { body: keyless } = await client.get("/aggregator/quote", requestOf(seller));
    await first.stop();
    const second = await start(options);
    const later = await createClient(second.url);
    expect(await later.post(EXECUTE, await signedBody(seller, keyless))).toMatchObject({
      status: 404,
      body: { error: "QUOTE_FORGOTTEN" },
    });
    expect((await later.post(EXECUTE, await signedBody(seller, quote))).status).toBe(200);
    expect(await follow(later, quote.id, ended)).toMatchObject({ status: "success" });
    await second.stop();
  });

  test.concurrent.each(["lane.sign.before", "lane.signed.after", "lane.broadcast.before", "lane.broadcast.after"])(
    "an accepted swap is executed exactly once, also when the process ended at %s",
    async (label) => {
      const seller = await newSeller();
      const options = optionsFor(`crash-${label}`);
      let crashed = false;
      const first = await start(options, (reached) => {
        if (reached !== label && !crashed) return;
        // From here on this process does nothing any more, as if it had been killed.
        crashed = true;
        throw new Error("killed");
      });
      const { body: quote } = await (await createClient(first.url)).get("/aggregator/quote", requestOf(seller));
      const body = await signedBody(seller, quote);
      await (await createClient(first.url)).post(EXECUTE, body);
      for (let attempt = 0; !crashed && attempt < 200; attempt += 1) await sleep(100);
      expect(crashed).toBe(true);
      await first.stop();
      const second = await start(options);
      const later = await createClient(second.url);
      const done = await follow(later, quote.id, ended);
      expect(done.status).toBe("success");
      expect(await balanceOf(chain, market.usdc, seller.address)).toBe(2_000_000_000n);
      expect(await balanceOf(chain, market.weth, seller.address)).toBe(BigInt(done.amountOut));
      await second.stop();
    },
    60_000,
  );
});

test("a swap that cannot be mined before its deadline expires, and the wallet keeps its tokens", async () => {
  const seller = await newSeller();
  const short = await start(optionsFor("expired", { quoteLifetimeSeconds: 3, permitLifetimeSeconds: 4 }));
  const caller = await createClient(short.url);
  const { body: quote } = await caller.get("/aggregator/quote", requestOf(seller));
  const body = await signedBody(seller, quote);
  await chain.rpc.call("evm_setIntervalMining", [0]);
  expect((await caller.post(EXECUTE, body)).status).toBe(200);
  await follow(caller, quote.id, (record) => record.hash !== null);
  await sleep(6_000);
  await chain.rpc.call("evm_setIntervalMining", [1]);
  const done = await follow(caller, quote.id, ended);
  expect(["expired", "error"]).toContain(done.status);
  expect(await balanceOf(chain, market.usdc, seller.address)).toBe(5_000_000_000n);
  await short.stop();
});
