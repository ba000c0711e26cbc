import type { Configuration } from "../../../config/configuration.ts";
import { ChainReadError } from "../../../domain/chain-read-error.ts";
import { type Address, NATIVE_TOKEN } from "../../../domain/money/address.ts";
import type { Token } from "../../../domain/money/token.ts";
import { withoutLentGas } from "../../../engine/lent-gas.ts";
import { refusedByToken } from "../../../engine/refused-by-token.ts";
import type { Movement } from "../../../ports/listing.ts";
import type { KnownChain } from "../../../ports/reconciliation-store.ts";
import { lentGasOf } from "../../paper-accounts.ts";
import type { ApiSources } from "./api-sources.ts";

/** What a wallet has, by token, and as of which block. A token that is missing is one that nobody knows it of. */
export interface Held extends Pick<KnownChain, "block" | "balances"> {
  /** of the newest own fill since that is counted in; absent where none is */
  readonly fillsTo?: number;
}

/** The tokens of which it is not known what a wallet has: that is any amount, and none is no answer. */
export function unreadTokens(held: Held | undefined, tokens: Iterable<{ readonly token: Token }>): readonly Token[] {
  return [...tokens]
    .map(({ token }) => token)
    .filter(({ address }) => address !== NATIVE_TOKEN && held?.balances.has(address) !== true);
}

/** The same as the rows know it: of the native coin they know nothing. */
export function withoutCoins(held: ReadonlyMap<Address, Held>): ReadonlyMap<Address, Held> {
  return new Map(
    [...held].map(([wallet, { block, balances }]) => {
      const own = [...balances].filter(([token]) => token !== NATIVE_TOKEN);
      return [wallet, { block, balances: new Map(own) }];
    }),
  );
}

/** What the wallets have of the native coin alone, without what is lent on paper. */
export function ownCoins(
  held: ReadonlyMap<Address, Held>,
  configuration: Pick<Configuration, "mode" | "wallets">,
): ReadonlyMap<Address, Held> {
  const lentGas = lentGasOf(configuration);
  return new Map(
    [...held].flatMap(([wallet, { block, balances }]) => {
      const raw = balances.get(NATIVE_TOKEN);
      if (raw === undefined) return [];
      const own = withoutLentGas({ lentGas }, { token: NATIVE_TOKEN, wallet }, raw);
      return [[wallet, { block, balances: new Map([[NATIVE_TOKEN, own]]) }] as const];
    }),
  );
}

/**
 * The same with what own fills moved since: the rows are compared with the chain by the hour, at a block that is final.
 * What nobody knows stays unknown.
 */
export function withFills(held: ReadonlyMap<Address, Held>, fills: readonly Movement[]): ReadonlyMap<Address, Held> {
  return new Map(
    [...held].map(([wallet, { block, balances }]) => {
      const own = new Map(balances);
      const move = (token: Address, raw: bigint): void => {
        const before = own.get(token);
        if (before !== undefined) own.set(token, before + raw > 0n ? before + raw : 0n);
      };
      const later = fills.filter((fill) => fill.block > block && [fill.wallet, fill.recipient].includes(wallet));
      for (const fill of later.toReversed()) {
        if (fill.wallet === wallet) move(fill.sell, -fill.sold);
        if (fill.recipient === wallet) move(fill.buy, fill.bought);
      }
      const newest = later[0];
      return [wallet, { block, balances: own, ...(newest === undefined ? {} : { fillsTo: newest.block }) }];
    }),
  );
}

/**
 * What each wallet has now of what is configured, the native coin among it, or of the tokens that are given. The rows know
 * it of wallets that are compared with the chain, which none is on paper and in a dry run, and never of the coin.
 * @returns without the tokens that refuse to tell, and without the wallets from which on the chain did not answer
 */
export async function readHeld(
  { configuration, chain, logger }: Pick<ApiSources, "configuration" | "chain" | "logger">,
  only?: readonly Address[],
): Promise<ReadonlyMap<Address, Held>> {
  const held = new Map<Address, Held>();
  const { wallets, tokens } = configuration();
  const asked = only ?? [...tokens.values()].map(({ token }) => token.address);
  try {
    const { number: block } = await chain.latest();
    for (const { name, address } of wallets.values()) {
      const balances = new Map<Address, bigint>();
      for (const token of asked) {
        const raw = await chain.balance(token, address, block).catch(refusedByToken);
        if (typeof raw === "bigint") balances.set(token, raw);
        else logger.warn({ wallet: name, token, reason: raw }, "what a wallet has of a token could not be read");
      }
      held.set(address, { block, balances });
    }
  } catch (error) {
    if (!(error instanceof ChainReadError)) throw error;
    logger.warn({ error }, "what wallets have could not be read");
  }
  return held;
}
