import type { Configuration } from "../../config/configuration.ts";
import type { FillModel } from "../../domain/backtest/fill-model.ts";
import type { Address } from "../../domain/money/address.ts";
import { parseUnits } from "../../domain/money/amount.ts";
import { smaller } from "../../domain/money/bigint.ts";
import { ONE_PPM, parseShare } from "../../domain/money/fraction.ts";
import { USD_DECIMALS } from "../../domain/money/price.ts";
import { isNative } from "../../domain/money/token.ts";
import { tradedSides } from "../../domain/strategy/strategy.ts";
import { CommandFailure, EXIT } from "../exit-codes.ts";
import { readInstant } from "../read-instant.ts";
import { formatInstant } from "../terminal.ts";
import type { PriceSet } from "./price-files.ts";

/** What is asked for, as texts. */
export interface BacktestTexts {
  readonly balance: readonly string[];
  readonly poolFee: string;
  readonly depth: string;
  readonly gasPrice?: string;
  readonly gas: string;
}

/** The same, read. Gas price in wei. */
export interface ReadOptions {
  readonly model: FillModel;
  readonly gasPrice: bigint;
  readonly swapGas: bigint;
  readonly balances: ReadonlyMap<Address, ReadonlyMap<Address, bigint>>;
}

const GWEI = 10n ** 9n;

/** @throws CommandFailure that shows how an option is written */
export function readBacktestOptions(texts: BacktestTexts, configuration: Configuration): ReadOptions {
  const poolFee = parseShare(texts.poolFee)?.ppm;
  if (poolFee === undefined || poolFee >= ONE_PPM)
    throw usage(`--pool-fee ${texts.poolFee}: write a share, 0.3% or 5bps`);
  const depthUsd = amountOf(texts.depth, "USD", USD_DECIMALS);
  if (depthUsd === undefined || depthUsd <= 0n) throw usage(`--depth ${texts.depth}: write dollars, "5000000 USD"`);
  if (!/^[1-9][0-9]{3,7}$/.test(texts.gas)) throw usage(`--gas ${texts.gas}: write a number of gas, 200000`);
  return {
    ...{ model: { poolFee, depthUsd }, swapGas: BigInt(texts.gas), gasPrice: gasPriceOf(texts, configuration) },
    balances: balancesOf(texts.balance, configuration),
  };
}

function usage(message: string): CommandFailure {
  return new CommandFailure(EXIT.usage, message);
}

function amountOf(text: string, unit: string, decimals: number): bigint | undefined {
  const [number = "", name, ...rest] = text.trim().split(/\s+/);
  const raw = name === unit && rest.length === 0 ? parseUnits(number, decimals) : undefined;
  return typeof raw === "bigint" ? raw : undefined;
}

/** The guard asks for room of twice the base fee below the ceiling. */
function gasPriceOf({ gasPrice }: BacktestTexts, { policy }: Configuration): bigint {
  if (gasPrice === undefined) return smaller(policy.maxFeePerGas / 4n, GWEI);
  const [, number = ""] = /^([0-9.]+)\s*gwei$/.exec(gasPrice) ?? [];
  const wei = parseUnits(number, 9);
  if (typeof wei !== "bigint") throw usage(`--gas-price ${gasPrice}: write 0.05gwei`);
  return wei;
}

/** What the command line says, else what the configuration gives a wallet on paper. */
function balancesOf(texts: readonly string[], configuration: Configuration): ReadOptions["balances"] {
  const { tokens, wallets, strategies } = configuration;
  const used = new Map(strategies.map(({ spec: { wallet } }) => [wallet.address, wallet.name]));
  if (texts.length > 0) return asked(texts, configuration, used);
  const balances = new Map<Address, ReadonlyMap<Address, bigint>>();
  for (const { address, paper } of wallets.values()) if (paper !== undefined) balances.set(address, paper);
  for (const [address, name] of used) {
    if (balances.has(address)) continue;
    const example = soldBy(strategies, address) ?? [...tokens.keys()][0] ?? "USDC";
    throw usage(
      `it is not known what the wallet ${name} begins with: write --balance "1000 ${example}" (as often as it has tokens), or give it amounts on paper in ${configuration.file}: ${name}: { paper: { ${example}: 1000 } }`,
    );
  }
  return balances;
}

/** A wallet that begins with what its strategies buy would trade nothing. */
function soldBy(strategies: Configuration["strategies"], wallet: Address): string | undefined {
  const own = strategies.filter(({ spec }) => spec.wallet.address === wallet);
  return own.flatMap(({ spec }) => tradedSides(spec).sells)[0]?.symbol;
}

function asked(
  texts: readonly string[],
  { tokens, strategies }: Configuration,
  used: ReadonlyMap<Address, string>,
): ReadOptions["balances"] {
  const [wallet, ...others] = used.keys();
  if (wallet === undefined || others.length > 0)
    throw usage(`--balance is for strategies of one wallet, and these have ${used.size}: give them amounts on paper`);
  const held = new Map<Address, bigint>();
  for (const text of texts) {
    const { token } = tokens.get(text.trim().split(/\s+/)[1] ?? "") ?? {};
    const raw = token && amountOf(text, token.symbol, token.decimals);
    if (token === undefined || raw === undefined)
      throw usage(
        `--balance ${text}: write an amount and a token of the configuration (${[...tokens.keys()].join(", ")}), "5000 USDC"`,
      );
    if (held.has(token.address)) throw usage(`--balance ${text}: ${token.symbol} stands there twice`);
    held.set(token.address, raw);
  }
  const seller = strategies.find(({ spec }) => tradedSides(spec).sells.some(isNative));
  if (seller !== undefined && ![...held.keys()].some((address) => isNative({ address })))
    throw usage(`${seller.spec.id} sells the network's coin, and --balance gives none of it`);
  return new Map([[wallet, held]]);
}

/** The instants that are played, within those that have prices. @throws CommandFailure */
export function spanOf(
  texts: { readonly from?: string; readonly until?: string },
  prices: Pick<PriceSet, "fromMs" | "untilMs">,
): { readonly fromMs: number; readonly untilMs: number } {
  const fromMs = instantOf("--from", texts.from) ?? prices.fromMs;
  const untilMs = instantOf("--until", texts.until) ?? prices.untilMs;
  const known = `the prices go from ${formatInstant(prices.fromMs)} to ${formatInstant(prices.untilMs)}`;
  if (prices.fromMs >= prices.untilMs) throw new CommandFailure(EXIT.no, "the price files have no time in common");
  if (fromMs < prices.fromMs || untilMs > prices.untilMs)
    throw usage(`--from and --until go beyond the files: ${known}`);
  if (fromMs >= untilMs)
    throw usage(`nothing lies between ${formatInstant(fromMs)} and ${formatInstant(untilMs)}: ${known}`);
  return { fromMs, untilMs };
}

/** @throws CommandFailure that shows how an instant is written */
export function instantOf(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const found = readInstant(text);
  if (found !== undefined) return found.atMs;
  throw usage(`${name} ${text}: write a day, 2025-01-31, or an instant, 2025-01-31T08:00:00Z`);
}
