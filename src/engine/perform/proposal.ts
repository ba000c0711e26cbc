import type { Decoding, ProposedTransaction, RouteLeg } from "../../domain/guard/decoded-swap.ts";
import type { Swap, SwapQuote } from "../../domain/run/run.ts";
import type { ServiceRefusal } from "../../ports/swap-service.ts";
import type { EngineContext } from "../engine-context.ts";
import type { SimulatedCall } from "./simulate-swap.ts";

/** What the service proposes with a quote: our own transaction, or the route of a gasless order. */
export interface Proposal {
  readonly transaction: ProposedTransaction | undefined;
  /** undefined where the service gives none */
  readonly route: readonly RouteLeg[] | undefined;
}

/** Asks for it, as the swap's mode and the service's profile need it. */
export async function askProposal(
  { deps: { service } }: EngineContext,
  swap: Swap,
  quote: SwapQuote,
): Promise<Proposal | ServiceRefusal> {
  if (swap.mode === "self-executed") {
    const transaction = await service.transaction(quote.id);
    return "kind" in transaction ? transaction : { transaction, route: undefined };
  }
  if (service.profile.simulationOfOrder === undefined) return { transaction: undefined, route: undefined };
  const route = await service.orderRoute(quote.id);
  return "kind" in route ? route : { transaction: undefined, route };
}

/**
 * What is simulated before anything is signed. Of a gasless order it is the owner's own call, made by us from what the
 * signature would say: no signature is given to anybody for it.
 * @returns undefined where the service gives nothing to simulate
 */
export function callToTry(
  { deps: { service }, settings: { contracts } }: EngineContext,
  { transaction, route }: Proposal,
  decoding: Decoding,
): SimulatedCall | undefined {
  if (transaction !== undefined) return transaction;
  const { simulationOfOrder } = service.profile;
  if (simulationOfOrder === undefined || route === undefined || !decoding.ok) return undefined;
  return { to: contracts.target, data: simulationOfOrder(decoding.swap, route), value: 0n };
}
