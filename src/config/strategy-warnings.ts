import {
  type Conflict,
  type CountedMix,
  findConflicts,
  findCountedMixes,
  findRivals,
  type Rivals,
  type Side,
} from "../domain/guard/conflicts.ts";
import type { Address } from "../domain/money/address.ts";
import type { StrategySpec } from "../domain/strategy/spec.ts";
import type { Path } from "./complaint.ts";
import { readTextFile } from "./files.ts";
import type { Problem } from "./problem.ts";
import { readYaml } from "./read-yaml.ts";
import { describePlace, problemOf, type Source } from "./source.ts";
import { placeOfToken } from "./token-place.ts";

type Loaded = readonly { readonly spec: StrategySpec; readonly file: string }[];

/** Of thousands of strategies that sell a coin, and of hundreds of wallets where some do, so many are named. */
const NAMED = 6;

/**
 * What is allowed but may be a mistake: strategies of one wallet that may trade against each other, one warning a coin
 * and wallet, at the first that sells it, with the place of the first that buys it. A file is read again for each place,
 * and nobody reads hundreds of lines that say the same: of further wallets the last warning of a coin has the number.
 */
export function strategyWarnings(loaded: Loaded, wrappedNative: Address | undefined): readonly Problem[] {
  if (wrappedNative === undefined) return [];
  const specs = loaded.map(({ spec }) => spec);
  const ofCoins = Map.groupBy(findConflicts(specs, wrappedNative), symbolsOf);
  return [...ofCoins.values()].flatMap((conflicts) => {
    const warnings = conflicts.slice(0, NAMED).flatMap((conflict) => warningOf(conflict, loaded) ?? []);
    const [last, more] = [warnings.at(-1), conflicts.length - NAMED];
    if (last === undefined || more <= 0) return warnings;
    const message = `${last.message}; the same in further wallets: ${more}`;
    return [...warnings.slice(0, -1), { ...last, message }];
  });
}

function symbolsOf({ sellers, buyers }: Conflict): string {
  return [...new Set([...sellers, ...buyers].map(({ token }) => token.symbol))].join("/");
}

function warningOf(conflict: Conflict, loaded: Loaded): Problem | undefined {
  const { wallet, sellers, buyers } = conflict;
  const seller = sellers[0];
  const buyer = buyers.find(({ strategy }) => strategy !== seller.strategy) ?? buyers[0];
  const source = sourceOf(seller.strategy, loaded);
  if (source === undefined) return undefined;
  const place = placeIn(sourceOf(buyer.strategy, loaded), buyer.token.symbol);
  const sold = `${symbolsOf(conflict)} of wallet ${wallet} is sold by ${namesOf(sellers)}`;
  const message = `${sold} and bought by ${namesOf(buyers)}${place === undefined ? "" : ` (${place})`}`;
  const suggestion = "if that is not meant, let them trade something else, or from another wallet";
  return problemOf(source, { path: placeOfToken(source.data, seller.token.symbol), message, suggestion });
}

function namesOf(sides: readonly Side[]): string {
  const named = sides.slice(0, NAMED).map(({ strategy }) => strategy);
  const more = sides.length - named.length;
  return `${named.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

/**
 * What is refused: two strategies that hold the same coins of one wallet at weights, and one that counts what another one
 * holds so, with both places.
 */
export function rivalProblems(loaded: Loaded, wrappedNative: Address | undefined): readonly Problem[] {
  const specs = loaded.map(({ spec }) => spec);
  return [
    ...findRivals(specs, wrappedNative).flatMap((rivals) => refusalOf(rivals, loaded) ?? []),
    ...findCountedMixes(specs, wrappedNative).flatMap((counted) => refusalOfCounted(counted, loaded) ?? []),
  ];
}

function refusalOfCounted({ strategy, holder, wallet, token }: CountedMix, loaded: Loaded): Problem | undefined {
  const source = sourceOf(strategy, loaded);
  if (source === undefined) return undefined;
  const other = sourceOf(holder, loaded);
  const place = other === undefined ? "" : ` (${describePlace(other, ["targets"])})`;
  const message = `counts ${token.symbol} of wallet ${wallet}, which ${holder}${place} keeps at weights: both would trade the same drift`;
  const suggestion = "keep one of them, or count another address";
  return problemOf(source, { path: ["external"], message, suggestion });
}

function refusalOf({ first, second, wallet, tokens }: Rivals, loaded: Loaded): Problem | undefined {
  const source = sourceOf(second, loaded);
  if (source === undefined) return undefined;
  const symbols = tokens.map(({ symbol }) => symbol).join(" and ");
  const other = sourceOf(first, loaded);
  const place = other === undefined ? "" : ` (${describePlace(other, ["targets"])})`;
  const path: Path = ["targets"];
  const message = `${second} and ${first}${place} both keep ${symbols} of wallet ${wallet} at weights, so each would undo what the other trades`;
  const suggestion = "keep one of them, put the tokens of both into one mix, or give one of them another wallet";
  return problemOf(source, { path, message, suggestion });
}

function placeIn(source: Source | undefined, symbol: string): string | undefined {
  return source === undefined ? undefined : describePlace(source, placeOfToken(source.data, symbol));
}

/** The file of a strategy, read again for its places: thousands are not kept for the few that are reported. */
export function sourceOf(id: string, loaded: Loaded): Source | undefined {
  const file = loaded.find(({ spec }) => spec.id === id)?.file;
  if (file === undefined) return undefined;
  const read = readTextFile(file);
  return "problem" in read ? undefined : readYaml(file, read.text).source;
}
