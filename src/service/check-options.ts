import { isSettled, type NetworkOptions, type ServiceOptions } from "./options.ts";
import { executorKindOf, kindProblem } from "./pools/kinds.ts";

/**
 * Refuses options that contradict each other, before anything is opened.
 * @param relayers names of the networks for which the parts of a relayer are at hand
 * @throws Error that says what to correct
 */
export function checkOptions(options: ServiceOptions, relayers: ReadonlySet<string>): void {
  const { networks, permitLifetimeSeconds, quoteLifetimeSeconds } = options;
  if (networks.length === 0) throw new Error("the service needs a network to serve, and none is configured");
  for (const network of networks) {
    checkTwins(network, networks);
    checkKinds(network);
    checkPlaces(network);
    checkRelayer(network, relayers.has(network.name));
  }
  const unserved = [...relayers].find((name) => networks.every((network) => network.name !== name));
  if (unserved !== undefined) throw new Error(`there is a relayer for ${unserved}, and that network is not served`);
  if (permitLifetimeSeconds >= quoteLifetimeSeconds) return;
  throw new Error(
    `signatures that hold ${permitLifetimeSeconds} s would end before their quote, which holds ` +
      `${quoteLifetimeSeconds} s: raise the permit lifetime`,
  );
}

/** Callers name the network they mean, and a lane belongs to one account on one chain: both must be distinguished. */
function checkTwins({ name, chainId }: NetworkOptions, networks: readonly NetworkOptions[]): void {
  if (networks.filter((other) => other.name === name).length > 1) {
    throw new Error(`two networks are called ${name}: one process serves a network once, by a name of its own`);
  }
  const twins = networks.filter((other) => other.chainId === chainId).map((other) => other.name);
  if (twins.length > 1) {
    throw new Error(`${twins.join(" and ")} are the same chain ${chainId}: one process serves a chain once`);
  }
}

/** Pools of an unknown kind would be noticed by the first request only. */
function checkKinds({ name, protocols }: NetworkOptions): void {
  for (const { kind, factory } of protocols) {
    const problem = kindProblem(kind);
    if (problem === undefined) continue;
    throw new Error(`the pools of ${factory} on ${name}: ${problem.message}; ${problem.suggestion}`);
  }
}

/** A place in the list is the executor's own, as far as it has a branch for the pools: those without one come last. */
function checkPlaces({ name, protocols }: NetworkOptions): void {
  const unknown = protocols.findIndex((protocol) => executorKindOf(protocol) === undefined);
  const late = unknown < 0 ? undefined : protocols.slice(unknown).find((one) => executorKindOf(one) !== undefined);
  if (late === undefined) return;
  const { factory } = protocols[unknown] ?? late;
  throw new Error(
    `our executor cannot trade with the pools of ${factory} on ${name}: list that factory after ${late.factory}, ` +
      "whose pools it can trade with",
  );
}

function checkRelayer(network: NetworkOptions, hasParts: boolean): void {
  const { name, relayer } = network;
  if ((relayer !== undefined) !== hasParts) {
    throw new Error(`the relayer of ${name} needs both its settings and its signer, chain and lane store`);
  }
  if (relayer !== undefined && !isSettled(network)) {
    throw new Error(`a relayer needs a settlement contract, and none is configured on ${name}`);
  }
}
