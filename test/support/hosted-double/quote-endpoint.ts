import { randomUUID } from "node:crypto";
import { Contract, type JsonRpcProvider, type Wallet, ZeroAddress } from "ethers";
import { HttpProblem } from "./http-problem.ts";
import { packCall } from "./packed-call.ts";
import { digestOf, type SwapMessage, wireTypedData } from "./swap-message.ts";

/** The chain that the double trades on. */
export interface DoubleWorld {
  readonly rpcUrl: string;
  readonly chainId: number;
  /** the network's name in requests */
  readonly network: string;
  readonly wrappedNative: string;
  /** a Uniswap V2 factory; the double trades through its direct pairs only */
  readonly factory: string;
}

/** A quote that the double remembers. */
export interface DoubleQuote {
  readonly id: string;
  readonly owner: string | undefined;
  readonly gasless: boolean;
  readonly message: SwapMessage;
  readonly gross: bigint;
  readonly amountOut: bigint;
  readonly pair: string;
  readonly gasCost: bigint;
}

interface EndpointParts {
  readonly world: DoubleWorld;
  readonly provider: JsonRpcProvider;
  readonly router: string;
  readonly relayer: string;
  readonly serviceSigner: Wallet;
  readonly lifetimeSeconds: number;
}

const GAS_LIMIT = 400_000n;
const ONE = 10n ** 18n;

/** Quotes by one pair's reserves and remembers what it quoted. */
export class QuoteEndpoint {
  readonly #parts: EndpointParts;
  readonly #quotes = new Map<string, DoubleQuote>();
  readonly #factory: Contract;

