import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { findAnvil } from "./anvil-binary.ts";
import { type Anvil, startAnvil } from "./anvil-process.ts";
import { startBlockProducer } from "./block-producer.ts";
import { buildWorld } from "./build-world.ts";
import { buildForkedWorld, checkFork } from "./fork.ts";
import { claimPort } from "./free-port.ts";
import { createMarket } from "./market/market.ts";
import { SANDBOX_CHAIN_ID } from "./plan.ts";
import type { Rpc } from "./rpc.ts";
import { SandboxError } from "./sandbox-error.ts";
import { readWorld, type SandboxWorld, writeWorld } from "./world.ts";

export interface SandboxOptions {
  /** Where the chain's state and the world's description are kept. A fresh sandbox replaces those of the last one. */
  readonly directory: string;
  /** Port of the chain's RPC on loopback; 0 takes a free one. */
  readonly port: number;
  /** Fractions of a second are allowed. */
  readonly blockTimeSeconds: number;
  /** Repeats prices and random trades by block number. A restarted sandbox keeps the seed it was made with. */
  readonly seed: number;
  /** Whether the market starts moving. A fork has none of its own. */
  readonly market: boolean;
  /** A chain to fork instead of building one: a secret, it may carry a key. */
  readonly forkUrl?: string;
  /** By which number the executor performs trades with a kind of pool of the forked chain. Default: the kind's own. */
  readonly executorKind?: (kind: number) => number | undefined;
  /** State of a stopped sandbox. When the file exists, that sandbox goes on; its world lies next to it. */
  readonly stateFile?: string;
  /** False: no block but those of `market.step`, and a restarted sandbox's state is left as it is. Default true. */
  readonly mining?: boolean;
}

export interface SandboxHooks {
  onProgress?(step: string, done: number, total: number): void;
  /** A block whose market part did not work out. Nothing needs to be done: the next one tries again. */
  onMarketError?(error: Error): void;
}

export interface Sandbox {
  readonly world: SandboxWorld;
  /** Saves the state and ends the chain; process and port are gone afterwards. Calling it again is harmless. */
  stop(): Promise<void>;
  /** Resolves when the chain's process ends by itself. It never rejects. */
  readonly failed: Promise<Error>;
  readonly market: {
    pause(): void;
    resume(): void;
    /** Mines one block with the market's transactions in it. */
    step(): Promise<void>;
  };
}

/** Names of the files inside {@link SandboxOptions.directory}. */
export const STATE_FILE = "chain.json";
const WORLD_FILE = "world.json";

/** The state is written whole, and a sandbox of an hour has some hundred megabytes of it. */
const STATE_INTERVAL_SECONDS = 60;
/** Blocks whose state can still be called and reorganised away; blocks, receipts and logs are kept for ever. */
const KEPT_STATES = 128;
const START_TIMEOUT_MS = 15_000;
const FORK_START_TIMEOUT_MS = 60_000;

/**
 * Starts a chain with tokens, pools, feeds, settlement contracts and a market.
 * @throws SandboxError with a code and what to do next; nothing is left running then
 */
export async function startSandbox(options: SandboxOptions, hooks: SandboxHooks = {}): Promise<Sandbox> {
  const stateFile = options.stateFile !== undefined && existsSync(options.stateFile) ? options.stateFile : undefined;
  const forkedChainId = options.forkUrl === undefined ? undefined : await checkFork(options.forkUrl);
  mkdirSync(options.directory, { recursive: true });
  if (stateFile === undefined) {
    for (const name of [STATE_FILE, WORLD_FILE]) rmSync(join(options.directory, name), { force: true });
  }
  hooks.onProgress?.("starting the chain", 0, 1);
  const anvil = await startAnvil({
    binary: findAnvil(),
    port: await claimPort(options.port),
    arguments: anvilArguments(options, stateFile),
    startTimeoutMs: options.forkUrl === undefined ? START_TIMEOUT_MS : FORK_START_TIMEOUT_MS,
    forkUrl: options.forkUrl,
  });
  try {
    const world = await makeWorld(anvil.rpc, { options, stateFile, forkedChainId, hooks });
    return run(anvil, world, options, hooks);
  } catch (error) {
    await anvil.stop();
    throw error;
  }
}

function anvilArguments(options: SandboxOptions, stateFile: string | undefined): string[] {
  // Finality two blocks behind the tip: without it the finalized block would stay the first one for half an hour.
  const list = ["--no-mining", "--slots-in-an-epoch", "1", "--chain-id", String(SANDBOX_CHAIN_ID)];
  list.push("--prune-history", String(KEPT_STATES));
  if (stateFile !== undefined) list.push("--load-state", stateFile);
  if (stateFile !== undefined && options.mining === false) return list;
  list.push("--dump-state", join(options.directory, STATE_FILE), "--state-interval", String(STATE_INTERVAL_SECONDS));
  return list;
}

async function makeWorld(
  rpc: Rpc,
  from: {
    options: SandboxOptions;
    stateFile: string | undefined;
    forkedChainId: number | undefined;
    hooks: SandboxHooks;
  },
): Promise<SandboxWorld> {
  const { options, stateFile, forkedChainId, hooks } = from;
  const world =
    stateFile !== undefined
      ? restoreWorld(rpc, stateFile)
      : forkedChainId !== undefined
        ? await buildForkedWorld(rpc, { forkedChainId, ...options })
        : await buildWorld(rpc, options.seed, (step, done, total) => hooks.onProgress?.(step, done, total));
  if (stateFile === undefined || options.mining !== false) {
    writeFileSync(join(options.directory, WORLD_FILE), writeWorld(world));
  }
  return world;
}

function restoreWorld(rpc: Rpc, stateFile: string): SandboxWorld {
  const path = join(dirname(stateFile), WORLD_FILE);
  try {
    return readWorld(readFileSync(path, "utf8"), rpc.url);
  } catch (error) {
    const message = `The chain's state ${stateFile} is there, but not its description ${path}. Start a new sandbox.`;
    throw new SandboxError("STATE_UNREADABLE", message, { cause: error });
  }
}

function run(anvil: Anvil, world: SandboxWorld, options: SandboxOptions, hooks: SandboxHooks): Sandbox {
  const { poolMinter } = world;
  const producer = startBlockProducer(anvil.rpc, {
    ...(poolMinter === undefined ? {} : { contents: createMarket(anvil.rpc, world, poolMinter) }),
    blockTimeMs: options.mining === false ? 0 : options.blockTimeSeconds * 1000,
    paused: !options.market,
    onError: (error) => hooks.onMarketError?.(error),
  });
  let stopping: Promise<void> | undefined;
  const stop = async (): Promise<void> => {
    await producer.stop();
    await anvil.stop();
  };
  void anvil.failed.then(() => producer.stop());
  return {
    world,
    failed: anvil.failed,
    market: { pause: producer.pause, resume: producer.resume, step: producer.step },
    stop: () => {
      stopping ??= stop();
      return stopping;
    },
  };
}
