import { type Address, parseAddress } from "../../../src/domain/money/address.ts";
import type { Faults } from "../faults.ts";
import type { SimChain } from "./chain.ts";
import type { Order } from "./ledger.ts";
import { CHAIN_ID, POOL, RELAYER, ROUTER } from "./places.ts";
import type { SimProfile } from "./profile.ts";
import { createRelayer, type Relayer } from "./relayer.ts";
import type { SignatureBook } from "./signatures.ts";
import { isNativeAddress } from "./words.ts";

const LIFETIME_SECONDS = 60;
/** what the relayer keeps of what it sells, in parts per thousand */
const SWAP_FEE = 2n;

interface Known {
  readonly order: Order;
  readonly isGasless: boolean;
}

/** An answer before it is text. */
export interface ServiceAnswer {
  readonly status: number;
  readonly body: unknown;
}

/** A service that quotes from the market and hands gasless swaps to its relayer. It outlives the daemon. */
export interface SimService {
  answer(method: string, url: URL, body: string | undefined): ServiceAnswer;
  readonly relayer: Relayer;
  /** quotes that were asked for, by true time */
  readonly askedAtMs: readonly number[];
}

export function createSimService(terms: {
  chain: SimChain;
  book: SignatureBook;
  faults: Faults;
  profile: SimProfile;
  nowMs(): number;
}): SimService {
  const { chain, faults, profile, nowMs } = terms;
  const quotes = new Map<string, Known>();
  const askedAtMs: number[] = [];
  const relayer = createRelayer(terms);
  const quote = (query: URLSearchParams): ServiceAnswer => {
    askedAtMs.push(nowMs());
    const owner = addressOf(query.get("fromAddress"));
    const [fromAsset, toAsset] = [addressOf(query.get("fromTokenAddress")), addressOf(query.get("toTokenAddress"))];
    const gross = BigInt(query.get("sellAmount") ?? query.get("amount") ?? "0");
    const isGasless = query.get("gasless") === "true";
    if (isGasless && isNativeAddress(fromAsset)) return refusal(400, "GASLESS_UNAVAILABLE");
    const swapFee = isGasless ? (gross * SWAP_FEE) / 1_000n : 0n;
    const amountIn = gross - swapFee;
    const amountOut = chain.prices(chain.tip.number).output(fromAsset, toAsset, amountIn);
    if (amountOut === 0n) return refusal(404, "NO_ROUTE");
    const slippage = BigInt(Math.round(Number(query.get("slippage")) * 1_000_000));
    const id = `quote-${quotes.size + 1}`;
    const honest: Order = {
      ...{ owner, sender: isGasless ? RELAYER : undefined, recipient: addressOf(query.get("toAddress")) },
      ...{ fromAsset, toAsset, swapFee, amountIn, nonce: profile.nonceOf({ number: quotes.size, isGasless }) },
      deadline: BigInt(Math.floor(nowMs() / 1_000) + LIFETIME_SECONDS),
      amountOutMin: amountOut - (amountOut * slippage) / 1_000_000n,
    };
    const order = faults.strikes("service: lies", "quote") ? twisted(honest, faults, id) : honest;
    quotes.set(id, { order, isGasless });
    const typedData = isGasless ? profile.typedData(order) : undefined;
    return {
      status: 200,
      body: {
        ...{ id, amountOut: amountOut.toString(), targetAddress: ROUTER, typedData, fees: [] },
        ...{ resourceEstimate: { gasLimit: "100000" }, priceImpact: "0.0005", expiresAt: Number(honest.deadline) },
      },
    };
  };
  const transaction = (id: string): ServiceAnswer => {
    const known = quotes.get(id);
    if (known === undefined) return refusal(404, "QUOTE_UNKNOWN");
    const { order } = known;
    if (known.isGasless) return { status: 200, body: { legs: [legOf(order)] } };
    const reported = faults.strikes("service: lies", "transaction") ? twisted(order, faults, id) : order;
    const value = isNativeAddress(order.fromAsset) ? order.amountIn + order.swapFee : 0n;
    const data = profile.calldata(reported);
    return { status: 200, body: { from: order.owner, to: ROUTER, data, value: value.toString(), chainId: CHAIN_ID } };
  };
  const executeSwap = (body: string): ServiceAnswer => {
    const { quoteId, swapSignature, permitSignature } = JSON.parse(body) as Record<string, string | undefined>;
    const known = quotes.get(quoteId ?? "");
    if (known?.isGasless !== true || quoteId === undefined) return refusal(404, "QUOTE_UNKNOWN");
    const problem = relayer.accept(quoteId, { swapSignature: swapSignature ?? "", permitSignature });
    return problem === undefined ? { status: 200, body: { id: quoteId, quoteId } } : refusal(400, problem);
  };
  return {
    relayer,
    askedAtMs,
    answer: (_method, url, body) => {
      const id = url.searchParams.get("quoteId") ?? "";
      switch (url.pathname) {
        case "/aggregator/quote":
          return quote(url.searchParams);
        case "/aggregator/transaction":
          return transaction(id);
        case "/aggregator/distributions":
          return quotes.has(id) ? { status: 200, body: [{ pool: "0xd4" }] } : refusal(404, "QUOTE_UNKNOWN");
        case "/user-manager/execute-swap":
          return executeSwap(body ?? "{}");
        case "/user-manager/swap":
          return quotes.has(id) ? { status: 200, body: relayer.record(id) } : refusal(404, "SWAP_UNKNOWN");
        case "/user-manager/status-counts":
          return { status: 200, body: {} };
        default:
          return refusal(404, "NOT_FOUND");
      }
    },
  };
}

function refusal(status: number, error: string): ServiceAnswer {
  return { status, body: { error, message: `the service says ${error}` } };
}

function addressOf(text: string | null): Address {
  const address = parseAddress(text ?? "");
  if (address === undefined) throw new Error(`the daemon asked for no address: ${text}`);
  return address;
}

/** What a service that lies, or was broken into, would have us sign. */
function twisted(order: Order, { chance }: Faults, id: string): Order {
  const thief = `0x${"66".repeat(20)}` as Address;
  const twists: readonly Order[] = [
    { ...order, recipient: thief },
    { ...order, amountOutMin: order.amountOutMin / 2n },
    { ...order, amountOutMin: 0n },
    { ...order, amountIn: order.amountIn * 2n },
    { ...order, swapFee: order.swapFee + order.amountIn / 10n },
    { ...order, deadline: order.deadline + 10_000_000n },
    { ...order, toAsset: order.fromAsset },
    order.nonce === undefined ? { ...order, sender: thief } : { ...order, nonce: order.nonce === 0n ? 7n : 0n },
  ];
  return chance.pick(twists, "twist", id);
}

/** The market is one pool for everything. */
function legOf({ fromAsset, toAsset }: Order): unknown {
  return { protocol: 1, pool: POOL, tokenIn: fromAsset, tokenOut: toAsset, fee: 0, portion: "0" };
}
