import type { JsonRpc } from "../../chain/json-rpc.ts";
import { type Refusal, refuse } from "../errors/errors.ts";
import type { NetworkOptions } from "../options.ts";
import type { Snapshots } from "../pools/snapshots.ts";
import type { QuoteBook } from "../quotes/quote-book.ts";
import type { Quoter } from "../quotes/quoter.ts";
import type { GaslessIntake } from "../relayer/intake.ts";
import type { Simulator } from "../simulation/simulator.ts";
import type { ServiceStore } from "../store/service-store.ts";
import type { Balances } from "../tokens/balances.ts";
import type { TokenList } from "../tokens/token-list.ts";

/** Everything that answers for one network. */
export interface ServedNetwork {
  readonly options: NetworkOptions;
  readonly rpc: JsonRpc;
  readonly snapshots: Snapshots;
  readonly quoter: Quoter;
  readonly quotes: QuoteBook;
  readonly simulator: Simulator;
  readonly store: ServiceStore;
  readonly intake: GaslessIntake;
  readonly tokenList: TokenList;
  readonly balances: Balances;
}

/** The networks of one service, in the configured order; at least one. */
export interface ServedNetworks {
  readonly all: readonly ServedNetwork[];
  /** The network of this name; a name left out means the only one. */
  named(parameter: string, name: string | undefined): ServedNetwork | Refusal;
  /** The served ones of a list, each once. Clients send all names that they know, so others are passed over. */
  listed(parameter: string, names: readonly string[]): readonly ServedNetwork[] | Refusal;
}

export function createServedNetworks(all: readonly ServedNetwork[]): ServedNetworks {
  const [only, ...more] = all;
  if (only === undefined) throw new Error("a service needs at least one network");
  const detail = `served: ${all.map(({ options }) => options.name).join(", ")}`;
  return {
    all,
    named(parameter, name) {
      if (name === undefined) return more.length === 0 ? only : refuse("PARAMETER_MISSING", { parameter, detail });
      return all.find(({ options }) => options.name === name) ?? refuse("NETWORK_UNKNOWN", { parameter, detail });
    },
    listed(parameter, names) {
      const served = all.filter(({ options }) => names.includes(options.name));
      return served.length > 0 ? served : refuse("NETWORK_UNKNOWN", { parameter, detail });
    },
  };
}
