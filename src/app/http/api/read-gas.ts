import { ChainReadError } from "../../../domain/chain-read-error.ts";
import { type Address, NATIVE_TOKEN } from "../../../domain/money/address.ts";
import type { ApiSources } from "./api-sources.ts";

/**
 * What each wallet has of the native coin now. The rows know it only where it is a token of the configuration.
 * @returns without the wallets after which the chain did not answer
 */
export async function readGas({
  configuration,
  chain,
  logger,
}: Pick<ApiSources, "configuration" | "chain" | "logger">): Promise<ReadonlyMap<Address, bigint>> {
  const found = new Map<Address, bigint>();
  try {
    for (const { address } of configuration().wallets.values())
      found.set(address, await chain.balance(NATIVE_TOKEN, address));
  } catch (error) {
    if (!(error instanceof ChainReadError)) throw error;
    logger.warn({ error }, "what wallets have for gas could not be read");
  }
  return found;
}
