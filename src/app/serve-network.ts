import { resolve } from "node:path";
import type { z } from "zod";
import { systemClock } from "../adapters/clock/system-clock.ts";
import { DEFAULTS } from "../config/defaults.ts";
import { address, listen } from "../config/fields.ts";
import { readTextFile, resolveSecret } from "../config/files.ts";
import { presetSchema } from "../config/schemas/preset-schema.ts";
import { SERVICE_NETWORKS, type ServiceNetworkFacts } from "../config/service-networks.ts";
import { NATIVE_TOKEN, toAddress } from "../domain/money/address.ts";
import { Secret } from "../net/secret.ts";
import type { ListedToken, NetworkOptions, ServiceOptions } from "../service/options.ts";
import { type Service, startService } from "../service/service.ts";
import { CommandFailure, EXIT } from "./exit-codes.ts";
import type { NetworkFlags } from "./network-flags.ts";
import type { Runtime } from "./runtime.ts";

/** What `swapd serve` is told when it needs no configuration file. */
export interface ServeFlags {
  /** at least one */
  readonly networks: readonly NetworkFlags[];
  readonly listen?: string;
  readonly database?: string;
  readonly metrics?: string;
}

/** A file with the facts of a network that is not built in; without a settlement its quotes are indicative. */
const factsSchema = presetSchema.partial({ settlement: true, executor: true, tokens: true, nativeFeed: true });

const LISTEN = listen("where to listen");
const ADDRESS = address("the settlement contract");

/** No source tells the feeds' heartbeats; a price is shown for a day and a little, as the slowest ones are renewed daily. */
const PRICE_MAX_AGE_SECONDS = 86_400 + 1_800;
/** Only a relayer waits for blocks, and one needs a configuration file. */
const CONFIRMATIONS = 3;

/** Starts the service of networks from the command line alone: quotes and transactions, no relayer. */
export async function serveNetworks(flags: ServeFlags, runtime: Runtime): Promise<Service> {
  const networks = flags.networks.map((one) => networkOf(one, rpcUrlOf(one, runtime)));
  const { serve, timing } = DEFAULTS;
  const options: ServiceOptions = {
    listen: flags.listen === undefined ? serve.listen : parsed(LISTEN, "--listen", flags.listen),
    networks,
    quoteLifetimeSeconds: timing.quoteLifetimeSeconds,
    permitLifetimeSeconds: timing.permitLifetimeSeconds,
    limits: serve.requestsPerSecond,
    apiKeys: [],
    ...(flags.metrics === undefined ? {} : { metrics: parsed(LISTEN, "--metrics", flags.metrics) }),
    drainMs: timing.shutdownMs,
    database: resolve(flags.database ?? `service-${networks[0]?.name}.db`),
  };
  return await startService(options, { logger: runtime.logger.child({ part: "service" }), clock: systemClock });
}

/** The endpoint as URL, or by reference: a URL with a key in it does not belong into the list of processes. */
function rpcUrlOf({ network, rpc: given }: NetworkFlags, { env, redactor }: Runtime): Secret {
  if (given === undefined) {
    throw new CommandFailure(EXIT.usage, `--network ${network} needs --rpc: an http URL, env:NAME, or file:PATH`);
  }
  const reference = /^(env|file):(.+)$/.exec(given);
  const [, kind, name = ""] = reference ?? [];
  if (kind === undefined) {
    if (!/^https?:/.test(given) || !URL.canParse(given)) {
      const message = `--rpc of ${network} is no http or https URL; write a URL, env:NAME, or file:PATH`;
      throw new CommandFailure(EXIT.usage, message);
    }
    redactor.add(given);
    return new Secret(given);
  }
  const resolved = resolveSecret(kind === "env" ? { env: name } : { file: resolve(name) }, env);
  if (!resolved.ok) throw new CommandFailure(EXIT.configuration, `--rpc of ${network}: ${resolved.problem}`);
  redactor.add(resolved.value);
  return new Secret(resolved.value);
}

type Facts = Omit<NetworkOptions, "name" | "rpcUrl" | "confirmations">;