  constructor(parts: EndpointParts) {
    this.#parts = parts;
    this.#factory = new Contract(
      parts.world.factory,
      ["function getPair(address,address) view returns (address)"],
      parts.provider,
    );
  }

  /** @throws HttpProblem when there is no such quote */
  find(id: string | null): DoubleQuote {
    const quote = id === null ? undefined : this.#quotes.get(id);
    if (quote === undefined) throw new HttpProblem(404, 2010, "Quote not found");
    return quote;
  }

  /** Makes a quote out of the query. @throws HttpProblem for a bad one */
  async make(query: URLSearchParams): Promise<DoubleQuote> {
    const { world, provider, router, relayer } = this.#parts;
    if (query.get("network") !== world.network) throw new HttpProblem(500, 1000, "Internal server error");
    const fromAsset = addressOf(query, "fromTokenAddress");
    const toAsset = addressOf(query, "toTokenAddress");
    const gross = integerOf(query, "sellAmount");
    const slippage = fractionOf(query.get("slippage"), "slippage");
    const gasless = booleanOf(query.get("gasless"));
    const owner = query.has("fromAddress") ? addressOf(query, "fromAddress") : undefined;
    const recipient = query.has("toAddress") ? addressOf(query, "toAddress") : owner;
    await this.#knownToken(fromAsset);
    if (gross === 0n) throw new HttpProblem(400, 2069, "No route");
    if (slippage >= ONE) throw new HttpProblem(400, 1001, "slippage must be below 1");
    if (gasless && fromAsset === ZeroAddress) throw new HttpProblem(400, 1001, "the native token has no permit");
    const affiliate = affiliateOf(query, gross);
    const { gasPrice } = await provider.getFeeData();
    const gasCost = GAS_LIMIT * (gasPrice ?? 0n);
    const swapFee = gasless ? await this.#inTokens(gasCost, fromAsset) : 0n;
    const amountIn = gross - swapFee - (affiliate?.fee ?? 0n);
    if (amountIn <= 0n) throw new HttpProblem(400, 2069, "Amount too small for the fees");
    const { pair, amountOut } = await this.#exchange(fromAsset, toAsset, amountIn);
    const block = await provider.getBlock("latest");
    const message: SwapMessage = {
      router,
      sender: gasless ? relayer : (owner ?? ZeroAddress),
      recipient: recipient ?? ZeroAddress,
      fromAsset,
      toAsset,
      deadline: BigInt((block?.timestamp ?? 0) + this.#parts.lifetimeSeconds),
      amountOutMin: (amountOut * (ONE - slippage) + ONE - 1n) / ONE,
      swapFee,
      amountIn,
      affiliate,
    };
    const quote = { id: randomUUID(), owner, gasless, message, gross, amountOut, pair, gasCost };
    this.#quotes.set(quote.id, quote);
    return quote;
  }

  /** The quote as it stands on the wire. */
  toWire(quote: DoubleQuote) {
    return {
      id: quote.id,
      amountOut: quote.amountOut.toString(),
      targetAddress: this.#parts.router,
      fees: [{ type: "gas", value: quote.gasCost.toString() }],
      resourceEstimate: { gasLimit: GAS_LIMIT.toString() },
      typedData: quote.owner === undefined ? null : wireTypedData(quote.message, this.#parts.world.chainId),
    };
  }

  /** The transaction of a self-executed quote, signed by the service. */
  async transaction(quote: DoubleQuote) {
    if (quote.gasless || quote.owner === undefined) throw new HttpProblem(400, 2011, "The quote has no transaction");
    const { serviceSigner, world, provider, router } = this.#parts;
    const signature = serviceSigner.signingKey.sign(digestOf(quote.message, world.chainId));
    const fees = await provider.getFeeData();
    return {
      from: quote.owner,
      to: router,
      data: packCall("service", quote.message, { signature }),
      value: (quote.message.fromAsset === ZeroAddress ? quote.gross : 0n).toString(),
      chainId: world.chainId,
      type: 2,
      gasLimit: GAS_LIMIT.toString(),
      maxFeePerGas: (fees.maxFeePerGas ?? 0n).toString(),
      maxPriorityFeePerGas: (fees.maxPriorityFeePerGas ?? 0n).toString(),
    };
  }

  async #knownToken(token: string): Promise<void> {
    if (token !== ZeroAddress && (await this.#parts.provider.getCode(token)) === "0x") {
      throw new HttpProblem(404, 2003, "Couldn't recognize from token");
    }
  }

  #routed(token: string): string {
    return token === ZeroAddress ? this.#parts.world.wrappedNative.toLowerCase() : token;
  }

  async #exchange(from: string, to: string, amountIn: bigint): Promise<{ pair: string; amountOut: bigint }> {
    const [sold, bought] = [this.#routed(from), this.#routed(to)];
    const pair: string = await this.#factory.getFunction("getPair")(sold, bought);
    if (pair === ZeroAddress || sold === bought) throw new HttpProblem(400, 2069, "No route");
    const contract = new Contract(
      pair,
      ["function getReserves() view returns (uint112, uint112, uint32)"],
      this.#parts.provider,
    );
    const [reserve0, reserve1]: [bigint, bigint] = await contract.getFunction("getReserves")();
    const [reserveIn, reserveOut] = sold < bought ? [reserve0, reserve1] : [reserve1, reserve0];
    const afterFee = amountIn * 997n;
    const amountOut = (afterFee * reserveOut) / (reserveIn * 1000n + afterFee);
    if (amountOut === 0n) throw new HttpProblem(400, 2069, "No route");
    return { pair, amountOut };
  }

  /** What an amount of the native token is worth in a token, by the direct pair; nothing without one. */
  async #inTokens(wei: bigint, token: string): Promise<bigint> {
    if (this.#routed(token) === this.#routed(ZeroAddress)) return wei;
    return (await this.#exchange(ZeroAddress, token, wei)).amountOut;
  }
}

function addressOf(query: URLSearchParams, name: string): string {
  const text = query.get(name);
  if (text === null || !/^0x[0-9a-fA-F]{40}$/.test(text))
    throw new HttpProblem(400, 1001, `${name} must be an address`);
  return text.toLowerCase();
}

function integerOf(query: URLSearchParams, name: string): bigint {
  const text = query.get(name);
  if (text === null || !/^[0-9]{1,78}$/.test(text)) throw new HttpProblem(400, 1001, `${name} must be an integer`);
  return BigInt(text);
}

function fractionOf(text: string | null, name: string): bigint {
  const match = /^([0-9]+)(?:\.([0-9]{1,18}))?$/.exec(text ?? "");
  if (match === null) throw new HttpProblem(400, 1001, `${name} must be a fraction`);
  return BigInt((match[1] ?? "0") + (match[2] ?? "").padEnd(18, "0"));
}

function booleanOf(text: string | null): boolean {
  if (text !== "true" && text !== "false") throw new HttpProblem(400, 1001, "gasless must be a boolean");
  return text === "true";
}

function affiliateOf(query: URLSearchParams, gross: bigint): { address: string; fee: bigint } | undefined {
  const share = query.get("affiliateFeeInPercentage");
  if (share === null && !query.has("affiliateAddress")) return undefined;
  const fee = (gross * fractionOf(share, "affiliateFeeInPercentage")) / ONE;
  return { address: addressOf(query, "affiliateAddress"), fee };
}
