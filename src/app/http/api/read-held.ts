import { ChainReadError } from "../../../domain/chain-read-error.ts";
import { type Address, NATIVE_TOKEN } from "../../../domain/money/address.ts";
import type { KnownChain } from "../../../ports/reconciliation-store.ts";
import type { ApiSources } from "./api-sources.ts";

/** What a wallet has, by token, and as of which block. */
export type Held = Pick<KnownChain, "block" | "balances">;

/** What counts as the wallets' own: the native coin is for gas, and on paper lent, as in the rows. */
export function withoutCoins(held: ReadonlyMap<Address, Held>): ReadonlyMap<Address, Held> {
  return new Map(
    [...held].map(([wallet, { block, balances }]) => {
      const own = [...balances].filter(([token]) => token !== NATIVE_TOKEN);
      return [wallet, { block, balances: new Map(own) }];
    }),
  );
}

/**
 * What each wallet has now of what is configured, and of the native coin. The rows know it of wallets that are compared
 * with the chain, which none is on paper and in a dry run, and of the coin only where it is a token of the configuration.
 * @returns without the wallets from which on the chain did not answer
 */
export async function readHeld({
  configuration,
  chain,
  logger,
}: Pick<ApiSources, "configuration" | "chain" | "logger">): Promise<ReadonlyMap<Address, Held>> {
  const held = new Map<Address, Held>();
  const { wallets, tokens } = configuration();
  const asked = new Set([NATIVE_TOKEN, ...[...tokens.values()].map(({ token }) => token.address)]);
  try {
    const { number: block } = await chain.latest();
    for (const { address } of wallets.values()) {
      const balances = new Map<Address, bigint>();
      for (const token of asked) balances.set(token, await chain.balance(token, address, block));
      held.set(address, { block, balances });
    }
  } catch (error) {
    if (!(error instanceof ChainReadError)) throw error;
    logger.warn({ error }, "what wallets have could not be read");
  }
  return held;
}
