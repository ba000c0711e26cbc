import { type FillModel, modelSwap } from "../../domain/backtest/fill-model.ts";
import type { DecodedSwap, ProposedTransaction } from "../../domain/guard/decoded-swap.ts";
import { oneContract } from "../../domain/guard/swap-contracts.ts";
import { type Hex, NATIVE_TOKEN, toAddress } from "../../domain/money/address.ts";
import { lessShareUp, type Ppm, shareDown, toPpm } from "../../domain/money/fraction.ts";
import { carriedImpact, IMPACT_LASTS_SECONDS } from "../../domain/paper/own-impact.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Quote, QuoteRequest, ServiceProfile, ServiceRefusal, SwapService } from "../../ports/swap-service.ts";
import type { Market } from "./market.ts";

/** The one contract of a backtest: it is approved and called, and is no contract of any chain. */
export const BACKTEST_CONTRACT = toAddress(`0x${"bac0".repeat(10)}`);

/** How quotes come about. */
export interface DeskTerms {
  readonly chainId: number;
  readonly model: FillModel;
  readonly swapGas: bigint;
  /** how long a quote may be used, seconds */
  readonly quoteSeconds: number;
}

/** A swap as it was quoted: what would be exchanged, and how far that moves the price. */
export interface QuotedSwap {
  readonly request: QuoteRequest;
  readonly amountOut: bigint;
  readonly shift: Ppm;
  readonly decoded: DecodedSwap;
}

/** A number as the 32 bytes that calldata and hashes are written in here. */
export const numbered = (count: number): Hex => `0x${count.toString(16).padStart(64, "0")}`;

/** The aggregation service of a backtest: it quotes by the model at the prices of a market: the pools' own where they are known. */
export class Desk {
  readonly #terms: DeskTerms;
  readonly #market: Market;
  readonly #clock: Pick<Clock, "nowMs">;
  /** of one instant: what is quoted is filled in it, or quoted anew */
  readonly #quotes = new Map<Hex, QuotedSwap>();
  #quotedAtMs = Number.NaN;
  readonly #shifts = new Map<string, readonly { readonly seconds: number; readonly ppm: bigint }[]>();
  #count = 0;

  constructor(terms: DeskTerms, { market, clock }: { market: Market; clock: Pick<Clock, "nowMs"> }) {
    this.#terms = terms;
    this.#market = market;
    this.#clock = clock;
  }

