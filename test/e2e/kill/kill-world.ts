import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Contract, HDNodeWallet, JsonRpcProvider, Wallet } from "ethers";
import { z } from "zod";
import { claimPort } from "../../../src/sandbox/free-port.ts";
import { type FaultGate, openFaultGate } from "./fault-gate.ts";
import { type KillService, type KillStrategy, strategiesOf, writeConfiguration } from "./kill-configuration.ts";
import {
  type Child,
  runSwapd,
  type SpeakingChild,
  type Surroundings,
  startAnnounced,
  startSwapd,
} from "./processes.ts";

/** Which service the daemons trade through. */
export type Profile = "swapd" | "fly";

/** One daemon to be killed, with a wallet and a database of its own. */
export interface Track {
  readonly name: string;
  readonly wallet: string;
  readonly database: string;
  readonly configuration: string;
  readonly around: Surroundings;
  /** what runs by its configuration ends by itself after so many minutes, as the whole world does */
  readonly lifeMinutes: number;
}

/** A chain, a market, a service, and wallets with funds. The service of the profile `swapd` is not started yet. */
export interface KillWorld {
  readonly profile: Profile;
  readonly directory: string;
  readonly rpcUrl: string;
  /** the contract that wallets approve and sign for */
  readonly router: string;
  readonly relayer: string;
  /** addresses of the tokens, without the native one */
  readonly tokens: readonly string[];
  /** the same by their symbols */
  readonly tokenOf: Readonly<Record<string, string>>;
  readonly serviceUrl: string;
  readonly serviceDatabase: string;
  readonly tracks: readonly Track[];
  /** how many times longer everything takes here than on a quiet machine */
  readonly slowness: number;
  readonly strategies: readonly KillStrategy[];
  /** whether what was sent privately and came into no block is tried publicly */
  readonly fallsBack: boolean;
  /** what the daemons reach node and service through */
  readonly gates: { readonly node: FaultGate; readonly submit: FaultGate; readonly service: FaultGate };
  /** Ends chain and double. The directory goes, unless it is to be looked at. */
  stop(keep: boolean): Promise<void>;
}

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const MNEMONIC = "test test test test test test test test test test test junk";
/** Accounts of the development chain that the sandbox leaves alone start here. */
const FIRST_FREE_ACCOUNT = 5;
const START_WITHIN_MS = 60_000;
/** On a quiet machine; the slower it is, the longer, or nothing would be filled in time. */
const LIFETIME_SECONDS = 4;
const MOST_TIMES_LONGER = 6;
/** How long the program takes to start and end on a quiet machine. */
const QUIET_START_MS = 350;

export interface ChainFacts {
  readonly rpcUrl: string;
  readonly chainId: number;
  readonly settlement: string;
  readonly relayer: { readonly address: string; readonly privateKey: string };
  readonly wallet: { readonly privateKey: string };
  readonly wrappedNative: string;
  readonly tokens: Readonly<Record<string, { readonly address: string }>>;
  readonly protocols: readonly { readonly kind: number; readonly factory: string }[];
}

