/** One kind of refusal as callers see it. */
export interface ErrorEntry {
  /** number on the wire; numbers of the interface's known answers are kept */
  readonly code: number;
  /** HTTP status */
  readonly status: number;
  readonly message: string;
  /** what the caller can do */
  readonly remedy: string;
}

/** Every error that the service answers with. The OpenAPI document shows this table. */
export const ERRORS = {
  PARAMETER_MISSING: {
    code: 1001,
    status: 400,
    message: "A required parameter is missing",
    remedy: "Add the named parameter.",
  },
  PARAMETER_MALFORMED: {
    code: 1002,
    status: 400,
    message: "A parameter is malformed",
    remedy: "Correct the named parameter as the message says.",
  },
  PARAMETER_CONFLICT: {
    code: 1003,
    status: 400,
    message: "Parameters contradict or need each other",
    remedy: "Send one of the two names of an amount or a fee, and the affiliate's address and fee together.",
  },
  NETWORK_UNKNOWN: {
    code: 1004,
    status: 400,
    message: "The network is not served here",
    remedy: "Send the name of a served network, in lower case; /token-manager/networks lists them.",
  },
  SLIPPAGE_OUT_OF_RANGE: {
    code: 1005,
    status: 400,
    message: "The slippage is out of range",
    remedy: "Send a fraction from 0 to below 1: 0.005 is half a percent.",
  },
  LIQUIDITY_SOURCE_UNKNOWN: {
    code: 1006,
    status: 400,
    message: "A liquidity source is unknown or named twice",
    remedy: "Name each source once; the message lists the known ones.",
  },
  RECIPIENT_FORBIDDEN: {
    code: 1007,
    status: 400,
    message: "This address cannot receive tokens of a swap",
    remedy: "Send an account that is neither zero, nor one of the tokens, nor a contract of the settlement.",
  },
  AFFILIATE_FEE_TOO_HIGH: {
    code: 1008,
    status: 400,
    message: "The affiliate fee is higher than the settlement contract allows",
    remedy: "Ask for at most 3 %.",
  },
  BODY_MALFORMED: {
    code: 1010,
    status: 400,
    message: "The body is not a JSON object",
    remedy: "Send a JSON object with content-type application/json.",
  },
  CONTENT_TYPE_UNSUPPORTED: {
    code: 1011,
    status: 415,
    message: "The body's content type is not supported",
    remedy: "Send content-type application/json.",
  },
  BODY_TOO_LARGE: {
    code: 1012,
    status: 413,
    message: "The body is too large",
    remedy: "Send at most 64 KiB.",
  },
  URL_TOO_LONG: {
    code: 1013,
    status: 414,
    message: "The URL is too long",
    remedy: "Send at most 4096 characters.",
  },
  HEADERS_TOO_LARGE: {
    code: 1014,
    status: 431,
    message: "The headers are too large",
    remedy: "Send at most 16 KiB of headers.",
  },
  REQUEST_MALFORMED: {
    code: 1015,
    status: 400,
    message: "The request is not valid HTTP",
    remedy: "Check the client.",
  },
  ENDPOINT_UNKNOWN: {
    code: 1016,
    status: 404,
    message: "There is no such endpoint",
    remedy: "See /openapi.json for all endpoints and their methods.",
  },
  API_KEY_UNKNOWN: {
    code: 1401,
    status: 401,
    message: "The API key is unknown",
    remedy: "Send a valid key in the header apikey, or no such header.",
  },
  RATE_LIMITED: {
    code: 1429,
    status: 429,
    message: "API rate limit exceeded",
    remedy: "Wait as many seconds as Retry-After says.",
  },
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
  QUOTE_EXPIRED: {
    code: 2102,
    status: 410,
    message: "The quote has expired",
    remedy: "Ask for a new quote.",
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
  GASLESS_UNAVAILABLE: {
    code: 2201,
    status: 400,
    message: "Gasless swaps are not available",
    remedy: "Ask for a quote with gasless=false, or try again later.",
  },
  GASLESS_NATIVE: {
    code: 2202,
    status: 400,
    message: "The native token cannot be sold gasless",
    remedy: "Ask for a quote with gasless=false, or sell the wrapped token.",
  },
  GASLESS_NO_PERMIT: {
    code: 2203,
    status: 400,
    message: "The token has no EIP-2612 permit and its allowance is too low",
    remedy: "Approve the targetAddress on the token, or ask for a quote with gasless=false.",
  },
  GASLESS_DAI_PERMIT: {
    code: 2204,
    status: 400,
    message: "The token has Dai's own older permit, which is not supported, and its allowance is too low",
    remedy: "Approve the targetAddress on the token, or ask for a quote with gasless=false.",
  },
  GASLESS_UNPRICED: {
    code: 2205,
    status: 400,
    message: "No pool tells what gas costs in this token",
    remedy: "Ask for a quote with gasless=false.",
  },
  SWAP_SIGNATURE_INVALID: {
    code: 2301,
    status: 400,
    message: "swapSignature is not the owner's signature of this quote",
    remedy: "Sign the quote's typed data with the key of fromAddress.",
  },
  PERMIT_SIGNATURE_INVALID: {
    code: 2302,
    status: 400,
    message: "permitSignature is not a valid permit for this quote",
    remedy: "Sign the permit's typed data for the gross amount, with the deadline that permitDeadline gives.",
  },
  PERMIT_MISSING: {
    code: 2303,
    status: 400,
    message: "The allowance is too low and no permit was sent",
    remedy: "Send permitSignature and permitDeadline, or approve the targetAddress on the token.",
  },
  PERMIT_EXPIRED: {
    code: 2304,
    status: 400,
    message: "The permit has expired",
    remedy: "Sign a permit that holds as long as the quote's typed data.",
  },
  SIMULATION_REVERTED: {
    code: 2305,
    status: 400,
    message: "The swap would revert",
    remedy: "Check balance and allowance, or ask for a new quote.",
  },
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
  CHAIN_UNREACHABLE: {
    code: 5003,
    status: 503,
    message: "The network's node does not answer properly",
    remedy: "Try again later.",
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
