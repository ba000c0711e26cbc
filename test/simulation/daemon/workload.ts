import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { loadConfiguration } from "../../../src/app/load-configuration.ts";
import type { Configuration } from "../../../src/config/configuration.ts";
import type { Chance } from "../chance.ts";
import { DAI, ROUTER, TOKENS, USDC, WALLET_KEY, WETH } from "../world/places.ts";
import { RELAYS } from "../world/relays.ts";

/** A strategy that a seed may draw, with what the oracle knows of it alongside the daemon. */
export interface SimStrategy {
  readonly id: string;
  readonly yaml: string;
  readonly everySeconds: number;
  /** the most it may ever sell, by token address, in the smallest unit; or in each day of UTC */
  readonly budget: { readonly token: string; readonly most: bigint; readonly isOfDay?: boolean } | undefined;
  /** it trades once because it remembers that it did: a database that was exchanged remembers nothing */
  readonly isRemembered: boolean;
  /** goes on asking for quotes as long as the world turns */
  readonly isEndless: boolean;
}

type Gasless = "only" | "prefer" | "never";

const MODES: readonly Gasless[] = ["only", "prefer", "never"];

/** Budgets of a day: worlds with one of these begin shortly before midnight. */
const OF_A_DAY: readonly SimStrategy[] = MODES.flatMap((gasless) => [
  strategy(`day-dca-${gasless}`, 20, {
    lines: [
      ...["kind: dca", 'sell: "100 USDC"', "buy: WETH", "on_insufficient: partial", 'min_sell: "5 USDC"'],
      ...['budget: { per_day: "250 USDC", timezone: UTC }', mode(gasless)],
    ],
    budget: { token: USDC.address, most: 250_000_000n, isOfDay: true },
  }),
  strategy(`day-value-${gasless}`, 20, {
    lines: [
      ...["kind: value-averaging", "buy: WETH", 'path: { step: "120 DAI" }', 'max_contribution: "150 DAI"'],
      ...['trades: { min: "10 DAI" }', 'budget: { per_day: "310 DAI", timezone: UTC }', mode(gasless)],
    ],
    budget: { token: DAI.address, most: 310n * 10n ** 18n, isOfDay: true },
  }),
]);

/** Everything that may be drawn: all kinds, both modes, tokens with a permit and without, short and long intervals. */
const OF_ALL_TIME: readonly SimStrategy[] = [
  ...MODES.flatMap((gasless) =>
    [20, 45, 90].flatMap((every) => [
      strategy(`dca-usdc-${gasless}-${every}`, every, {
        lines: ["kind: dca", 'sell: "100 USDC"', "buy: WETH", 'budget: { total: "700 USDC" }', mode(gasless)],
        budget: { token: USDC.address, most: 700_000_000n },
      }),
      strategy(`dca-dai-${gasless}-${every}`, every, {
        lines: ["kind: dca", 'sell: "150 DAI"', "buy: WETH", mode(gasless)],
        isEndless: true,
      }),
    ]),
  ),
  strategy("dca-weth", 40, { lines: ["kind: dca", 'sell: "0.05 WETH"', "buy: USDC", mode("never")], isEndless: true }),
  strategy("dca-coin", 50, { lines: ["kind: dca", 'sell: "0.02 ETH"', "buy: DAI", mode("never")], isEndless: true }),
  strategy("dca-to-coin", 60, { lines: ["kind: dca", 'sell: "80 USDC"', "buy: ETH", mode("prefer")], isEndless: true }),
  ...MODES.map((gasless) =>
    strategy(`stop-${gasless}`, 15, {
      lines: [
        ...["kind: threshold", 'sell: "0.4 WETH"', "buy: USDC", 'when: { crosses_below: "2985 USDC" }'],
        ...["if_already_true: fire", 'rearm: { above: "2990 USDC", cooldown: 20s }', "floor: 4%", mode(gasless)],
      ],
    }),
  ),
  strategy("take", 20, {
    lines: [
      ...["kind: threshold", 'sell: "0.2 WETH"', "buy: DAI", 'when: { crosses_above: "3010 DAI" }'],
      ...["if_already_true: fire", 'rearm: { below: "3005 DAI", cooldown: 20s }', mode("never")],
    ],
  }),
  ...MODES.map((gasless) =>
    strategy(`limit-${gasless}`, 15, {
      lines: ["kind: threshold", 'sell: "250 USDC"', "buy: WETH", 'when: { limit: "2990 USDC" }', mode(gasless)],
      budget: { token: USDC.address, most: 250_000_000n },
      isRemembered: true,
    }),
  ),
  ...MODES.map((gasless) =>
    strategy(`mix-${gasless}`, 30, {
      lines: [
        ...["kind: rebalance", "quote: DAI", "targets: { USDC: 50%, DAI: rest }", "bands: { relative: 50bps }"],
        ...['trades: { min: "20 DAI" }', mode(gasless)],
      ],
    }),
  ),
  strategy("mix-weth", 30, {
    lines: [
      ...["kind: rebalance", "quote: USDC", "targets: { WETH: 40%, USDC: rest }", "bands: { relative: 30bps }"],
      ...['trades: { min: "10 USDC" }', mode("prefer")],
    ],
  }),
  ...MODES.map((gasless) =>
    strategy(`twap-${gasless}`, 30, {
      lines: [
        ...["kind: twap", 'sell: "1200 DAI"', "buy: USDC", "duration: 6m", "every: 30s"],
        ...["randomize: { size: 20% }", 'slice: { min: "20 DAI" }', mode(gasless)],
      ],
      budget: { token: DAI.address, most: 1_200n * 10n ** 18n },
      hasOwnSchedule: true,
    }),
  ),
  strategy("sweep", 30, {
    lines: [
      ...["kind: sweep", "from: WETH", "to: USDC", 'when: { above: "4 WETH" }', 'keep: { WETH: "3 WETH" }'],
      ...['lot: { min: "100 USD", max: "900 USD" }', "cooldown: 20s", mode("prefer")],
    ],
  }),
  strategy("value", 40, {
    lines: [
      ...["kind: value-averaging", "buy: WETH", 'path: { step: "120 DAI" }', 'max_contribution: "300 DAI"'],
      ...['trades: { min: "10 DAI" }', mode("prefer")],
    ],
  }),
];

