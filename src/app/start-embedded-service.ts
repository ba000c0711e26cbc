import { systemClock } from "../adapters/clock/system-clock.ts";
import { openLanes } from "../adapters/sqlite/lanes.ts";
import type { Configuration } from "../config/configuration.ts";
import { NATIVE_TOKEN } from "../domain/money/address.ts";
import type { ListedToken, NetworkOptions } from "../service/options.ts";
import type { RelayerDependencies } from "../service/relayer/relayer.ts";
import { type Service, startService } from "../service/service.ts";
import { crashPointFrom } from "./crash-point.ts";
import { embeddedKey } from "./embedded-key.ts";
import { CommandFailure, EXIT } from "./exit-codes.ts";
import { openChain } from "./open-chain.ts";
import { requireOwnRelayer } from "./own-relayer.ts";
import type { Listening } from "./port-trouble.ts";
import type { Runtime } from "./runtime.ts";
import { unsettledProblem } from "./unsettled.ts";
import { isElsewhere, type RelayerSignerWatch, watchRelayerSigner } from "./watch-relayer-signer.ts";

/** Our own service in this process. The daemon reaches it over HTTP like any other. */
export interface EmbeddedService extends Service {
  /** the first configured key, undefined when there is none */
  readonly apiKey: string | undefined;
}

/**
 * Starts the aggregation service that configurations describe: a network of each, with a relayer where one is configured.
 * What a service has once (address, database, keys, limits, lifetimes) is the first one's.
 */
export async function startEmbeddedService(
  configuration: Configuration,
  runtime: Runtime,
  others: readonly Configuration[] = [],
): Promise<EmbeddedService> {
  const { serve, timing } = configuration;
  const { secrets } = runtime;
  const logger = runtime.logger.child({ part: "service" });
  for (const other of others) {
    const settings = passedOver(configuration, other);
    if (settings.length === 0) continue;
    logger.warn(
      { file: other.file, settings, inForce: configuration.file },
      "the first file's settings hold for all networks",
    );
  }
  const networks = await Promise.all([configuration, ...others].map((one) => networkOf(one, runtime)));
  const apiKeys = serve.apiKeys.map((reference) => secrets.open(reference).reveal());
  const service = await startService(
    {
      listen: serve.listen,
      networks: networks.map(({ options }) => options),
      quoteLifetimeSeconds: timing.quoteLifetimeSeconds,
      permitLifetimeSeconds: timing.permitLifetimeSeconds,
      limits: serve.requestsPerSecond,
      apiKeys: [...apiKeys, embeddedKey().reveal()],
      trustedProxies: serve.trustedProxies,
      corsOrigins: serve.corsOrigins,
      ...(serve.metrics === undefined ? {} : { metrics: serve.metrics }),
      drainMs: timing.shutdownMs,
      database: serve.database,
    },
    {
      logger,
      clock: systemClock,
      relayers: new Map(
        networks.flatMap(({ options, relayer }) => (relayer ? [[options.name, relayer] as const] : [])),
      ),
    },
  );
  const watches = networks.flatMap(({ relayer, watch }) => {
    if (relayer === undefined || watch === undefined || !isElsewhere(relayer.signer)) return [];
    // It ends with the service, and what a look finds is never thrown.
    void watch.keepLooking(relayer.signer);
    return [watch];
  });
  const stop = async (): Promise<void> => {
    for (const watch of watches) watch.stop();
    await service.stop();
  };
  return { ...service, stop, apiKey: apiKeys[0] };
}

/** Where a configured service listens, by the keys that say so. */
export function listeningOfService({ listen, metrics }: Configuration["serve"]): readonly Listening[] {
  const own = { key: "serve.listen", listen };
  return metrics === undefined ? [own] : [own, { key: "serve.metrics", listen: metrics }];
}

