import { randomUUID } from "node:crypto";
import { type Address, type Hex, isHex } from "../../domain/money/address.ts";
import { mulDivUp } from "../../domain/money/amount.ts";
import type { Lane } from "../../lane/lane.ts";
import { type JsonRpc, RpcError } from "../../net/json-rpc.ts";
import type { Clock } from "../../ports/clock.ts";
import type { LaneStore } from "../../ports/lane-store.ts";
import { isRevert } from "../chain/batch-reader.ts";
import type { Head } from "../chain/head.ts";
import { type Refusal, refuse } from "../errors.ts";
import type { NetworkOptions } from "../options.ts";
import type { Snapshots } from "../pools/snapshots.ts";
import type { Quote } from "../quotes/quote.ts";
import type { QuoteBook } from "../quotes/quote-book.ts";
import type { Tokens } from "../quotes/tokens.ts";
import { describeRevert, encodeSwapWithSignature } from "../settlement/calldata.ts";
import { grossAmount } from "../settlement/order.ts";
import type { ServiceStore, SwapRow } from "../store/service-store.ts";
import { checkPermit, checkSwapSignature, type ExecuteRequest } from "./signatures.ts";

/** Takes signed gasless swaps. */
export interface GaslessDesk {
  readonly isOpen: boolean;
  /** Accepts a swap once, and answers every equal request with the same record. */
  execute(request: ExecuteRequest): Promise<Acceptance>;
}

export type Acceptance = { readonly kind: "accepted"; readonly row: SwapRow } | Refusal;

export interface DeskDependencies {
  readonly network: NetworkOptions;
  readonly relayer: Address;
  readonly rpc: JsonRpc;
  readonly snapshots: Snapshots;
  readonly quotes: QuoteBook;
  readonly tokens: Tokens;
  readonly store: ServiceStore;
  readonly laneStore: LaneStore;
  readonly lane: Lane;
  readonly runner: { wake(): void; isReady(): Promise<boolean> };
  readonly clock: Clock;
}

/** Swaps that may wait for the relayer's one lane; more would run into their deadlines. */
const MAX_PENDING = 50;

/** The estimate holds for this block; the market moves on. */
const GAS_LIMIT_PERCENT = 125n;

/** The relayer pays at most this much more for gas than at acceptance, replacements included. */
const FEE_CAP_FACTOR = 4n;

type FirmQuote = Quote & { readonly owner: Address; readonly sender: Address };

interface Relay {
  readonly data: Hex;
  readonly gasLimit: bigint;
  readonly head: Head;
}

/** The desk of a service without a relayer: it still answers for swaps that were accepted before. */
export function createClosedDesk(store: ServiceStore): GaslessDesk {
  return {
    isOpen: false,
    execute: async (request) =>
      repeated(store, request) ?? refuse("GASLESS_UNAVAILABLE", { detail: "no relayer runs" }),
  };
}

export function createDesk(dependencies: DeskDependencies): GaslessDesk {
  const { store, quotes, runner } = dependencies;
  return {
    isOpen: true,
    async execute(request) {
      const before = repeated(store, request);
      if (before !== undefined) return before;
      const found = quotes.find(request.quoteId);
      if (found.kind !== "found") return found;
      const quote = firm(found.quote, dependencies.relayer);
      if ("kind" in quote) return quote;
      if (store.pendingSwaps().length >= MAX_PENDING || !(await runner.isReady())) {
        return refuse("GASLESS_UNAVAILABLE", { detail: "the relayer cannot take more swaps now" });
      }
      const relay = await prepare(quote, request, dependencies);
      // The same body may have been accepted, and even mined, while this one was checked: it is the same swap.
      if ("kind" in relay) return repeated(store, request) ?? relay;
      const accepted = accept(quote, request, relay, dependencies);
      runner.wake();
      return accepted;
    },
  };
}

