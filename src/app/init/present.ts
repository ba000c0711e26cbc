import { existsSync, readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { z } from "zod";
import type { Configuration } from "../../config/configuration.ts";
import { formatProblems } from "../../config/problem.ts";
import { readYaml } from "../../config/read-yaml.ts";
import { NETWORKS } from "../../networks/book.ts";
import { CommandFailure, EXIT } from "../exit-codes.ts";
import { loadConfiguration } from "../load-configuration.ts";
import { type Answers, type Key, NONE, paperAnswer, readSold, readWallet } from "./answers.ts";
import { MAIN_FILE } from "./files.ts";

/** A configuration that is there, as far as init asks about it. */
export interface Present {
  readonly configuration: Configuration;
  readonly answers: Partial<Answers>;
  /** the strategy that is asked about, from the folder; undefined: there are several, or it does more than init asks */
  readonly strategyFile: string | undefined;
  readonly policyFile: string;
}

/** Questions about the one strategy. */
export const STRATEGY_KEYS: readonly Key[] = ["sell", "buy", "at", "timezone", "total"];

const rpcEntry = z.record(z.string(), z.string());
const mainShape = z.object({
  network: z.object({ name: z.string(), rpc: z.array(rpcEntry) }),
  wallets: z.record(z.string(), z.unknown()),
  policy: z.string(),
});
const policyShape = z.object({ max_per_day: z.string(), max_per_month: z.string().optional() });
/** A wallet that an answer can say; any other stays as it is. */
const walletShape = z.union([
  z.strictObject({ address: z.string() }),
  z.strictObject({ paper: z.record(z.string(), z.union([z.int(), z.string()])) }),
  // One with certificates or a token says more than an answer can.
  z.strictObject({ signer: z.strictObject({ url: z.string(), address: z.string() }) }),
  z.object({ keystore: z.strictObject({ file: z.string() }), password: z.strictObject({ file: z.string() }) }),
]);
/** Strict, because what is edited is replaced whole: nothing that init does not ask about may get lost. */
const strategyShape = z.object({
  kind: z.literal("dca"),
  wallet: z.literal("main"),
  sell: z.string(),
  buy: z.string(),
  schedule: z.strictObject({ at: z.string(), cron: z.string(), every: z.string(), timezone: z.string() }).partial(),
  budget: z.strictObject({ total: z.string() }).partial().optional(),
});

/**
 * Reads what a folder has.
 * @returns undefined where there is no main file
 * @throws CommandFailure with all problems of a configuration that is not in order: nothing is built on that
 */
export function readPresent(folder: string, env: NodeJS.ProcessEnv): Present | undefined {
  const file = join(folder, MAIN_FILE);
  if (!existsSync(file)) return undefined;
  const loaded = loadConfiguration(file, env);
  if (!loaded.ok) {
    const problems = formatProblems(loaded.problems, folder);
    throw new CommandFailure(EXIT.no, `${problems}\n${file} is not in order: correct it, then run init again`);
  }
  const { configuration } = loaded;
  const main = read(mainShape, file);
  const { name } = main.network;
  if (!NETWORKS.has(name)) {
    const known = [...NETWORKS.keys()].join(", ");
    throw byHand(
      file,
      `the network ${name} is one of your own, and init asks about those that are built in (${known})`,
    );
  }
  const policyPath = resolve(folder, main.policy);
  const policy = read(policyShape, policyPath);
  const strategy = readStrategy(configuration);
  return {
    configuration,
    strategyFile: strategy && relative(folder, strategy.file),
    policyFile: relative(folder, policyPath),
    answers: {
      network: name,
      rpc: rpcAnswer(main.network.rpc),
      maxPerDay: policy.max_per_day,
      ...(policy.max_per_month === undefined ? {} : { maxPerMonth: policy.max_per_month }),
      ...walletAnswer(main.wallets),
      ...strategy?.answers,
    },
  };
}

/** @throws CommandFailure where a file that is in order says it in a way that init does not read */
function read<T>(shape: z.ZodType<T>, file: string): T {
  const found = shape.safeParse(dataOf(file));
  if (found.success) return found.data;
  const places = found.error.issues.map(({ path }) => path.join(".")).filter((path) => path !== "");
  throw byHand(file, `it is in order, and init does not ask about what it says at ${places.join(", ") || "its top"}`);
}

function byHand(file: string, why: string): CommandFailure {
  return new CommandFailure(EXIT.no, `${file}: ${why}; edit it, then look with swapd check: nothing was changed`);
}

function dataOf(file: string): unknown {
  return readYaml(file, readFileSync(file, "utf8")).source?.data;
}

function rpcAnswer(entries: readonly Readonly<Record<string, string>>[]): string {
  return entries
    .flatMap((entry) => Object.entries(entry))
    .map(([kind, value]) => (kind === "url" ? value : `${kind}:${value}`))
    .join(",");
}

/** A wallet that no answer can say stays as it is. */
function walletAnswer(wallets: Readonly<Record<string, unknown>>): Partial<Answers> {
  const shaped = walletShape.safeParse(wallets.main);
  if (!shaped.success) return {};
  const answer = answerFor(shaped.data);
  return readWallet(answer) === undefined ? {} : { wallet: answer };
}

function answerFor(wallet: z.output<typeof walletShape>): string {
  if ("address" in wallet) return wallet.address;
  if ("signer" in wallet) return `signer ${wallet.signer.url} ${wallet.signer.address}`;
  if ("keystore" in wallet) return `keystore ${wallet.keystore.file}`;
  const amounts = Object.entries(wallet.paper).map(([token, amount]) => ({ token, amount: amountIn(amount, token) }));
  return paperAnswer(amounts);
}

/** The file may name the token behind the number as well. */
function amountIn(amount: string | number, token: string): string {
  const text = String(amount).trim();
  return text.endsWith(token) ? text.slice(0, -token.length).trim() : text;
}

function readStrategy(configuration: Configuration): { file: string; answers: Partial<Answers> } | undefined {
  const [only, another] = configuration.strategies;
  if (only === undefined || another !== undefined) return undefined;
  const shaped = strategyShape.safeParse(dataOf(only.file));
  if (!shaped.success) return undefined;
  const { sell, buy, schedule, budget } = shaped.data;
  if (![readSold(sell)?.token, buy].every((symbol) => isOfBook(configuration, symbol))) return undefined;
  const { every, cron, at, timezone } = schedule;
  const when = every === undefined ? (cron ?? at ?? "") : `every ${every}`;
  // Without a zone times are of UTC, wherever this machine stands.
  const zone = timezone ?? (every === undefined ? "UTC" : "");
  return {
    file: only.file,
    answers: { sell, buy, at: when, timezone: zone, total: budget?.total ?? NONE },
  };
}

/** Whether an answer can say the token: one that was added by hand, or has another contract here, stays as it is. */
function isOfBook({ network, tokens }: Configuration, symbol: string | undefined): boolean {
  if (symbol === undefined || symbol === network.nativeSymbol) return true;
  const booked = NETWORKS.get(network.name)?.tokens.get(symbol);
  return booked?.feed !== undefined && booked.address === tokens.get(symbol)?.token.address;
}
