import { GASLESS_ERRORS } from "./gasless-errors.ts";
import { type ErrorEntry, REQUEST_ERRORS } from "./request-errors.ts";
import { TOKEN_ERRORS } from "./token-errors.ts";

/** Every error that the service answers with. The OpenAPI document shows this table. */
export const ERRORS = {
  ...REQUEST_ERRORS,
  FROM_TOKEN_UNKNOWN: {
    code: 2003,
    status: 404,
    message: "Couldn't recognize from token",
    remedy: "Check the address: it must be an ERC-20 token on this network.",
  },
  TO_TOKEN_UNKNOWN: {
    code: 2003,
    status: 404,
    message: "Couldn't recognize to token",
    remedy: "Check the address: it must be an ERC-20 token on this network.",
  },
  TOKEN_UNKNOWN: {
    code: 2005,
    status: 404,
    message: "There is no such token",
    remedy: "Check the address: it must be an ERC-20 token on this network.",
  },
  TOKENS_EQUAL: {
    code: 2004,
    status: 400,
    message: "The two tokens are the same, or one is the other's wrapped form",
    remedy: "Wrap and unwrap at the wrapped token itself.",
  },
  AMOUNT_ZERO: {
    code: 2069,
    status: 400,
    message: "The amount is zero",
    remedy: "Send a positive amount in the token's smallest unit.",
  },
  NO_ROUTE: {
    code: 2069,
    status: 400,
    message: "There is no route for this trade",
    remedy: "Try a smaller amount, other tokens or more liquidity sources.",
  },
  AMOUNT_BELOW_FEES: {
    code: 2070,
    status: 400,
    message: "The amount does not cover the fees",
    remedy: "Sell more, or execute the swap yourself.",
  },
  QUOTE_UNKNOWN: {
    code: 2101,
    status: 404,
    message: "The quote is unknown",
    remedy: "Ask for a new quote.",
  },
  QUOTE_FORGOTTEN: {
    code: 2108,
    status: 404,
    message: "The quote was kept in memory only, and is there no more",
    remedy:
      "Ask for a new quote. The service was started again or has too many; gasless quotes of API keys are stored.",
  },
  QUOTE_EXPIRED: {
    code: 2102,
    status: 410,
    message: "The quote has expired",
    remedy: "Ask for a new quote.",
  },
  SETTLEMENT_MISSING: {
    code: 2107,
    status: 400,
    message: "Swaps of this network cannot be executed here",
    remedy: "Ask for an indicative quote: without fromAddress and with gasless=false.",
  },
  QUOTE_INDICATIVE: {
    code: 2103,
    status: 400,
    message: "The quote is indicative and cannot be executed",
    remedy: "Ask for a quote with fromAddress.",
  },
  QUOTE_GASLESS: {
    code: 2104,
    status: 400,
    message: "The quote is gasless and has no transaction of yours",
    remedy: "Sign it and send it to /user-manager/execute-swap, or ask for a quote with gasless=false.",
  },
  QUOTE_NOT_GASLESS: {
    code: 2105,
    status: 400,
    message: "The quote is not gasless",
    remedy: "Take its transaction from /aggregator/transaction, or ask for a quote with gasless=true.",
  },
  QUOTE_USED: {
    code: 2106,
    status: 409,
    message: "The quote was already used with another signature",
    remedy: "Look up its swap, or ask for a new quote.",
  },
  ...TOKEN_ERRORS,
  ...GASLESS_ERRORS,
  SWAP_UNKNOWN: {
    code: 2401,
    status: 404,
    message: "The swap is unknown",
    remedy: "Check the hash or the quote's id. Swaps that you executed yourself are not recorded here.",
  },
  INTERNAL: {
    code: 5000,
    status: 500,
    message: "The service could not answer",
    remedy: "Try again; the operator's log has the reason.",
  },
  BUSY: {
    code: 5001,
    status: 503,
    message: "The service has too many requests in work",
    remedy: "Wait as many seconds as Retry-After says.",
  },
  STOPPING: {
    code: 5002,
    status: 503,
    message: "The service is about to stop",
    remedy: "Connect again; another instance or the restarted one answers.",
  },
  QUOTE_TIMEOUT: {
    code: 5004,
    status: 504,
    message: "There was no quote in time",
    remedy: "Ask again, with more time in timeoutMs: what was read and searched meanwhile is kept for a while.",
  },
  CHAIN_UNREACHABLE: {
    code: 5003,
    status: 503,
    message: "The network's node does not answer properly",
    remedy: "Try again later.",
  },
  CONTRACTS_WRONG: {
    code: 5005,
    status: 503,
    message: "The network's contracts are not the configured ones",
    remedy: "Notify the operator; the service's log says what is different.",
  },
} as const satisfies Record<string, ErrorEntry>;

export type ErrorName = keyof typeof ERRORS;

/** An answer that is no success. `detail` adds values to the table's sentence; `parameter` is the request's own name. */
export interface Refusal {
  readonly kind: "refused";
  readonly error: ErrorName;
  readonly detail: string | undefined;
  readonly parameter: string | undefined;
}

export function refuse(error: ErrorName, more: { detail?: string; parameter?: string } = {}): Refusal {
  return { kind: "refused", error, detail: more.detail, parameter: more.parameter };
}
