import { type Conflict, type Crossing, findConflicts } from "../domain/guard/conflicts.ts";
import type { Address } from "../domain/money/address.ts";
import type { StrategySpec } from "../domain/strategy/spec.ts";
import { CONFIG_BOUNDS } from "./defaults.ts";
import { readTextFile } from "./files.ts";
import type { Problem } from "./problem.ts";
import { readYaml } from "./read-yaml.ts";
import { describePlace, problemOf, type Source } from "./source.ts";
import { placeOfToken } from "./token-place.ts";

/**
 * What is allowed but may be a mistake: strategies of one wallet that may trade against each other, with both places.
 */
export function strategyWarnings(
  loaded: readonly { readonly spec: StrategySpec; readonly file: string }[],
  wrappedNative: Address | undefined,
): readonly Problem[] {
  if (wrappedNative === undefined) return [];
  const most = CONFIG_BOUNDS.mostWarnings;
  const specs = loaded.map(({ spec }) => spec);
  const files = new Map(loaded.map(({ spec, file }) => [spec.id, file]));
  const { conflicts, isCut } = findConflicts(specs, { wrappedNative, most });
  const warnings = conflicts.flatMap((conflict) => {
    const first = readAgain(files.get(conflict.first));
    const second = readAgain(files.get(conflict.second));
    return first === undefined || second === undefined ? [] : [warningOf(conflict, { first, second })];
  });
  const [last] = warnings.slice(-1);
  if (!isCut || last === undefined) return warnings;
  return [...warnings, { ...last, message: `more pairs trade against each other; the first ${most} are listed` }];
}

/** A file is read again for its places: thousands of files are not kept for the few that are reported. */
function readAgain(file: string | undefined): Source | undefined {
  if (file === undefined) return undefined;
  const read = readTextFile(file);
  return "problem" in read ? undefined : readYaml(file, read.text).source;
}

function warningOf(conflict: Conflict, sources: { first: Source; second: Source }): Problem {
  const { first, second, wallet, crossings } = conflict;
  const [crossing] = crossings;
  const own = tokenOf(crossing, first);
  const place = describePlace(sources.second, placeOfToken(sources.second.data, tokenOf(crossing, second)));
  const what = crossings.map(({ seller, sold, buyer }) => `${seller} sells ${sold.symbol}, which ${buyer} buys`);
  const message = `${what.join("; ")}: both trade from wallet ${wallet}, the other one at ${place}`;
  const suggestion = "if that is not meant, let one of them trade something else, or from another wallet";
  return problemOf(sources.first, { path: placeOfToken(sources.first.data, own), message, suggestion });
}

function tokenOf({ seller, sold, bought }: Crossing, strategy: string): string {
  return strategy === seller ? sold.symbol : bought.symbol;
}
