import type { Token } from "../../domain/money/token.ts";
import { type PairPrice, pairPriceOf } from "../../domain/strategy/pair-price.ts";
import type { LegFloor, Side, ThresholdLeg, Trigger } from "../../domain/strategy/threshold-spec.ts";
import { DEFAULTS } from "../defaults.ts";
import { type Path, problemAt, problemAtKey } from "../source.ts";
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

/** The two tokens of a threshold file: what is sold for what, and in which of them prices are told. */
export interface ThresholdPair {
  readonly sell: Token;
  readonly buy: Token;
  readonly watch: Token;
  readonly quote: Token;
}

/** One leg. @returns undefined when something of it is broken */
export function buildLeg(file: StrategyFile, leg: PlacedLeg, pair: ThresholdPair): ThresholdLeg | undefined {
  const before = file.problems.length;
  const { fields, path } = leg;
  const trigger = buildTrigger(file, leg, pair);
  const amount = buildAmount(file, leg, pair);
  if (trigger === undefined || amount === undefined) return undefined;
  const rearm = buildRearm(file, leg, { trigger, quote: pair.quote });
  const floor = buildFloor(file, leg, { trigger, pair });
  if (trigger.kind !== "cross") refuseKey(file, path, { key: "if_already_true", fields, why: "only a crossing waits" });
  if (trigger.kind === "level" || trigger.kind === "limit") {
    refuseKey(file, path, { key: "on_missed", fields, why: "only a crossing can be missed" });
  }
  if (file.problems.length > before) return undefined;
  return {
    id: leg.id,
    role: leg.role,
    trigger,
    confirm: { forSeconds: fields.when.for ?? 0, samples: fields.when.samples ?? 1 },
    amount,
    floor,
    ifAlreadyTrue: fields.if_already_true ?? DEFAULTS.ifAlreadyTrue,
    onMissed: fields.on_missed ?? (sellsWatched(pair) ? "fire-if-still-true" : "ignore"),
    rearm,
  };
}

function sellsWatched({ sell, watch }: ThresholdPair): boolean {
  return sell.address === watch.address;
}

function refuseKey(
  file: StrategyFile,
  path: Path,
  refused: { key: keyof LegFields; fields: LegFields; why: string },
): void {
  if (refused.fields[refused.key] === undefined) return;
  file.problems.push(problemAtKey(file.source, [...path, refused.key], refused.why, "leave the key out"));
}

const LEVELS = ["crosses_above", "crosses_below", "above", "below", "limit"] as const;

type Level = (typeof LEVELS)[number];

/** The one key of `when` that names a price, as far as there is one; for the pair, before its legs are built. */
export function levelOf(fields: LegFields): { readonly key: Level; readonly money: MoneyText } | undefined {
  for (const key of LEVELS) {
    const money = fields.when[key];
    if (money !== undefined) return { key, money };
  }
  return undefined;
}

function buildTrigger(file: StrategyFile, leg: PlacedLeg, pair: ThresholdPair): Trigger | undefined {
  const { when } = leg.fields;
  const path = [...leg.path, "when"];
  const keys = [...LEVELS, "trail" as const].filter((key) => when[key] !== undefined);
  if (keys.length !== 1) {
    const message = `needs exactly one of ${LEVELS.join(", ")} and trail`;
    const suggestion =
      keys.length === 0 ? 'for example { crosses_above: "4500 USDC" }' : `keep one of ${keys.join(", ")}`;
    file.problems.push(problemAt(file.source, path, message, suggestion));
    return undefined;
  }
  if (when.activate_at !== undefined && when.trail === undefined) {
    file.problems.push(problemAtKey(file.source, [...path, "activate_at"], "belongs to trail", "leave the key out"));
  }
  const level = levelOf(leg.fields);
  if (level === undefined) return buildTrail(file, leg, pair);
  const price = readPrice(file, [...path, level.key], { money: level.money, quote: pair.quote });
  if (price === undefined) return undefined;
  if (level.key === "limit") return { kind: "limit", side: sellsWatched(pair) ? "above" : "below", price };
  const side = level.key === "above" || level.key === "crosses_above" ? "above" : "below";
  return { kind: level.key === side ? "level" : "cross", side, price };
}

function buildTrail(file: StrategyFile, leg: PlacedLeg, pair: ThresholdPair): Trigger | undefined {
  const { trail, activate_at } = leg.fields.when;
  const path = [...leg.path, "when"];
  if (trail === undefined) return undefined;
  if (trail === 0n) {
    const message = "a stop that trails by nothing sells at once";
    file.problems.push(problemAt(file.source, [...path, "trail"], message, "write for example 8%"));
    return undefined;
  }
  if (!sellsWatched(pair)) {
    const message = `a trailing stop sells the token whose price it follows, not ${pair.sell.symbol}`;
    file.problems.push(problemAtKey(file.source, [...path, "trail"], message, "enter with crosses_below or limit"));
    return undefined;
  }
  const activateAt = readPrice(file, [...path, "activate_at"], { money: activate_at, quote: pair.quote });
  return activate_at !== undefined && activateAt === undefined
    ? undefined
    : { kind: "trail", share: trail, activateAt };
}

function readPrice(
  file: StrategyFile,
  path: Path,
  written: { money: MoneyText | undefined; quote: Token },
): PairPrice | undefined {
  const raw = readAmountOf(file, path, written.money, written.quote);
  return raw === undefined ? undefined : pairPriceOf(raw, written.quote);
}

