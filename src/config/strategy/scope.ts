import type { Policy } from "../../domain/guard/policy.ts";
import type { Address } from "../../domain/money/address.ts";
import { parseUnits } from "../../domain/money/amount.ts";
import { isNative, type Token } from "../../domain/money/token.ts";
import { closest } from "../closest.ts";
import type { TokenConfiguration, WalletConfiguration } from "../configuration.ts";
import type { Problem } from "../problem.ts";
import { type Path, problemAt, type Source } from "../source.ts";
import type { MoneyText } from "../units.ts";

/** What the strategies of one configuration may refer to. */
export interface StrategyScope {
  readonly wallets: ReadonlyMap<string, WalletConfiguration>;
  /** names of wallets that are broken elsewhere: no second problem is made of them */
  readonly walletNames: readonly string[];
  readonly tokens: ReadonlyMap<string, TokenConfiguration>;
  readonly tokenNames: readonly string[];
  readonly wrappedNative: Address | undefined;
  readonly policy: Policy | undefined;
  readonly policySource: Source | undefined;
}

/** One strategy file while it is checked. */
export interface StrategyFile {
  readonly source: Source;
  readonly scope: StrategyScope;
  readonly problems: Problem[];
}

/** A token by its name in the main file. A token without a reference price cannot be traded. */
export function findToken(file: StrategyFile, path: Path, symbol: string): Token | undefined {
  const { source, scope, problems } = file;
  const found = scope.tokens.get(symbol);
  if (found === undefined) {
    if (scope.tokenNames.includes(symbol)) return undefined;
    const known = scope.tokens.size === 0 ? scope.tokenNames : [...scope.tokens.keys()];
    // with the native coin alone the main file's tokens were not read, and that is told already
    if (known.length <= 1) return undefined;
    const meant = closest(symbol, known);
    const suggestion =
      meant === undefined
        ? `tokens are ${known.join(", ")}; others are added under tokens`
        : `did you mean "${meant}"?`;
    problems.push(problemAt(source, path, `the token "${symbol}" is not known`, suggestion));
    return undefined;
  }
  if (found.feed === undefined && found.twap === undefined) {
    const suggestion = `give tokens.${symbol} a feed: preset, or { address, heartbeat }`;
    problems.push(problemAt(source, path, `${symbol} has no reference price, so it cannot be traded`, suggestion));
  }
  return found.token;
}

/** An amount of a known token, more than zero. */
export function readAmount(
  file: StrategyFile,
  path: Path,
  money: MoneyText | undefined,
): { readonly token: Token; readonly raw: bigint } | undefined {
  if (money === undefined) return undefined;
  const token = findToken(file, path, money.symbol);
  if (token === undefined) return undefined;
  const raw = parseUnits(money.number, token.decimals);
  if (typeof raw === "bigint" && raw > 0n) return { token, raw };
  const why =
    raw === "more decimals than the token has"
      ? `${token.symbol} has ${token.decimals} decimals`
      : raw === 0n
        ? "it is zero"
        : String(raw);
  file.problems.push(
    problemAt(
      file.source,
      path,
      `"${money.number} ${money.symbol}" is no amount that can be traded: ${why}`,
      raw === 0n ? "write more than nothing" : `write at most ${token.decimals} decimals`,
    ),
  );
  return undefined;
}

/** An amount that must be in one certain token. */
export function readAmountOf(
  file: StrategyFile,
  path: Path,
  money: MoneyText | undefined,
  token: Token | undefined,
): bigint | undefined {
  const amount = readAmount(file, path, money);
  if (amount === undefined || token === undefined) return undefined;
  if (amount.token.address === token.address) return amount.raw;
  const suggestion = sameCoin(amount.token.symbol, token.symbol)
    ? `write "${money?.number} ${token.symbol}"`
    : `write how much it is in ${token.symbol}`;
  file.problems.push(
    problemAt(file.source, path, `must be in ${token.symbol}, not in ${amount.token.symbol}`, suggestion),
  );
  return undefined;
}

/** Whether a number means the same in both: two dollars, or a coin and its wrapped form. Any other token has a price. */
function sameCoin(one: string, other: string): boolean {
  const plain = (symbol: string): string => (/^(?:usd|dai$)/i.test(symbol) ? "USD" : symbol.replace(/^W(?=ETH$)/, ""));
  return plain(one) === plain(other);
}

/** Refuses a pair that is no trade: a token for itself, or the native coin for its wrapped form. */
export function checkPair(
  file: StrategyFile,
  path: Path,
  pair: { sell: Token | undefined; buy: Token | undefined },
): void {
  const { sell, buy } = pair;
  if (sell === undefined || buy === undefined) return;
  const inner = (token: Token): string =>
    isNative(token) ? (file.scope.wrappedNative ?? token.address) : token.address;
  if (sell.address === buy.address) {
    file.problems.push(problemAt(file.source, path, `${buy.symbol} would be bought with itself`, "name another token"));
  } else if (inner(sell) === inner(buy)) {
    file.problems.push(
      problemAt(
        file.source,
        path,
        `${sell.symbol} and ${buy.symbol} are one coin and its wrapped form: that is no trade`,
      ),
    );
  }
}
