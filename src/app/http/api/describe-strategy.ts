import { basename } from "node:path";
import type { Configuration, LoadedStrategy } from "../../../config/configuration.ts";
import { blankSecrets, type Problem } from "../../../config/problem.ts";
import { formatUnits } from "../../../domain/money/amount.ts";
import { USD_DECIMALS } from "../../../domain/money/price.ts";
import type { PairPrice } from "../../../domain/strategy/pair-price.ts";
import type { StrategySpec } from "../../../domain/strategy/spec.ts";
import { tradedSides } from "../../../domain/strategy/strategy.ts";
import { legMemory, parseThresholdMemory } from "../../../domain/strategy/threshold-memory.ts";
import type { ThresholdLeg, ThresholdSpec } from "../../../domain/strategy/threshold-spec.ts";
import { nextSlotsOf } from "./describe-status.ts";
import type { AnswerOf } from "./operations.ts";

type Strategy = AnswerOf<"getStrategy">;
type Level = Strategy["levels"][number];

/** What a strategy is described from. */
export interface StrategyParts {
  readonly loaded: LoadedStrategy;
  /** the file's text as it is now; undefined: it cannot be read */
  readonly file: { readonly text: string; readonly isEdited: boolean } | undefined;
  /** what is wrong with that text */
  readonly problems: readonly Problem[];
  /** as stored; undefined before the first slot */
  readonly memory: string | undefined;
  readonly status: Strategy["status"];
  readonly next: Parameters<typeof nextSlotsOf>[1];
}

const MOST_NEXT_SLOTS = 5;

/** A strategy with its settings. */
export function describeStrategy(parts: StrategyParts): Strategy {
  const { loaded, file, status } = parts;
  const { spec } = loaded;
  const { sells, buys } = tradedSides(spec);
  const memory: unknown = parts.memory === undefined ? null : JSON.parse(parts.memory);
  return {
    ...{ id: spec.id, kind: spec.kind, wallet: spec.wallet.name, file: basename(loaded.file) },
    ...{ sells: sells.map(plainToken), buys: buys.map(plainToken), ...watchedBy(spec) },
    levels: spec.kind === "threshold" ? levelsOf(spec, memory) : [],
    spec: plain(spec),
    yaml: file === undefined ? null : blankSecrets(file.text),
    isEdited: file === undefined || file.isEdited,
    problems: parts.problems.map(({ line, column, path, message, suggestion }) => ({
      ...{ line, column, path, message, suggestion: suggestion ?? null },
    })),
    memory,
    mode: status.mode,
    nextSlots: [...nextSlotsOf(loaded, parts.next, MOST_NEXT_SLOTS)],
    budgets: status.budgets,
    status,
  };
}

/** A strategy by its id; undefined where none of that id is in force. */
export function loadedStrategy({ strategies }: Configuration, id: string): LoadedStrategy | undefined {
  return strategies.find(({ spec }) => spec.id === id);
}

function plainToken({ symbol, address, decimals }: Strategy["sells"][number]): Strategy["sells"][number] {
  return { symbol, address, decimals };
}

function watchedBy(spec: StrategySpec): Pick<Strategy, "watch" | "quote"> {
  if (spec.kind === "threshold") return { watch: plainToken(spec.watch), quote: plainToken(spec.quote) };
  if (spec.kind === "rebalance") return { watch: null, quote: plainToken(spec.quote) };
  return { watch: null, quote: null };
}

/** Prices at which something happens, those that a trailing stop remembers included. */
function levelsOf(spec: ThresholdSpec, memory: unknown): Level[] {
  const known = parseThresholdMemory(memory);
  return spec.legs.flatMap((leg) => {
    const trail = (known && legMemory(known, leg.id))?.trail;
    const moving = trail === undefined ? [] : [level(leg, "trail", "below", BigInt(trail.stop))];
    return [...triggerLevels(leg), ...moving, ...floorLevels(leg), ...rearmLevels(leg)];
  });
}

function triggerLevels(leg: ThresholdLeg): Level[] {
  const { trigger } = leg;
  if (trigger.kind === "trail")
    return trigger.activateAt === undefined ? [] : [level(leg, "trigger", null, trigger.activateAt)];
  const what = trigger.kind === "limit" ? "limit" : trigger.side === "below" ? "stop" : "trigger";
  return [level(leg, what, trigger.side, trigger.price)];
}

function floorLevels(leg: ThresholdLeg): Level[] {
  return leg.floor !== undefined && "price" in leg.floor ? [level(leg, "floor", null, leg.floor.price)] : [];
}

function rearmLevels(leg: ThresholdLeg): Level[] {
  return leg.rearm?.price === undefined ? [] : [level(leg, "rearm", null, leg.rearm.price)];
}

function level({ id }: ThresholdLeg, what: Level["what"], side: Level["side"], price: PairPrice | bigint): Level {
  return { leg: id, what, side, price: formatUnits(price, USD_DECIMALS) };
}

/** The same as plain JSON: amounts and shares as decimal text. */
function plain(spec: StrategySpec): unknown {
  return JSON.parse(
    JSON.stringify(spec, (_key, part: unknown) => {
      if (typeof part === "bigint") return part.toString();
      return part instanceof Map ? Object.fromEntries(part) : part;
    }),
  );
}
