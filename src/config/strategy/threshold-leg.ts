import type { Token } from "../../domain/money/token.ts";
import { type PairPrice, pairPriceOf } from "../../domain/strategy/pair-price.ts";
import type { LegFloor, ThresholdLeg, Trigger } from "../../domain/strategy/threshold-spec.ts";
import { at, atKey, type Complaint, type Found, type Part, type Path, refuse, refuseKey, sound } from "../complaint.ts";
import type { MoneyText } from "../units.ts";
import { findToken, readAmountOf, type StrategyFile } from "./scope.ts";
import type { LegFields } from "./threshold-schema.ts";

/** One leg with where it stands in its file. */
export interface PlacedLeg {
  readonly id: string;
  readonly path: Path;
  readonly role: ThresholdLeg["role"];
  readonly fields: LegFields;
}

/** The two tokens of a threshold file: what is sold for what, and in which of them prices are given. */
export interface ThresholdPair {
  readonly sell: Token;
  readonly buy: Token;
  readonly watch: Token;
  readonly quote: Token;
}

/** One leg. @returns undefined when something of it is broken */
export function buildLeg(file: StrategyFile, leg: PlacedLeg, pair: ThresholdPair): Part<ThresholdLeg> {
  return sound(readLeg(file, leg, pair));
}

function* readLeg(file: StrategyFile, leg: PlacedLeg, pair: ThresholdPair): Part<ThresholdLeg> {
  const { id, role, fields, path } = leg;
  const trigger = yield* buildTrigger(file, leg, pair);
  const amount = yield* buildAmount(file, leg, pair);
  if (trigger === undefined || amount === undefined) return undefined;
  const rearm = yield* buildRearm(file, leg, trigger, pair.quote);
  const floor = yield* buildFloor(file, leg, trigger, pair);
  yield* checkCrossing(path, fields, trigger);
  const { if_already_true: ifAlreadyTrue = "wait", when } = fields;
  const confirm = { forSeconds: when.for ?? 0, samples: when.samples ?? 1 };
  const onMissed = fields.on_missed ?? (sellsWatched(pair) ? "fire-if-still-true" : "ignore");
  return { id, role, trigger, confirm, amount, floor, ifAlreadyTrue, onMissed, rearm };
}

function sellsWatched({ sell, watch }: ThresholdPair): boolean {
  return sell.address === watch.address;
}

function* checkCrossing(path: Path, fields: LegFields, { kind }: Trigger): Iterable<Complaint> {
  if (kind !== "cross" && fields.if_already_true !== undefined)
    yield atKey`${path}.if_already_true: only a crossing waits -> leave the key out`;
  if ((kind === "level" || kind === "limit") && fields.on_missed !== undefined)
    yield atKey`${path}.on_missed: only a crossing can be missed -> leave the key out`;
}

const LEVELS = ["crosses_above", "crosses_below", "above", "below", "limit"] as const;

type Level = (typeof LEVELS)[number];

/** The one key of `when` that names a price, as far as there is one; for the pair, before its legs are built. */
export function levelOf({ when }: LegFields): { readonly key: Level; readonly money: MoneyText } | undefined {
  for (const key of LEVELS) {
    const money = when[key];
    if (money !== undefined) return { key, money };
  }
  return undefined;
}

function* buildTrigger(file: StrategyFile, leg: PlacedLeg, pair: ThresholdPair): Part<Trigger> {
  const { when } = leg.fields;
  const path = [...leg.path, "when"];
  const keys = [...LEVELS, "trail" as const].filter((key) => when[key] !== undefined);
  const fix = keys.length === 0 ? 'for example { crosses_above: "4500 USDC" }' : `keep one of ${keys.join(", ")}`;
  if (keys.length !== 1) return yield* refuse`${path}: needs exactly one of ${LEVELS.join(", ")} and trail -> ${fix}`;
  if (when.activate_at !== undefined && when.trail === undefined)
    yield atKey`${path}.activate_at: belongs to trail -> leave the key out`;
  const level = levelOf(leg.fields);
  if (level === undefined) return yield* buildTrail(file, leg, pair);
  const price = yield* readPrice(file, [...path, level.key], level.money, pair.quote);
  if (price === undefined) return undefined;
  if (level.key === "limit") return { kind: "limit", side: sellsWatched(pair) ? "above" : "below", price };
  const side = level.key === "above" || level.key === "crosses_above" ? "above" : "below";
  return { kind: level.key === side ? "level" : "cross", side, price };
}

function* buildTrail(file: StrategyFile, leg: PlacedLeg, pair: ThresholdPair): Part<Trigger> {
  const { trail, activate_at } = leg.fields.when;
  const path = [...leg.path, "when"];
  if (trail === undefined) return undefined;
  if (trail === 0n)
    return yield* refuse`${path}.trail: a stop that trails by nothing sells at once -> write for example 8%`;
  if (!sellsWatched(pair))
    return yield* refuseKey`${path}.trail: a trailing stop sells the token whose price it follows, not ${pair.sell.symbol} -> enter with crosses_below or limit`;
  const activateAt = yield* readPrice(file, [...path, "activate_at"], activate_at, pair.quote);
  return activate_at !== undefined && activateAt === undefined
    ? undefined
    : { kind: "trail", share: trail, activateAt };
}

function* readPrice(file: StrategyFile, path: Path, money: MoneyText | undefined, quote: Token): Part<PairPrice> {
  const raw = yield* readAmountOf(file, path, money, quote);
  return raw === undefined ? undefined : pairPriceOf(raw, quote);
}