/** Builds a world of its own below a temporary directory. Whatever it starts ends by itself after `lifeMinutes`. */
export async function startKillWorld(
  profile: Profile,
  options: { tracks: number; lifeMinutes: number; seed?: number; fallsBack?: boolean },
): Promise<KillWorld> {
  const directory = mkdtempSync(join(tmpdir(), `swapd-kill-${profile}-`));
  const started: Child[] = [];
  const gates: FaultGate[] = [];
  const stop = async (keep: boolean): Promise<void> => {
    for (const gate of gates) await gate.close();
    for (const child of started.reverse()) {
      child.kill("SIGTERM");
      await child.ended;
    }
    if (!keep) rmSync(directory, { recursive: true, force: true });
  };
  try {
    const around = (name: string, env: Record<string, string> = {}): Surroundings => ({
      directory,
      logFile: join(directory, `${name}.log`),
      // Compiled code is kept, because a process that is killed after a second should not spend it on compiling.
      env: { NODE_COMPILE_CACHE: join(directory, "compiled"), ...env },
    });
    const slowness = await slownessOf(around("version"));
    const strategies = strategiesOf(slowness);
    const lifetimeSeconds = Math.round(LIFETIME_SECONDS * slowness);
    const chain = await startChain(around("chain"), options.lifeMinutes);
    started.push(chain.child);
    const { facts } = chain;
    const wallets = await fundWallets(facts, options.tracks);
    const port = await claimPort(0);
    const double = profile === "fly" ? await startDouble(facts, lifetimeSeconds, around("double")) : undefined;
    if (double !== undefined) started.push(double.child);
    const service = double?.service ?? { url: `http://127.0.0.1:${port}`, router: facts.settlement };
    const seed = options.seed ?? 1;
    const nodeGate = await openFaultGate(() => facts.rpcUrl, seed);
    gates.push(nodeGate);
    const serviceGate = await openFaultGate(() => service.url, seed + 1);
    gates.push(serviceGate);
    const submitGate = await openFaultGate(() => facts.rpcUrl, seed + 2);
    gates.push(submitGate);
    const throughGate = { ...service, url: serviceGate.url };
    const tracks = wallets.map((wallet, index): Track => {
      const name = `daemon-${index + 1}`;
      const env = {
        KILL_RPC: nodeGate.url,
        KILL_SUBMIT: submitGate.url,
        KILL_WALLET: wallet.privateKey,
        KILL_RELAYER: facts.relayer.privateKey,
      };
      const surroundings = around(name, { ...env, KILL_API_KEY: `key-of-${name}`, ...apiKeysOf(options.tracks) });
      return {
        name,
        wallet: wallet.address.toLowerCase(),
        database: join(directory, name, "swapd.db"),
        configuration: writeConfiguration({
          ...{ profile, directory, name, index, port, lifetimeSeconds, strategies, tracks: options.tracks },
          fallsBack: options.fallsBack === true,
          service: throughGate,
        }),
        around: surroundings,
        lifeMinutes: options.lifeMinutes,
      };
    });
    await warmUp(tracks[0]);
    return {
      profile,
      directory,
      rpcUrl: facts.rpcUrl,
      router: service.router.toLowerCase(),
      relayer: facts.relayer.address,
      tokens: Object.values(facts.tokens).map(({ address }) => address.toLowerCase()),
      tokenOf: Object.fromEntries(
        Object.entries(facts.tokens).map(([symbol, { address }]) => [symbol, address.toLowerCase()]),
      ),
      serviceUrl: service.url,
      serviceDatabase: join(directory, "service.db"),
      tracks,
      slowness,
      strategies,
      fallsBack: options.fallsBack === true,
      gates: { node: nodeGate, submit: submitGate, service: serviceGate },
      stop,
    };
  } catch (error) {
    await stop(false);
    throw error;
  }
}

/** A key for each daemon, so that none of them uses up the rate of another. */
function apiKeysOf(tracks: number): Record<string, string> {
  const keys = Array.from({ length: tracks }, (_, index) => [
    `KILL_API_KEY_${index + 1}`,
    `key-of-daemon-${index + 1}`,
  ]);
  return Object.fromEntries(keys);
}

export async function startChain(
  around: Surroundings,
  lifeMinutes: number,
): Promise<{ child: Child; facts: ChainFacts }> {
  const command = ["sandbox", "--chain-only", "--json", "--block-time", "0.25", "--port", "0"];
  const configuration = join(ROOT, "config", "sandbox.yaml");
  const child = await startAnnounced(
    ["src/main.ts", ...command, "--config", configuration, "--for", `${lifeMinutes}m`],
    around,
    START_WITHIN_MS,
  );
  const world = readFileSync(join(around.directory, ".swapd", "sandbox", "world.json"), "utf8");
  return { child, facts: { ...JSON.parse(world), rpcUrl: child.announced.rpcUrl } as ChainFacts };
}

/** How many times slower than a quiet machine this one is now. */
export async function slownessOf(around: Surroundings): Promise<number> {
  const startedMs = performance.now();
  await runSwapd(["--version"], around);
  return Math.min(MOST_TIMES_LONGER, Math.max(1, (performance.now() - startedMs) / QUIET_START_MS));
}