  quote(request: QuoteRequest): Quote | ServiceRefusal {
    const [sellUsd, buyUsd] = [this.#market.usd(request.sell.address), this.#market.usd(request.buy.address)];
    if (request.gasless) return refusal("BACKTEST_IS_SELF_EXECUTED", "a backtest fills swaps as own transactions");
    if (sellUsd === undefined || buyUsd === undefined)
      return { ...refusal("NO_PRICE", "the price files have no candle at this instant"), retryable: true };
    const { model, quoteSeconds, swapGas } = this.#terms;
    const carried = carriedImpact(this.#shiftsOf(request), this.#nowSeconds());
    const affiliateFee = request.affiliate === undefined ? 0n : shareDown(request.amount, request.affiliate.fee);
    const { amountOut, impact, shift } = modelSwap(model, {
      gross: request.amount - affiliateFee,
      sell: { decimals: request.sell.decimals, usd: sellUsd },
      buy: { decimals: request.buy.decimals, usd: buyUsd },
      carried,
    });
    const receivedAtMs = this.#clock.nowMs();
    if (receivedAtMs !== this.#quotedAtMs) this.#quotes.clear();
    this.#quotedAtMs = receivedAtMs;
    this.#count += 1;
    const id = numbered(this.#count);
    const expiresAtSeconds = this.#nowSeconds() + quoteSeconds;
    const decoded = decodedOf(request, { amountOut, affiliateFee, deadline: expiresAtSeconds });
    this.#quotes.set(id, { request, amountOut, shift, decoded });
    return {
      ...{ id, amountOut, expiresAtSeconds, receivedAtMs, fees: [], typedData: undefined },
      ...{ targetAddress: BACKTEST_CONTRACT, gasLimit: swapGas, blockNumber: undefined },
      priceImpact: toPpm(impact + carried),
    };
  }

  /** @throws Error when it was never given: a broken invariant */
  quoted(data: Hex): QuotedSwap {
    const found = this.#quotes.get(data);
    if (found === undefined) throw new Error(`no quote is known by ${data}`);
    return found;
  }

  transaction(id: string): ProposedTransaction {
    const { request } = this.quoted(id as Hex);
    const value = request.sell.address === NATIVE_TOKEN ? request.amount : 0n;
    const { chainId, swapGas } = this.#terms;
    return { ...{ from: request.owner, to: BACKTEST_CONTRACT, data: id as Hex, value, chainId }, gasLimit: swapGas };
  }

  /** A swap was filled: for a while it makes the next one of its pair and direction dearer. */
  filled({ request, shift }: QuotedSwap): void {
    const own = { seconds: this.#nowSeconds(), ppm: shift };
    this.#shifts.set(pairOf(request), [...this.#shiftsOf(request), own]);
  }

  #nowSeconds(): number {
    return Math.floor(this.#clock.nowMs() / 1_000);
  }

  #shiftsOf(request: QuoteRequest) {
    const sinceSeconds = this.#nowSeconds() - IMPACT_LASTS_SECONDS;
    return (this.#shifts.get(pairOf(request)) ?? []).filter(({ seconds }) => seconds > sinceSeconds);
  }
}

function pairOf({ sell, buy }: QuoteRequest): string {
  return `${sell.address} ${buy.address}`;
}

function refusal(code: string, message: string): ServiceRefusal {
  return { kind: "refused", code, message, status: undefined, retryable: false };
}

/** The minimum is what the slippage leaves, as a service binds it. */
function decodedOf(
  request: QuoteRequest,
  { amountOut, affiliateFee, deadline }: { amountOut: bigint; affiliateFee: bigint; deadline: number },
): DecodedSwap {
  const { affiliate } = request;
  return {
    contracts: oneContract(BACKTEST_CONTRACT),
    ...{ sender: request.owner, recipient: request.recipient },
    ...{ fromAsset: request.sell.address, toAsset: request.buy.address },
    ...{ deadline: BigInt(deadline), amountOutMin: lessShareUp(amountOut, request.slippage), swapFee: 0n },
    amountIn: request.amount - affiliateFee,
    ...{ nonce: undefined, permitValue: undefined },
    affiliate: affiliate && { address: affiliate.address, fee: affiliateFee },
  };
}

/** The desk as the engine speaks to a service. */
export function serviceOf(desk: Desk): SwapService {
  const none = async (): Promise<ServiceRefusal> => refusal("NOT_IN_A_BACKTEST", "a backtest has no such record");
  return {
    profile: profileOf(desk),
    quote: async (request) => desk.quote(request),
    transaction: async (id) => desk.transaction(id),
    ...{ orderRoute: none, swapRecord: none, statusCounts: none, distributions: none },
    executeSwap: async () => ({ kind: "not-sent", detail: "a backtest sends nothing" }),
  };
}

function profileOf(desk: Desk): ServiceProfile {
  return {
    ...{ isOurs: true, mayBeEmbedded: false, takesOrders: false, paysAffiliates: true, hasOneContract: true },
    ...{ signsTransactions: false, signatureHasNonce: true, idempotentExecuteSwap: true },
    contractsOn: () => oneContract(BACKTEST_CONTRACT),
    expectedLimits: { keyless: 1, keyed: 1 },
    decodeTypedData: () => ({ ok: false, problem: "a backtest knows no orders" }),
    decodeTransaction: ({ data }) => ({ ok: true, swap: desk.quoted(data).decoded }),
    ...{ nonceRecord: undefined, simulationOfOrder: undefined },
    typedData: () => {
      throw new Error("a backtest signs nothing");
    },
  };
}
