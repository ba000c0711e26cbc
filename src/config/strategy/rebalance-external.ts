import type { Address } from "../../domain/money/address.ts";
import type { Token } from "../../domain/money/token.ts";
import type { WatchedHolder } from "../../domain/strategy/decision.ts";
import type { ExternalHoldings, RebalanceTarget } from "../../domain/strategy/rebalance-spec.ts";
import { findRecipient } from "../build-policy-lists.ts";
import { at, each, type Found, type Part, type Path, refuse } from "../complaint.ts";
import type { RebalanceFields } from "./rebalance-schema.ts";
import { findToken, readAmount, type StrategyFile } from "./scope.ts";

type Entry = NonNullable<RebalanceFields["external"]>[number];
type WatchedEntry = Exclude<Entry, { readonly number: string }>;

/** What external holdings are read against: whose wallet it is, and what has a weight. */
interface Mix {
  readonly wallet: Address | undefined;
  readonly targets: readonly RebalanceTarget[];
}

/** What of the mix lies elsewhere. @returns undefined where nothing does */
export function* buildExternal(
  file: StrategyFile,
  entries: readonly Entry[] | undefined,
  mix: Mix,
): Found<ExternalHoldings | undefined> {
  if (entries === undefined) return undefined;
  const stated = yield* buildStated(file, entries, mix);
  const watched = yield* buildWatched(file, entries, mix);
  return { watched, stated };
}

function* buildStated(file: StrategyFile, entries: readonly Entry[], mix: Mix): Found<ExternalHoldings["stated"]> {
  const seen = new Set<Address>();
  return yield* each(entries, function* (entry, index) {
    if (!("number" in entry)) return undefined;
    const path = ["external", index];
    const amount = yield* readAmount(file, path, entry);
    if (amount === undefined || !(yield* hasWeight(path, amount.token, mix))) return undefined;
    const { address, symbol } = amount.token;
    if (seen.has(address))
      return yield* refuse`${path}: an amount of ${symbol} is stated already, and both would count -> write their sum`;
    seen.add(address);
    return amount;
  });
}

function* buildWatched(file: StrategyFile, entries: readonly Entry[], mix: Mix): Found<readonly WatchedHolder[]> {
  const seen = new Set<Address>();
  return yield* each(entries, function* (entry, index) {
    if ("number" in entry) return undefined;
    const path = ["external", index, "address"];
    const address = yield* findRecipient(path, entry.address, file.scope);
    const tokens = yield* buildTokens(file, { entry, index }, mix);
    if (address === undefined) return undefined;
    if (address === mix.wallet)
      return yield* refuse`${path}: is the strategy's own wallet, whose balances count already -> name where the rest is held`;
    if (seen.has(address))
      return yield* refuse`${path}: stands in an entry before, and would count twice -> name all of its tokens in one entry`;
    seen.add(address);
    return { address, tokens };
  });
}

/** Without a list all tokens of the mix count, but those that are sold out. */
function* buildTokens(
  file: StrategyFile,
  { entry, index }: { readonly entry: WatchedEntry; readonly index: number },
  mix: Mix,
): Found<readonly Token[]> {
  const { tokens } = entry;
  if (tokens === undefined) return mix.targets.filter(({ exit }) => !exit).flatMap(formsOf);
  return yield* each(tokens, function* (symbol, position): Part<Token> {
    const path = ["external", index, "tokens", position];
    if (tokens.indexOf(symbol) < position) return yield* refuse`${path}: ${symbol} is listed twice -> name it once`;
    const token = yield* findToken(file, path, symbol);
    return token !== undefined && (yield* hasWeight(path, token, mix)) ? token : undefined;
  });
}

/** Whether a token counts for the weights; where no target is sound, that is reported already. */
function* hasWeight(path: Path, token: Token, { targets }: Mix): Found<boolean> {
  if (targets.length === 0) return false;
  const target = targets.find((one) => formsOf(one).some(({ address }) => address === token.address));
  if (target === undefined)
    yield at`${path}: ${token.symbol} has no weight in the mix, so nothing of it counts -> name tokens of targets`;
  else if (target.exit)
    yield at`${path}: ${token.symbol} is sold out, and what lies elsewhere is never sold -> leave it out`;
  return target !== undefined && !target.exit;
}

/** A token and what counts with it. */
function formsOf(target: RebalanceTarget): readonly Token[] {
  return [target.token, ...(target.with ?? [])];
}
