import { ChainReadError } from "../../domain/chain-read-error.ts";

/**
 * What a read of the chain failed of, where the nodes are to blame. Everything else that is thrown is a fault of our
 * own code: it is thrown on, up to the handler that stops the process, because it is not known what it left behind.
 */
export function nodeFault(error: unknown): string {
  if (error instanceof ChainReadError) return error.message;
  throw error;
}

/** A state that a node does not keep, or a token that was not there yet, is no trouble. @throws everything else */
export function refusedAsUndefined(error: unknown): undefined {
  if (error instanceof ChainReadError && error.code !== "unreachable") return undefined;
  throw error;
}