/** What an earlier request with this quote came to. */
function repeated(store: ServiceStore, request: ExecuteRequest): Acceptance | undefined {
  const row = store.swapBy("quote_id", request.quoteId);
  if (row === undefined) return undefined;
  const same =
    row.swapSignature === request.swapSignature &&
    row.permitSignature === (request.permit?.signature ?? null) &&
    row.permitDeadline === (request.permit === undefined ? null : Number(request.permit.deadline));
  return same ? { kind: "accepted", row } : refuse("QUOTE_USED", { parameter: "quoteId" });
}

function firm(quote: Quote, relayer: Address): FirmQuote | Refusal {
  const { owner, sender } = quote;
  if (!quote.gasless) return refuse("QUOTE_NOT_GASLESS", { parameter: "quoteId" });
  if (owner === undefined || sender === undefined) return refuse("QUOTE_INDICATIVE", { parameter: "quoteId" });
  // Its signature would bind an account that this service no longer sends from.
  if (sender !== relayer) return refuse("GASLESS_UNAVAILABLE", { detail: "the quote is for another relayer" });
  return { ...quote, owner, sender };
}

/** Checks both signatures and tries the swap on the newest block, so that the relayer pays for what works. */
async function prepare(quote: FirmQuote, request: ExecuteRequest, context: DeskDependencies): Promise<Relay | Refusal> {
  const { network, rpc, tokens } = context;
  const forged = checkSwapSignature(quote, request.swapSignature, network);
  if (forged !== undefined) return forged;
  const { head } = await context.snapshots.current();
  const nowSeconds = head.timestamp;
  const permit = await checkPermit(quote, request.permit, { rpc, tokens, network, nowSeconds });
  if (permit.kind === "refused") return permit;
  const { owner, order, legs } = quote;
  const signed = { owner, order, signature: request.swapSignature, permit: permit.permit };
  const data = encodeSwapWithSignature(signed, legs);
  const call = { from: quote.sender, to: network.settlement, data };
  const [gas] = await rpc.batch([{ method: "eth_estimateGas", params: [call] }]);
  if (gas instanceof RpcError) {
    if (!isRevert(gas)) throw gas;
    const detail = describeRevert(isHex(gas.data) ? gas.data : "0x");
    return refuse("SIMULATION_REVERTED", { parameter: "quoteId", detail });
  }
  const estimated = mulDivUp(BigInt(String(gas)), GAS_LIMIT_PERCENT, 100n);
  return { data, head, gasLimit: estimated > quote.gasLimit ? estimated : quote.gasLimit };
}

/** Writes the swap and the intent to send it in one transaction. Two equal requests at once end here. */
function accept(quote: FirmQuote, request: ExecuteRequest, relay: Relay, context: DeskDependencies): Acceptance {
  const { store, laneStore, lane, network } = context;
  const { order } = quote;
  const nowMs = context.clock.nowMs();
  return laneStore.transaction(() => {
    const before = repeated(store, request);
    if (before !== undefined) return before;
    const row: SwapRow = {
      id: randomUUID(),
      quoteId: quote.id,
      intentId: `relay-${quote.id}`,
      network: network.name,
      wallet: quote.owner,
      recipient: order.recipient,
      fromToken: order.fromAsset,
      toToken: order.toAsset,
      sellAmount: grossAmount(order).toString(),
      nonce: order.nonce.toString(),
      deadlineSeconds: Number(order.deadline),
      swapSignature: request.swapSignature,
      permitSignature: request.permit?.signature ?? null,
      permitDeadline: request.permit === undefined ? null : Number(request.permit.deadline),
      status: "pending",
      amountOut: null,
      hash: null,
      blockNumber: null,
      errorCode: null,
      errorMessage: null,
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
    };
    store.insertSwap(row);
    lane.submit({
      id: row.intentId,
      purpose: "relay",
      to: network.settlement,
      data: relay.data,
      value: 0n,
      gasLimit: relay.gasLimit,
      maxFeePerGasCap: relay.head.gasPrice * FEE_CAP_FACTOR,
      signBySeconds: row.deadlineSeconds,
      deadlineSeconds: row.deadlineSeconds,
    });
    return { kind: "accepted", row };
  });
}
