import type { Configuration } from "../config/configuration.ts";

/** Why the service within the daemon settles nothing of a file, where no contract of ours can be; undefined: one may. */
export function unsettledProblem({ network, service }: Configuration): string | undefined {
  const { settlement, router, noSettlement, name } = network;
  if (noSettlement === undefined || service.url !== "embedded" || (settlement ?? router) !== undefined)
    return undefined;
  return unsettled(name, noSettlement);
}

/** What is said where no contract of ours can be, with what serves the network's quotes. */
export function unsettled(network: string, noSettlement: string): string {
  return `${noSettlement}; for quotes alone: swapd serve --network ${network} --rpc env:RPC`;
}

/** What a daemon without contracts ends with. */
export function contractsProblem(configuration: Configuration): string {
  const { name } = configuration.network;
  const missing = `no settlement contract is known on ${name}: set \`service.settlement\` to the address you verified`;
  return unsettledProblem(configuration) ?? missing;
}