export const CATALOGUE: readonly SimStrategy[] = [...OF_ALL_TIME, ...OF_A_DAY];

function mode(gasless: Gasless): string {
  return `execution: { gasless: ${gasless} }`;
}

function strategy(
  id: string,
  everySeconds: number,
  terms: {
    lines: readonly string[];
    budget?: NonNullable<SimStrategy["budget"]>;
    isRemembered?: boolean;
    isEndless?: boolean;
    hasOwnSchedule?: boolean;
  },
): SimStrategy {
  const retryFor = `retry_for: ${Math.max(10, Math.floor(everySeconds / 2))}s`;
  const schedule = terms.hasOwnSchedule === true ? [] : [`schedule: { every: ${everySeconds}s }`, retryFor];
  const lines = ["wallet: main", ...schedule];
  const yaml = `${[...lines, ...terms.lines].join("\n")}\n`;
  const { budget, isRemembered = false, isEndless = false } = terms;
  return { id, yaml, everySeconds, budget, isRemembered, isEndless };
}

const POLICY = `version: 1
max_trade: "6000 USD"
max_per_day: "60000 USD"
recipients: [main]
gas_reserve: "0.5 ETH"
max_gas_price: 50gwei
max_slippage: 1%
max_price_impact: 2%
max_fee: 50%
reference: { sources: [feed], tolerance: 3% }
pause_after: { failures: 1000, within: 1h }
`;

const RPCS = 3;

/** What stands in the endpoints' addresses and in the API key, and must stand nowhere else. */
export const CANARY = "canary7f3a9";

export const SECRETS: Readonly<Record<string, string>> = {
  SIM_WALLET: WALLET_KEY,
  SIM_API_KEY: `key-${CANARY}`,
  SIM_HOOK: `https://hook.sim/${CANARY}`,
  SIM_HOOK_SECRET: `secret-of-alerts-${CANARY}`,
  SIM_TOPIC: `topic-${CANARY}`,
  SIM_TOKEN: `sim:${CANARY}`,
  ...Object.fromEntries(
    Array.from({ length: RELAYS }, (_, index) => [`SIM_RELAY_${index}`, `https://relay${index}.sim/${CANARY}`]),
  ),
  ...Object.fromEntries(
    Array.from({ length: RPCS }, (_, index) => [`SIM_RPC_${index}`, `https://rpc${index}.sim/${CANARY}`]),
  ),
};

