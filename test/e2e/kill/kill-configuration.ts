import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** A strategy of the kill test, with what the checks need to know of it. */
export interface KillStrategy {
  readonly id: string;
  readonly everySeconds: number;
  /** the most it may ever sell, in the smallest unit of a token that no other strategy sells */
  readonly budget?: { readonly amount: bigint; readonly of: string };
  readonly yaml: string;
}

const DAI = 10n ** 18n;
const USDC = 10n ** 6n;

/**
 * Both modes, all kinds, tokens with and without a permit, one that is approved only from zero, and the native coin; so
 * often that something is always under way, and tokens meet in several strategies.
 * @param slowness how many times slower the machine is than a quiet one: a run has as much more time
 */
export function strategiesOf(slowness: number): readonly KillStrategy[] {
  const times = Math.round(slowness);
  return [
    {
      id: "usdc-gasless",
      everySeconds: 2 * times,
      budget: { amount: 3_000n * USDC, of: "USDC" },
      yaml: dca({ sell: "50 USDC", buy: "WETH", every: 2 * times, gasless: "only", budget: "3000 USDC" }),
    },
    {
      id: "dai-prefers",
      everySeconds: 3 * times,
      budget: { amount: 600n * DAI, of: "DAI" },
      yaml: dca({ sell: "100 DAI", buy: "WETH", every: 3 * times, gasless: "prefer", budget: "600 DAI" }),
    },
    {
      id: "usdt-own",
      everySeconds: 4 * times,
      yaml: dca({ sell: "40 USDT", buy: "WETH", every: 4 * times, gasless: "never" }),
    },
    {
      id: "coin-own",
      everySeconds: 4 * times,
      yaml: dca({ sell: "0.01 ETH", buy: "DAI", every: 4 * times, gasless: "never" }),
    },
    {
      id: "mix",
      everySeconds: 4 * times,
      yaml: strategy("rebalance", 4 * times, [
        "quote: WETH",
        "targets: { WBTC: 50%, WETH: rest }",
        "bands: { relative: 5bps }",
        'trades: { min: "0.005 WETH" }',
        "execution: { gasless: prefer }",
      ]),
    },
    {
      id: "above",
      everySeconds: 4 * times,
      yaml: strategy("threshold", 4 * times, [
        'sell: "0.03 WETH"',
        "buy: DAI",
        'when: { crosses_above: "3000 DAI" }',
        "if_already_true: fire",
        'rearm: { below: "2999.9 DAI", cooldown: 1s }',
        "execution: { gasless: prefer }",
      ]),
    },
  ];
}

function dca(terms: { sell: string; buy: string; every: number; gasless: string; budget?: string }): string {
  const lines = [`sell: "${terms.sell}"`, `buy: ${terms.buy}`, `execution: { gasless: ${terms.gasless} }`];
  if (terms.budget !== undefined) lines.push(`budget: { total: "${terms.budget}" }`);
  return strategy("dca", terms.every, lines);
}

function strategy(kind: string, everySeconds: number, lines: readonly string[]): string {
  const common = [
    `kind: ${kind}`,
    "wallet: main",
    `schedule: { every: ${everySeconds}s }`,
    `retry_for: ${everySeconds}s`,
  ];
  return `${[...common, ...lines].join("\n")}\n`;
}

/** A second and a half, and half of what a quote lives on a quiet machine. */
export const FALLBACK = { afterBlocks: 6, slippage: "30bps", slippagePpm: 3_000n } as const;

const POLICY = `version: 1
max_trade: "50000 USD"
max_per_day: "10000000 USD"
recipients: [main]
gas_reserve: "1 ETH"
max_gas_price: 100gwei
max_slippage: 2%
max_price_impact: 5%
max_fee: 20%
reference: { sources: [feed], tolerance: 20% }
pause_after: { failures: 1000, within: 1h }
gasless_untried: accept
`;

/** Where a daemon's service is and what is pinned of it. */
export interface KillService {
  readonly url: string;
  readonly router: string;
  /** who signs the hosted double's transactions */
  readonly signer?: string;
}

/** Writes everything that one daemon is reported, and gives the main file's path. The first one's has the service too. */
export function writeConfiguration(terms: {
  profile: "swapd" | "fly";
  directory: string;
  name: string;
  index: number;
  tracks: number;
  service: KillService;
  /** where our own service is to listen */
  port: number;
  lifetimeSeconds: number;
  strategies: readonly KillStrategy[];
  /** what private endpoints keep is tried publicly */
  fallsBack: boolean;
}): string {
  const { profile, service } = terms;
  const home = join(terms.directory, terms.name);
  mkdirSync(join(home, "strategies"), { recursive: true });
  for (const { id, yaml } of terms.strategies) writeFileSync(join(home, "strategies", `${id}.yaml`), yaml);
  writeFileSync(join(home, "policy.yaml"), POLICY);
  const keys = Array.from({ length: terms.tracks }, (_, index) => `{ env: KILL_API_KEY_${index + 1} }`).join(", ");
  const pins = profile === "fly" ? `, settlement: "${service.router}", signer: "${service.signer}"` : "";
  const fallback = terms.fallsBack
    ? `, fallback: { publicAfterBlocks: ${FALLBACK.afterBlocks}, slippage: ${FALLBACK.slippage} }`
    : "";
  const main = `version: 1
mode: live
network: { name: sandbox, rpc: [{ env: KILL_RPC }], submit: [{ env: KILL_SUBMIT }], preset: ../.swapd/sandbox/network.json, confirmations: 1${fallback} }
service: { profile: ${profile}, url: "${service.url}", apiKey: { env: KILL_API_KEY }${pins} }
wallets:
  main: { privateKey: { env: KILL_WALLET } }
tokens:
  WETH: { address: preset, decimals: 18, feed: preset }
  USDC: { address: preset, decimals: 6, feed: preset }
  DAI: { address: preset, decimals: 18, feed: preset }
  WBTC: { address: preset, decimals: 8, feed: preset }
  USDT: { address: preset, decimals: 6, feed: preset }
policy: policy.yaml
strategies: strategies
database: swapd.db
http: { listen: "127.0.0.1:0" }
log: { level: info }
serve:
  listen: "127.0.0.1:${terms.port}"
  database: ../service.db
  apiKeys: [${keys}]
  relayer: { privateKey: { env: KILL_RELAYER } }
timing: { quoteLifetime: ${terms.lifetimeSeconds}s, permitLifetime: ${terms.lifetimeSeconds}s, pollInterval: 100ms, requestTimeout: ${Math.max(2, Math.round(terms.lifetimeSeconds / 2))}s }
transactions: { bumpAfterBlocks: 4, rebroadcastAfterBlocks: 2, maxReplacements: 8 }
`;
  const file = join(home, "swapd.yaml");
  writeFileSync(file, main);
  return file;
}
