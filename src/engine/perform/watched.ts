import type { Swap } from "../../domain/run/run.ts";
import type { Watched } from "../../ports/chain.ts";
import type { EngineContext } from "../engine-context.ts";

/**
 * What a simulation of a swap watches where it sees no logs: all our accounts and the recipient, every token that is
 * configured, swapped or allowed by a row, and every contract that may be approved or stands in such a row.
 */
export async function watchedBy({ settings, deps }: EngineContext, { recipient, sell, buy }: Swap): Promise<Watched> {
  const grants = await deps.store.read({ kind: "idle-grants" });
  const listed = [...settings.tokens, sell, buy, settings.native].map(({ address }) => address);
  return {
    accounts: unique([...deps.signers.keys(), recipient]),
    tokens: unique([...listed, ...grants.map(({ token }) => token)]).filter(
      (token) => token !== settings.native.address,
    ),
    spenders: unique([
      ...[settings.contracts, ...(settings.furtherContracts ?? [])].flatMap((contracts) => Object.values(contracts)),
      ...settings.policy.spenders,
      ...grants.map(({ spender }) => spender),
    ]),
  };
}

function unique<T>(all: readonly T[]): readonly T[] {
  return [...new Set(all)];
}
