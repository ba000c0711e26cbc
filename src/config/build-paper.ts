import { type Address, NATIVE_TOKEN } from "../domain/money/address.ts";
import { parseUnits } from "../domain/money/amount.ts";
import { isNative } from "../domain/money/token.ts";
import { tradedSides } from "../domain/strategy/strategy.ts";
import { didYouMean } from "./closest.ts";
import { at, type Found, type Part, refuse } from "./complaint.ts";
import type { LoadedStrategy, Mode, TokenConfiguration, WalletConfiguration } from "./configuration.ts";
import type { MainFile } from "./schemas/main-schema.ts";

type Wallets = ReadonlyMap<string, WalletConfiguration>;
type Tokens = ReadonlyMap<string, TokenConfiguration>;

/** What happens on paper and what happens in earnest never share a database. */
export function databaseOf(mode: Mode, database: string): string {
  return mode === "paper" ? paperDatabaseOf(database) : database;
}

/** The database of mode paper beside the one that the configuration names. */
export function paperDatabaseOf(database: string): string {
  return `${database}${PAPER_SUFFIX}`;
}

const PAPER_SUFFIX = ".paper.db";

/** Of the two databases that a main file may mean the other one. */
export function besideOf(database: string): string {
  return database.endsWith(PAPER_SUFFIX) ? database.slice(0, -PAPER_SUFFIX.length) : paperDatabaseOf(database);
}

/** The wallets with what they have on paper. */
export function* withPaper(
  { fields, wallets }: { readonly fields: MainFile["wallets"]; readonly wallets: Wallets },
  tokens: Tokens,
): Found<Wallets> {
  const whole = new Map<string, WalletConfiguration>();
  for (const [name, wallet] of wallets) {
    const entry = fields[name];
    const amounts = entry !== undefined && "paper" in entry ? entry.paper : undefined;
    const paper = amounts && (yield* buildAmounts(name, amounts, tokens));
    whole.set(name, { ...wallet, paper });
  }
  return whole;
}

function* buildAmounts(
  name: string,
  amounts: Readonly<Record<string, string>>,
  tokens: Tokens,
): Found<ReadonlyMap<Address, bigint>> {
  const built = new Map<Address, bigint>();
  for (const [symbol, text] of Object.entries(amounts)) {
    const found = yield* buildAmount(name, { symbol, text }, tokens);
    if (found !== undefined) built.set(found.token, found.raw);
  }
  return built;
}

function* buildAmount(
  name: string,
  { symbol, text }: { readonly symbol: string; readonly text: string },
  tokens: Tokens,
): Part<{ readonly token: Address; readonly raw: bigint }> {
  const path = ["wallets", name, "paper", symbol];
  const token = tokens.get(symbol)?.token;
  if (token === undefined) {
    const known = [...tokens.keys()];
    const all = `tokens are ${known.join(", ")}; others are added under tokens`;
    return yield* refuse`${path}: the token "${symbol}" is not known -> ${didYouMean(symbol, known, all)}`;
  }
  const unit = ` ${symbol}`;
  const raw = parseUnits(text.endsWith(unit) ? text.slice(0, -unit.length) : text, token.decimals);
  if (typeof raw === "bigint") return { token: token.address, raw };
  const fix = `write for example ${symbol}: "0.5", with at most ${token.decimals} decimals`;
  return yield* refuse`${path}: "${text}" is no amount of ${symbol}: ${raw} -> ${fix}`;
}

/** Gas is lent where no native coin is listed: it cannot be sold as well. */
export function* checkPaperGas(
  mode: Mode,
  known: {
    readonly wallets: Wallets;
    readonly strategies: readonly LoadedStrategy[];
    readonly nativeSymbol: string;
    /** what wallets begin with does not stand in the file, and is judged where it does */
    readonly isFundedElsewhere?: boolean;
  },
): Found<void> {
  if (mode === "live" || known.isFundedElsewhere === true) return;
  for (const { name, address, paper } of known.wallets.values()) {
    if (paper === undefined || paper.has(NATIVE_TOKEN)) continue;
    const seller = known.strategies.find(
      ({ spec }) => spec.wallet.address === address && tradedSides(spec).sells.some(isNative),
    );
    if (seller === undefined) continue;
    const { nativeSymbol: coin } = known;
    yield at`wallets.${name}.paper: the strategy "${seller.spec.id}" sells ${coin}, and this wallet lists none -> add what it has: ${coin}: "0.5"`;
  }
}