async function startDouble(
  facts: ChainFacts,
  lifetimeSeconds: number,
  around: Surroundings,
): Promise<{ child: Child; service: KillService }> {
  const options = {
    rpcUrl: facts.rpcUrl,
    chainId: facts.chainId,
    network: "sandbox",
    wrappedNative: facts.wrappedNative,
    factory: facts.protocols.find(({ kind }) => kind === 1)?.factory,
    lifetimeSeconds,
    lateMs: 2_000,
    limits: { keyless: 50, keyed: 200, keys: Object.values(apiKeysOf(9)) },
  };
  const script = "test/support/hosted-double/main.ts";
  const child = await startAnnounced([script, JSON.stringify(options)], around, START_WITHIN_MS);
  const { url, router, serviceSigner } = child.announced;
  return { child, service: { url: String(url), router: String(router), signer: String(serviceSigner) } };
}

/** Gives each wallet its share of everything that the sandbox's wallet has. */
async function fundWallets(
  facts: ChainFacts,
  count: number,
): Promise<readonly { address: string; privateKey: string }[]> {
  const provider = new JsonRpcProvider(facts.rpcUrl, facts.chainId, { staticNetwork: true, cacheTimeout: -1 });
  const owner = new Wallet(facts.wallet.privateKey, provider);
  const accounts = Array.from({ length: count }, (_, index) =>
    HDNodeWallet.fromPhrase(MNEMONIC, undefined, `m/44'/60'/0'/0/${FIRST_FREE_ACCOUNT + index}`),
  );
  let nonce = await owner.getNonce();
  const sent = [];
  for (const { address } of Object.values(facts.tokens)) {
    const token = new Contract(address, ["function balanceOf(address) view returns (uint256)", TRANSFER], provider);
    const share = ((await token.getFunction("balanceOf")(owner.address)) as bigint) / BigInt(count);
    for (const account of accounts) {
      const data = token.interface.encodeFunctionData("transfer", [account.address, share]);
      sent.push(await owner.sendTransaction({ to: address, data, nonce: nonce++, gasLimit: 200_000n }));
    }
  }
  for (const transaction of sent) await transaction.wait();
  for (const { address } of accounts) {
    await provider.send("anvil_setBalance", [address, `0x${(100n * 10n ** 18n).toString(16)}`]);
  }
  provider.destroy();
  return accounts;
}

const TRANSFER = "function transfer(address to, uint256 amount)";

/** One run to the end fills the cache of compiled code, which a killed process never writes. */
export async function warmUp(track: Track | undefined): Promise<void> {
  if (track === undefined) throw new Error("a world without a daemon kills nothing");
  mkdirSync(join(track.around.directory, "compiled"), { recursive: true });
  const { code, output } = await runSwapd(["check", "--json", "--config", track.configuration], track.around);
  if (code !== 0 && !isServiceAloneMissing(output))
    throw new Error(`the configuration of the kill test is wrong: ${output}`);
  writeFileSync(track.around.logFile, output);
}

const checked = z.object({
  problems: z.array(z.unknown()),
  machine: z.array(z.object({ whatToDo: z.string().nullable() })).default([]),
  chain: z.array(z.object({ whatToDo: z.string().nullable() })).default([]),
});

/** A service elsewhere starts after the check. */
function isServiceAloneMissing(output: string): boolean {
  const document = output.split("\n").find((line) => line.startsWith("{")) ?? "";
  const { problems, machine, chain } = checked.parse(JSON.parse(document));
  return problems.length === 0 && chain.length > 0 && [...machine, ...chain].every(({ whatToDo }) => whatToDo === null);
}

/** Starts a daemon of this world. */
export function startDaemon(track: Track, env: Readonly<Record<string, string>> = {}): SpeakingChild {
  return startSwapd(commandOf("start", track), withEnv(track.around, env));
}

/** Starts the service of a world of the profile `swapd`. */
export function startService(world: KillWorld, env: Readonly<Record<string, string>> = {}): SpeakingChild {
  const [track] = world.tracks;
  if (track === undefined) throw new Error("the service has no configuration");
  const around = { ...withEnv(track.around, env), logFile: join(world.directory, "service.log") };
  return startSwapd(commandOf("serve", track), around);
}

/** What is started lives as long as its world: one that ended before, by its own clock, would pass for one that gave up. */
export function commandOf(
  command: "start" | "serve",
  { configuration, lifeMinutes }: Pick<Track, "configuration" | "lifeMinutes">,
): readonly string[] {
  return [command, "--config", configuration, "--for", `${lifeMinutes}m`];
}

function withEnv(around: Surroundings, env: Readonly<Record<string, string>>): Surroundings {
  return { ...around, env: { ...around.env, ...env } };
}
