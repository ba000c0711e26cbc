import { join } from "node:path";
import type { Mode } from "../../config/configuration.ts";
import { writeJsonSchema } from "../../config/json-schemas.ts";
import { NETWORKS } from "../../networks/book.ts";
import type { BookedNetwork } from "../../networks/network.ts";
import { jsonSchemas } from "../load-configuration.ts";
import {
  type Answers,
  hasZone,
  NONE,
  passwordFileOf,
  readRpc,
  readSold,
  readWallet,
  scheduleKey,
  type TokenAmount,
} from "./answers.ts";

/** Where a configuration keeps what changes, and where it listens. */
export interface Layout {
  readonly database: string;
  readonly serviceDatabase: string;
  readonly listen: string;
}

/**
 * Beside the configuration, for a daemon of this machine alone; in the image, which names its volume in SWAPD_DATA, apart
 * from the configuration, which is read-only there, and listening for whoever publishes the port.
 */
export function layoutOf({ SWAPD_DATA: folder = "" }: NodeJS.ProcessEnv): Layout {
  if (folder === "") return { database: "swapd.db", serviceDatabase: "service.db", listen: "127.0.0.1:9464" };
  return { database: join(folder, "swapd.db"), serviceDatabase: join(folder, "service.db"), listen: "0.0.0.0:9464" };
}

/** What the texts need besides the answers. */
export interface Drafting {
  readonly layout: Layout;
  /** the largest single trade */
  readonly maxTrade: string;
}

export const MAIN_FILE = "swapd.yaml";
export const POLICY_FILE = "policy.yaml";
export const IGNORE_FILE = ".gitignore";
const SCHEMA_OF = {
  "swapd.schema.json": "config/swapd.schema.json",
  "policy.schema.json": "config/policy.schema.json",
  "strategy.schema.json": "strategies/strategy.schema.json",
} as const;

/** Tokens of the book that are made to be worth a dollar. */
const DOLLARS: ReadonlySet<string> = new Set(["USDC", "USDT", "DAI"]);

export function isDollar(symbol: string): boolean {
  return DOLLARS.has(symbol);
}

/**
 * The files of a first configuration, by their paths from its folder: main file, policy, one strategy. Every line that a
 * newcomer may want to change says what it is.
 */
export function draftFiles(answers: Answers, drafting: Drafting): ReadonlyMap<string, string> {
  return new Map([
    [MAIN_FILE, mainFile(answers, drafting)],
    [POLICY_FILE, policyFile(answers, drafting)],
    [strategyFileName(answers), strategyFile(answers)],
  ]);
}

/** What stands beside them: schemas for editors, and what git must never see. */
export function sideFiles(): ReadonlyMap<string, string> {
  const schemas = jsonSchemas();
  const texts = Object.entries(SCHEMA_OF).map(([name, from]): [string, string] => {
    return [name, writeJsonSchema(schemas[from] ?? {})];
  });
  return new Map([[IGNORE_FILE, IGNORED], ...texts]);
}

/** The strategy's id, which is its file's name, from what it buys. */
function strategyId({ buy }: Pick<Answers, "buy">): string {
  const name = buy.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");
  return `buy-${name.replaceAll(/^-+|-+$/g, "")}`;
}

export function strategyFileName(answers: Pick<Answers, "buy">): string {
  return `strategies/${strategyId(answers)}.yaml`;
}

const IGNORED = `# Written by swapd init: keys, passwords, endpoints and databases stay on this machine.
wallet*.json
*.pass
rpc*.url
.env
secrets/
identity/
*.db
*.db-*
*.new
.swapd*/
`;

/** On paper, but where nothing can be filled: there a dry run says what would be traded. */
export function modeOf(network: BookedNetwork | undefined): Mode {
  return network === undefined || network.router !== undefined ? "paper" : "dry-run";
}

function mainFile(answers: Answers, { layout }: Drafting): string {
  return `# yaml-language-server: $schema=swapd.schema.json
# Where swapd runs, with which wallet and tokens. After an edit: swapd check
version: 1
mode: ${modeOf(networkOf(answers)).padEnd(31)}# dry-run | paper | live; \`swapd live\` sets live
network:
  name: ${answers.network}
  rpc: ${rpcText(answers.rpc)}
service: { profile: swapd, url: embedded }   # our own service, which quotes from the chain's pools
wallets:
  main: ${walletText(answers.wallet)}
tokens:                              # only what stands here is traded; decimals are compared with the chain
${tokenLines(answers)}
policy: ${POLICY_FILE}                  # the owner's ceilings
strategies: strategies               # one file a strategy, its name is its id
database: ${layout.database}
serve: { database: ${layout.serviceDatabase} }      # the embedded service's own
http: { listen: ${layout.listen} }     # /healthz and /metrics
log: { level: info }
`;
}

/** As it stands in the main file. */
export function rpcText(answer: string): string {
  const entries = (readRpc(answer) ?? []).map((one) => {
    const [[key, value] = ["env", ""]] = Object.entries(one) as [string, string][];
    return `{ ${key}: ${key === "env" ? value : quoted(value)} }`;
  });
  return `[${entries.join(", ")}]`;
}

