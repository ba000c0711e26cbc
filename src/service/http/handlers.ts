import { toAddress } from "../../domain/money/address.ts";
import type { JsonRpc } from "../../net/json-rpc.ts";
import { type Refusal, refuse } from "../errors.ts";
import type { NetworkOptions } from "../options.ts";
import { LIQUIDITY_SOURCES } from "../pools/kinds.ts";
import type { Snapshots } from "../pools/snapshots.ts";
import type { Quote } from "../quotes/quote.ts";
import type { QuoteBook } from "../quotes/quote-book.ts";
import type { Quoter } from "../quotes/quoter.ts";
import { buildTransaction, type SwapTransaction } from "../quotes/transaction.ts";
import type { GaslessDesk } from "../relayer/desk.ts";
import type { ServiceStore, SwapRow } from "../store/service-store.ts";
import {
  checkNetwork,
  oneOf,
  type ParseContext,
  type Parsed,
  parseExecuteRequest,
  parseQuoteRequest,
  parseShape,
} from "./parse-request.ts";
import {
  distributionsQuery,
  executeSwapBody,
  quoteQuery,
  statusCountsQuery,
  swapQuery,
  transactionQuery,
} from "./request-schemas.ts";
import type { Handlers } from "./server.ts";
import { toWireDistributions, toWireQuote, toWireSwap, toWireTransaction } from "./wire.ts";

export interface HandlerDependencies {
  readonly network: NetworkOptions;
  readonly rpc: JsonRpc;
  readonly snapshots: Snapshots;
  readonly quoter: Quoter;
  readonly quotes: QuoteBook;
  readonly store: ServiceStore;
  readonly desk: GaslessDesk;
}

type Answer = { readonly kind: "answer"; readonly body: object };

function answer(body: object): Answer {
  return { kind: "answer", body };
}

/** The endpoints of the interface: parse, do, write in the wire's names. */
export function createHandlers(dependencies: HandlerDependencies): Handlers {
  const { network, quotes, store, desk } = dependencies;
  const context: ParseContext = { network: network.name, sources: LIQUIDITY_SOURCES };
  const lookUp = (row: SwapRow | undefined, parameter: string) => {
    return row === undefined
      ? refuse("SWAP_UNKNOWN", { parameter })
      : answer(toWireSwap(row, store.transitions(row.id)));
  };
  return {
    quote: async (input) => {
      const quote = await newQuote(input, dependencies, context);
      return quote.kind === "ok" ? answer(toWireQuote(quote.value, network)) : quote;
    },
    transaction: async (input) => {
      const parsed = parseShape(transactionQuery, input);
      if (parsed.kind !== "ok") return parsed;
      const found = findQuote(parsed.value, quotes);
      if (found.kind !== "found") return found;
      const transaction = await transactionOf(found.quote, dependencies, parsed.value.estimateGas === "true");
      return transaction.kind === "refused" ? transaction : answer(toWireTransaction(transaction, network));
    },
    quoteTransaction: async (input) => {
      const quote = await newQuote(input, dependencies, context);
      if (quote.kind !== "ok") return quote;
      const transaction = await transactionOf(quote.value, dependencies, false);
      if (transaction.kind === "refused") return { ...transaction, parameter: missingFor(quote.value) };
      return answer({ quote: toWireQuote(quote.value, network), transaction: toWireTransaction(transaction, network) });
    },
    distributions: async (input) => {
      const parsed = parseShape(distributionsQuery, input);
      if (parsed.kind !== "ok") return parsed;
      const found = findQuote(parsed.value, quotes);
      return found.kind === "found" ? answer(toWireDistributions(found.quote, network)) : found;
    },
    executeSwap: async (input) => {
      const parsed = parseShape(executeSwapBody, input);
      if (parsed.kind !== "ok") return parsed;
      const request = parseExecuteRequest(parsed.value, context);
      if (request.kind !== "ok") return request;
      const outcome = await desk.execute(request.value);
      return outcome.kind === "refused" ? outcome : lookUp(outcome.row, "quoteId");
    },
    swap: async (input) => {
      const parsed = parseShape(swapQuery, input);
      if (parsed.kind !== "ok") return parsed;
      const { networkName, hash, quoteId, id } = parsed.value;
      const refusal = checkNetwork("networkName", networkName, context) ?? refusalOf(oneOf({ hash, quoteId, id }));
      if (refusal !== undefined) return refusal;
      if (hash !== undefined) return lookUp(store.swapBy("hash", hash.toLowerCase()), "hash");
      if (quoteId !== undefined) return lookUp(store.swapBy("quote_id", quoteId), "quoteId");
      return lookUp(store.swapBy("id", id ?? ""), "id");
    },
    statusCounts: async (input) => {
      const parsed = parseShape(statusCountsQuery, input);
      if (parsed.kind !== "ok") return parsed;
      const refusal = checkNetwork("networkName", parsed.value.networkName, context);
      return refusal ?? answer(store.statusCounts(toAddress(parsed.value.walletAddress)));
    },
    health: async () => {
      const { head } = await dependencies.snapshots.current();
      return answer({ status: "ok", network: network.name, blockNumber: head.number, gasless: desk.isOpen });
    },
  };
}

function refusalOf(parsed: Parsed<unknown>): Refusal | undefined {
  return parsed.kind === "ok" ? undefined : parsed;
}

async function newQuote(
  input: unknown,
  { quoter, quotes }: HandlerDependencies,
  context: ParseContext,
): Promise<Parsed<Quote>> {
  const shape = parseShape(quoteQuery, input);
  if (shape.kind !== "ok") return shape;
  const request = parseQuoteRequest(shape.value, context);
  if (request.kind !== "ok") return request;
  const quote = await quoter.quote(request.value);
  if ("kind" in quote) return quote;
  quotes.add(quote);
  return { kind: "ok", value: quote };
}

function findQuote(query: { quoteId?: string | undefined; "quote-id"?: string | undefined }, quotes: QuoteBook) {
  const id = oneOf({ quoteId: query.quoteId, "quote-id": query["quote-id"] });
  return id.kind === "ok" ? quotes.find(id.value) : id;
}

async function transactionOf(
  quote: Quote,
  { network, rpc, snapshots }: HandlerDependencies,
  estimateGas: boolean,
): Promise<SwapTransaction | Refusal> {
  const { head } = await snapshots.current();
  return buildTransaction(quote, { network, rpc, head }, estimateGas);
}

/** Which parameter of a quote keeps it from having a transaction. */
function missingFor(quote: Quote): string {
  return quote.owner === undefined ? "fromAddress" : "gasless";
}
