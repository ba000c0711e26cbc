import { resolve } from "node:path";
import type { z } from "zod";
import { systemClock } from "../adapters/clock/system-clock.ts";
import { DEFAULTS } from "../config/defaults.ts";
import { address, listen } from "../config/fields.ts";
import { readTextFile, resolveSecret } from "../config/files.ts";
import { networkFromFile } from "../config/network-file.ts";
import { presetSchema } from "../config/schemas/preset-schema.ts";
import { type Address, NATIVE_TOKEN } from "../domain/money/address.ts";
import { Secret } from "../net/secret.ts";
import { NETWORKS } from "../networks/book.ts";
import { hubTokensOf, type Network, type PriceFeed } from "../networks/network.ts";
import type { ListedToken, NetworkOptions, ServiceOptions } from "../service/options.ts";
import { kindProblem } from "../service/pools/kinds.ts";
import { type Service, startService } from "../service/service.ts";
import { CommandFailure, EXIT } from "./exit-codes.ts";
import type { NetworkFlags } from "./network-flags.ts";
import type { Runtime } from "./runtime.ts";
import { serviceDatabase } from "./service-database.ts";

/** The options of `swapd serve` without a configuration file. */
export interface ServeFlags {
  /** at least one */
  readonly networks: readonly NetworkFlags[];
  readonly listen?: string;
  readonly database?: string;
  readonly metrics?: string;
}

/** A file with the facts of a network that is not built in; without a settlement its quotes are indicative. */
const factsSchema = presetSchema
  .partial({ settlement: true, executor: true, tokens: true, nativeFeed: true })
  .superRefine(({ protocols }, context) => {
    for (const [index, { kind }] of protocols.entries()) {
      const problem = kindProblem(kind);
      if (problem === undefined) continue;
      const message = `${problem.message}: ${problem.suggestion}`;
      context.addIssue({ code: "custom", path: ["protocols", index, "kind"], message });
    }
  });

const LISTEN = listen("where to listen");
const ADDRESS = address("the settlement contract");

/** What the command line says of a service. @throws CommandFailure with all that is wrong with a flag */
export function serveOptions(flags: ServeFlags, runtime: Runtime): ServiceOptions {
  const networks = flags.networks.map((one) => networkOf(one, rpcUrlOf(one, runtime)));
  const { serve, timing } = DEFAULTS;
  return {
    listen: flags.listen === undefined ? serve.listen : parsed(LISTEN, "--listen", flags.listen),
    networks,
    quoteLifetimeSeconds: timing.quoteLifetimeSeconds,
    permitLifetimeSeconds: timing.permitLifetimeSeconds,
    limits: serve.requestsPerSecond,
    apiKeys: [],
    ...(flags.metrics === undefined ? {} : { metrics: parsed(LISTEN, "--metrics", flags.metrics) }),
    drainMs: timing.shutdownMs,
    database: serviceDatabase(flags.database ?? `service-${networks[0]?.name}.db`),
  };
}

/** Starts the service of networks from the command line alone: quotes and transactions, no relayer. */
export async function serveNetworks(options: ServiceOptions, runtime: Runtime): Promise<Service> {
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

function networkOf(flags: NetworkFlags, rpcUrl: Secret): NetworkOptions {
  const network = flags.preset === undefined ? builtIn(flags.network) : fromFile(resolve(flags.preset));
  const named = flags.settlement === undefined ? undefined : parsed(ADDRESS, "--settlement", flags.settlement);
  const { noSettlement } = network;
  if (named !== undefined && noSettlement !== undefined) {
    throw new CommandFailure(EXIT.usage, `--settlement: ${noSettlement}`);
  }
  const settlement = named ?? network.settlement;
  const { chainId, nativeSymbol, wrappedNative, protocols, feeTiers, dataFee, confirmations } = network;
  return {
    ...{ chainId, nativeSymbol, wrappedNative, protocols, feeTiers, dataFee, confirmations, settlement },
    name: flags.network,
    rpcUrls: [rpcUrl.reveal()],
    listedTokens: listedTokens(network),
    hubTokens: hubTokensOf(network),
    executor: settlement === network.settlement ? network.executor : undefined,
    router: network.router && { address: network.router, codeHash: network.routerCodeHash },
    furtherRouters: network.furtherRouters.map(({ address, codeHash }) => ({ address, codeHash })),
    ...(noSettlement === undefined ? {} : { noSettlement }),
  };
}

function builtIn(name: string): Network {
  const network = NETWORKS.get(name);
  if (network !== undefined) return network;
  const known = [...NETWORKS.keys()].join(", ");
  throw new CommandFailure(
    EXIT.usage,
    `the network ${JSON.stringify(name)} is not built in: known are ${known}; for another, name its facts with --preset FILE`,
  );
}

function fromFile(file: string): Network {
  const read = readTextFile(file);
  if ("problem" in read) throw new CommandFailure(EXIT.configuration, `--preset: the file ${file} ${read.problem}`);
  return networkFromFile(parsed(factsSchema, `--preset ${file}`, jsonOf(file, read.text)));
}

function priced(token: Address, feed: PriceFeed | undefined): ListedToken {
  if (feed === undefined) return { address: token, feed: undefined };
  const { address, heartbeatSeconds, marginSeconds } = feed;
  return { address: token, feed: { address, maxAgeSeconds: heartbeatSeconds + marginSeconds } };
}

/** The native coin, the wrapped one and all tokens, each once. */
function listedTokens({ nativeFeed, wrappedNative, tokens }: Network): ListedToken[] {
  const listed = [
    priced(NATIVE_TOKEN, nativeFeed),
    priced(wrappedNative, nativeFeed),
    ...[...tokens.values()].map(({ address: token, feed }) => priced(token, feed)),
  ];
  return [...new Map(listed.map((token) => [token.address, token])).values()];
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