/** As it stands in the main file. */
export function walletText(answer: string): string {
  const wallet = readWallet(answer);
  if (wallet?.kind === "watch") return `{ address: ${quoted(wallet.address)} }`;
  if (wallet?.kind === "paper") return `{ paper: { ${wallet.amounts.map(paperText).join(", ")} } }`;
  if (wallet?.kind === "signer")
    return `{ signer: { url: ${quoted(wallet.url)}, address: ${quoted(wallet.address ?? "")} } }`;
  const keystore = wallet?.kind === "keystore" ? wallet.keystore : "wallet.json";
  return `{ keystore: { file: ${quoted(keystore)} }, password: { file: ${quoted(passwordFileOf(keystore))} } }`;
}

function paperText({ amount, token }: TokenAmount): string {
  return `${token}: ${/^[0-9]{1,15}$/.test(amount) ? amount : quoted(amount)}`;
}

function networkOf({ network: name }: Answers): BookedNetwork {
  const network = NETWORKS.get(name);
  if (network === undefined) throw new Error(`the network ${name} was not looked up before`);
  return network;
}

/** What is sold and bought. */
export function tradedSymbols({ sell, buy }: Pick<Answers, "sell" | "buy">): readonly string[] {
  return [...new Set([readSold(sell)?.token ?? "", buy])].filter((symbol) => symbol !== "");
}

/** What is traded, and what the wallet has besides. */
export function neededSymbols(answers: Pick<Answers, "sell" | "buy" | "wallet">): readonly string[] {
  const wallet = readWallet(answers.wallet);
  const held = wallet?.kind === "paper" ? wallet.amounts.map(({ token }) => token) : [];
  return [...new Set([...tradedSymbols(answers), ...held])];
}

/** The native coin is known without a line. */
function tokenLines(answers: Answers): string {
  const { nativeSymbol, ...network } = networkOf(answers);
  return neededSymbols(answers)
    .filter((symbol) => symbol !== nativeSymbol)
    .map((symbol) => `  ${symbol}: ${tokenText(network, symbol)}`)
    .join("\n");
}

/** As it stands in the main file. */
export function tokenText({ tokens }: Pick<BookedNetwork, "tokens">, symbol: string): string {
  const token = tokens.get(symbol);
  const priced = token?.feed === undefined ? "" : ", feed: preset";
  const peg = isDollar(symbol) ? ", peg: USD" : "";
  return `{ address: preset, decimals: ${token?.decimals ?? 18}${priced}${peg} }`;
}

function policyFile(answers: Answers, { maxTrade }: Drafting): string {
  const { first, nativeSymbol } = networkOf(answers);
  const line = (key: string, value: string, what: string): string =>
    `${`${key}: ${value}`.padEnd(36)} # ${what}`.trimEnd();
  return `# yaml-language-server: $schema=policy.schema.json
# The owner's ceilings. A strategy may only be stricter.
version: 1
${line("max_trade", quoted(maxTrade), "the largest single trade, at reference prices")}
${line("max_per_day", quoted(answers.maxPerDay), "the most that is sold in any 24 hours")}
${line("max_per_month", quoted(answers.maxPerMonth), "the most that is sold in any 30 days")}
${line("recipients", "[main]", "who may receive what is bought: wallets, or addresses in quotes")}
${line("tokens", `[${tradedSymbols(answers).join(", ")}]`, "what may be sold and bought")}
${line("gas_reserve", quoted(`${first.gasReserve} ${nativeSymbol}`), "stays in the wallet for gas")}
${line("max_gas_price", first.maxGasPrice, "replacements included")}
${line("max_slippage", "1%", "what a trade may lose against its quote")}
${line("max_price_impact", "1%", "how far our own size may move the price")}
${line("max_fee", "3%", "gas and service fees as a share of the trade")}
reference: { sources: [feed], tolerance: 1.5%, max_divergence: 2% }   # the independent price that every trade is held against
${line("max_depeg", "2%", "how far a token with peg: USD may be from a dollar")}
${line("round_trip", "{ max_loss: 5% }", "what selling back would bring, before the first buy of a token")}
${line("drawdown", "{ stop: 20%, over: 7d }", "a fall of the wallet's value after which nothing is bought")}
pause_after: { failures: 3, within: 1h }
`;
}

function strategyFile(answers: Answers): string {
  const { sell, buy, total } = answers;
  const budget = total === NONE ? [] : [`budget: ${budgetText(total)}`];
  return `${[
    "# yaml-language-server: $schema=../strategy.schema.json",
    "# Sells an amount for another token at each slot.",
    "kind: dca",
    "wallet: main",
    `sell: ${quoted(sell)}`,
    `buy: ${buy}`,
    `schedule: ${scheduleText(answers)}`,
    ...budget,
    "limits: { slippage: 50bps, price_impact: 50bps }",
    "execution: { gasless: never }        # or prefer, only: a relayer pays the gas and takes it from what is sold",
  ].join("\n")}\n`;
}

/** As it stands in a strategy. */
function budgetText(total: string): string {
  return `{ total: ${quoted(total)} }`;
}

/** As it stands in a strategy. */
export function scheduleText({ at, timezone }: Pick<Answers, "at" | "timezone">): string {
  const key = scheduleKey(at);
  if (key === "every") return `{ every: ${at.replace(/^every\s+/i, "").trim()} }`;
  const zone = hasZone(at) && timezone !== "" ? `, timezone: ${timezone}` : "";
  return `{ ${key}: ${quoted(at.trim())}${zone} }`;
}

function quoted(text: string): string {
  return JSON.stringify(text);
}
