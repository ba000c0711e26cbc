import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Contract, JsonRpcProvider, type TypedDataField, Wallet } from "ethers";
import { systemClock } from "../../src/adapters/clock/system-clock.ts";
import { fly, flyProfile } from "../../src/adapters/swap-service/fly/service.ts";
import type { DecodedSwap, PinnedSettlement } from "../../src/domain/guard/decoded-swap.ts";
import { buildPermit } from "../../src/domain/guard/permit.ts";
import { oneContract } from "../../src/domain/guard/swap-contracts.ts";
import type { TypedData } from "../../src/domain/guard/typed-data.ts";
import { type Address, type Hex, NATIVE_TOKEN, toAddress } from "../../src/domain/money/address.ts";
import { toPpm } from "../../src/domain/money/fraction.ts";
import type { Quote, QuoteRequest, Submission, SwapService } from "../../src/ports/swap-service.ts";
import { type Sandbox, startSandbox } from "../../src/sandbox/sandbox.ts";
import { type HostedDouble, startHostedDouble } from "../support/hosted-double/hosted-double.ts";
import type { DoubleWorld } from "../support/hosted-double/quote-endpoint.ts";
import { silentLogger } from "../support/silent-logger.ts";

const TOKEN_ABI = [
  "function balanceOf(address) view returns (uint256)",
  "function approve(address,uint256)",
  "function nonces(address) view returns (uint256)",
];

type Symbol = "USDC" | "WETH" | "ETH";

/** A sandbox chain with a double of the hosted service on it, and a wallet that trades through it. */
export class DoubleFixture {
  readonly sandbox: Sandbox;
  readonly double: HostedDouble;
  readonly service: SwapService;
  readonly owner: Address;
  readonly wallet: Wallet;
  readonly pinned: PinnedSettlement;
  readonly #provider: JsonRpcProvider;
  readonly #directory: string;

  private constructor(parts: { sandbox: Sandbox; double: HostedDouble; directory: string }) {
    const { rpcUrl, chainId, wallet, wrappedNative } = parts.sandbox.world;
    this.sandbox = parts.sandbox;
    this.double = parts.double;
    this.#directory = parts.directory;
    this.#provider = new JsonRpcProvider(rpcUrl, chainId, {
      staticNetwork: true,
      cacheTimeout: -1,
      batchMaxCount: 1,
      pollingInterval: 50,
    });
    this.wallet = new Wallet(wallet.privateKey, this.#provider);
    this.owner = wallet.address;
    this.service = serviceAt(parts.double.url);
    const { router, serviceSigner } = parts.double;
    const contracts = oneContract(toAddress(router));
    this.pinned = { chainId, contracts, wrappedNative, signer: toAddress(serviceSigner) };
  }

  static async open(): Promise<DoubleFixture> {
    const directory = mkdtempSync(join(tmpdir(), "swapd-double-"));
    const sandbox = await startSandbox({ directory, port: 0, blockTimeSeconds: 0.2, seed: 1, market: false });
    const limits = { keyless: 500, keyed: 500, keys: [] };
    const double = await startHostedDouble({ ...doubleWorldOf(sandbox), lateMs: 600, limits });
    return new DoubleFixture({ sandbox, double, directory });
  }

  async close(): Promise<void> {
    this.#provider.destroy();
    await this.double.stop();
    await this.sandbox.stop();
    rmSync(this.#directory, { recursive: true, force: true });
  }

  request(sell: Symbol, buy: Symbol, amount: bigint): QuoteRequest {
    return {
      sell: this.#token(sell),
      buy: this.#token(buy),
      amount,
      slippage: toPpm(5_000),
      owner: this.owner,
      recipient: this.owner,
      gasless: false,
      enableRfq: false,
      affiliate: undefined,
    };
  }

  async quote(request: QuoteRequest): Promise<Quote> {
    const quote = await this.service.quote(request);
    if ("kind" in quote) throw new Error(quote.message);
    return quote;
  }

  balance(token: Address, account: string): Promise<bigint> {
    if (token === NATIVE_TOKEN) return this.#provider.getBalance(account);
    return new Contract(token, TOKEN_ABI, this.#provider).getFunction("balanceOf")(account);
  }

  /** Lets the double's router spend the token, and waits for the block. */
  async approve(token: Address, amount: bigint): Promise<void> {
    const approval = await new Contract(token, TOKEN_ABI, this.wallet).getFunction("approve")(
      this.double.router,
      amount,
    );
    await approval.wait();
  }

  /** The swap's signature and a permit for exactly the gross amount. */
  async signGasless(
    quote: Quote,
    token: Address,
    gross: bigint,
  ): Promise<{ swap: DecodedSwap; submission: Submission }> {
    const deadlineSeconds = 4_000_000_000;
    const { chainId, contracts } = this.pinned;
    const decoding =
      quote.typedData === undefined ? undefined : flyProfile.decodeTypedData(quote.typedData, this.pinned);
    if (decoding?.ok !== true) throw new Error(decoding?.problem ?? "no typed data");
    const nonce: bigint = await new Contract(token, TOKEN_ABI, this.#provider).getFunction("nonces")(this.owner);
    const built = buildPermit(
      { domain: { name: "USD Coin", version: "1", chainId, verifyingContract: token }, nonce },
      {
        chainId,
        token,
        owner: this.owner,
        spender: contracts.spender,
        value: gross,
        deadlineSeconds: BigInt(deadlineSeconds),
      },
    );
    if (!built.ok) throw new Error(JSON.stringify(built.denial));
    const submission = {
      quoteId: quote.id,
      swapSignature: await this.#sign(flyProfile.typedData(decoding.swap, this.pinned)),
      permitSignature: await this.#sign(built.typedData),
      permitDeadlineSeconds: deadlineSeconds,
    };
    return { swap: decoding.swap, submission };
  }

  /** The status at which the service's record of the swap settles. */
  async settled(quoteId: string): Promise<string> {
    for (let poll = 0; poll < 100; poll++) {
      const record = await this.service.swapRecord({ quoteId, hash: undefined });
      if ("raw" in record && record.status !== "pending") return record.status;
      await systemClock.sleep(50);
    }
    return "pending";
  }

  #token(symbol: Symbol) {
    if (symbol === "ETH") return { symbol, address: NATIVE_TOKEN, decimals: 18 };
    const { address, decimals } = this.sandbox.world.tokens[symbol];
    return { symbol, address, decimals };
  }

  #sign(typedData: TypedData): Promise<Hex> {
    const types: Record<string, TypedDataField[]> = Object.fromEntries(
      Object.entries(typedData.types).map(([name, fields]) => [name, [...fields]]),
    );
    return this.wallet.signTypedData(typedData.domain, types, typedData.message) as Promise<Hex>;
  }
}

/** What the double needs to know of a sandbox. */
export function doubleWorldOf({ world }: Sandbox): DoubleWorld {
  const { rpcUrl, chainId, network, wrappedNative, protocols } = world;
  const factory = protocols.find((protocol) => protocol.kind === 1)?.factory;
  if (factory === undefined) throw new Error("the sandbox has no Uniswap V2 factory");
  return { rpcUrl, chainId, network, wrappedNative, factory };
}

/** A client of the hosted service, unpaced. */
export function serviceAt(baseUrl: string): SwapService {
  const limiter = { acquire: () => Promise.resolve("granted" as const), observe: () => undefined };
  return fly.open(
    { chainId: 31_337, baseUrl, network: "sandbox", timeoutMs: 5_000, maxBytes: 100_000, retries: 0 },
    { limiter, clock: systemClock, logger: silentLogger() },
  );
}
