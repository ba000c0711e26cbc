import { existsSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { z } from "zod";
import type { Configuration } from "../../config/configuration.ts";
import { formatProblems } from "../../config/problem.ts";
import { readYaml } from "../../config/read-yaml.ts";
import { CommandFailure, EXIT } from "../exit-codes.ts";
import { loadConfiguration } from "../load-configuration.ts";
import { type Answers, type Key, NONE, readWallet } from "./answers.ts";
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
  wallets: z.object({
    main: z
      .object({ address: z.string(), keystore: z.object({ file: z.string() }) })
      .partial()
      .optional(),
  }),
  policy: z.string(),
});
const policyShape = z.object({ max_per_day: z.string(), max_per_month: z.string().optional() });
const strategyShape = z.object({
  kind: z.literal("dca"),
  wallet: z.literal("main"),
  sell: z.string(),
  buy: z.string(),
  schedule: z.object({ at: z.string(), cron: z.string(), every: z.string(), timezone: z.string() }).partial(),
  budget: z.object({ total: z.string() }).partial().optional(),
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
  const main = mainShape.parse(dataOf(file));
  const policyFile = relative(folder, join(folder, main.policy));
  const policy = policyShape.parse(dataOf(join(folder, policyFile)));
  const strategy = readStrategy(configuration);
  return {
    configuration,
    strategyFile: strategy && relative(folder, strategy.file),
    policyFile,
    answers: {
      network: main.network.name,
      rpc: rpcAnswer(main.network.rpc),
      maxPerDay: policy.max_per_day,
      ...(policy.max_per_month === undefined ? {} : { maxPerMonth: policy.max_per_month }),
      ...walletAnswer(main.wallets.main),
      ...strategy?.answers,
    },
  };
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

function walletAnswer(wallet: z.output<typeof mainShape>["wallets"]["main"]): Partial<Answers> {
  const { keystore, address } = wallet ?? {};
  if (keystore !== undefined) return { wallet: `keystore ${keystore.file}` };
  return address === undefined || readWallet(address) === undefined ? {} : { wallet: address };
}

function readStrategy({ strategies }: Configuration): { file: string; answers: Partial<Answers> } | undefined {
  const [only, another] = strategies;
  if (only === undefined || another !== undefined) return undefined;
  const read = strategyShape.safeParse(dataOf(only.file));
  if (!read.success) return undefined;
  const { sell, buy, schedule, budget } = read.data;
  const { every, cron, at, timezone } = schedule;
  const when = every === undefined ? (cron ?? at ?? "") : `every ${every}`;
  return {
    file: only.file,
    answers: { sell, buy, at: when, timezone: timezone ?? "", total: budget?.total ?? NONE },
  };
}
