import type { Address, Hex } from "../../domain/money/address.ts";
import type { CallRequest, SimulationOutcome, Watched } from "../../ports/chain.ts";
import type { Ask } from "../crowded-reads.ts";

/** What an account is lent for the length of a question, in the form in which nodes take it. */
export interface LentAccount {
  readonly balance?: Hex;
  readonly nonce?: Hex;
  readonly code?: Hex;
  /** words of storage by their keys */
  readonly stateDiff?: Readonly<Record<string, Hex>>;
}

export type LentState = Readonly<Record<Address, LentAccount>>;

/** Calls to simulate one after the other. */
export interface SimulationRun {
  readonly calls: readonly CallRequest[];
  /** the block that they are simulated on */
  readonly block: Hex | "latest";
  /** height and time of the block that they are simulated in; undefined leaves both to the node */
  readonly next: { readonly number: Hex; readonly time: Hex } | undefined;
  readonly lent: LentState;
  readonly watched: Watched;
}

/** What came of a simulation that took place. */
export type CompletedSimulation = Exclude<SimulationOutcome, { kind: "unavailable" }>;

/**
 * Tries calls out at one endpoint.
 * @throws RpcError what the endpoint said, ChainReadError for an answer that is none, or that shows too little
 */
export type SimulateAt = (ask: Ask, run: SimulationRun) => Promise<CompletedSimulation>;
