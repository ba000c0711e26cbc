import type { ErrorEntry } from "./request-errors.ts";

/**
 * Why a token is not traded: probes of its transfers showed that they are not exact. Checked again from time to time.
 */
export const TOKEN_ERRORS = {
  TOKEN_TAXED: {
    code: 2010,
    status: 400,
    message: "The token takes a part of what is transferred",
    remedy: "Such tokens are not traded here, because less would arrive than is quoted: choose another token.",
  },
  TOKEN_INEXACT: {
    code: 2011,
    status: 400,
    message: "The token moves other amounts than requested, as rebasing and share-based tokens do",
    remedy: "Such tokens are not traded here: trade the token's wrapped form where there is one.",
  },
  TOKEN_UNSELLABLE: {
    code: 2012,
    status: 400,
    message: "The token can be bought and cannot be sold",
    remedy: "Do not buy it. Should its owner only have paused sales, try again later.",
  },
  TOKEN_FROZEN: {
    code: 2013,
    status: 400,
    message: "The token's transfers fail",
    remedy: "It is paused, or its owner lets only some accounts hold it: try again later.",
  },
} as const satisfies Record<string, ErrorEntry>;
