import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { computeAddress, Interface } from "ethers";
import { createJsonRpc } from "../../../src/chain/json-rpc.ts";
import { type AskNode, deploySafe, minedReceipt, type TestSafe } from "../../support/safe.ts";
import type { KillStrategy } from "./kill-configuration.ts";
import { type ChainFacts, slownessOf, startChain, type Track, warmUp } from "./kill-world.ts";
import type { Child, Surroundings } from "./processes.ts";

/** A daemon that proposes, with the Safe whose owners it asks. */
export interface TreasuryTrack extends Track {
  readonly safe: TestSafe;
  /** where its proposals are */
  readonly folder: string;
}

/** A chain with a market and Safes of real bytecode, each with a daemon that has no key of it. */
export interface TreasuryWorld {
  readonly directory: string;
  readonly rpcUrl: string;
  readonly router: string;
  readonly tokens: readonly string[];
  /** their addresses by symbol */
  readonly tokenOf: Readonly<Record<string, string>>;
  readonly tracks: readonly TreasuryTrack[];
  readonly strategies: readonly KillStrategy[];
  readonly slowness: number;
  readonly ask: AskNode;
  stop(keep: boolean): Promise<void>;
}

/** The oldest and the newest one first: most campaigns have two of them. */
const VERSIONS = ["1.3.0", "1.5.0", "1.4.1"] as const;
const USDC = 10n ** 6n;
const DAI = 10n ** 18n;
/** On a quiet machine. Owners need longer than a node. */
const LIFETIME_SECONDS = 4;
/** People are not slower on a slow machine: owners have so many times longer at most. */
const MOST_TIMES_LONGER = 2;

/**
 * Two places that sell tokens of their own, each within a budget; USDT is allowed anew from zero only, and its slots are so
 * long that a proposal goes stale in one and the next takes its place.
 */
function strategiesOf(slowness: number): readonly KillStrategy[] {
  const times = Math.round(slowness);
  const dca = (sell: string, every: number, budget: string): string =>
    `kind: dca\nwallet: treasury\nsell: "${sell}"\nbuy: WETH\nschedule: { every: ${every * times}s }\nretry_for: ${every * times}s\nbudget: { total: "${budget}" }\n`;
  return [
    {
      ...{ id: "usdc", everySeconds: 8 * times, budget: { amount: 2_000n * USDC, of: "USDC" } },
      yaml: dca("50 USDC", 8, "2000 USDC"),
    },
    {
      ...{ id: "dai", everySeconds: 9 * times, budget: { amount: 1_500n * DAI, of: "DAI" } },
      yaml: dca("100 DAI", 9, "1500 DAI"),
    },
    { id: "usdt", everySeconds: 60 * times, yaml: dca("40 USDT", 60, "100000 USDT") },
  ];
}

/** Builds it below a temporary directory. Whatever it starts ends by itself after `lifeMinutes`. */
export async function startTreasuryWorld(options: { tracks: number; lifeMinutes: number }): Promise<TreasuryWorld> {
  const directory = mkdtempSync(join(tmpdir(), "swapd-kill-treasury-"));
  const started: Child[] = [];
  const stop = async (keep: boolean): Promise<void> => {
    for (const child of started.reverse()) {
      child.kill("SIGTERM");
      await child.ended;
    }
    if (!keep) rmSync(directory, { recursive: true, force: true });
  };
  const around = (name: string, env: Record<string, string> = {}): Surroundings => ({
    ...{ directory, logFile: join(directory, `${name}.log`) },
    env: { NODE_COMPILE_CACHE: join(directory, "compiled"), ...env },
  });
  try {
    const slowness = Math.min(MOST_TIMES_LONGER, await slownessOf(around("version")));
    const { child, facts } = await startChain(around("chain"), options.lifeMinutes);
    started.push(child);
    const rpc = createJsonRpc({ url: facts.rpcUrl, timeoutMs: 30_000, maxBytes: 16_000_000 });
    const ask: AskNode = (method, params) => rpc.call(method, [...params]);
    const strategies = strategiesOf(slowness);
    const tracks: TreasuryTrack[] = [];
    for (let index = 0; index < options.tracks; index += 1) {
      const version = VERSIONS[index % VERSIONS.length] ?? VERSIONS[0];
      const name = `daemon-${index + 1}`;
      const safe = await deploySafe(ask, version, BigInt(index + 1));
      tracks.push({
        ...{ name, safe, wallet: safe.address, folder: join(directory, name, "proposals") },
        database: join(directory, name, "swapd.db"),
        configuration: writeTreasury({ directory, name, safe, strategies, slowness }),
        around: around(name, { KILL_RPC: facts.rpcUrl }),
        lifeMinutes: options.lifeMinutes,
      });
    }
    await fund(ask, facts, tracks);
    await warmUp(tracks[0]);
    const tokenOf = Object.fromEntries(
      Object.entries(facts.tokens).map(([symbol, { address }]) => [symbol, address.toLowerCase()]),
    );
    const router = facts.settlement.toLowerCase();
    const of = { directory, router, tokenOf, tracks, strategies, slowness, ask, stop };
    return { ...of, rpcUrl: facts.rpcUrl, tokens: Object.values(tokenOf) };
  } catch (error) {
    await stop(false);
    throw error;
  }
}

