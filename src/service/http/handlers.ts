import type { z } from "zod";
import { toAddress } from "../../domain/money/address.ts";
import type { Clock } from "../../ports/clock.ts";
import { type Refusal, refuse } from "../errors/errors.ts";
import { isSettled } from "../options.ts";
import { LIQUIDITY_SOURCES } from "../pools/kinds.ts";
import type { Quote } from "../quotes/quote.ts";
import {
  buildTransaction,
  gasLimitOf,
  type SimulationOptions,
  type SwapTransaction,
  simulateIfAsked,
} from "../quotes/transaction.ts";
import type { SwapStatus } from "../store/service-store.ts";
import type { TimeLimit } from "../time-limit.ts";
import { type Answer, answer, isRefusal } from "./answer.ts";
import type { Caller } from "./caller.ts";
import { createHealth } from "./health.ts";
import { inTime } from "./in-time.ts";
import { oneOf, type Parsed, parseExecuteRequest, parseQuoteRequest, parseShape } from "./parse-request.ts";
import {
  distributionsQuery,
  executeSwapBody,
  quoteQuery,
  statusCountsQuery,
  swapQuery,
  transactionQuery,
} from "./request-schemas.ts";
import type { ServedNetwork, ServedNetworks } from "./served-network.ts";
import type { Handlers } from "./server.ts";
import { createTokenHandlers } from "./token-handlers.ts";
import { toWireDistributions, toWireQuote, toWireRoute, toWireSwap, toWireTransaction } from "./wire.ts";

/** The endpoints of the interface: parse, do, write in the wire's names. */
export function createHandlers(networks: ServedNetworks, clock: Clock): Handlers {
  return {
    ...createQuoteHandlers(networks, clock),
    ...createSwapHandlers(networks),
    ...createTokenHandlers(networks),
    health: createHealth(networks),
  };
}

type QuoteHandlers = Pick<Handlers, "quote" | "transaction" | "quoteTransaction" | "distributions">;

function createQuoteHandlers(networks: ServedNetworks, clock: Clock): QuoteHandlers {
  /** A new quote with what is made of it, within the time that the request gives. */
  async function fromQuote(
    input: unknown,
    caller: Caller,
    write: (quoted: QuotedWithOptions) => Promise<Answer | Refusal>,
  ) {
    const query = parseShape(quoteQuery, input);
    if (query.kind !== "ok") return query;
    const { timeoutMs } = query.value;
    const heavy = chargeSimulation(simulationOptionsOf(query.value), caller);
    if (heavy !== undefined) return heavy;
    const given = { caller, timeoutMs: timeoutMs === undefined ? undefined : Number(timeoutMs) };
    return inTime(given, clock, async (limit) => {
      const quoted = await newQuote(query.value, networks, { limit, caller });
      return isRefusal(quoted) ? quoted : write(quoted);
    });
  }
  return {
    quote: (input, caller) =>
      fromQuote(input, caller, async (quoted) => {
        const { quote, network, simulationOptions } = quoted;
        const simulation = await simulateIfAsked(quote, network.simulator, simulationOptions);
        const measured = { ...quote, gasLimit: gasLimitOf(quote, simulation, simulationOptions) };
        return answer(toWireQuote(measured, network.options, simulation));
      }),
    transaction: async (input, caller) => {
      const parsed = parseShape(transactionQuery, input);
      if (parsed.kind !== "ok") return parsed;
      const heavy = chargeSimulation(simulationOptionsOf(parsed.value), caller);
      if (heavy !== undefined) return heavy;
      const found = findQuote(parsed.value, networks);
      if (isRefusal(found)) return found;
      const { quote, network } = found;
      if (quote.gasless && quote.owner !== undefined && isSettled(network.options)) {
        return answer(toWireRoute(quote, network.options));
      }
      const transaction = await transactionOf({ ...found, simulationOptions: simulationOptionsOf(parsed.value) });
      return isRefusal(transaction) ? transaction : answer(toWireTransaction(transaction, network.options));
    },
    quoteTransaction: (input, caller) =>
      fromQuote(input, caller, async (quoted) => {
        const { quote, network } = quoted;
        const transaction = await transactionOf(quoted);
        if (isRefusal(transaction)) return { ...transaction, parameter: missingFor(quote, transaction) };
        const { options } = network;
        return answer({ quote: toWireQuote(quote, options), transaction: toWireTransaction(transaction, options) });
      }),
    distributions: async (input) => {
      const parsed = parseShape(distributionsQuery, input);
      if (parsed.kind !== "ok") return parsed;
      const found = findQuote(parsed.value, networks);
      return isRefusal(found) ? found : answer(toWireDistributions(found.quote, found.network.options));
    },
  };
}

type SwapHandlers = Pick<Handlers, "executeSwap" | "swap" | "statusCounts">;