function networkOf(flags: NetworkFlags, rpcUrl: Secret): NetworkOptions {
  const facts = flags.preset === undefined ? builtIn(flags.network) : fromFile(resolve(flags.preset));
  const named = flags.settlement === undefined ? undefined : parsed(ADDRESS, "--settlement", flags.settlement);
  if (named !== undefined && facts.noSettlement !== undefined) {
    throw new CommandFailure(EXIT.usage, `--settlement: ${facts.noSettlement}`);
  }
  const settlement = named ?? facts.settlement;
  const executor = settlement === facts.settlement ? facts.executor : undefined;
  const place = { name: flags.network, rpcUrl: rpcUrl.reveal(), confirmations: CONFIRMATIONS };
  return { ...facts, ...place, settlement, executor };
}

function builtIn(name: string): Facts {
  const facts = SERVICE_NETWORKS.get(name);
  if (facts !== undefined) return factsOf(facts);
  const known = [...SERVICE_NETWORKS.keys()].join(", ");
  throw new CommandFailure(
    EXIT.usage,
    `the network ${JSON.stringify(name)} is not built in: known are ${known}; for another, name its facts with --preset FILE`,
  );
}

function priced(token: string, feed: string | undefined): ListedToken {
  const dollars = feed === undefined ? undefined : { address: toAddress(feed), maxAgeSeconds: PRICE_MAX_AGE_SECONDS };
  return { address: toAddress(token), feed: dollars };
}

function factsOf(facts: ServiceNetworkFacts): Facts {
  const { chainId, nativeSymbol, nativeFeed, wrappedNative, hubTokens, noSettlement } = facts;
  const hubs = Object.values(hubTokens);
  return {
    chainId,
    nativeSymbol,
    wrappedNative: toAddress(wrappedNative),
    listedTokens: [
      priced(NATIVE_TOKEN, nativeFeed),
      priced(wrappedNative, nativeFeed),
      ...hubs.map(({ address: token, feed }) => priced(token, feed)),
    ],
    hubTokens: [wrappedNative, ...hubs.map(({ address: token }) => token)].map(toAddress),
    settlement: undefined,
    executor: undefined,
    protocols: facts.protocols.map(({ kind, factory, feePips }) => ({ kind, factory: toAddress(factory), feePips })),
    v3FeeTiers: facts.v3FeeTiers,
    dataFee: facts.dataFee,
    ...(noSettlement === undefined ? {} : { noSettlement }),
  };
}

function fromFile(file: string): Facts {
  const read = readTextFile(file);
  if ("problem" in read) throw new CommandFailure(EXIT.configuration, `--preset: the file ${file} ${read.problem}`);
  const facts = parsed(factsSchema, `--preset ${file}`, jsonOf(file, read.text));
  const tokens = Object.values(facts.tokens ?? {});
  const listed = [
    priced(NATIVE_TOKEN, facts.nativeFeed),
    priced(facts.wrappedNative, facts.nativeFeed),
    ...tokens.map(({ address: token, feed }) => priced(token, feed)),
  ];
  return {
    chainId: facts.chainId,
    nativeSymbol: facts.nativeSymbol ?? "ETH",
    wrappedNative: facts.wrappedNative,
    listedTokens: [...new Map(listed.map((token) => [token.address, token])).values()],
    hubTokens: [...new Set([facts.wrappedNative, ...tokens.map(({ address: token }) => token)])],
    settlement: facts.settlement,
    executor: facts.executor,
    protocols: facts.protocols,
    v3FeeTiers: facts.feeTiers,
    dataFee: facts.dataFee,
  };
}

function jsonOf(file: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new CommandFailure(EXIT.configuration, `--preset: the file ${file} is no JSON`);
  }
}

/** All problems of a value at once. */
function parsed<T>(schema: z.ZodType<T>, flag: string, value: unknown): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const problems = result.error.issues.map(({ path, message }) => [...path, message].join(": "));
  throw new CommandFailure(EXIT.usage, problems.map((problem) => `${flag}: ${problem}`).join("\n"));
}
