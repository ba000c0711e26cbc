import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { accountOfKey } from "../../src/adapters/keys/private-key.ts";
import { CHANNEL_BOOK } from "../../src/adapters/notify/channels.ts";
import { SERVICE_BOOK } from "../../src/adapters/swap-service/services.ts";
import type { Configuration } from "../../src/config/configuration.ts";
import { type LoadOptions, type LoadOutcome, loadConfiguration } from "../../src/config/load-configuration.ts";
import type { Problem } from "../../src/config/problem.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

export const WALLET = "0x70997970c51812dc3a010c7d01b50e0d17dc79c8";

export const MAIN = `version: 1
mode: live
network: { name: base, rpc: [{ env: RPC_1 }] }
service: { profile: swapd, url: embedded, settlement: "0x1111111111111111111111111111111111111111" }
wallets:
  main: { keystore: { file: wallet.json }, password: { file: wallet.pass } }
tokens:
  USDC: { address: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", decimals: 6, feed: preset }
  WETH: { address: "0x4200000000000000000000000000000000000006", decimals: 18, feed: preset }
  PEPE: { address: "0x2222222222222222222222222222222222222222", decimals: 18 }
policy: policy.yaml
strategies: strategies
`;

export const POLICY = `version: 1
max_trade: "500 USD"
max_per_day: "1000 USD"
recipients: [main]
gas_reserve: "0.01 ETH"
max_gas_price: 5gwei
max_slippage: 1%
max_price_impact: 1%
max_fee: 3%
reference: { sources: [feed], tolerance: 1.5% }
pause_after: { failures: 3, within: 1h }
`;

export const DCA = `kind: dca
wallet: main
sell: "100 USDC"
buy: WETH
schedule: { every: 6h }
`;

export const REBALANCE = `kind: rebalance
wallet: main
quote: USDC
targets: { WETH: 60%, USDC: rest }
schedule: { every: 15m }
bands: { relative: 20% }
trades: { min: "50 USDC" }
`;

export const VALUE_AVERAGING = `kind: value-averaging
wallet: main
buy: WETH
path: { step: "100 USDC" }
max_contribution: "300 USDC"
trades: { min: "20 USDC" }
schedule: { at: "Mon 09:00" }
`;

export const THRESHOLD = `kind: threshold
wallet: main
sell: { amount: 25%, of: WETH }
buy: USDC
when: { crosses_above: "4500 USDC" }
rearm: { below: "4200 USDC", cooldown: 3d }
schedule: { every: 30s }
`;

/** Files in a folder of their own, by path, until the running test ends. */
export function write(files: Readonly<Record<string, string | Uint8Array>>): string {
  const folder = temporaryDirectory();
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

/** A whole, right project, with some files changed. */
export function project(changes: Readonly<Record<string, string>> = {}): string {
  return write({
    "main.yaml": MAIN,
    "policy.yaml": POLICY,
    "strategies/weekly.yaml": DCA,
    "wallet.json": JSON.stringify({ version: 3, address: WALLET.slice(2), crypto: {} }),
    ...changes,
  });
}

export function load(
  changes: Readonly<Record<string, string>> = {},
  env: Readonly<Record<string, string>> = {},
  options: Partial<LoadOptions> = {},
): LoadOutcome {
  return loadConfiguration(join(project(changes), "main.yaml"), env, {
    services: SERVICE_BOOK,
    channels: CHANNEL_BOOK,
    accountOfKey,
    ...options,
  });
}

export function loaded(...from: Parameters<typeof load>): Configuration {
  const outcome = load(...from);
  if (!outcome.ok) throw new Error(outcome.problems.map((problem) => `${problem.path}: ${problem.message}`).join("\n"));
  return outcome.configuration;
}

export function problemsOf(...from: Parameters<typeof load>): readonly Problem[] {
  const outcome = load(...from);
  if (outcome.ok) throw new Error("the configuration was accepted");
  return outcome.problems;
}

/** The problems of a strategy file, short. */
export function strategyProblems(text: string): string[] {
  return problemsOf({ "strategies/weekly.yaml": text }).map(brief);
}

/** `line:column path: message -> suggestion` */
export function brief(problem: Problem): string {
  const suggestion = problem.suggestion === undefined ? "" : ` -> ${problem.suggestion}`;
  return `${problem.line}:${problem.column} ${problem.path}: ${problem.message}${suggestion}`;
}