function* buildAmount(
  file: StrategyFile,
  { fields, path: top, role }: PlacedLeg,
  pair: ThresholdPair,
): Part<ThresholdLeg["amount"]> {
  const { sell } = fields;
  const path = [...top, "sell"];
  const symbol = pair.sell.symbol;
  if ("symbol" in sell) {
    const raw = yield* readAmountOf(file, path, sell, pair.sell);
    if (role === "only" || raw === undefined) return raw === undefined ? undefined : { raw };
    return yield* refuse`${path}: a level sells a share of the original allocation -> write for example { amount: 25%, of: ${symbol} }`;
  }
  const token = yield* findToken(file, [...path, "of"], sell.of);
  if (token !== undefined && token.address !== pair.sell.address)
    yield at`${path}.of: all legs of a file sell one allocation, of ${symbol} -> give this leg a file of its own`;
  if (sell.amount > 0n) return token === undefined ? undefined : { share: sell.amount };
  return yield* refuse`${path}.amount: a share of nothing sells nothing`;
}

function* buildRearm(file: StrategyFile, leg: PlacedLeg, trigger: Trigger, quote: Token): Found<ThresholdLeg["rearm"]> {
  const { rearm } = leg.fields;
  const path = [...leg.path, "rearm"];
  if (rearm === undefined) {
    if (trigger.kind !== "level") return undefined;
    return yield* refuseKey`${leg.path}.when.${trigger.side}: would trade at every check while it is true, so it needs a cooldown -> add rearm: { cooldown: 1d }, or use crosses_...`;
  }
  if (leg.role === "level") return yield* refuseKey`${path}: a level of a ladder fires once -> leave the key out`;
  if (trigger.kind === "trail" || trigger.kind === "limit")
    return yield* refuseKey`${path}: a leg with ${trigger.kind} trades once -> leave the key out`;
  return yield* buildFarSide(file, { ...leg, rearm }, trigger, quote);
}

/** The price on the other side of the trigger's, at which a leg is armed again; a level needs none. */
function* buildFarSide(
  file: StrategyFile,
  { rearm, ...leg }: PlacedLeg & { readonly rearm: NonNullable<LegFields["rearm"]> },
  trigger: Exclude<Trigger, { kind: "trail" }>,
  quote: Token,
): Found<ThresholdLeg["rearm"]> {
  const path = [...leg.path, "rearm"];
  const far = trigger.side === "above" ? "below" : "above";
  const [wanted, unwanted] = [rearm[far], rearm[trigger.side]];
  const terms = { cooldownSeconds: rearm.cooldown, times: rearm.repeat };
  if (wanted === undefined && unwanted === undefined && trigger.kind === "level") return { price: undefined, ...terms };
  const level = levelOf(leg.fields);
  const mark = level === undefined ? "the level" : `${level.money.number} ${level.money.symbol}`;
  const wrong = unwanted === undefined ? path : [...path, trigger.side];
  if (wanted === undefined || unwanted !== undefined)
    return yield* refuseKey`${wrong}: after ${level?.key ?? ""} the far side lies ${far} -> write ${far}: with a price ${far} ${mark}`;
  const price = yield* readPrice(file, [...path, far], wanted, quote);
  if (price === undefined) return undefined;
  if (far === "below" ? price < trigger.price : price > trigger.price) return { price, ...terms };
  return yield* refuse`${path}.${far}: must lie ${far} the level of when, or it would fire at every wobble -> use a price ${far} ${mark}`;
}

function* buildFloor(file: StrategyFile, leg: PlacedLeg, trigger: Trigger, pair: ThresholdPair): Part<LegFloor> {
  const { floor } = leg.fields;
  const path = [...leg.path, "floor"];
  if (trigger.kind === "limit") {
    if (floor === undefined) return { price: trigger.price };
    return yield* refuse`${path}: the limit is the floor -> leave the key out`;
  }
  if (floor === undefined) {
    const isStop = sellsWatched(pair) && (trigger.kind === "trail" || trigger.side === "below");
    if (!isStop) return undefined;
    return yield* refuse`${leg.path}.when: a stop needs a floor, or an empty pool takes the allocation at any price -> add floor: 3%`;
  }
  if (typeof floor === "bigint") return { steps: [floor] };
  if (Array.isArray(floor)) {
    if (floor.every((step, index) => step > (floor[index - 1] ?? -1n))) return { steps: floor };
    return yield* refuse`${path}: each step must be wider than the one before it -> write [3%, 5%, 8%]`;
  }
  if (trigger.kind === "trail")
    return yield* refuse`${path}: the floor of a moving stop moves with it -> write a share: 3%`;
  return yield* buildFloorPrice(file, { path, floor }, trigger.price, pair);
}

function* buildFloorPrice(
  file: StrategyFile,
  { path, floor }: { readonly path: Path; readonly floor: MoneyText },
  trigger: PairPrice,
  pair: ThresholdPair,
): Part<LegFloor> {
  const price = yield* readPrice(file, path, floor, pair.quote);
  if (price === undefined) return undefined;
  const isExit = sellsWatched(pair);
  if (isExit ? price <= trigger : price >= trigger) return { price };
  return yield* refuse`${path}: must not lie on the better side of the trigger -> write a price ${isExit ? "below" : "above"} it, or a share such as 3%`;
}
