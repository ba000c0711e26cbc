import { randomUUID } from "node:crypto";
import type { Head } from "../../chain/at-block/head.ts";
import type { JsonRpc } from "../../chain/json-rpc.ts";
import type { Address, Hex } from "../../domain/money/address.ts";
import type { TipRule } from "../../domain/money/tip.ts";
import { plannedIntent } from "../../lane/planned-intent.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Lanes } from "../../ports/lane-row-store.ts";
import type { Logger } from "../../ports/logger.ts";
import { type Refusal, refuse } from "../errors/errors.ts";
import { tooOld } from "../old-block.ts";
import type { SettledNetwork } from "../options.ts";
import type { Snapshot, Snapshots } from "../pools/snapshots.ts";
import type { Quote } from "../quotes/quote.ts";
import type { QuoteBook } from "../quotes/quote-book.ts";
import type { Tokens } from "../quotes/tokens.ts";
import { encodeSwapWithSignature } from "../settlement/calldata.ts";
import { grossAmount } from "../settlement/order.ts";
import type { ServiceStore, SwapRow } from "../store/service-store.ts";
import { ANSWER_WITHIN_MS } from "../time-limit.ts";
import type { FeePrices } from "./fee-prices.ts";
import { gasAfterRefund, gasLimitOf, leastFeeWorth, relayGasPrice, shortFee } from "./gas-terms.ts";
import { inTimeOrUntaken } from "./in-time-or-untaken.ts";
import { lastSecondToSign } from "./last-second.ts";
import { boundSignatures, type PlaceRequest, type Places, type Sender } from "./places.ts";
import type { RelayBook, RelayTerms } from "./relay-book.ts";
import type { RelayerReport, RelayerState } from "./relayer-state.ts";
import { checkPermit, checkSwapSignature, type ExecuteRequest, readBalance } from "./signatures.ts";
import { type RelaySimulation, simulateRelay } from "./simulate-relay.ts";

/** Takes signed gasless swaps. */
export interface GaslessIntake {
  /** How the relayer is, by the newest block where it is at hand; undefined when none runs. @throws RpcError */
  report(newest: Head | undefined): Promise<RelayerReport | undefined>;
  /** Accepts a swap once, and answers every equal request with the same record. */
  execute(request: ExecuteRequest, sender: Sender): Promise<Acceptance>;
}

export type Acceptance = { readonly kind: "accepted"; readonly row: SwapRow } | Refusal;

export interface IntakeOptions {
  readonly network: SettledNetwork;
  readonly relayer: Address;
  readonly feeMarginPpm: bigint;
  readonly tips: TipRule;
  /** after how long an order whose checks are not over is refused */
  readonly checkWithinMs?: number;
}

export interface IntakeDependencies {
  readonly rpc: JsonRpc;
  readonly snapshots: Snapshots;
  readonly fees: FeePrices;
  readonly quotes: QuoteBook;
  readonly tokens: Tokens;
  readonly store: ServiceStore;
  readonly lanes: Lanes;
  readonly book: RelayBook;
  readonly places: Places;
  readonly state: RelayerState;
  readonly runner: { wake(): void };
  readonly crashPoint: (label: string) => void;
  readonly clock: Clock;
  readonly logger: Logger;
}

type FirmQuote = Quote & { readonly owner: Address; readonly sender: Address };

/** A transaction that the relayer is ready to pay for; amounts in wei. */
interface Relay {
  readonly data: Hex;
  readonly gasLimit: bigint;
  readonly maxFeePerGasCap: bigint;
  readonly terms: Omit<RelayTerms, "caller" | "isKeyed">;
  /** what the wallet has of what it sells, smallest unit */
  readonly balance: bigint;
}

/** The intake of a service without a relayer: it still answers for swaps that were accepted before. */
export function createClosedIntake(store: ServiceStore): GaslessIntake {
  return {
    report: async () => undefined,
    execute: async (request) =>
      repeated(store, request) ?? refuse("GASLESS_UNAVAILABLE", { detail: "no relayer runs" }),
  };
}

