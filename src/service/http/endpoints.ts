import type { z } from "zod";
import type { ErrorName } from "../errors/errors.ts";
import * as requests from "./request-schemas.ts";
import * as responses from "./response-schemas.ts";

/** One endpoint of the interface as it is documented and served. */
export interface Endpoint {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly summary: string;
  /** query of a GET, JSON body of a POST */
  readonly request: z.ZodType | undefined;
  readonly response: z.ZodType;
  /** errors of its own; those of every endpoint are in {@link COMMON_ERRORS} */
  readonly errors: readonly ErrorName[];
}

/** Errors that any endpoint of the interface can answer with. */
export const COMMON_ERRORS: readonly ErrorName[] = [
  "API_KEY_UNKNOWN",
  "RATE_LIMITED",
  "URL_TOO_LONG",
  "HEADERS_TOO_LARGE",
  "REQUEST_TOO_SLOW",
  "BUSY",
  "STOPPING",
  "INTERNAL",
  "CHAIN_UNREACHABLE",
  "CONTRACTS_WRONG",
];

/** Why a relayer takes no swaps for a while. */
const RELAYER_ERRORS: readonly ErrorName[] = [
  "GASLESS_FEE_TOKEN",
  "GASLESS_RELAYER_UNFUNDED",
  "GASLESS_LOSS_LIMIT",
  "GASLESS_GAS_LIMIT",
  "GASLESS_STANDING",
];
const PARAMETER_ERRORS: readonly ErrorName[] = ["PARAMETER_MISSING", "PARAMETER_MALFORMED"];

const QUOTE_ERRORS: readonly ErrorName[] = [
  ...PARAMETER_ERRORS,
  "PARAMETER_CONFLICT",
  "NETWORK_UNKNOWN",
  "SLIPPAGE_OUT_OF_RANGE",
  "LIQUIDITY_SOURCE_UNKNOWN",
  "RECIPIENT_FORBIDDEN",
  "AFFILIATE_FEE_TOO_HIGH",
  "AFFILIATE_UNAVAILABLE",
  "FROM_TOKEN_UNKNOWN",
  "TO_TOKEN_UNKNOWN",
  "TOKENS_EQUAL",
  "TOKEN_TAXED",
  "TOKEN_INEXACT",
  "TOKEN_UNSELLABLE",
  "TOKEN_FROZEN",
  "AMOUNT_ZERO",
  "NO_ROUTE",
  "AMOUNT_BELOW_FEES",
  "QUOTE_TIMEOUT",
  "GASLESS_UNAVAILABLE",
  "GASLESS_NATIVE",
  "GASLESS_NO_PERMIT",
  "GASLESS_DAI_PERMIT",
  "GASLESS_PERMIT_DOMAIN",
  "GASLESS_UNPRICED",
  ...RELAYER_ERRORS,
  "SETTLEMENT_MISSING",
];

const TRANSACTION_ERRORS: readonly ErrorName[] = [
  "QUOTE_INDICATIVE",
  "QUOTE_GASLESS",
  "SIMULATION_REVERTED",
  "SETTLEMENT_MISSING",
];
const BODY_ERRORS: readonly ErrorName[] = ["BODY_MALFORMED", "BODY_TOO_LARGE", "CONTENT_TYPE_UNSUPPORTED"];
const FIND_ERRORS: readonly ErrorName[] = [
  ...PARAMETER_ERRORS,
  "PARAMETER_CONFLICT",
  "QUOTE_UNKNOWN",
  "QUOTE_FORGOTTEN",
  "QUOTE_EXPIRED",
];

