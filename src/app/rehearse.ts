import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { computeAddress } from "ethers";
import { systemClock } from "../adapters/clock/system-clock.ts";
import type { Configuration } from "../config/configuration.ts";
import type { LoadOutcome } from "../config/load-configuration.ts";
import { formatProblems } from "../config/problem.ts";
import { type Address, toAddress } from "../domain/money/address.ts";
import { parseUnits } from "../domain/money/amount.ts";
import { describeAmount } from "../domain/money/for-people.ts";
import { type ForkedChain, startForkedChain } from "../sandbox/forked-chain.ts";
import { fundCopies } from "../sandbox/funded-copy.ts";
import { SandboxError } from "../sandbox/sandbox-error.ts";
import { acquireLock } from "../storage/lock.ts";
import { closeAll } from "./close-all.ts";
import { ask } from "./commands/request.ts";
import { cutOff } from "./cut-off.ts";
import { openMarker } from "./daemon-database.ts";
import { endOnUncaught } from "./end-on-uncaught.ts";
import { CommandFailure, EXIT } from "./exit-codes.ts";
import { followSwaps } from "./follow-swaps.ts";
import { inShell } from "./in-shell.ts";
import { loadConfiguration } from "./load-configuration.ts";
import {
  REHEARSAL_DIRECTORY,
  type Rehearsal,
  type RehearsalAccount,
  rehearsalOf,
  unfitForRehearsal,
} from "./rehearsal-configuration.ts";
import { runEachOnce } from "./run-each-once.ts";
import { createRuntime, type Runtime } from "./runtime.ts";
import { makeSandboxDirectory, SANDBOX_LOCK_FILE } from "./sandbox-facts.ts";
import { choosePorts, type Ports } from "./sandbox-ports.ts";
import { forkUrlOf } from "./sandbox-request.ts";
import { swapsSum } from "./sandbox-sum.ts";
import { startDaemon } from "./start-daemon.ts";
import { startEmbeddedService } from "./start-embedded-service.ts";
import { stopOnSignals } from "./stop-signals.ts";
import type { Terminal } from "./terminal.ts";
import { stateOf } from "./watch-files.ts";

/** What `swapd sandbox` was asked for. */
export interface RehearsalOptions {
  readonly config: string;
  readonly forkUrl?: string;
  readonly fund?: readonly string[];
  readonly for?: number;
  readonly port: number;
  readonly blockTime: number;
}

const LOOPBACK = "127.0.0.1";

interface Stage {
  readonly directory: string;
  readonly terminal: Terminal;
  /** what was started, in order; stopped in the opposite one */
  readonly parts: { stop(): Promise<void> }[];
}

/**
 * A user's own configuration on a fork of its chain: live, with copies of its wallets in their place, until it is stopped.
 * @throws CommandFailure 78 where it cannot be rehearsed
 */
export async function rehearse(options: RehearsalOptions, terminal: Terminal): Promise<void> {
  const directory = resolve(REHEARSAL_DIRECTORY);
  makeSandboxDirectory(directory);
  const lock = acquireLock(join(directory, SANDBOX_LOCK_FILE));
  if (lock.kind === "held")
    throw new CommandFailure(EXIT.tryAgain, `a rehearsal already runs in ${directory}; stop it first`);
  const stage: Stage = { directory, terminal, parts: [] };
  try {
    await run(options, stage);
  } catch (error) {
    if (error instanceof SandboxError) throw new CommandFailure(EXIT.configuration, error.message);
    throw error;
  } finally {
    await closeAll(stage.parts.map((part) => () => part.stop())).finally(() => lock.release());
  }
}