export function createIntake(options: IntakeOptions, dependencies: IntakeDependencies): GaslessIntake {
  const { store, quotes, runner, state, places, crashPoint, logger } = dependencies;
  const { checkWithinMs = ANSWER_WITHIN_MS } = options;
  const tooMany = boundSignatures(dependencies.clock);

  /** Asked before the work of checking a request, and again where it is accepted: others may have come in between. */
  async function check(quote: FirmQuote, request: ExecuteRequest, place: PlaceRequest): Promise<Relay | Refusal> {
    const refusal = (await state.refusal()) ?? places.refusal(place) ?? tooMany(place.sender);
    return refusal ?? (await prepare(quote, request, { ...options, ...dependencies, place }));
  }

  return {
    report: state.report,
    async execute(request, sender) {
      const before = repeated(store, request);
      if (before !== undefined) return before;
      const found = quotes.find(request.quoteId);
      if (found.kind !== "found") return found;
      const quote = firm(found.quote, options.relayer);
      if ("kind" in quote) return quote;
      const place = { owner: quote.owner, toToken: quote.order.toAsset, sender };
      const relay = await inTimeOrUntaken(check(quote, request, place), checkWithinMs, logger);
      // The same body may have been accepted, and even mined, while this one was checked: it is the same swap.
      if ("kind" in relay) return repeated(store, request) ?? relay;
      crashPoint("accept.before");
      const accepted = accept({ quote, request, relay, sender }, { ...options, ...dependencies });
      crashPoint("accept.after");
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

type Works = Extract<RelaySimulation, { kind: "works" }>;
type IntakeContext = IntakeOptions & IntakeDependencies;

/** Checks both signatures and simulates the swap on the newest block, so that the relayer pays for what works. */
async function prepare(
  quote: FirmQuote,
  request: ExecuteRequest,
  context: IntakeContext & { readonly place: PlaceRequest },
): Promise<Relay | Refusal> {
  const { network, rpc, tokens, places } = context;
  const forged = checkSwapSignature(quote, request.swapSignature, network);
  if (forged !== undefined) return forged;
  const snapshot = await context.snapshots.current();
  const late = tooLate(quote, snapshot.head, context.clock.nowMs());
  if (late !== undefined) return late;
  const [permit, balance] = await Promise.all([
    checkPermit(quote, request.permit, { rpc, tokens, network }),
    readBalance(rpc, saleOf(quote)),
  ]);
  if (permit.kind === "refused") return permit;
  const { owner, order, legs } = quote;
  const short = places.tooLittle(saleOf(quote), balance);
  if (short !== undefined) return short;
  const signed = { owner, order, signature: request.swapSignature, permit: permit.permit };
  const data = encodeSwapWithSignature(signed, legs);
  const { sender: from, gasLimit } = quote;
  const simulated = await simulateRelay(rpc, { from, to: network.settlement, data, gasLimit }, network);
  if (simulated.kind === "reverts") {
    const error = simulated.reason.startsWith("NonceUsed(") ? "ORDER_NONCE_USED" : "SIMULATION_REVERTED";
    return refuse(error, { parameter: "quoteId", detail: simulated.reason });
  }
  const relay = await reckon(quote, { data, ...simulated, snapshot }, context);
  return "kind" in relay ? relay : { ...relay, balance };
}

/**
 * Whether the lane would drop the swap at its next turn, because it is too near to its deadline to be signed; and whether
 * the newest block is too old to say anything of what the swap would do, bring and cost.
 */
function tooLate(quote: FirmQuote, newest: Head, nowMs: number): Refusal | undefined {
  const old = tooOld(newest, nowMs);
  if (old !== undefined) return refuse("GASLESS_UNAVAILABLE", { parameter: "quoteId", detail: old });
  const nowSeconds = Math.max(newest.timestamp, Math.floor(nowMs / 1000));
  const last = lastSecondToSign(quote);
  if (nowSeconds <= last) return undefined;
  const detail = `it was to be submitted until ${last}, its order holds until ${quote.order.deadline}`;
  return refuse("QUOTE_EXPIRED", { parameter: "quoteId", detail });
}

function saleOf({ owner, order }: FirmQuote) {
  return { wallet: owner, fromToken: order.fromAsset, sellAmount: grossAmount(order).toString() };
}

/** Whether the relayer can afford the swap: its fee repays the cost, and its worst cost fits into what may be spent. */
async function reckon(
  quote: FirmQuote,
  { data, gas, snapshot, ...simulated }: Omit<Works, "kind"> & { data: Hex; snapshot: Snapshot },
  { fees, state, place, feeMarginPpm, tips }: IntakeContext & { readonly place: PlaceRequest },
): Promise<Omit<Relay, "balance"> | Refusal> {
  const gasLimit = gasLimitOf({ quoted: quote.gasLimit, needed: gas });
  if (gasLimit === undefined) {
    const detail = `it needs ${gas}, and was quoted with ${quote.gasLimit}`;
    return refuse("GASLESS_GAS_TOO_HIGH", { parameter: "quoteId", detail });
  }
  const gasPrice = relayGasPrice(snapshot.head, tips);
  const used = gasAfterRefund(gas, quote.gasRefund);
  const dataFee = simulated.dataFee(used);
  const expectedCost = used * gasPrice + dataFee;
  const worth = await fees.inNative(quote.order.fromAsset, quote.order.swapFee, snapshot);
  if (worth.kind === "refused") return { ...worth, parameter: "quoteId" };
  const feeWorth = worth.amount;
  const needed = leastFeeWorth({ cost: expectedCost, marginPpm: feeMarginPpm });
  if (feeWorth < needed) {
    const detail = `it is ${shortFee({ worth: feeWorth, needed, dataFee })}`;
    return refuse("GASLESS_FEE_TOO_LOW", { parameter: "quoteId", detail });
  }
  const maxFeePerGasCap = state.feeCap({ gasPrice, gasLimit, dataFee }, place);
  if (typeof maxFeePerGasCap !== "bigint") return { ...maxFeePerGasCap, parameter: "quoteId" };
  return { data, gasLimit, maxFeePerGasCap, terms: { feeWorth, expectedCost, dataFee } };
}

/** Writes the swap and the intent to send it in one transaction. Two equal requests at once end here. */
function accept(
  { quote, request, relay, sender }: { quote: FirmQuote; request: ExecuteRequest; relay: Relay; sender: Sender },
  context: IntakeContext,
): Acceptance {
  const { store, lanes, book, places, network } = context;
  const { order } = quote;
  const nowMs = context.clock.nowMs();
  return lanes.rows.transaction(() => {
    const before = repeated(store, request);
    if (before !== undefined) return before;
    const place = { owner: quote.owner, toToken: order.toAsset, sender };
    const refusal = places.refusal(place) ?? places.tooLittle(saleOf(quote), relay.balance);
    if (refusal !== undefined) return refusal;
    const row: SwapRow = {
      id: randomUUID(),
      quoteId: quote.id,
      intentId: `relay-${quote.id}`,
      network: network.name,
      ...saleOf(quote),
      recipient: order.recipient,
      toToken: order.toAsset,
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
    store.keepQuote(quote);
    store.insertSwap(row);
    book.insert(row.intentId, { ...relay.terms, caller: sender.name, isKeyed: sender.isKeyed }, nowMs);
    const wanted = {
      id: row.intentId,
      purpose: "relay",
      to: network.settlement,
      data: relay.data,
      value: 0n,
      gasLimit: relay.gasLimit,
      maxFeePerGasCap: relay.maxFeePerGasCap,
      signBySeconds: lastSecondToSign(quote),
      deadlineSeconds: row.deadlineSeconds,
    } as const;
    const account = { account: context.relayer, chainId: network.chainId };
    lanes.write([{ kind: "intent", intent: plannedIntent(account, wanted, nowMs) }], nowMs);
    return { kind: "accepted", row };
  });
}