/** Every endpoint of the interface. */
export const ENDPOINTS = {
  quote: {
    method: "GET",
    path: "/aggregator/quote",
    summary: "Quotes a swap",
    request: requests.quoteQuery,
    response: responses.quoteResponse,
    errors: QUOTE_ERRORS,
  },
  transaction: {
    method: "GET",
    path: "/aggregator/transaction",
    summary: "The transaction of a quote, for its owner to sign and broadcast; of a gasless quote its route",
    request: requests.transactionQuery,
    response: responses.transactionOrRouteResponse,
    errors: [...FIND_ERRORS, ...TRANSACTION_ERRORS],
  },
  quoteTransaction: {
    method: "GET",
    path: "/aggregator/quote/transaction",
    summary: "Quote and transaction in one call",
    request: requests.quoteQuery,
    response: responses.quoteTransactionResponse,
    errors: [...QUOTE_ERRORS, ...TRANSACTION_ERRORS],
  },
  distributions: {
    method: "GET",
    path: "/aggregator/distributions",
    summary: "The route of a quote, pool by pool",
    request: requests.distributionsQuery,
    response: responses.distributionsResponse,
    errors: FIND_ERRORS,
  },
  executeSwap: {
    method: "POST",
    path: "/user-manager/execute-swap",
    summary: "Submits a signed gasless swap; the same body again answers the same swap",
    request: requests.executeSwapBody,
    response: responses.swapResponse,
    errors: [
      ...PARAMETER_ERRORS,
      "QUOTE_UNKNOWN",
      "QUOTE_FORGOTTEN",
      "QUOTE_EXPIRED",
      "NETWORK_UNKNOWN",
      ...BODY_ERRORS,
      "QUOTE_TIMEOUT",
      "GASLESS_UNAVAILABLE",
      "GASLESS_UNPRICED",
      "GASLESS_FEE_TOO_LOW",
      "GASLESS_GAS_TOO_HIGH",
      ...RELAYER_ERRORS,
      "QUOTE_NOT_GASLESS",
      "QUOTE_INDICATIVE",
      "QUOTE_USED",
      "SWAP_SIGNATURE_INVALID",
      "PERMIT_SIGNATURE_INVALID",
      "PERMIT_MISSING",
      "PERMIT_EXPIRED",
      "SIMULATION_REVERTED",
      "ORDER_NONCE_USED",
    ],
  },
  swap: {
    method: "GET",
    path: "/user-manager/swap",
    summary: "The record of a gasless swap",
    request: requests.swapQuery,
    response: responses.swapResponse,
    errors: [...PARAMETER_ERRORS, "PARAMETER_CONFLICT", "NETWORK_UNKNOWN", "SWAP_UNKNOWN"],
  },
  statusCounts: {
    method: "GET",
    path: "/user-manager/status-counts",
    summary: "How many gasless swaps of a wallet are in which status",
    request: requests.statusCountsQuery,
    response: responses.statusCountsResponse,
    errors: [...PARAMETER_ERRORS, "NETWORK_UNKNOWN"],
  },
  liquiditySources: {
    method: "GET",
    path: "/aggregator/liquidity-sources",
    summary: "The kinds of pools that quotes may use",
    request: requests.liquiditySourcesQuery,
    response: responses.liquiditySourcesResponse,
    errors: [...PARAMETER_ERRORS, "NETWORK_UNKNOWN"],
  },
  networks: {
    method: "GET",
    path: "/token-manager/networks",
    summary: "The networks that are served",
    request: requests.networksQuery,
    response: responses.networksResponse,
    errors: [],
  },
  token: {
    method: "GET",
    path: "/token-manager/token",
    summary: "One token, listed or not",
    request: requests.tokenQuery,
    response: responses.tokenResponse,
    errors: [...PARAMETER_ERRORS, "NETWORK_UNKNOWN", "TOKEN_UNKNOWN"],
  },
  tokens: {
    method: "POST",
    path: "/token-manager/tokens",
    summary: "Finds tokens by name, symbol or address",
    request: requests.tokensBody,
    response: responses.tokensResponse,
    errors: [...PARAMETER_ERRORS, "NETWORK_UNKNOWN", ...BODY_ERRORS],
  },
  balances: {
    method: "POST",
    path: "/balance-manager/balances",
    summary: "What wallets have of the native token and of the listed ones, at one block",
    request: requests.balancesBody,
    response: responses.balancesResponse,
    errors: [...PARAMETER_ERRORS, "NETWORK_UNKNOWN", ...BODY_ERRORS],
  },
  allowance: {
    method: "GET",
    path: "/balance-manager/allowance",
    summary: "What a contract may take of a wallet's tokens",
    request: requests.allowanceQuery,
    response: responses.allowanceResponse,
    errors: [...PARAMETER_ERRORS, "NETWORK_UNKNOWN", "TOKEN_UNKNOWN"],
  },
} as const satisfies Record<string, Endpoint>;

export type EndpointName = keyof typeof ENDPOINTS;
