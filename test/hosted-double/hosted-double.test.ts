import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { Contract, JsonRpcProvider, type TypedDataField, Wallet } from "ethers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../src/adapters/clock/system-clock.ts";
import { createSwapService } from "../../src/adapters/swap-service/client.ts";
import { flyProfile } from "../../src/adapters/swap-service/profiles/fly.ts";
import { buildPermit } from "../../src/domain/guard/permit.ts";
import type { TypedData } from "../../src/domain/guard/typed-data.ts";
import { type Address, type Hex, NATIVE_TOKEN, toAddress } from "../../src/domain/money/address.ts";
import { toPpm } from "../../src/domain/money/fraction.ts";
import type { Quote, QuoteRequest, SwapService } from "../../src/ports/swap-service.ts";
import { type Sandbox, startSandbox } from "../../src/sandbox/sandbox.ts";
import { compileRouter, readRouterArtifact } from "../support/hosted-double/compile-router.ts";
import { type HostedDouble, startHostedDouble } from "../support/hosted-double/hosted-double.ts";
import { silentLogger } from "../support/silent-logger.ts";

const TOKEN_ABI = [
  "function balanceOf(address) view returns (uint256)",
  "function allowance(address,address) view returns (uint256)",
  "function approve(address,uint256)",
  "function nonces(address) view returns (uint256)",
];
const AFFILIATE = toAddress(`0x${"a1".repeat(20)}`);
const STRANGER = toAddress(`0x${"b2".repeat(20)}`);

let directory: string;
let sandbox: Sandbox;
let double: HostedDouble;
let provider: JsonRpcProvider;
let wallet: Wallet;
let owner: Address;
let service: SwapService;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "swapd-double-"));
  sandbox = await startSandbox({ directory, port: 0, blockTimeSeconds: 0.2, seed: 1, market: false });
  double = await startHostedDouble({ ...doubleWorld(), lateMs: 600, limits: { keyless: 500, keyed: 500, keys: [] } });
  const { rpcUrl, chainId } = sandbox.world;
  provider = new JsonRpcProvider(rpcUrl, chainId, {
    staticNetwork: true,
    cacheTimeout: -1,
    batchMaxCount: 1,
    pollingInterval: 50,
  });
  wallet = new Wallet(sandbox.world.wallet.privateKey, provider);
  owner = sandbox.world.wallet.address;
  service = serviceAt(double.url);
}, 60_000);

afterAll(async () => {
  provider?.destroy();
  await double?.stop();
  await sandbox?.stop();
  if (directory !== undefined) rmSync(directory, { recursive: true, force: true });
});

function doubleWorld() {
  const { rpcUrl, chainId, network, wrappedNative, protocols } = sandbox.world;
  const factory = protocols.find((protocol) => protocol.kind === 1)?.factory;
  if (factory === undefined) throw new Error("the sandbox has no Uniswap V2 factory");
  return { rpcUrl, chainId, network, wrappedNative, factory };
}

function serviceAt(baseUrl: string): SwapService {
  const limiter = { acquire: () => Promise.resolve("granted" as const), observe: () => undefined };
  return createSwapService(
    { profile: flyProfile, baseUrl, network: "sandbox", timeoutMs: 5_000, maxBytes: 100_000, retries: 0 },
    { limiter, clock: systemClock, logger: silentLogger() },
  );
}

function requestFor(sell: "USDC" | "WETH" | "ETH", buy: "USDC" | "WETH" | "ETH", amount: bigint): QuoteRequest {
  const token = (symbol: "USDC" | "WETH" | "ETH") =>
    symbol === "ETH"
      ? { symbol, address: NATIVE_TOKEN, decimals: 18 }
      : { symbol, address: sandbox.world.tokens[symbol].address, decimals: sandbox.world.tokens[symbol].decimals };
  return {
    sell: token(sell),
    buy: token(buy),
    amount,
    slippage: toPpm(5_000),
    owner,
    recipient: owner,
    gasless: false,
    enableRfq: false,
    affiliate: undefined,
  };
}

function pinned() {
  const { chainId, wrappedNative } = sandbox.world;
  return { chainId, router: toAddress(double.router), wrappedNative };
}

async function quoteFor(request: QuoteRequest): Promise<Quote> {
  const quote = await service.quote(request);
  if ("kind" in quote) throw new Error(quote.message);
  return quote;
}

function balance(token: Address, account: string): Promise<bigint> {
  if (token === NATIVE_TOKEN) return provider.getBalance(account);
  return new Contract(token, TOKEN_ABI, provider).getFunction("balanceOf")(account);
}

async function mined(transaction: { wait(): Promise<unknown> }): Promise<void> {
  await transaction.wait();
}

function sign(typedData: TypedData): Promise<Hex> {
  const types: Record<string, TypedDataField[]> = Object.fromEntries(
    Object.entries(typedData.types).map(([name, fields]) => [name, [...fields]]),
  );
  return wallet.signTypedData(typedData.domain, types, typedData.message) as Promise<Hex>;
}

