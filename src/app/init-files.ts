import { NETWORKS } from "../networks/book.ts";
import type { BookedNetwork } from "../networks/network.ts";

/** What a first configuration is made of. Texts as a person writes them; the loader judges them. */
export interface InitAnswers {
  /** a name of the book of networks */
  readonly network: string;
  readonly sell: string;
  readonly buy: string;
  readonly at: string;
  readonly timezone: string;
  readonly maxPerDay: string;
  readonly keystore: string;
  readonly passwordFile: string;
}

/** The environment variable that the written configuration reads its RPC URL from. */
export const RPC_VARIABLE = "SWAPD_RPC_URL";

/**
 * The files of a first configuration, by their paths from its folder: main file, policy, one strategy. Every line that a
 * newcomer may want to change says what it is.
 */
export function initFiles(answers: InitAnswers): ReadonlyMap<string, string> {
  return new Map([
    ["swapd.yaml", mainFile(answers)],
    ["policy.yaml", policyFile(answers)],
    [`strategies/${strategyId(answers)}.yaml`, strategyFile(answers)],
  ]);
}

/** The strategy's id, which is its file's name, from what it buys. */
export function strategyId(answers: Pick<InitAnswers, "buy">): string {
  const name = answers.buy.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");
  return `buy-${name.replaceAll(/^-+|-+$/g, "")}`;
}

function mainFile(answers: InitAnswers): string {
  return `# The main file: where swapd runs, with which wallet and tokens. Check it with: swapd check
version: 1
mode: dry-run                        # does everything but sign; change it to live when you trust what it shows
network:
  name: ${answers.network}
  rpc: [{ env: ${RPC_VARIABLE} }]    # more endpoints are better: [{ env: RPC_1 }, { env: RPC_2 }]
service:
  profile: swapd
  url: embedded                      # our own service, quoting from the chain's pools
  # settlement: "0x..."              # a settlement contract that you deployed; without it Uniswap's router settles
wallets:
  main: { keystore: { file: ${quoted(answers.keystore)} }, password: { file: ${quoted(answers.passwordFile)} } }
tokens:                              # only what stands here is traded; decimals are compared with the chain
${tokenLines(answers)}
policy: policy.yaml                  # the owner's ceilings
strategies: strategies               # one file a strategy, its name is its id
database: swapd.db
http: { listen: 127.0.0.1:9464 }     # /healthz and /metrics
log: { level: info }
`;
}

function networkOf({ network: name }: InitAnswers): BookedNetwork {
  const network = NETWORKS.get(name);
  if (network === undefined) throw new Error(`the network ${name} was not looked up before`);
  return network;
}

function tokenLines(answers: InitAnswers): string {
  const wanted = [answers.sell.trim().split(/\s+/).at(-1) ?? "", answers.buy];
  const known = [...networkOf(answers).tokens].filter(([symbol]) => wanted.includes(symbol));
  return known
    .map(([symbol, { decimals, feed }]) => {
      return `  ${symbol}: { address: preset, decimals: ${decimals}${feed === undefined ? "" : ", feed: preset"} }`;
    })
    .join("\n");
}

function policyFile(answers: InitAnswers): string {
  const { first, nativeSymbol } = networkOf(answers);
  const { gasReserve, maxGasPrice } = first;
  return `# The owner's ceilings. A strategy may only be stricter.
version: 1
max_trade: ${quoted(answers.maxPerDay)}                 # the largest single trade, at reference prices
max_per_day: ${quoted(answers.maxPerDay)}               # the most that is sold in any 24 hours
recipients: [main]                   # who may receive what is bought: wallets, or addresses in quotes
gas_reserve: ${quoted(`${gasReserve} ${nativeSymbol}`).padEnd(23)} # stays in the wallet for gas
max_gas_price: ${maxGasPrice.padEnd(21)} # replacements included
max_slippage: 1%
max_price_impact: 1%
max_fee: 3%                          # gas and service fees as a share of the trade
reference: { sources: [feed], tolerance: 1.5% }
pause_after: { failures: 3, within: 1h }
`;
}

function strategyFile(answers: InitAnswers): string {
  return `# Sells ${answers.sell} for ${answers.buy} at each slot.
kind: dca
wallet: main
sell: ${quoted(answers.sell)}
buy: ${answers.buy}
schedule: { at: ${quoted(answers.at)}, timezone: ${answers.timezone} }
limits: { slippage: 50bps, price_impact: 50bps }
execution: { gasless: never }        # or prefer, only: a relayer pays the gas and takes it from what is sold
`;
}

function quoted(text: string): string {
  return JSON.stringify(text);
}
