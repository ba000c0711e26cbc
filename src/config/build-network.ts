import type { ServicePromises } from "../domain/guard/service-promises.ts";
import type { StatedContracts } from "../domain/guard/swap-contracts.ts";
import type { Address } from "../domain/money/address.ts";
import { NETWORKS } from "../networks/book.ts";
import { hubTokensOf, type Network, type RelayFacts } from "../networks/network.ts";
import { checkSigners } from "./build-wallets.ts";
import { closest } from "./closest.ts";
import { at, type Complaint, each, type Found, type Part, type Path, refuse } from "./complaint.ts";
import type {
  Configuration,
  NetworkConfiguration,
  RpcEndpoint,
  SubmitConfiguration,
  WalletConfiguration,
} from "./configuration.ts";
import { absoluteReference } from "./references.ts";
import { type MainFile, ROUTER_PROFILE } from "./schemas/main-schema.ts";
import { checkContractsKnown } from "./service-profile.ts";
import type { Source } from "./source.ts";

/** After a rollup's sequencer came back, prices are not used for so long; as Chainlink's documentation has it. */
const SEQUENCER_GRACE_SECONDS = 3_600;

/** The facts of a network that is built in. */
export function* findBuiltIn(name: string): Part<Network> {
  const network = NETWORKS.get(name);
  if (network !== undefined) return network;
  const known = [...NETWORKS.keys()];
  const meant = closest(name, known);
  const others = `built in are ${known.join(", ")}; for another, name its facts with preset: file.json`;
  return yield* refuse`network.name: the network "${name}" is not built in -> ${meant === undefined ? others : `did you mean "${meant}"?`}`;
}

/** What is known of the network and of the service on it. */
interface KnownOfService {
  readonly preset: Network;
  readonly promises: ServicePromises | undefined;
  readonly contracts: StatedContracts;
  /** targets of the further ones that the policy allows */
  readonly further: readonly Address[];
  readonly wallets: ReadonlyMap<string, WalletConfiguration>;
}

/** After how many of the network's times to raise fees a private cancellation gives way to one that everybody sees. */
const PRIVATE_CANCELLATIONS = 5;

/** How transactions are replaced: what is not written down goes by the network's own pace. */
export function transactionsOf(
  written: MainFile["transactions"],
  { fees: { bumpAfterBlocks } }: Pick<Network, "fees">,
): Configuration["transactions"] {
  return {
    ...written,
    bumpAfterBlocks: written.bumpAfterBlocks ?? bumpAfterBlocks,
    cancelPubliclyAfterBlocks: written.cancelPubliclyAfterBlocks ?? PRIVATE_CANCELLATIONS * bumpAfterBlocks,
  };
}

/** The network with its endpoints and the contract to sign for. */
export function* buildNetwork(
  source: Source,
  { network, service, mode }: Pick<MainFile, "network" | "service" | "mode">,
  { preset, promises, contracts, further, wallets }: KnownOfService,
): Found<NetworkConfiguration> {
  const isOurs = promises?.isOurs === true;
  if (mode === "live") yield* checkSigners(wallets.values());
  yield* checkSafes(preset, wallets.values());
  const isRouted = service.profile === ROUTER_PROFILE;
  const settlement = isRouted ? undefined : (service.settlement ?? (isOurs ? preset.settlement : undefined));
  const router = isRouted ? contracts.target : undefined;
  if (mode !== "dry-run" && promises !== undefined)
    yield* checkContractsKnown({ name: network.name, service, mode }, contracts, preset);
  const { chainId, nativeSymbol, explorer, wrappedNative, protocols, feeTiers, dataFee, sequencerFeed } = preset;
  return {
    ...{ name: network.name, chainId, nativeSymbol, explorer, wrappedNative },
    ...{ settlement, router, protocols, feeTiers, dataFee, noSettlement: preset.noSettlement },
    rpc: yield* each(network.rpc, (endpoint, index) =>
      buildEndpoint(source, endpoint, { path: ["network", "rpc", index] }),
    ),
    submit: yield* buildSubmit(source, network.submit, preset.relays),
    fees: {
      urgency: network.fees.urgency,
      maxPriorityFee: network.fees.maxPriorityFee ?? preset.fees.maxPriorityFee,
    },
    fallback: yield* buildFallback(network, preset.relays),
    routerCodeHash: router === preset.router ? preset.routerCodeHash : undefined,
    furtherRouters: isRouted ? preset.furtherRouters.filter(({ address }) => further.includes(address)) : [],
    sending: preset.sending,
    confirmations: network.confirmations ?? preset.confirmations,
    emptyGasLimit: preset.emptyGasLimit,
    executor: isOurs && settlement === preset.settlement ? preset.executor : undefined,
    hubTokens: hubTokensOf(preset),
    sequencer: sequencerFeed && { address: sequencerFeed, graceSeconds: SEQUENCER_GRACE_SECONDS },
  };
}

/** Safe's contracts have the same addresses on each network but this one. */
const ZKSYNC = 324;

function* checkSafes({ chainId }: Network, wallets: Iterable<WalletConfiguration>): Iterable<Complaint> {
  for (const { name, proposals } of wallets)
    if (proposals !== undefined && chainId === ZKSYNC)
      yield at`wallets.${name}: the contracts of a Safe are others on zkSync, and none of them is known here -> use a Safe on another network`;
}

/** The relays of the book ask for no key, so that their addresses may be written out. */
function* buildSubmit(
  source: Source,
  submit: MainFile["network"]["submit"],
  relays: readonly RelayFacts[],
): Found<SubmitConfiguration> {
  if (submit === "public" || (submit === undefined && relays.length === 0)) return { kind: "public" };
  if (submit === undefined) return { kind: "book", relays };
  const known = relays.map(({ url }) => url);
  const endpoints = yield* each(submit, (endpoint, index) =>
    buildEndpoint(source, endpoint, { path: ["network", "submit", index], known }),
  );
  return { kind: "named", endpoints };
}

/** What nothing is private of cannot fall back. */
function* buildFallback(
  { submit, fallback }: MainFile["network"],
  relays: readonly RelayFacts[],
): Found<NetworkConfiguration["fallback"]> {
  if (fallback === undefined) return undefined;
  if (submit === "public")
    yield* refuse`network.fallback: everything is sent publicly (submit: public) -> remove one of the two`;
  if (submit === undefined && relays.length === 0)
    yield* refuse`network.fallback: this network has no private endpoints of its own -> name some with network.submit, or remove fallback`;
  return fallback;
}

function* buildEndpoint(
  source: Source,
  endpoint: RpcEndpoint,
  { path: place, known = [] }: { readonly path: Path; readonly known?: readonly string[] },
): Part<RpcEndpoint> {
  if (!("url" in endpoint)) return absoluteReference(source, endpoint);
  if (known.includes(endpoint.url)) return { url: endpoint.url };
  const path = [...place, "url"];
  const parsed = URL.canParse(endpoint.url) ? new URL(endpoint.url) : undefined;
  if (parsed === undefined || !["http:", "https:"].includes(parsed.protocol))
    return yield* refuse`${path}: is no http or https URL -> write for example http://127.0.0.1:8545`;
  // An origin, as it is written out again, has neither path nor query nor password.
  if (parsed.href === `${parsed.origin}/`) return { url: parsed.origin };
  return yield* refuse`${path}: this URL holds more than a host, and that is usually a key -> put it into a file or an environment variable: { env: RPC_1 }`;
}