/** The swap's signature and a permit for exactly the gross amount. */
async function signGasless(quote: Quote, token: Address, gross: bigint, deadlineSeconds = 4_000_000_000) {
  const decoding = flyProfile.decodeTypedData(quote.typedData as TypedData, pinned());
  if (!decoding.ok) throw new Error(decoding.problem);
  const nonce: bigint = await new Contract(token, TOKEN_ABI, provider).getFunction("nonces")(owner);
  const { chainId } = sandbox.world;
  const built = buildPermit(
    { domain: { name: "USD Coin", version: "1", chainId, verifyingContract: token }, nonce },
    { chainId, token, owner, spender: pinned().router, value: gross, deadlineSeconds },
  );
  if (!built.ok) throw new Error(JSON.stringify(built.denial));
  return {
    swap: decoding.swap,
    submission: {
      quoteId: quote.id,
      swapSignature: await sign(flyProfile.typedData(decoding.swap, pinned())),
      permitSignature: await sign(built.typedData),
      permitDeadlineSeconds: deadlineSeconds,
    },
  };
}

async function settled(quoteId: string): Promise<string> {
  for (let poll = 0; poll < 100; poll++) {
    const record = await service.swapRecord({ quoteId, hash: undefined });
    if ("raw" in record && record.status !== "pending") return record.status;
    await systemClock.sleep(50);
  }
  return "pending";
}

describe("the router of the double", () => {
  it("is the one that its source compiles to", { timeout: 60_000 }, () => {
    expect(readRouterArtifact()).toEqual(compileRouter());
  });
});

describe("a self-executed swap through the double", () => {
  it.each([
    ["USDC", "WETH", 1_000_000_000n, false],
    ["USDC", "ETH", 1_000_000_000n, true],
    ["ETH", "USDC", 10n ** 17n, true],
  ] as const)("sells %s for %s as its calldata, read by our decoder, says", async (sell, buy, amount, affiliate) => {
    const request: QuoteRequest = {
      ...requestFor(sell, buy, amount),
      recipient: STRANGER,
      affiliate: affiliate ? { address: AFFILIATE, fee: toPpm(10_000) } : undefined,
    };
    const quote = await quoteFor(request);
    const transaction = await service.transaction(quote.id);
    if ("kind" in transaction) throw new Error(transaction.message);
    const decoding = flyProfile.decodeTransaction(transaction, pinned());
    if (!decoding.ok) throw new Error(decoding.problem);
    expect(decoding.swap).toMatchObject({
      recipient: STRANGER,
      fromAsset: request.sell.address,
      toAsset: request.buy.address,
      swapFee: 0n,
      affiliate: affiliate ? { address: AFFILIATE, fee: amount / 100n } : undefined,
      permitValue: undefined,
    });
    expect(decoding.swap.amountIn + (decoding.swap.affiliate?.fee ?? 0n)).toBe(amount);
    if (sell !== "ETH") {
      await mined(
        await new Contract(request.sell.address, TOKEN_ABI, wallet).getFunction("approve")(double.router, amount),
      );
    }
    const before = await balance(request.buy.address, STRANGER);
    // The double's router pays an affiliate of a native sale in the wrapped token.
    const paid = sell === "ETH" ? sandbox.world.wrappedNative : request.sell.address;
    const affiliateBefore = await balance(paid, AFFILIATE);
    const { to, data, value } = transaction;
    await mined(await wallet.sendTransaction({ to, data, value }));
    expect((await balance(request.buy.address, STRANGER)) - before).toBe(quote.amountOut);
    expect((await balance(paid, AFFILIATE)) - affiliateBefore).toBe(affiliate ? amount / 100n : 0n);
  });
});

