import type { Policy } from "../../domain/guard/policy.ts";
import type { ServicePromises } from "../../domain/guard/service-promises.ts";
import type { Address } from "../../domain/money/address.ts";
import { parseUnits } from "../../domain/money/amount.ts";
import { isNative, type Token } from "../../domain/money/token.ts";
import { didYouMean } from "../closest.ts";
import { at, type Complaint, type Part, type Path, refuse } from "../complaint.ts";
import type { TokenConfiguration, WalletConfiguration } from "../configuration.ts";
import { describePlace, type Source } from "../source.ts";
import type { MoneyText } from "../units.ts";

/** What the strategies of one configuration may refer to. */
export interface StrategyScope {
  readonly wallets: ReadonlyMap<string, WalletConfiguration>;
  /** names of wallets that are broken elsewhere: no second problem is made of them */
  readonly walletNames: readonly string[];
  readonly tokens: ReadonlyMap<string, TokenConfiguration>;
  readonly tokenNames: readonly string[];
  readonly wrappedNative: Address | undefined;
  /** what the service's profile promises, as far as it is known */
  readonly promises?: ServicePromises | undefined;
  readonly policy: Policy | undefined;
  readonly policySource: Source | undefined;
}

/** One strategy file: its data as they were read, and what it may refer to. */
export interface StrategyFile {
  readonly data: unknown;
  readonly scope: StrategyScope;
}

/** Whether one of some keys is in the file, right or wrong: then its problem is reported elsewhere. */
export function isWritten({ data }: StrategyFile, ...keys: readonly string[]): boolean {
  return typeof data === "object" && data !== null && keys.some((key) => Object.hasOwn(data, key));
}

/** Where the policy has a key, in brackets. */
export function inPolicy({ scope }: StrategyFile, key: string): string {
  return scope.policySource === undefined ? "" : ` (${describePlace(scope.policySource, [key])})`;
}

/** A token by its name in the main file. A token without a reference price cannot be traded. */
export function* findToken(file: StrategyFile, path: Path, symbol: string | undefined): Part<Token> {
  if (symbol === undefined) return undefined;
  const { tokens, tokenNames } = file.scope;
  const found = tokens.get(symbol);
  if (found === undefined) {
    const known = tokens.size === 0 ? tokenNames : [...tokens.keys()];
    // with the native coin alone the main file's tokens were not read, and that is reported already
    if (tokenNames.includes(symbol) || known.length <= 1) return undefined;
    const all = `tokens are ${known.join(", ")}; others are added under tokens`;
    return yield* refuse`${path}: the token "${symbol}" is not known -> ${didYouMean(symbol, known, all)}`;
  }
  if (found.feed === undefined && found.twap === undefined)
    yield at`${path}: ${symbol} has no reference price, so it cannot be traded -> give tokens.${symbol} a feed: preset, or { address, heartbeat }`;
  return found.token;
}

/** An amount of a known token, more than zero. */
export function* readAmount(
  file: StrategyFile,
  path: Path,
  money: MoneyText | undefined,
): Part<{ readonly token: Token; readonly raw: bigint }> {
  const token = yield* findToken(file, path, money?.symbol);
  if (money === undefined || token === undefined) return undefined;
  const raw = parseUnits(money.number, token.decimals);
  if (typeof raw === "bigint" && raw > 0n) return { token, raw };
  const tooFine = raw === "more decimals than the token has" ? `${token.symbol} has ${token.decimals} decimals` : raw;
  const why = raw === 0n ? "it is zero" : String(tooFine);
  const fix = raw === 0n ? "write more than nothing" : `write at most ${token.decimals} decimals`;
  return yield* refuse`${path}: "${money.number} ${money.symbol}" is no amount that can be traded: ${why} -> ${fix}`;
}

/** An amount that must be in one certain token. */
export function* readAmountOf(
  file: StrategyFile,
  path: Path,
  money: MoneyText | undefined,
  token: Token | undefined,
): Part<bigint> {
  const amount = yield* readAmount(file, path, money);
  if (amount === undefined || token === undefined) return undefined;
  if (amount.token.address === token.address) return amount.raw;
  const [own, wanted] = [amount.token.symbol, token.symbol];
  const fix = sameCoin(own, wanted) ? `write "${money?.number} ${wanted}"` : `write how much it is in ${wanted}`;
  return yield* refuse`${path}: must be in ${wanted}, not in ${own} -> ${fix}`;
}

/** Whether a number means the same in both: two dollars, or a coin and its wrapped form. Any other token has a price. */
function sameCoin(one: string, other: string): boolean {
  const plain = (symbol: string): string => (/^(?:usd|dai$)/i.test(symbol) ? "USD" : symbol.replace(/^W(?=ETH$)/, ""));
  return plain(one) === plain(other);
}

/** Refuses a pair that is no trade: a token for itself, or the native coin for its wrapped form. */
export function* checkPair(
  { scope }: StrategyFile,
  path: Path,
  { sell, buy }: { sell: Token | undefined; buy: Token | undefined },
): Iterable<Complaint> {
  if (sell === undefined || buy === undefined) return;
  const inner = (token: Token): string => (isNative(token) ? (scope.wrappedNative ?? token.address) : token.address);
  if (sell.address === buy.address) yield at`${path}: ${buy.symbol} would be bought with itself -> name another token`;
  else if (inner(sell) === inner(buy))
    yield at`${path}: ${sell.symbol} and ${buy.symbol} are one coin and its wrapped form: that is no trade`;
}
