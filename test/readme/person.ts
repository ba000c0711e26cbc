import { rmSync } from "node:fs";
import { join } from "node:path";
import { toAddress } from "../../src/domain/money/address.ts";
import { base } from "../../src/networks/base.ts";
import { type ForeignChain, startForeignChain } from "../support/foreign-chain.ts";
import type { BareMachine } from "./bare-machine.ts";

/** Where the README lets a reader keep what is his. */
const OWN_FOLDER = "swapd";

/** The network that a reader would have an account at: here a chain like Base, with nothing of ours on it. */
export type Network = ForeignChain;

/** Starts the network, with the contracts that stand on the real one at their real addresses. */
export async function startNetwork(): Promise<Network> {
  return await startForeignChain(base);
}

/** What a reader does by hand in "Trade for real". */
export interface Person {
  fund(address: string, network: Network): Promise<void>;
  /** puts everything of his away, for the next reader */
  startOver(): void;
}

export function createPerson(machine: BareMachine): Person {
  return {
    fund: async (address, network) => await network.fund(toAddress(address), { native: 1n, dollars: 900n }),
    startOver: () => rmSync(join(machine.home, OWN_FOLDER), { recursive: true, force: true }),
  };
}