function buildAmount(file: StrategyFile, leg: PlacedLeg, pair: ThresholdPair): ThresholdLeg["amount"] | undefined {
  const { sell } = leg.fields;
  const path = [...leg.path, "sell"];
  if ("symbol" in sell) {
    const raw = readAmountOf(file, path, sell, pair.sell);
    if (leg.role === "only" || raw === undefined) return raw === undefined ? undefined : { raw };
    const suggestion = `write for example { amount: 25%, of: ${pair.sell.symbol} }`;
    file.problems.push(problemAt(file.source, path, "a level sells a share of the original bag", suggestion));
    return undefined;
  }
  const token = findToken(file, [...path, "of"], sell.of);
  if (token !== undefined && token.address !== pair.sell.address) {
    const message = `all legs of a file sell one bag, of ${pair.sell.symbol}`;
    file.problems.push(problemAt(file.source, [...path, "of"], message, "give this leg a file of its own"));
  }
  if (sell.amount > 0n) return token === undefined ? undefined : { share: sell.amount };
  file.problems.push(problemAt(file.source, [...path, "amount"], "a share of nothing sells nothing"));
  return undefined;
}

function buildRearm(
  file: StrategyFile,
  leg: PlacedLeg,
  about: { trigger: Trigger; quote: Token },
): ThresholdLeg["rearm"] {
  const { trigger, quote } = about;
  const { rearm } = leg.fields;
  const path = [...leg.path, "rearm"];
  const problem = (at: Path, message: string, suggestion?: string): undefined => {
    file.problems.push(problemAtKey(file.source, at, message, suggestion));
  };
  if (rearm === undefined) {
    if (trigger.kind !== "level") return undefined;
    const message = "would trade at every look while it is true, so it needs a cooldown";
    return problem([...leg.path, "when", trigger.side], message, "add rearm: { cooldown: 1d }, or use crosses_...");
  }
  if (leg.role === "level") return problem(path, "a level of a ladder fires once", "leave the key out");
  if (trigger.kind === "trail" || trigger.kind === "limit")
    return problem(path, `a leg with ${trigger.kind} trades once`, "leave the key out");
  const far = trigger.side === "above" ? "below" : "above";
  const [wanted, unwanted] = [rearm[far], rearm[trigger.side]];
  const terms = { cooldownSeconds: rearm.cooldown, times: rearm.repeat };
  if (wanted === undefined && unwanted === undefined && trigger.kind === "level") return { price: undefined, ...terms };
  if (wanted === undefined || unwanted !== undefined) {
    const key = levelOf(leg.fields)?.key ?? "";
    const at = unwanted === undefined ? path : [...path, trigger.side];
    return problem(
      at,
      `after ${key} the far side lies ${far}`,
      `write ${far}: with a price ${far} ${describeLevel(leg)}`,
    );
  }
  const price = readPrice(file, [...path, far], { money: wanted, quote });
  if (price === undefined) return undefined;
  if (far === "below" ? price < trigger.price : price > trigger.price) return { price, ...terms };
  const message = `must lie ${far} the level of when, or it would fire at every wobble`;
  const suggestion = `use a price ${far} ${describeLevel(leg)}`;
  file.problems.push(problemAt(file.source, [...path, far], message, suggestion));
  return undefined;
}

function describeLevel(leg: PlacedLeg): string {
  const money = levelOf(leg.fields)?.money;
  return money === undefined ? "the level" : `${money.number} ${money.symbol}`;
}

function buildFloor(
  file: StrategyFile,
  leg: PlacedLeg,
  about: { trigger: Trigger; pair: ThresholdPair },
): LegFloor | undefined {
  const { trigger, pair } = about;
  const { floor } = leg.fields;
  const path = [...leg.path, "floor"];
  const problem = (message: string, suggestion: string): undefined => {
    file.problems.push(problemAt(file.source, path, message, suggestion));
  };
  if (trigger.kind === "limit")
    return floor === undefined ? { price: trigger.price } : problem("the limit is the floor", "leave the key out");
  if (floor === undefined) {
    const isStop = sellsWatched(pair) && (trigger.kind === "trail" || trigger.side === "below");
    if (!isStop) return undefined;
    const at = [...leg.path, "when"];
    const message = "a stop needs a floor, or an empty pool takes the bag at any price";
    file.problems.push(problemAt(file.source, at, message, "add floor: 3%"));
    return undefined;
  }
  if (typeof floor === "bigint" || Array.isArray(floor)) {
    const steps = typeof floor === "bigint" ? [floor] : floor;
    const rises = steps.every((step, index) => step > (steps[index - 1] ?? -1n));
    return rises ? { steps } : problem("each step must be wider than the one before it", "write [3%, 5%, 8%]");
  }
  if (trigger.kind === "trail") return problem("the floor of a moving stop moves with it", "write a share: 3%");
  const price = readPrice(file, path, { money: floor, quote: pair.quote });
  if (price === undefined) return undefined;
  const worse: Side = sellsWatched(pair) ? "below" : "above";
  if (worse === "below" ? price <= trigger.price : price >= trigger.price) return { price };
  return problem("must not lie on the better side of the trigger", `write a price ${worse} it, or a share such as 3%`);
}
