import { ChainReadError } from "../../domain/chain-read-error.ts";
import { formatMethods, SIMULATION_METHODS, type SimulationMethod } from "../../domain/guard/simulation-method.ts";
import type { EndpointReport, SimulationOutcome } from "../../ports/chain.ts";
import type { Endpoint } from "../endpoint.ts";
import type { Failure } from "../in-turn.ts";
import { RpcError } from "../json-rpc.ts";
import { saysWhatItLacks } from "../probe-endpoint.ts";
import { type RpcPool, reasonOf, saidBy } from "../rpc-pool.ts";
import { withDataGas } from "./data-gas.ts";
import type { CompletedSimulation, SimulationRun } from "./method.ts";
import { tryIn } from "./methods.ts";
import { proveWay } from "./proof.ts";

/** Tries calls out through the endpoints of a pool, in the best way that is permitted and that one of them masters. */
export interface Simulator {
  /** @throws ChainReadError when no endpoint answers for the moment */
  run(run: SimulationRun): Promise<SimulationOutcome>;
  /** Takes over what a probe of all abilities found. */
  note(endpoint: number, report: EndpointReport): void;
  /** Another machine may stand behind the endpoint's address: what was found of its methods counts no more. */
  forget(endpoint: number): void;
}

interface SimulatorDependencies {
  readonly pool: Pick<RpcPool, "converse" | "endpoints">;
  /** those that may be used */
  readonly ways: readonly SimulationMethod[];
  /** the network takes gas for a transaction's data, which not every way counts */
  readonly addsDataGas: boolean;
  readonly monotonicMs: () => number;
  /** called when no endpoint supports any of them */
  readonly onNone: () => void;
}

/** That an endpoint masters a way is believed for this long; then it has to show it again before it is used. */
const PROVED_MS = 60_000;
/** That it does not is believed for this long: meanwhile it is not asked. */
const LACKING_MS = 600_000;

/** What an endpoint cannot do in a way, undefined where it masters it. */
type Lack = string | undefined;

export function createSimulator(deps: SimulatorDependencies): Simulator {
  const { pool, ways, addsDataGas, monotonicMs, onNone } = deps;
  const found = new Map<string, { readonly lack: Lack; readonly atMs: number }>();
  const underway = new Map<string, Promise<Lack>>();
  const keyOf = (endpoint: Endpoint, way: SimulationMethod): string => `${pool.endpoints.indexOf(endpoint)} ${way}`;

  function learn(key: string, lack: Lack): Lack {
    found.set(key, { lack, atMs: monotonicMs() });
    return lack;
  }

  /** What is known of an endpoint's way, else what it shows now; many that ask at once ask once. @throws Failure */
  async function lackOf(endpoint: Endpoint, way: SimulationMethod): Promise<Lack> {
    const key = keyOf(endpoint, way);
    const known = found.get(key);
    const believedMs = known?.lack === undefined ? PROVED_MS : LACKING_MS;
    if (known !== undefined && monotonicMs() - known.atMs < believedMs) return known.lack;
    const proof = underway.get(key) ?? prove(endpoint, way);
    underway.set(key, proof);
    try {
      return learn(key, await proof);
    } finally {
      underway.delete(key);
    }
  }

  /** @throws Failure */
  async function tryAt(endpoint: Endpoint, way: SimulationMethod, run: SimulationRun): Promise<CompletedSimulation> {
    const lack = await lackOf(endpoint, way);
    if (lack !== undefined) throw new ChainReadError("not available", lack);
    try {
      const outcome = await tryIn(way, endpoint.ask, run);
      return addsDataGas ? await withDataGas(endpoint.ask, outcome, run) : outcome;
    } catch (error) {
      // Whatever it was: it has to show once more that it can.
      found.delete(keyOf(endpoint, way));
      throw error;
    }
  }

  return {
    async run(run) {
      const failures: Failure[] = [];
      for (const way of SIMULATION_METHODS.filter((each) => ways.includes(each))) {
        const result = await pool.converse((endpoint) => tryAt(endpoint, way, run));
        if (result.kind === "enough") return result.answer;
        failures.push(...result.failures);
      }
      const reason = `no RPC endpoint can try it out by ${formatMethods(ways)}: ${saidBy(failures)}`;
      const code = reasonOf(failures);
      if (code !== "not available" && code !== "refused") throw new ChainReadError(code, reason);
      onNone();
      return { kind: "unavailable", reason };
    },
    note(index, { findings }) {
      const endpoint = pool.endpoints[index];
      if (endpoint === undefined) return;
      for (const way of SIMULATION_METHODS) {
        const finding = findings.find(({ ability }) => ability === way);
        if (finding?.state === "able") learn(keyOf(endpoint, way), undefined);
        if (finding?.state === "lacking") learn(keyOf(endpoint, way), named(endpoint, finding.detail ?? "lacking"));
      }
    },
    forget(index) {
      for (const way of SIMULATION_METHODS) found.delete(`${index} ${way}`);
    },
  };
}

/** @throws RpcError or ChainReadError where the endpoint did not show it, and did not say that it cannot */
async function prove(endpoint: Endpoint, way: SimulationMethod): Promise<Lack> {
  try {
    const problem = await proveWay(way, endpoint.ask);
    return problem === undefined ? undefined : named(endpoint, problem);
  } catch (error) {
    if (!(error instanceof RpcError || error instanceof ChainReadError) || !saysWhatItLacks(error)) throw error;
    return named(endpoint, error.message);
  }
}

function named({ host }: Endpoint, words: string): string {
  return words.startsWith(host) ? words : `${host}: ${words}`;
}
