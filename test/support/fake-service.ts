import { swapdProfile } from "../../src/adapters/swap-service/swapd/service.ts";
import type { DecodedSwap, ProposedTransaction, RouteLeg } from "../../src/domain/guard/decoded-swap.ts";
import { oneContract } from "../../src/domain/guard/swap-contracts.ts";
import type { Hex } from "../../src/domain/money/address.ts";
import { lessShareUp } from "../../src/domain/money/fraction.ts";
import type { Clock } from "../../src/ports/clock.ts";
import type {
  Quote,
  QuoteRequest,
  ServiceProfile,
  ServiceRefusal,
  ServiceSwapRecord,
  Submission,
  SubmissionOutcome,
  SwapService,
} from "../../src/ports/swap-service.ts";
import { RELAYER, ROUTER, WETH, worth } from "./builders.ts";
import type { FakeChain } from "./fake-chain.ts";
import { SETTLEMENT } from "./fake-ledger.ts";

const LIFETIME_SECONDS = 20;
const PINNED = { chainId: 31_337, contracts: oneContract(ROUTER), wrappedNative: WETH.address };

interface KnownQuote {
  readonly request: QuoteRequest;
  readonly swap: DecodedSwap;
  readonly amountOut: bigint;
}

/** What happens with a swap that is submitted: taken, taken with a lost answer, or lost on its way there. */
type Delivery = "taken" | "answer lost" | "lost";

/**
 * An honest aggregation service with a relayer on the fake chain, in the words of the real profile. A test reports it to
 * refuse, to forget its answers, or to change what it says.
 */
export class FakeService implements SwapService {
  profile: ServiceProfile = swapdProfile;
  delivery: Delivery = "taken";
  refuses: ServiceRefusal | undefined;
  refusesGasless = false;
  /** changes what the next answers say about the swap */
  twist: (swap: DecodedSwap) => DecodedSwap = (swap) => swap;
  readonly requests: QuoteRequest[] = [];
  readonly submissions: Submission[] = [];
  readonly asked: string[] = [];
  private readonly quotes = new Map<string, KnownQuote>();
  private readonly clock: Clock;
  private readonly chain: FakeChain;

  constructor(clock: Clock, chain: FakeChain) {
    this.clock = clock;
    this.chain = chain;
  }

  async quote(request: QuoteRequest): Promise<Quote | ServiceRefusal> {
    this.requests.push(request);
    if (this.refuses !== undefined) return this.refuses;
    if (request.gasless && this.refusesGasless) return refusal("GASLESS_UNAVAILABLE", false);
    const id = `quote_${this.quotes.size + 1}`;
    const swapFee = request.gasless ? request.amount / 200n : 0n;
    const amountOut = worth(request.amount - swapFee, request.sell, request.buy);
    const deadline = BigInt(Math.floor(this.clock.nowMs() / 1_000) + LIFETIME_SECONDS);
    const swap = this.twist({
      ...{
        contracts: oneContract(ROUTER),
        sender: request.gasless ? RELAYER : undefined,
        recipient: request.recipient,
      },
      ...{ fromAsset: request.sell.address, toAsset: request.buy.address, deadline, swapFee },
      ...{ amountOutMin: lessShareUp(amountOut, request.slippage), amountIn: request.amount - swapFee },
      ...{ nonce: request.gasless ? BigInt(this.quotes.size + 1) : undefined, affiliate: undefined },
      permitValue: undefined,
    });
    this.quotes.set(id, { request, swap, amountOut });
    return {
      ...{ id, amountOut, targetAddress: ROUTER, fees: [], gasLimit: undefined, priceImpact: undefined },
      typedData: request.gasless ? this.profile.typedData(swap, PINNED) : undefined,
      ...{ expiresAtSeconds: Number(deadline), blockNumber: undefined, receivedAtMs: this.clock.nowMs() },
    };
  }

  async transaction(quoteId: string): Promise<ProposedTransaction | ServiceRefusal> {
    const known = this.quotes.get(quoteId);
    if (known === undefined) return refusal("QUOTE_UNKNOWN", true);
    const { recipient, fromAsset, toAsset, deadline, amountOutMin, swapFee, amountIn } = known.swap;
    const nobody = `0x${"0".repeat(40)}`;
    const order = [recipient, fromAsset, toAsset, deadline, amountOutMin, swapFee, amountIn, 0n, nobody, 0n];
    const data = SETTLEMENT.encodeFunctionData("swap", [order, []]) as Hex;
    return { from: undefined, to: ROUTER, data, value: 0n, chainId: PINNED.chainId, gasLimit: undefined };
  }

  async orderRoute(quoteId: string): Promise<readonly RouteLeg[] | ServiceRefusal> {
    return this.quotes.has(quoteId) ? [] : refusal("QUOTE_UNKNOWN", true);
  }

  async executeSwap(submission: Submission, heldBack: () => Promise<string | undefined>): Promise<SubmissionOutcome> {
    const reason = await heldBack();
    if (reason !== undefined) return { kind: "not-sent", detail: reason };
    const isRepeated = this.submissions.some(({ quoteId }) => quoteId === submission.quoteId);
    this.submissions.push(submission);
    if (this.delivery !== "lost" && !(isRepeated && this.profile.idempotentExecuteSwap)) this.relay(submission);
    if (this.delivery !== "taken") return { kind: "unknown", detail: "the connection was reset" };
    return { kind: "accepted", serviceSwapId: submission.quoteId, hash: undefined };
  }

  async swapRecord(query: { quoteId: string }): Promise<ServiceSwapRecord | ServiceRefusal> {
    this.asked.push(query.quoteId);
    return { status: "pending", hash: undefined, raw: { quoteId: query.quoteId } };
  }

  async statusCounts(): Promise<Readonly<Record<string, number>>> {
    return {};
  }

  async distributions(quoteId: string): Promise<string | ServiceRefusal> {
    return this.quotes.has(quoteId) ? '[{"pool":"0xd4"}]' : refusal("QUOTE_UNKNOWN", false);
  }

  /** The relayer sends the order with its permit; the contract decides. */
  private relay(submission: Submission): void {
    const known = this.quotes.get(submission.quoteId);
    if (known === undefined) throw new Error(`no quote ${submission.quoteId}`);
    const { request, swap, amountOut } = known;
    const permitValue = submission.permitSignature === undefined ? undefined : request.amount;
    this.chain.submitOrder(
      {
        ...{ owner: request.owner, recipient: swap.recipient, fromAsset: swap.fromAsset, toAsset: swap.toAsset },
        ...{ deadline: swap.deadline, amountOut, amountOutMin: swap.amountOutMin, gross: request.amount },
        ...{ swapFee: swap.swapFee, nonce: swap.nonce ?? 0n },
      },
      permitValue,
    );
  }
}

/** A refusal of the service. */
export function refusal(code: string, retryable: boolean): ServiceRefusal {
  return { kind: "refused", code, message: `the service says ${code}`, status: 400, retryable };
}