async function run(options: RehearsalOptions, stage: Stage): Promise<void> {
  const { directory, terminal, parts } = stage;
  const file = resolve(options.config);
  const own = configured(loadConfiguration(file, process.env));
  refuseUnfit(own);
  const extra = amountsOf(own, options.fund ?? []);
  const ports = await choosePorts({ port: options.port, daemon: true });
  clear(directory);
  const runtime = createRuntime({ level: "warn", env: process.env, logFile: join(directory, "daemon.log") });
  const release = endOnUncaught(runtime.redactor.redact, terminal, "rehearsal");
  parts.push({ stop: async () => release() });
  const chain = await fork(own, { options, ports, runtime });
  parts.push(chain);
  const rehearsal = castOf(own, { rpcUrl: chain.rpc.url, directory, ports });
  const load = (): LoadOutcome => rehearsed(loadConfiguration(file, process.env), rehearsal);
  const configuration = configured(load());
  const asRead = stateOf(configuration);
  const holdings = await fund(chain, { own, rehearsal, extra });
  const marker = openMarker(configuration);
  // The copies never traded before, and need not prove it.
  for (const { address } of configuration.wallets.values())
    marker.write(address, { state: undefined, baseline: undefined });
  const service = await startEmbeddedService(configuration, runtime);
  parts.push(service);
  const daemon = await startDaemon(configuration, service.url, { ...runtime, edits: { asRead, load } });
  parts.push(daemon);
  const stop = stopOnSignals(options.for);
  announce(stage, { own, configuration, chain, holdings });
  const watching = followSwaps(configuration.database, terminal);
  const ending = new AbortController();
  const target = { kind: "configured", configuration, database: configuration.database } as const;
  const asking = runEachOnce(configuration, {
    ask: async (strategy) => await ask({ name: "run", arguments: { strategy } }, target, undefined),
    ...{ terminal, clock: systemClock, signal: ending.signal },
  });
  void stop.asked.then(() => ending.abort());
  const stopped = asking.then(() => stop.asked).then(() => undefined);
  const ended = await Promise.race([stopped, chain.failed, daemon.failed]).finally(() => ending.abort());
  stop.done();
  await asking;
  if (ended === undefined) {
    terminal.out("\nstopping");
    await parts.pop()?.stop();
  }
  await watching.stop();
  if (ended !== undefined) throw cutOff("rehearsal", ended, runtime.redactor.redact);
  for (const line of await swapsSum(configuration.database)) terminal.out(line);
  terminal.out(
    `look at it with \`npx swapd history --rehearsal --config ${inShell(options.config)}\`, \`why\` and \`show\` alike`,
  );
}

function refuseUnfit(own: Configuration): void {
  const why = unfitForRehearsal(own);
  if (why !== undefined) throw new CommandFailure(EXIT.configuration, `${own.file} cannot be rehearsed: ${why}`);
}

async function fork(
  { network }: Configuration,
  { options, ports, runtime }: { readonly options: RehearsalOptions; readonly ports: Ports; readonly runtime: Runtime },
): Promise<ForkedChain> {
  return await startForkedChain({
    forkUrl: forkUrlOf(options.forkUrl, process.env) ?? "",
    chainId: network.chainId,
    port: ports.chain,
    blockTimeSeconds: options.blockTime,
    onError: (error) => runtime.logger.warn({ error: error.message }, "a block of the fork did not work out"),
  });
}

/** New accounts in the place of the wallets: on the network they have nothing, and nobody knows their keys afterwards. */
function castOf(
  own: Configuration,
  { rpcUrl, directory, ports }: { readonly rpcUrl: string; readonly directory: string; readonly ports: Ports },
): Rehearsal {
  const copies = [...own.wallets.keys()].map(
    (name, index) => [name, newAccount(`SWAPD_REHEARSAL_KEY_${index + 1}`)] as const,
  );
  const listen = {
    service: { host: LOOPBACK, port: ports.service },
    status: { host: LOOPBACK, port: ports.status },
  };
  return { rpcUrl, directory, listen, copies: new Map(copies), relayer: newAccount("SWAPD_REHEARSAL_RELAYER_KEY") };
}

function newAccount(key: string): RehearsalAccount {
  const privateKey = `0x${randomBytes(32).toString("hex")}`;
  process.env[key] = privateKey;
  return { key, address: toAddress(computeAddress(privateKey)) };
}

function rehearsed(loaded: LoadOutcome, rehearsal: Rehearsal): LoadOutcome {
  return loaded.ok ? { ...loaded, configuration: rehearsalOf(loaded.configuration, rehearsal) } : loaded;
}