function createSwapHandlers(networks: ServedNetworks): SwapHandlers {
  return {
    executeSwap: async (input, caller) => {
      const parsed = parseShape(executeSwapBody, input);
      if (parsed.kind !== "ok") return parsed;
      const network = networks.named("networkName", parsed.value.networkName);
      if (isRefusal(network)) return network;
      const request = parseExecuteRequest(parsed.value);
      if (request.kind !== "ok") return request;
      const outcome = await network.intake.execute(request.value, caller);
      if (outcome.kind === "refused") return outcome;
      return answer(toWireSwap(outcome.row, network.store.transitions(outcome.row.id)));
    },
    swap: async (input) => {
      const parsed = parseShape(swapQuery, input);
      if (parsed.kind !== "ok") return parsed;
      const { networkName, hash, quoteId, id } = parsed.value;
      const which = oneOf({ hash, quoteId, id });
      if (which.kind !== "ok") return which;
      const served = servedOf(networks, networkName);
      return isRefusal(served) ? served : findSwap(served, { hash: hash?.toLowerCase(), quoteId, id });
    },
    statusCounts: async (input) => {
      const parsed = parseShape(statusCountsQuery, input);
      if (parsed.kind !== "ok") return parsed;
      const served = servedOf(networks, parsed.value.networkName);
      if (isRefusal(served)) return served;
      const wallet = toAddress(parsed.value.walletAddress);
      const total: Record<SwapStatus, number> = { pending: 0, success: 0, error: 0, expired: 0 };
      for (const { store } of served) {
        for (const [status, count] of Object.entries(store.statusCounts(wallet))) total[status as SwapStatus] += count;
      }
      return answer(total);
    },
  };
}

/** The named network, or all of them: swaps are distinguished by their own names. */
function servedOf(networks: ServedNetworks, name: string | undefined): readonly ServedNetwork[] | Refusal {
  if (name === undefined) return networks.all;
  const network = networks.named("networkName", name);
  return isRefusal(network) ? network : [network];
}

function findSwap(
  served: readonly ServedNetwork[],
  { hash, quoteId, id }: { hash: string | undefined; quoteId: string | undefined; id: string | undefined },
): Answer | Refusal {
  for (const { store } of served) {
    const row =
      hash !== undefined
        ? store.swapBy("hash", hash)
        : quoteId !== undefined
          ? store.swapBy("quote_id", quoteId)
          : store.swapBy("id", id ?? "");
    if (row !== undefined) return answer(toWireSwap(row, store.transitions(row.id)));
  }
  const parameter = hash !== undefined ? "hash" : quoteId !== undefined ? "quoteId" : "id";
  return refuse("SWAP_UNKNOWN", { parameter });
}

/** A quote with the network that it is of. */
interface Quoted {
  readonly kind: "quoted";
  readonly quote: Quote;
  readonly network: ServedNetwork;
}

type QuotedWithOptions = Quoted & { readonly simulationOptions: SimulationOptions };

function simulationOptionsOf(query: {
  simulate?: string | undefined;
  estimateGas?: string | undefined;
}): SimulationOptions {
  return { simulate: query.simulate === "true", estimateGas: query.estimateGas === "true" };
}

/** A simulation takes as many round trips to the node as so many quotes. */
const WEIGHT_OF_SIMULATION = 4;

function chargeSimulation({ simulate, estimateGas }: SimulationOptions, caller: Caller): Refusal | undefined {
  return simulate || estimateGas ? caller.charge(WEIGHT_OF_SIMULATION) : undefined;
}

async function newQuote(
  query: z.infer<typeof quoteQuery>,
  networks: ServedNetworks,
  { limit, caller }: { limit: TimeLimit; caller: Caller },
): Promise<QuotedWithOptions | Refusal> {
  const network = networks.named("network", query.network);
  if (isRefusal(network)) return network;
  const request = parseQuoteRequest(query, { sources: LIQUIDITY_SOURCES });
  if (request.kind !== "ok") return request;
  const quote = await network.quoter.quote(request.value, caller, limit);
  if ("kind" in quote) return quote;
  return {
    kind: "quoted",
    quote: network.quotes.add(quote, caller),
    network,
    simulationOptions: simulationOptionsOf(query),
  };
}

function findQuote(
  query: { quoteId?: string | undefined; "quote-id"?: string | undefined },
  networks: ServedNetworks,
): Quoted | Refusal {
  const id: Parsed<string> = oneOf({ quoteId: query.quoteId, "quote-id": query["quote-id"] });
  if (id.kind !== "ok") return id;
  let refusal = refuse("QUOTE_UNKNOWN", { parameter: "quoteId" });
  for (const network of networks.all) {
    const found = network.quotes.find(id.value);
    if (found.kind === "found") return { kind: "quoted", quote: found.quote, network };
    // Expired says more than unknown, wherever it was, and forgotten is the same everywhere.
    if (refusal.error !== "QUOTE_EXPIRED") refusal = found;
  }
  return refusal;
}

async function transactionOf({
  quote,
  network,
  simulationOptions,
}: QuotedWithOptions): Promise<SwapTransaction | Refusal> {
  const { options, simulator, snapshots } = network;
  const { head } = await snapshots.current();
  return buildTransaction(quote, { network: options, head, simulator }, simulationOptions);
}

/** Which parameter of a quote keeps it from having a transaction; none where it is the market. */
function missingFor(quote: Quote, { error }: Refusal): string | undefined {
  if (error === "SIMULATION_REVERTED") return undefined;
  return quote.owner === undefined ? "fromAddress" : "gasless";
}