const ERC20 = new Interface([
  "function balanceOf(address) view returns (uint256)",
  "function transfer(address to, uint256 amount) returns (bool)",
]);

/** Gives each Safe its share of the sandbox's tokens. A Safe needs no coin: whoever executes pays. */
async function fund(ask: AskNode, facts: ChainFacts, tracks: readonly TreasuryTrack[]): Promise<void> {
  const from = computeAddress(facts.wallet.privateKey);
  await ask("anvil_impersonateAccount", [from]);
  for (const { address } of Object.values(facts.tokens)) {
    const held = await ask("eth_call", [
      { to: address, data: ERC20.encodeFunctionData("balanceOf", [from]) },
      "latest",
    ]);
    const share = BigInt(String(held)) / BigInt(tracks.length);
    for (const { wallet } of tracks) {
      const data = ERC20.encodeFunctionData("transfer", [wallet, share]);
      await minedReceipt(ask, await ask("eth_sendTransaction", [{ from, to: address, data, gas: "0x30d40" }]));
    }
  }
}

const POLICY = `version: 1
max_trade: "50000 USD"
max_per_day: "10000000 USD"
recipients: [treasury]
max_gas_price: 100gwei
max_slippage: 2%
max_price_impact: 5%
max_fee: 20%
gas_reserve: "0.1 ETH"
reference: { sources: [feed], tolerance: 20% }
pause_after: { failures: 1000, within: 1h }
`;

function writeTreasury(terms: {
  readonly directory: string;
  readonly name: string;
  readonly safe: TestSafe;
  readonly strategies: readonly KillStrategy[];
  readonly slowness: number;
}): string {
  const home = join(terms.directory, terms.name);
  mkdirSync(join(home, "strategies"), { recursive: true });
  for (const { id, yaml } of terms.strategies) writeFileSync(join(home, "strategies", `${id}.yaml`), yaml);
  writeFileSync(join(home, "policy.yaml"), POLICY);
  const seconds = Math.round(LIFETIME_SECONDS * terms.slowness);
  const file = join(home, "swapd.yaml");
  writeFileSync(
    file,
    `version: 1
mode: live
network: { name: sandbox, rpc: [{ env: KILL_RPC }], preset: ../.swapd/sandbox/network.json, confirmations: 1 }
wallets: { treasury: { safe: "${terms.safe.address}", proposals: { folder: proposals } } }
tokens:
  WETH: { address: preset, decimals: 18, feed: preset }
  USDC: { address: preset, decimals: 6, feed: preset }
  DAI: { address: preset, decimals: 18, feed: preset }
  USDT: { address: preset, decimals: 6, feed: preset }
policy: policy.yaml
strategies: strategies
database: swapd.db
http: { listen: "127.0.0.1:0" }
serve: { listen: "127.0.0.1:0" }
timing: { quoteLifetime: ${seconds}s, permitLifetime: ${seconds}s, pollInterval: 100ms, requestTimeout: ${Math.max(2, Math.round(seconds / 2))}s }
`,
  );
  return file;
}