/** What a person makes of a strategy: it sells less, in smaller steps, or with another bound. */
function edited(yaml: string): string {
  return yaml
    .replace('sell: "100 USDC"', 'sell: "60 USDC"')
    .replace('max_contribution: "150 DAI"', 'max_contribution: "70 DAI"')
    .replace('sell: "150 DAI"', 'sell: "90 DAI"')
    .replace('sell: "0.4 WETH"', 'sell: "0.3 WETH"')
    .replace("targets: { USDC: 50%", "targets: { USDC: 45%")
    .replace("kind: ", "limits: { slippage: 0.9% }\nkind: ");
}

/**
 * Writes the catalogue as a person would, and loads it as the daemon does. Mixes of one wallet and token are refused
 * together, so each is loaded by itself.
 */
export function loadCatalogue(folder: string, edition: "first" | "edited" = "first"): Configuration {
  const [mixes = [], others = []] = [true, false].map((isMix) =>
    CATALOGUE.filter(({ yaml }) => yaml.includes("kind: rebalance") === isMix),
  );
  const load = (name: string, group: readonly SimStrategy[]): Configuration => {
    mkdirSync(join(folder, name), { recursive: true });
    for (const { id, yaml } of group)
      writeFileSync(join(folder, name, `${id}.yaml`), edition === "first" ? yaml : edited(yaml));
    return loadFiles(folder, name);
  };
  const configuration = load("strategies", others);
  const strategies = mixes.flatMap((mix) => load(`only-${mix.id}`, [mix]).strategies);
  return { ...configuration, strategies: [...configuration.strategies, ...strategies] };
}

/** Loads a folder of strategies with everything around it. */
function loadFiles(folder: string, strategies: string): Configuration {
  writeFileSync(join(folder, "policy.yaml"), POLICY);
  const tokens = Object.fromEntries(
    TOKENS.map(({ symbol, address, decimals, feed }) => [symbol, { address, decimals, feed }]),
  );
  const protocols = [{ kind: 1, factory: `0x${"aa".repeat(20)}`, feePips: 3_000 }];
  const preset = {
    chainId: 31_337,
    wrappedNative: WETH.address,
    settlement: ROUTER,
    protocols,
    feeTiers: [500],
    tokens,
  };
  const heartbeat = { nativeFeed: WETH.feed, heartbeatSeconds: 3_600 };
  writeFileSync(join(folder, "network.json"), JSON.stringify({ ...preset, ...heartbeat }));
  const rpc = Array.from({ length: RPCS }, (_, index) => `{ env: SIM_RPC_${index} }`).join(", ");
  const relays = Array.from({ length: RELAYS }, (_, index) => `{ env: SIM_RELAY_${index} }`).join(", ");
  const listed = TOKENS.map(
    ({ symbol, decimals }) => `  ${symbol}: { address: preset, decimals: ${decimals}, feed: preset }`,
  );
  const main = `version: 1
mode: live
network: { name: sandbox, rpc: [${rpc}], submit: [${relays}], preset: network.json, confirmations: 2 }
service: { profile: swapd, url: "https://service.sim", apiKey: { env: SIM_API_KEY } }
wallets:
  main: { privateKey: { env: SIM_WALLET } }
tokens:
${listed.join("\n")}
policy: policy.yaml
strategies: ${strategies}
database: swapd.db
timing: { quoteLifetime: 60s, permitLifetime: 60s, pollInterval: 4s, requestTimeout: 5s }
transactions: { cancelPubliclyAfterBlocks: 10 }
alerts:
  webhook: { url: { env: SIM_HOOK }, secret: { env: SIM_HOOK_SECRET }, minimum: info, ends: true }
  channels: { phone: { kind: ntfy, server: "https://push.sim", topic: { env: SIM_TOPIC }, token: { env: SIM_TOKEN } } }
  fills: true
`;
  const file = join(folder, "swapd.yaml");
  writeFileSync(file, main);
  const loaded = loadConfiguration(file, SECRETS, { allowRawKey: true });
  if (!loaded.ok) throw new Error(loaded.problems.map((problem) => JSON.stringify(problem)).join("\n"));
  return loaded.configuration;
}

/** One to four strategies of different kinds; four where many swaps are to be open at once. */
export function drawStrategies(chance: Chance, areMany: boolean): readonly SimStrategy[] {
  const count = areMany ? 4 : chance.between(1, 4, "strategies");
  const drawn = Array.from({ length: count }, (_, index) => chance.pick(OF_ALL_TIME, "strategy", index));
  const ofDay = chance.of("a budget of a day") < 0.25 ? [chance.pick(OF_A_DAY, "strategy of a day")] : [];
  return [...new Set([...drawn, ...ofDay])];
}
