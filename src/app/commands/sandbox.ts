import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Configuration } from "../../config/configuration.ts";
import type { LoadOutcome } from "../../config/load-configuration.ts";
import { formatProblems } from "../../config/problem.ts";
import { missingParts } from "../../sandbox/needed-parts.ts";
import { type Sandbox, startSandbox } from "../../sandbox/sandbox.ts";
import type { SandboxWorld } from "../../sandbox/world.ts";
import { executorKindOf } from "../../service/pools/kinds.ts";
import { acquireLock } from "../../storage/lock.ts";
import { closeAll } from "../close-all.ts";
import { cutOff } from "../cut-off.ts";
import { openMarker } from "../daemon-database.ts";
import { endOnUncaught } from "../end-on-uncaught.ts";
import { CommandFailure, EXIT } from "../exit-codes.ts";
import { type FollowedSwaps, followSwaps } from "../follow-swaps.ts";
import { loadConfiguration } from "../load-configuration.ts";
import { networkPresetOf } from "../network-preset.ts";
import { rehearse } from "../rehearse.ts";
import { createRuntime, type Runtime } from "../runtime.ts";
import { announce, NEXT_COMMANDS } from "../sandbox-announcement.ts";
import { makeSandboxDirectory, SANDBOX_DIRECTORY, SANDBOX_LOCK_FILE, writeSandboxFacts } from "../sandbox-facts.ts";
import { SANDBOX_DATABASE, SANDBOX_SERVICE_DATABASE, setAside } from "../sandbox-files.ts";
import { choosePorts, type Ports } from "../sandbox-ports.ts";
import { forkUrlOf, isRehearsal, refuseUnfitFile, refuseUnused } from "../sandbox-request.ts";
import { sandboxSum, swapsSum } from "../sandbox-sum.ts";
import { type Daemon, startDaemon } from "../start-daemon.ts";
import { startEmbeddedService } from "../start-embedded-service.ts";
import { stopOnSignals } from "../stop-signals.ts";
import type { Terminal } from "../terminal.ts";
import { stateOf } from "../watch-files.ts";

export interface SandboxCommandOptions {
  readonly for?: number;
  readonly json?: boolean;
  readonly daemon: boolean;
  readonly chainOnly?: boolean;
  readonly market: boolean;
  readonly seed?: number;
  readonly blockTime: number;
  readonly port: number;
  readonly forkUrl?: string;
  readonly config: string;
  readonly fund?: readonly string[];
}

/**
 * `swapd sandbox`: a chain with a market, the service and the daemon, all on this machine, until it is stopped. Replaces
 * what the last sandbox of this folder left. With a configuration of a real network and an endpoint to fork it from it is
 * a rehearsal of that configuration.
 */
export async function sandbox(options: SandboxCommandOptions, terminal: Terminal): Promise<void> {
  refuseUnused(options);
  if (isRehearsal(options)) return await rehearse(options, terminal);
  const missing = missingParts(options.forkUrl !== undefined);
  if (missing.length > 0) throw new CommandFailure(EXIT.configuration, missing.join("\n"));
  const directory = resolve(SANDBOX_DIRECTORY);
  makeSandboxDirectory(directory);
  const lock = acquireLock(join(directory, SANDBOX_LOCK_FILE));
  if (lock.kind === "held") {
    throw new CommandFailure(
      EXIT.tryAgain,
      `a sandbox already runs in ${directory} (${lock.holder ?? "unknown"}); stop it first, or start this one in another folder`,
    );
  }
  const parts: { stop(): Promise<void> }[] = [];
  try {
    await runSandbox(directory, options, { terminal, parts });
  } finally {
    try {
      await closeAll(parts.map((part) => () => part.stop()));
    } finally {
      lock.release();
    }
  }
}

interface Stage {
  readonly terminal: Terminal;
  /** what was started, in order; stopped in the opposite one */
  readonly parts: { stop(): Promise<void> }[];
}

