/**
 * How a swap is simulated before it is signed, the way that proves most first.
 * - `simulate`: the node runs the calls in a block of their own and reports every transfer and allowance
 * - `trace`: it runs them one by one, each on what the one before left, and reports the same
 * - `probe`: code of ours, injected into the owner's account, runs them and compares balances and allowances of known tokens
 */
export type SimulationMethod = "simulate" | "trace" | "probe";

/** All of them, in the order in which they are preferred. */
export const SIMULATION_METHODS: readonly SimulationMethod[] = ["simulate", "trace", "probe"];

/** Those that may be used where the policy says nothing of it. */
export const DEFAULT_SIMULATION_METHODS: readonly SimulationMethod[] = ["simulate", "trace"];

const ASKED: Readonly<Record<SimulationMethod, string>> = {
  simulate: "eth_simulateV1",
  trace: "debug_traceCall",
  probe: "a probe in eth_call",
};

/** What an endpoint is asked for, in the words of its operator: "eth_simulateV1 or debug_traceCall". */
export function formatMethods(ways: readonly SimulationMethod[]): string {
  return SIMULATION_METHODS.filter((way) => ways.includes(way))
    .map((way) => ASKED[way])
    .join(" or ");
}
