import { formatPercent, ONE_PPM, type Ppm, toPpm } from "../../domain/money/fraction.ts";
import { isNative, type Token } from "../../domain/money/token.ts";
import type { Band, RebalanceTarget } from "../../domain/strategy/rebalance-spec.ts";
import { at, type Complaint, each, type Found, type Part, refuse } from "../complaint.ts";
import { readBand, type SharedBands } from "./rebalance-bands.ts";
import type { RebalanceFields } from "./rebalance-schema.ts";
import { checkPair, findToken, type StrategyFile } from "./scope.ts";

type TargetField = RebalanceFields["targets"][string];

interface Entry {
  readonly symbol: string;
  readonly field: TargetField;
  readonly weight: Ppm | "rest";
}

/** The tokens of the mix with their weights and bands. */
export function* buildTargets(
  file: StrategyFile,
  fields: RebalanceFields["targets"],
  bands: SharedBands | undefined,
): Found<readonly RebalanceTarget[]> {
  const entries = Object.entries(fields).map(([symbol, field]): Entry => {
    return { symbol, field, weight: typeof field === "object" ? field.weight : field };
  });
  const sum = entries.reduce((total, { weight }) => (weight === "rest" ? total : total + weight), 0n);
  yield* checkSum(entries, toPpm(sum));
  const rest = toPpm(sum < ONE_PPM ? ONE_PPM - sum : 0n);
  const targets = yield* each(entries, function* (entry): Part<RebalanceTarget> {
    const { symbol, field, weight } = entry;
    const token = yield* findToken(file, ["targets", symbol], symbol);
    const exit = typeof field === "object" && field.exit === true;
    yield* checkWeight(entry, exit);
    const own = yield* bandsOf(entry, bands);
    const others = yield* otherFormsOf(file, entry, token);
    if (token === undefined) return undefined;
    const counted = others.length === 0 ? {} : { with: others };
    return { token, weight: weight === "rest" ? rest : weight, exit, ...own, ...counted };
  });
  // Any two tokens of the mix may be swapped into each other.
  for (const [index, { token: sell }] of targets.entries())
    for (const { token: buy } of targets.slice(index + 1))
      yield* checkPair(file, ["targets", buy.symbol], { sell, buy });
  return targets;
}

/** The weights leave something for the one token that is the rest, or sum to a whole without it. */
function* checkSum(entries: readonly Entry[], sum: Ppm): Iterable<Complaint> {
  const rests = entries.filter(({ weight }) => weight === "rest").map(({ symbol }) => symbol);
  if (entries.length < 2) yield at`targets: a mix has at least two tokens`;
  if (rests.length > 1) yield at`targets: only one token can be the rest, not ${rests.join(" and ")}`;
  else if (rests.length === 1 && sum >= ONE_PPM)
    yield at`targets: the weights sum to ${formatPercent(sum)}, so nothing is left for the rest`;
  else if (rests.length === 0 && sum !== ONE_PPM)
    yield at`targets: the weights sum to ${formatPercent(sum)}, not to 100% -> change one of them to rest`;
}

function* checkWeight({ symbol, field, weight }: Entry, exit: boolean): Iterable<Complaint> {
  if (exit && weight !== 0n)
    yield at`targets.${symbol}.exit: a token that is sold out has no weight -> write { weight: 0%, exit: true }`;
  const path = typeof field === "object" ? [symbol, "weight"] : symbol;
  if (!exit && weight === 0n)
    yield at`targets.${path}: a weight of nothing is no target -> leave the token out, or write { weight: 0%, exit: true } to sell all of it`;
}

/** One coin and its wrapped form are the same to the wei; any other token has a price, and risks, of its own. */
function* otherFormsOf({ scope }: StrategyFile, { symbol, field }: Entry, token: Token | undefined): Found<Token[]> {
  const names = typeof field === "object" ? (field.with ?? []) : [];
  if (names.length > 0 && typeof field === "object" && field.exit === true)
    yield at`targets.${symbol}.with: ${symbol} is sold out, and its other form is never sold -> leave it out`;
  return yield* each(names, function* (name, index): Part<Token> {
    const path = ["targets", symbol, "with", index];
    const other = scope.tokens.get(name)?.token;
    if (other === undefined) return yield* findToken({ data: undefined, scope }, path, name);
    if (token === undefined) return undefined;
    const [one, two] = [token, other].map((form) => (isNative(form) ? scope.wrappedNative : form.address));
    if (one === two && token.address !== other.address) return other;
    return yield* refuse`${path}: ${name} is not the other form of ${symbol}: only a coin and its wrapped token are one and the same -> leave it out, or give it a weight of its own`;
  });
}

/** A token's own bands stand in place of those of all; its short form is a soft band. */
function* bandsOf(
  { symbol, field }: Entry,
  shared: SharedBands | undefined,
): Found<{ soft: Band | undefined; hard: Band | undefined }> {
  const own = typeof field === "object" ? field.bands : undefined;
  const common = shared === undefined || shared.rules === "none" ? undefined : shared;
  if (own === undefined) return { soft: common?.soft, hard: common?.hard };
  if (shared?.rules === "none")
    yield at`targets.${symbol}.bands: has no meaning without bands for all: bands are none -> leave it out, or give bands`;
  const { soft, hard } = yield* readBand(["targets", symbol, "bands"], own);
  return { soft: soft ?? common?.soft, hard: hard ?? common?.hard };
}
