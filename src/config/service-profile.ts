import type { ServiceBook, ServicePromises } from "../domain/guard/service-promises.ts";
import {
  CONTRACT_ROLES,
  namedContracts,
  type StatedContracts,
  type SwapContracts,
} from "../domain/guard/swap-contracts.ts";
import type { Address } from "../domain/money/address.ts";
import type { Network } from "../networks/network.ts";
import { valueHint } from "./check-shape.ts";
import { at, type Complaint, type Part, type Path, refuse } from "./complaint.ts";
import type { Mode } from "./configuration.ts";
import { type MainFile, OWN_PROFILE, ROUTER_PROFILE } from "./schemas/main-schema.ts";

type ServiceFields = MainFile["service"];

/**
 * The service as it is used: where ours is embedded and no settlement contract of ours is known, own swaps go through the
 * network's public router. A service elsewhere is what its operator says.
 */
export function settledService(service: ServiceFields, network: Network | undefined): ServiceFields {
  const { profile, url, settlement } = service;
  const hasSettlement = (settlement ?? network?.settlement) !== undefined;
  const isRouted = profile === OWN_PROFILE && url === "embedded" && !hasSettlement && network?.router !== undefined;
  return isRouted ? { ...service, profile: ROUTER_PROFILE } : service;
}

/** What the profile of a name promises. */
export function* findProfile(path: Path, name: string, services: ServiceBook): Part<ServicePromises> {
  const promises = services.get(name);
  if (promises !== undefined) return promises;
  return yield* refuse`${path}: is none of the values known here -> ${valueHint(name, [...services.keys()])}`;
}

/** What the configured service promises; undefined where its profile is none. */
export function promisesOf(service: ServiceFields | undefined, services: ServiceBook): ServicePromises | undefined {
  return services.get(service?.profile ?? OWN_PROFILE);
}

/** The contracts of the configured service, as far as file, profile and network name them. `settlement` names all that are left. */
export function statedContracts(
  service: ServiceFields | undefined,
  promises: ServicePromises | undefined,
  { chainId, settlement, router }: Network,
): StatedContracts {
  const known = promises?.contractsOn({ chainId, settlement, router }) ?? {};
  const named = CONTRACT_ROLES.map((role) => [role, service?.[role] ?? service?.settlement ?? known[role]] as const);
  return Object.fromEntries(named);
}

/** Further sets of contracts that its quotes may name; none where the file says which contracts are the service's. */
export function furtherContracts(
  service: ServiceFields | undefined,
  promises: ServicePromises | undefined,
  network: Network,
): readonly SwapContracts[] {
  const named = [service?.settlement, ...CONTRACT_ROLES.map((role) => service?.[role])];
  const isNamed = named.some((address) => address !== undefined);
  return isNamed ? [] : (promises?.furtherOn?.(network) ?? []);
}

/** All of the contracts, undefined while one is not known. */
export function wholeContracts({ spender, target, verifyingContract }: StatedContracts): SwapContracts | undefined {
  if (spender === undefined || target === undefined || verifyingContract === undefined) return undefined;
  return { spender, target, verifyingContract };
}

/** A service with one contract must not name three: they would pass as checked separately. */
export function* checkOneContract(service: ServiceFields, { hasOneContract }: ServicePromises): Iterable<Complaint> {
  const role = CONTRACT_ROLES.find((one) => service[one] !== undefined);
  if (hasOneContract && role !== undefined)
    yield at`service.${role}: the profile ${service.profile} has one contract for all -> name it as settlement`;
}

/** The policy over the main file: a contract that the owner did not list is refused, with both places. */
export function* checkListed(
  { contracts, service }: { readonly contracts: StatedContracts; readonly service: ServiceFields | undefined },
  spenders: readonly Address[],
  place: string,
): Generator<Complaint, void> {
  const whole = wholeContracts(contracts);
  if (whole === undefined) return;
  for (const { name, address, role } of namedContracts(whole)) {
    if (spenders.includes(address)) continue;
    const keys = ["service", role ?? "settlement"];
    const isNamed = service?.[role ?? "settlement"] !== undefined;
    const path = isNamed ? keys : service?.settlement === undefined ? ["network"] : ["service", "settlement"];
    yield at`${path}: the ${name} ${address} is none of the spenders that the policy allows (${place}) -> verify the contract, and let the owner add it there`;
  }
}

/** Nothing is signed, nor filled on paper, while one of the contracts is not known. */
export function* checkContractsKnown(
  { name, service, mode }: { readonly name: string; readonly service: ServiceFields; readonly mode: Mode },
  stated: StatedContracts,
  { noSettlement }: Network,
): Iterable<Complaint> {
  const missing = CONTRACT_ROLES.filter((role) => stated[role] === undefined);
  const [first] = missing;
  const [what, swap] = mode === "paper" ? ["filled on paper", "fill swaps through"] : ["signed", "sign for"];
  if (noSettlement !== undefined)
    yield at`mode: nothing is ${what} on ${name}: ${noSettlement} -> stay with mode: dry-run`;
  else if (missing.length === CONTRACT_ROLES.length)
    yield at`service: no contract to ${swap} is known on ${name} with the profile ${service.profile} -> give it as service.settlement: "0x...", or stay with mode: dry-run`;
  else if (first !== undefined)
    yield at`service: no ${first} is known on ${name} with the profile ${service.profile} -> give it as service.${first}: "0x...", or stay with mode: dry-run`;
}
