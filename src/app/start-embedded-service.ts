import { systemClock } from "../adapters/clock/system-clock.ts";
import type { Configuration } from "../config/configuration.ts";
import { NATIVE_TOKEN } from "../domain/money/address.ts";
import type { ListedToken } from "../service/options.ts";
import { type Service, startService } from "../service/service.ts";
import { crashPointFrom } from "./crash-point.ts";
import { CommandFailure, EXIT } from "./exit-codes.ts";
import { openLaneStore } from "./lane-wiring.ts";
import { openChain } from "./open-chain.ts";
import type { Runtime } from "./runtime.ts";

/** Our own service in this process. The daemon reaches it over HTTP like any other. */
export interface EmbeddedService extends Service {
  /** the first configured key, undefined when there is none */
  readonly apiKey: string | undefined;
}

/** Starts the aggregation service that a configuration describes, with a relayer when one is configured. */
export async function startEmbeddedService(configuration: Configuration, runtime: Runtime): Promise<EmbeddedService> {
  const { network, serve, timing, transactions } = configuration;
  const { secrets, logger } = runtime;
  const rpcUrls = secrets.rpcUrls(configuration);
  const [rpcUrl] = rpcUrls;
  const { settlement } = network;
  if (rpcUrl === undefined || settlement === undefined) {
    throw new CommandFailure(
      EXIT.configuration,
      `the service needs an RPC endpoint and a settlement contract on ${network.name}; set \`service.settlement\``,
    );
  }
  const chain = openChain(configuration, secrets);
  const apiKeys = serve.apiKeys.map((reference) => secrets.open(reference).reveal());
  const signer = serve.relayer === undefined ? undefined : await secrets.signer(serve.relayer);
  const service = await startService(
    {
      listen: serve.listen,
      network: {
        name: network.name,
        chainId: network.chainId,
        rpcUrl: rpcUrl.reveal(),
        nativeSymbol: network.nativeSymbol,
        wrappedNative: network.wrappedNative,
        listedTokens: listedTokens(configuration),
        hubTokens: network.hubTokens,
        settlement,
        executor: network.executor,
        protocols: network.protocols,
        v3FeeTiers: network.v3FeeTiers,
        dataFee: network.dataFee,
        confirmations: network.confirmations,
      },
      quoteLifetimeSeconds: timing.quoteLifetimeSeconds,
      permitLifetimeSeconds: timing.permitLifetimeSeconds,
      limits: serve.requestsPerSecond,
      apiKeys,
      trustedProxies: serve.trustedProxies,
      corsOrigins: serve.corsOrigins,
      ...(serve.metrics === undefined ? {} : { metrics: serve.metrics }),
      drainMs: timing.shutdownMs,
      database: serve.database,
      ...(signer === undefined ? {} : { relayer: { ...transactions, ...serve.gasless, cancelMarginSeconds: 0 } }),
    },
    {
      logger: logger.child({ part: "service" }),
      clock: systemClock,
      ...(signer === undefined
        ? {}
        : {
            relayer: {
              signer,
              chain,
              createLaneStore: openLaneStore,
              crashPoint: crashPointFrom(runtime.env, "relayer."),
            },
          }),
    },
  );
  return { ...service, apiKey: apiKeys[0] };
}

/** The configured tokens, and the network's own that routes pass through; the native token is always told of. */
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