describe("a gasless swap through the double", () => {
  const gross = 500_000_000n;

  it("takes exactly the gross amount, pays the relayer and the affiliate, and the owner pays no gas", async () => {
    const request: QuoteRequest = {
      ...requestFor("USDC", "WETH", gross),
      gasless: true,
      affiliate: { address: AFFILIATE, fee: toPpm(5_000) },
    };
    const quote = await quoteFor(request);
    const usdc = request.sell.address;
    const { swap, submission } = await signGasless(quote, usdc, gross);
    const accounts = [owner, double.relayer, AFFILIATE];
    const before = await Promise.all(accounts.map((account) => balance(usdc, account)));
    const bought = await balance(request.buy.address, owner);
    const native = await provider.getBalance(owner);
    expect(await service.executeSwap(submission)).toMatchObject({ kind: "accepted" });
    expect(await settled(quote.id)).toBe("success");
    const after = await Promise.all(accounts.map((account) => balance(usdc, account)));
    expect(after.map((value, index) => value - (before[index] ?? 0n))).toEqual([-gross, swap.swapFee, gross / 200n]);
    expect((await balance(request.buy.address, owner)) - bought).toBe(quote.amountOut);
    expect(await provider.getBalance(owner)).toBe(native);
    expect(await service.statusCounts(owner)).toMatchObject({ success: 1, error: 0 });
  });

  it("can be executed twice by one signature while the allowance lasts, as there is no nonce", async () => {
    const request = { ...requestFor("USDC", "WETH", gross), gasless: true };
    const usdc = new Contract(request.sell.address, TOKEN_ABI, wallet);
    await mined(await usdc.getFunction("approve")(double.router, gross * 2n));
    const quote = await quoteFor({ ...request, slippage: toPpm(50_000) });
    const { submission } = await signGasless(quote, request.sell.address, gross);
    const withoutPermit = { ...submission, permitSignature: undefined, permitDeadlineSeconds: undefined };
    const before = await balance(request.sell.address, owner);
    for (let time = 0; time < 2; time++) {
      await service.executeSwap(withoutPermit);
      expect(await settled(quote.id)).toBe("success");
    }
    expect(before - (await balance(request.sell.address, owner))).toBe(gross * 2n);
    await service.executeSwap(withoutPermit);
    expect(await settled(quote.id)).toBe("error");
  });

  it("refuses a signature of somebody else", async () => {
    const quote = await quoteFor({ ...requestFor("USDC", "WETH", gross), gasless: true });
    const swapSignature = (await Wallet.createRandom().signMessage("x")) as Hex;
    const outcome = await service.executeSwap({
      quoteId: quote.id,
      swapSignature,
      permitSignature: undefined,
      permitDeadlineSeconds: undefined,
    });
    expect(outcome).toMatchObject({ kind: "unknown" });
  });

  it.each([
    ["lose-before", "unknown", false],
    ["lose-after", "unknown", true],
    ["report-error", "unknown", true],
    ["error-after-accept", "unknown", true],
    ["late", "accepted", true],
  ] as const)("with the fault %s answers so that we say %s", async (fault, kind, executed) => {
    double.faults.set([fault]);
    const request = { ...requestFor("USDC", "WETH", gross), gasless: true };
    const quote = await quoteFor(request);
    const { submission } = await signGasless(quote, request.sell.address, gross);
    const before = await balance(request.sell.address, owner);
    expect(await service.executeSwap(submission)).toMatchObject({ kind });
    if (fault === "late") expect(before - (await balance(request.sell.address, owner))).toBe(0n);
    await systemClock.sleep(1_200);
    expect(before - (await balance(request.sell.address, owner))).toBe(executed ? gross : 0n);
  });
});

describe("the double as a process", () => {
  it("prints one line when it is ready, takes faults over HTTP, and goes when its parent goes", async () => {
    const main = fileURLToPath(new URL("../support/hosted-double/main.ts", import.meta.url));
    const child = spawn(process.execPath, [main, JSON.stringify(doubleWorld())], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    const [line] = (await once(createInterface(child.stdout), "line")) as [string];
    const ready = JSON.parse(line) as { url: string; router: string };
    expect(ready).toMatchObject({ url: expect.stringMatching(/^http/), router: expect.stringMatching(/^0x/) });
    const control = await fetch(`${ready.url}/control/faults`, {
      method: "POST",
      body: JSON.stringify({ faults: ["lose-after"], repeat: true }),
    });
    expect(control.status).toBe(200);
    const quote = await serviceAt(ready.url).quote(requestFor("WETH", "USDC", 10n ** 18n));
    expect(quote).toMatchObject({ targetAddress: ready.router, typedData: { primaryType: "Swap" } });
    child.stdin.end();
    const [code] = (await once(child, "exit")) as [number];
    expect(code).toBe(0);
  });

  it("limits like the hosted gateway, with its headers", async () => {
    const limited = await startHostedDouble({ ...doubleWorld(), limits: { keyless: 2, keyed: 5, keys: ["known"] } });
    try {
      await systemClock.sleep(1_000 - (Date.now() % 1_000) + 20);
      const calls = await Promise.all(
        [1, 2, 3].map(() => fetch(`${limited.url}/user-manager/status-counts?walletAddress=${owner}`)),
      );
      expect(calls.map((call) => call.status).sort()).toEqual([200, 200, 429]);
      const refusal = calls.find((call) => call.status === 429);
      expect(refusal?.headers.get("retry-after")).toBe("1");
      expect(refusal?.headers.get("x-ratelimit-limit-second")).toBe("2");
      const keyed = await fetch(`${limited.url}/user-manager/status-counts`, { headers: { apikey: "known" } });
      expect(keyed.headers.get("ratelimit-limit")).toBe("5");
      expect(keyed.headers.get("ratelimit-remaining")).toBe("4");
    } finally {
      await limited.stop();
    }
  });
});
