import { ChainReadError } from "../../../domain/chain-read-error.ts";
import type { Address } from "../../../domain/money/address.ts";
import type { WatchedHolder } from "../../../domain/strategy/decision.ts";
import { watchedHolders } from "../../../domain/strategy/strategy.ts";
import { isRefusedByToken } from "../../../engine/refused-by-token.ts";
import type { ApiSources } from "./api-sources.ts";

/** What lies at the addresses that strategies count besides their wallets, in the newest block, by strategy and token. */
export async function readExternal({
  configuration,
  chain,
  logger,
}: Pick<ApiSources, "configuration" | "chain" | "logger">): Promise<ReadonlyMap<string, ReadonlyMap<Address, bigint>>> {
  const found = new Map<string, ReadonlyMap<Address, bigint>>();
  const watching = configuration().strategies.filter(({ spec }) => watchedHolders(spec).length > 0);
  if (watching.length === 0) return found;
  try {
    const { number } = await chain.latest();
    for (const { spec } of watching) {
      try {
        found.set(spec.id, await sumsOf(watchedHolders(spec), { chain, number }));
      } catch (error) {
        if (!isRefusedByToken(error)) throw error;
        logger.warn({ strategy: spec.id, reason: error.message }, "what lies at external addresses could not be read");
      }
    }
  } catch (error) {
    if (!(error instanceof ChainReadError)) throw error;
    logger.warn({ error }, "what lies at external addresses could not be read");
  }
  return found;
}

/** @throws ChainReadError where a part of it could not be read */
async function sumsOf(
  holders: readonly WatchedHolder[],
  { chain, number }: Pick<ApiSources, "chain"> & { readonly number: number },
): Promise<ReadonlyMap<Address, bigint>> {
  const sums = new Map<Address, bigint>();
  for (const { address: holder, tokens } of holders)
    for (const { address } of tokens)
      sums.set(address, (sums.get(address) ?? 0n) + (await chain.balance(address, holder, number)));
  return sums;
}
