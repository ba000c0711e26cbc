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

/** What is wrong with a request, whatever it asks for. */
export const REQUEST_ERRORS = {
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
    remedy: "Send each value under one of its names, and the affiliate's address and fee together.",
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
  AFFILIATE_UNAVAILABLE: {
    code: 1009,
    status: 400,
    message: "No affiliate can be paid on this network",
    remedy: "Ask without an affiliate, or have the operator configure a settlement contract, which pays them.",
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
  REQUEST_TOO_SLOW: {
    code: 1017,
    status: 408,
    message: "The request did not arrive in time",
    remedy: "Send headers and body within 15 s.",
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
} as const satisfies Record<string, ErrorEntry>;