async function runSandbox(directory: string, options: SandboxCommandOptions, stage: Stage): Promise<void> {
  const { terminal, parts } = stage;
  const ports = await canStart(options);
  const forkUrl = forkUrlOf(options.forkUrl, process.env);
  const last = setAside(directory);
  // Once all else has ended that writes there.
  parts.push({ stop: async () => last.bringBack() });
  const runtime = createRuntime({ level: "warn", env: process.env, logFile: join(directory, "daemon.log") });
  const release = endOnUncaught(runtime.redactor.redact, terminal, "sandbox");
  parts.push({ stop: async () => release() });
  const chain = await startSandbox(
    {
      directory,
      port: ports.chain,
      blockTimeSeconds: options.blockTime,
      seed: options.seed ?? 1,
      market: options.market,
      executorKind: (kind) => executorKindOf({ kind }),
      ...(forkUrl === undefined ? {} : { forkUrl }),
    },
    {
      onMarketError: (error) => runtime.logger.warn({ error: error.message }, "a block of the market did not work out"),
    },
  );
  parts.push(chain);
  const { world } = chain;
  const load = loaderOf(directory, world, { options, ports });
  const configuration = configured(load());
  last.drop();
  const asRead = stateOf(configuration);
  const service = options.chainOnly === true ? undefined : await startEmbeddedService(configuration, runtime);
  if (service !== undefined) parts.push(service);
  writeSandboxFacts(directory, {
    rpcUrl: world.rpcUrl,
    chainId: world.chainId,
    wrappedNative: world.wrappedNative,
    settlement: world.settlement,
    serviceUrl: service?.url ?? null,
    mode: configuration.mode,
    database: configuration.database,
    configuration: resolve(options.config),
    environment: environmentOf(world),
  });
  // Whatever the wallet did on this chain was not on a database of this sandbox's: it begins here.
  const marker = openMarker(configuration);
  for (const { address } of configuration.wallets.values()) {
    marker.write(address, { state: undefined, baseline: undefined });
  }
  const daemon =
    service === undefined || !options.daemon
      ? undefined
      : await startDaemon(configuration, service.url, { ...runtime, edits: { asRead, load } });
  if (daemon !== undefined) parts.push(daemon);
  // Before it is announced as up: a caller may end it at once after that.
  const stop = stopOnSignals(options.for);
  announce(terminal, options, { world, configuration, service, daemon });
  await waitForEnd(options, { chain, daemon, runtime, stage, configuration, stop });
}

/** What a start needs, as far as it is known without a chain. */
async function canStart(options: SandboxCommandOptions): Promise<Ports> {
  refuseUnfitFile(resolve(options.config));
  return await choosePorts(options);
}

/** How this sandbox's configuration is read: with its keys and addresses under the names that the file refers to. */
function loaderOf(
  directory: string,
  world: SandboxWorld,
  choice: { options: SandboxCommandOptions; ports: Ports },
): () => LoadOutcome {
  const preset = join(directory, "network.json");
  writeFileSync(preset, networkPresetOf(world));
  Object.assign(process.env, environmentOf(world));
  const file = resolve(choice.options.config);
  const host = "127.0.0.1";
  const overrides = {
    preset,
    database: join(directory, SANDBOX_DATABASE),
    listen: { host, port: choice.ports.status },
    serve: { listen: { host, port: choice.ports.service }, database: join(directory, SANDBOX_SERVICE_DATABASE) },
  };
  return () => loadConfiguration(file, process.env, { overrides });
}

function configured(loaded: LoadOutcome): Configuration {
  if (!loaded.ok) throw new CommandFailure(EXIT.configuration, formatProblems(loaded.problems));
  return loaded.configuration;
}

/** Under the names that the sandbox's configuration refers to. */
function environmentOf(world: SandboxWorld): Record<string, string> {
  return {
    SWAPD_SANDBOX_RPC: world.rpcUrl,
    SWAPD_SANDBOX_WALLET_KEY: world.wallet.privateKey,
    SWAPD_SANDBOX_RELAYER_KEY: world.relayer.privateKey,
    SWAPD_SANDBOX_API_KEY: process.env.SWAPD_SANDBOX_API_KEY ?? randomUUID(),
  };
}

interface Ending {
  readonly chain: Sandbox;
  readonly daemon: Daemon | undefined;
  readonly runtime: Runtime;
  readonly stage: Stage;
  readonly configuration: Configuration;
  readonly stop: ReturnType<typeof stopOnSignals>;
}

async function waitForEnd(options: SandboxCommandOptions, running: Ending): Promise<void> {
  const { chain, daemon, runtime, stop, stage } = running;
  const { terminal } = stage;
  const watching =
    daemon === undefined || options.json === true ? undefined : followSwaps(running.configuration.database, terminal);
  const ended = await Promise.race([
    stop.asked.then(() => undefined),
    chain.failed,
    ...(daemon === undefined ? [] : [daemon.failed]),
  ]);
  stop.done();
  if (ended === undefined) {
    if (watching !== undefined) await sayGoodbye(running, watching);
    return;
  }
  await watching?.stop();
  throw cutOff("sandbox", ended, runtime.redactor.redact);
}

/** The daemon stops first, so that nothing moves any more; the chain stands until the audit has read it. */
async function sayGoodbye({ chain, daemon, configuration, stage }: Ending, watching: FollowedSwaps): Promise<void> {
  const { terminal, parts } = stage;
  terminal.out("\nstopping");
  const place = daemon === undefined ? -1 : parts.indexOf(daemon);
  if (place >= 0) await parts.splice(place, 1)[0]?.stop();
  await watching.stop();
  const { rpcUrl, chainId, wrappedNative, settlement } = chain.world;
  const facts = { rpcUrl, chainId, wrappedNative, settlement };
  // Of what is on paper nothing is on the chain.
  const isOnPaper = configuration.mode === "paper";
  const { database } = configuration;
  for (const line of isOnPaper ? await swapsSum(database) : await sandboxSum(database, facts)) terminal.out(line);
  terminal.out(`everything stays readable until the next start: ${NEXT_COMMANDS.join(" | ")}`);
}