function configured(loaded: LoadOutcome): Configuration {
  if (!loaded.ok) throw new CommandFailure(EXIT.configuration, formatProblems(loaded.problems));
  return loaded.configuration;
}

/** Each wallet's copy has what the wallet has, on paper what its file says, and what was given besides. */
async function fund(
  chain: ForkedChain,
  {
    own,
    rehearsal,
    extra,
  }: { readonly own: Configuration; readonly rehearsal: Rehearsal; readonly extra: ReadonlyMap<Address, bigint> },
): Promise<ReadonlyMap<Address, ReadonlyMap<Address, bigint>>> {
  const tokens = [...own.tokens.values()].map(({ token }) => token.address);
  const copies = [...own.wallets.values()].flatMap(({ name, address: of, paper }) => {
    const copy = rehearsal.copies.get(name);
    if (copy === undefined) return [];
    const more = new Map(tokens.map((token) => [token, (extra.get(token) ?? 0n) + (paper?.get(token) ?? 0n)]));
    return [{ of, address: copy.address, extra: more }];
  });
  const relayer = { of: rehearsal.relayer.address, address: rehearsal.relayer.address, extra: new Map() };
  return await fundCopies(chain.rpc, own.serve.relayer === undefined ? copies : [...copies, relayer], tokens);
}

/** @throws CommandFailure that says which amount cannot be read, and what could be written */
function amountsOf({ tokens }: Configuration, texts: readonly string[]): ReadonlyMap<Address, bigint> {
  const amounts = new Map<Address, bigint>();
  for (const text of texts) {
    const [figure = "", symbol = "", ...rest] = text.split(" ");
    const token = tokens.get(symbol)?.token;
    const raw = token === undefined ? "no token" : parseUnits(figure, token.decimals);
    if (token === undefined || typeof raw === "string" || rest.length > 0) {
      const known = [...tokens.keys()].join(", ");
      throw new CommandFailure(
        EXIT.usage,
        `--fund ${JSON.stringify(text)} is no amount of a configured token (${known}): write --fund "5000 USDC"`,
      );
    }
    amounts.set(token.address, (amounts.get(token.address) ?? 0n) + raw);
  }
  return amounts;
}

function announce(
  { terminal, directory }: Stage,
  running: {
    readonly own: Configuration;
    readonly configuration: Configuration;
    readonly chain: ForkedChain;
    readonly holdings: ReadonlyMap<Address, ReadonlyMap<Address, bigint>>;
  },
): void {
  const { own, configuration, chain, holdings } = running;
  const { name } = own.network;
  terminal.out(
    `rehearsal ${own.file}, live on a fork of ${name} at block ${chain.block}; nothing of it reaches ${name}`,
  );
  terminal.out(`chain     ${chain.rpc.url}; its market moves by these trades alone, and its price feeds age`);
  for (const wallet of configuration.wallets.values()) {
    const amounts = [...configuration.tokens.values()].flatMap(({ token }) => {
      const raw = holdings.get(wallet.address)?.get(token.address);
      return raw === undefined ? [] : [describeAmount(raw, token)];
    });
    const has =
      amounts.length === 0 ? 'nothing but gas: give it something with --fund "5000 USDC"' : amounts.join(", ");
    terminal.out(`wallet    ${wallet.name}: a copy of ${own.wallets.get(wallet.name)?.address} with ${has}`);
  }
  const ids = configuration.strategies.map(({ spec }) => spec.id).join(", ");
  terminal.out(`running   ${ids}: each once now, and at its slots`);
  terminal.out(`log       ${join(directory, "daemon.log")}`);
  terminal.out("stop      Ctrl-C");
  terminal.out("");
}

/** The last rehearsal's files go, the lock that we hold stays. */
function clear(directory: string): void {
  for (const database of ["swapd.db", "service.db"])
    for (const file of [
      database,
      `${database}-wal`,
      `${database}-shm`,
      `${database}.lock.db`,
      `${database}.limiter.db`,
    ])
      rmSync(join(directory, file), { force: true });
  for (const name of ["identity", "daemon.log"]) rmSync(join(directory, name), { recursive: true, force: true });
}
