import { ChainReadError } from "../domain/chain-read-error.ts";

/** Whether a token, and not the chain, gave no answer: it refuses, or does not answer as a token does. */
export function isRefusedByToken(error: unknown): error is ChainReadError {
  return error instanceof ChainReadError && (error.code === "reverted" || error.code === "malformed answer");
}

/** Why a token gave no answer: of a list this entry is not known then, and all others are. @throws everything else */
export function refusedByToken(error: unknown): string {
  if (isRefusedByToken(error)) return error.message;
  throw error;
}
