import type { ErrorEntry } from "./request-errors.ts";

/** Why a gasless swap is not quoted or not taken. */
export const GASLESS_ERRORS = {
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
    message: "The token's price feed does not report what gas costs in it now",
    remedy: "Ask for a quote with gasless=false, or try again later.",
  },
  GASLESS_RELAYER_UNFUNDED: {
    code: 2206,
    status: 400,
    message: "The relayer cannot pay for gas now",
    remedy: "Ask for a quote with gasless=false, or try again once its operator has refilled it.",
  },
  GASLESS_LOSS_LIMIT: {
    code: 2207,
    status: 400,
    message: "The relayer has lost as much on gas today as it may",
    remedy: "Ask for a quote with gasless=false, or try again later.",
  },
  GASLESS_FEE_TOO_LOW: {
    code: 2208,
    status: 400,
    message: "The quote's swap fee no longer pays for the gas",
    remedy: "Ask for a new quote: gas costs more than when this one was made.",
  },
  GASLESS_FEE_TOKEN: {
    code: 2209,
    status: 400,
    message: "The relayer takes no swap fees in this token",
    remedy: "Ask for a quote with gasless=false, or sell a token that the operator lists with a price feed.",
  },
  GASLESS_GAS_LIMIT: {
    code: 2210,
    status: 400,
    message: "The relayer has spent as much on gas today as it may",
    remedy: "Ask for a quote with gasless=false, or try again later.",
  },
  GASLESS_GAS_TOO_HIGH: {
    code: 2211,
    status: 400,
    message: "The swap needs more gas than it was quoted with",
    remedy: "Ask for a new quote, or execute the swap yourself.",
  },
  GASLESS_STANDING: {
    code: 2212,
    status: 400,
    message: "No gasless swaps are taken from here for a while",
    remedy:
      "Ask for a quote with gasless=false, or try again after a day: transactions that revert cost the relayer gas.",
  },
  GASLESS_PERMIT_DOMAIN: {
    code: 2213,
    status: 400,
    message: "The token signs permits in a domain that is not supported, and its allowance is too low",
    remedy: "Approve the targetAddress on the token, or ask for a quote with gasless=false.",
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
    message: "The permit does not hold as long as the order",
    remedy: "Sign a permit that holds as long as the quote's typed data.",
  },
  SIMULATION_REVERTED: {
    code: 2305,
    status: 400,
    message: "The swap would revert",
    remedy: "Check balance and allowance, or ask for a new quote.",
  },
  ORDER_NONCE_USED: {
    code: 2306,
    status: 409,
    message: "The order's nonce is used on the chain: its owner cancelled it",
    remedy: "Ask for a new quote.",
  },
} as const satisfies Record<string, ErrorEntry>;
