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
  const halting = open.filter((difference) => touches(difference, spec));
  return halting.find(({ kind }) => kind !== "unchecked") ?? halting[0];
}

/**
 * Whether a difference keeps a strategy from signing. One that may trade gasless does not fall back to transactions of its
 * own where logs prove nothing: they may hide fills of its own orders, which its budget and its memory would not know.
 */
function touches({ wallet, token, scope }: Difference, spec: StrategySpec): boolean {
  if (spec.wallet.address !== wallet) return false;
  if (scope === "gasless" && spec.gasless === "never") return false;
  return scope === "wallet" || token === undefined || tradedTokens(spec).some(({ address }) => address === token);
}
