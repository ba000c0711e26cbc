import { larger } from "../../domain/money/bigint.ts";
import { isNative } from "../../domain/money/token.ts";
import type { StandingAllowance } from "../../domain/run/events.ts";
import type { Swap } from "../../domain/run/run.ts";
import type { EngineContext } from "../engine-context.ts";

/**
 * What an order without a nonce would be signed alongside: a node that lags shows less than there is, and the newest block
 * shows less than a fork may bring back. Blocks are named, so that a node which does not have them gives no old answer.
 * @returns undefined where the signature can be executed only once whatever is allowed
 * @throws ChainReadError when no endpoint answers
 */
export async function standingAllowance(
  { settings, deps: { chain, service } }: EngineContext,
  swap: Swap,
  newest: bigint,
): Promise<StandingAllowance | undefined> {
  if (swap.mode !== "gasless" || service.profile.signatureHasNonce || isNative(swap.sell)) return undefined;
  const agreed = await chain.agreed();
  const { number, timestamp } = await agreed.finalized();
  const grant = { token: swap.sell.address, owner: swap.wallet, spender: settings.contracts.spender };
  const shown = [
    await agreed.highestAllowance(grant, agreed.latest.number),
    await agreed.highestAllowance(grant, number),
  ];
  const highest = shown.reduce(larger, newest);
  return { highest, finalized: { number, timestamp } };
}