/** What a service has once and a further configuration says otherwise; it is not in force. */
function passedOver(first: Configuration, other: Configuration): readonly string[] {
  const once = ({ serve, timing, logLevel, logFormat }: Configuration): Readonly<Record<string, unknown>> => ({
    "serve.listen": serve.listen,
    "serve.database": serve.database,
    "serve.apiKeys": serve.apiKeys,
    "serve.requestsPerSecond": serve.requestsPerSecond,
    "serve.trustedProxies": serve.trustedProxies,
    "serve.corsOrigins": serve.corsOrigins,
    "serve.metrics": serve.metrics,
    "timing.quoteLifetime": timing.quoteLifetimeSeconds,
    "timing.permitLifetime": timing.permitLifetimeSeconds,
    "timing.shutdown": timing.shutdownMs,
    "log.level": logLevel,
    "log.format": logFormat,
  });
  const [ours, theirs] = [once(first), once(other)];
  return Object.keys(ours).filter((name) => JSON.stringify(ours[name]) !== JSON.stringify(theirs[name]));
}

/** One configuration's network as it is served, and what its relayer is made of. */
async function networkOf(
  configuration: Configuration,
  { secrets, env }: Runtime,
): Promise<{ options: NetworkOptions; relayer: RelayerDependencies | undefined; watch?: RelayerSignerWatch }> {
  const { network, serve, transactions } = configuration;
  const rpcUrls = secrets.rpcUrls(configuration).map((url) => url.reveal());
  const unsettled = unsettledProblem(configuration);
  if (unsettled !== undefined) throw new CommandFailure(EXIT.configuration, unsettled);
  if (rpcUrls.length === 0 || (network.settlement ?? network.router) === undefined) {
    throw new CommandFailure(
      EXIT.configuration,
      `the service needs an RPC endpoint and, on ${network.name}, a settlement contract or a public router; set \`service.settlement\``,
    );
  }
  const { name, chainId, nativeSymbol, wrappedNative, hubTokens, settlement, executor, router } = network;
  const { protocols, feeTiers, dataFee, confirmations } = network;
  const options: NetworkOptions = {
    name,
    chainId,
    nativeSymbol,
    wrappedNative,
    hubTokens,
    settlement,
    executor,
    router: router && { address: router, codeHash: network.routerCodeHash },
    furtherRouters: network.furtherRouters.map(({ address, codeHash }) => ({ address, codeHash })),
    protocols,
    feeTiers,
    dataFee,
    confirmations,
    rpcUrls,
    listedTokens: listedTokens(configuration),
  };
  if (serve.relayer === undefined) return { options, relayer: undefined };
  const watch = watchRelayerSigner(systemClock);
  const signer = await secrets.signer(serve.relayer, { hears: watch.heard });
  requireOwnRelayer(configuration, signer.address);
  const relayer: RelayerDependencies = {
    signer,
    signerState: serve.relayer.kind === "remote" ? watch : undefined,
    chain: openChain(configuration, secrets),
    openLanes,
    crashPoint: crashPointFrom(env, "relayer."),
  };
  const { emptyGasLimit } = network;
  const settings = { ...transactions, ...serve.gasless, tips: network.fees, cancelMarginSeconds: 0, emptyGasLimit };
  return { options: { ...options, relayer: settings }, relayer, watch };
}

/** The configured tokens, and the network's own that routes pass through; the native token is always listed. */
function listedTokens({ network, tokens }: Configuration): readonly ListedToken[] {
  const configured = [...tokens.values()].map(({ token, feed }): ListedToken => {
    const maxAgeSeconds = (feed?.heartbeatSeconds ?? 0) + (feed?.marginSeconds ?? 0);
    return { address: token.address, feed: feed === undefined ? undefined : { address: feed.address, maxAgeSeconds } };
  });
  const hubs = network.hubTokens.map((address): ListedToken => ({ address, feed: undefined }));
  const listed = new Map([...hubs, ...configured].map((token) => [token.address, token]));
  const native = listed.get(NATIVE_TOKEN) ?? { address: NATIVE_TOKEN, feed: undefined };
  listed.delete(NATIVE_TOKEN);
  return [native, ...listed.values()];
}
