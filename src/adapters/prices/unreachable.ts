import { ChainReadError } from "../../domain/chain-read-error.ts";
import type { PriceMissing } from "../../ports/price-source.ts";

/** A price that no node gave. Everything else that is thrown is a fault of our own code: it is thrown on. */
export function unreachable(error: unknown): PriceMissing {
  if (error instanceof ChainReadError) return { missing: "unreachable", detail: error.message };
  throw error;
}
