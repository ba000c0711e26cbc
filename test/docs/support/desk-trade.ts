import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { networkPresetOf } from "../../../src/app/network-preset.ts";
import { type Sandbox, startSandbox } from "../../../src/sandbox/sandbox.ts";
import { type DeskDouble, startDeskDouble } from "../../support/desk-double/desk-double.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { WIDE_POLICY } from "../../support/wide-policy.ts";

// A chain, a double of the example's service, and a daemon of the copy that trades with it.

/** How a process of the copy ended. */
export interface Ended {
  readonly code: number | null;
  readonly out: string;
}

/** A process of the copy. */
export interface Running {
  output(): string;
  stop(): void;
  readonly ended: Promise<Ended>;
}

/** The names that a configuration gives to the contracts of the desk. */
export interface Named {
  readonly spender: string;
  readonly target: string;
  readonly verifyingContract: string;
}

/** The world of a trade. */
export interface DeskTrade {
  readonly sandbox: Sandbox;
  readonly double: DeskDouble;
  /** the contracts, as an operator who verified them names them */
  readonly named: Named;
  readonly database: string;
  /** Starts `swapd` of the copy on a configuration that names these contracts. */
  swapd(args: readonly string[], named?: Named): Running;
  stop(): Promise<void>;
}

const strategy = (gasless: string): string => `kind: dca
wallet: main
sell: "100 USDC"
buy: WETH
schedule: { every: 4s }
retry_for: 4s
execution: { gasless: ${gasless} }
budget: { total: "200 USDC" }
`;

/** Opens the world for a copy of the project. It ends with `stop`. */
export async function openDeskTrade(copy: string): Promise<DeskTrade> {
  const home = temporaryDirectory();
  const directory = join(home, "sandbox");
  const sandbox = await startSandbox({ directory, port: 0, blockTimeSeconds: 0.3, seed: 1, market: false });
  const { rpcUrl, chainId, protocols, wallet } = sandbox.world;
  const factory = protocols.find(({ kind }) => kind === 1)?.factory;
  if (factory === undefined) throw new Error("the sandbox has no Uniswap V2 factory");
  const double = await startDeskDouble({ rpcUrl, chainId, factory });
  mkdirSync(join(home, "strategies"));
  writeFileSync(join(home, "network.json"), networkPresetOf(sandbox.world));
  writeFileSync(join(home, "policy.yaml"), WIDE_POLICY);
  writeFileSync(join(home, "strategies/own.yaml"), strategy("never"));
  writeFileSync(join(home, "strategies/signed.yaml"), strategy("only"));
  const named = { spender: double.vault, target: double.desk, verifyingContract: double.book };
  const env = { DESK_RPC: rpcUrl, DESK_WALLET: wallet.privateKey, DESK_KEY: double.key };
  return {
    ...{ sandbox, double, named, database: join(home, "swapd.db") },
    swapd: (args, contracts = named) => {
      const file = join(home, `${contracts.spender}-${contracts.target}-${contracts.verifyingContract}.yaml`);
      writeFileSync(file, mainFile(double.url, contracts));
      return start([join(copy, "src/main.ts"), ...args, "--config", file], { cwd: home, env });
    },
    stop: async () => {
      await double.stop();
      await sandbox.stop();
    },
  };
}

function mainFile(url: string, { spender, target, verifyingContract }: Named): string {
  return `version: 1
mode: live
network: { name: sandbox, rpc: [{ env: DESK_RPC }], preset: network.json, confirmations: 1 }
service:
  profile: desk
  url: "${url}"
  apiKey: { env: DESK_KEY }
  spender: "${spender}"
  target: "${target}"
  verifyingContract: "${verifyingContract}"
wallets:
  main: { privateKey: { env: DESK_WALLET } }
tokens:
  WETH: { address: preset, decimals: 18, feed: preset }
  USDC: { address: preset, decimals: 6, feed: preset }
policy: policy.yaml
strategies: strategies
database: swapd.db
http: { listen: "127.0.0.1:0" }
timing: { quoteLifetime: 30s, permitLifetime: 30s, pollInterval: 200ms }
`;
}

/** Starts a process of a copy. */
export function start(args: readonly string[], { cwd, env }: { cwd: string; env: Record<string, string> }): Running {
  const child = spawn(process.execPath, args, {
    cwd,
    env: { ...process.env, NO_COLOR: "1", FORCE_COLOR: undefined, SWAPD_CONFIG: "", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let out = "";
  const add = (chunk: Buffer): void => {
    out += chunk.toString();
  };
  child.stdout.on("data", add);
  child.stderr.on("data", add);
  return {
    output: () => out,
    stop: () => void child.kill("SIGTERM"),
    ended: new Promise((resolve) => child.on("close", (code) => resolve({ code, out }))),
  };
}
