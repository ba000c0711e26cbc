import type { Address } from "../../domain/money/address.ts";
import type { StrategySpec } from "../../domain/strategy/spec.ts";
import { tradedTokens } from "../../domain/strategy/strategy.ts";
import type { Difference } from "../../ports/reconciliation-store.ts";

/** What a person reads of a strategy or wallet that an open difference halts. */
export function whyHalted({ text, kind }: Difference): string {
  if (kind === "unchecked") return text;
  return `${text}; look at it with \`swapd db check\`, accept it with \`swapd db accept\``;
}

/**
 * The difference that halts a strategy; one that needs a person first, because what is unchecked ends by itself.
 * @param open what is open of all wallets; mostly nothing
 */
export function halt(open: readonly Difference[], spec: StrategySpec): Difference | undefined {
  if (open.length === 0) return undefined;
  const halting =
    byWallet(open)
      .get(spec.wallet.address)
      ?.filter((difference) => touches(difference, spec)) ?? [];
  return halting.find(({ kind }) => kind !== "unchecked") ?? halting[0];
}

const wallets = new WeakMap<readonly Difference[], ReadonlyMap<Address, readonly Difference[]>>();

/** At a start each of hundreds of wallets has one, and every step asks for those of its own. */
function byWallet(open: readonly Difference[]): ReadonlyMap<Address, readonly Difference[]> {
  const made = wallets.get(open) ?? Map.groupBy(open, ({ wallet }) => wallet);
  wallets.set(open, made);
  return made;
}

/**
 * Whether a difference of its wallet keeps a strategy from signing. One that may trade gasless does not fall back to
 * transactions of its own where logs prove nothing: they may hide fills of its own orders, which its budget and its memory
 * would not know.
 */
function touches({ token, scope }: Difference, spec: StrategySpec): boolean {
  if (scope === "gasless" && spec.gasless === "never") return false;
  return scope === "wallet" || token === undefined || tradedTokens(spec).some(({ address }) => address === token);
}
