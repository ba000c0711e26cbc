import { denies } from "../guard/consequence.ts";
import type { Address } from "../money/address.ts";
import { type SwapWait, swapWait } from "../run/step-hold.ts";
import type { EndedSlots } from "../schedule/ended-slots.ts";
import { instantsSince } from "../schedule/instants-since.ts";
import type { ZoneOffsets } from "../schedule/schedule.ts";
import { type BudgetView, budgetSpans } from "../strategy/budget.ts";
import type { PlannedSwap, StrategyView } from "../strategy/decision.ts";
import type { RunEnd, SwapEnd } from "../strategy/kind.ts";
import { ownGasOf } from "../strategy/own-gas.ts";
import { resolvePlannedAmount } from "../strategy/planned-amount.ts";
import type { StrategySpec } from "../strategy/spec.ts";
import { decideStrategy, type StrategyMemory, strategyNeeds, strategyRunEnded } from "../strategy/strategy.ts";
import { type BudgetCourse, beginBudget, budgetAt } from "./budget-course.ts";
import { ceilingProblem, type ForecastLimits, type TradeValue, valueOfTrade } from "./ceilings.ts";
import { type NextRun, nextRun, type RunAtOnce, runsAtOnce } from "./coming-runs.ts";
import { externalFor, freeFor } from "./free-for.ts";
import { add, beginHoldings, type ForecastWallet, type Holdings, type Moved, move } from "./holdings.ts";

/** A strategy as it stands when the forecast begins. */
export interface ForecastStrategy {
  readonly spec: StrategySpec;
  readonly memory: StrategyMemory;
  /** the last slot that has its run or end, and later ones that have theirs already (absent: none) */
  readonly handledMs: number;
  readonly ended?: readonly EndedSlots[] | undefined;
  /** its run that has not begun yet; absent: none */
  readonly due?: RunAtOnce | undefined;
  /** whether a run of it has begun and is open; absent: none is */
  readonly isBusy?: boolean | undefined;
  /** why it starts no runs now, undefined when it does */
  readonly barred: string | undefined;
  readonly spent: StrategyView["spent"];
  readonly bought: StrategyView["bought"];
  readonly accepted?: StrategyView["accepted"];
  /** what it has sold within the bounds of its budget; absent without one */
  readonly budget?: BudgetView | undefined;
}

/** The world when the forecast begins; but for our own trades it stands still. */
export interface ForecastWorld {
  readonly nowMs: number;
  readonly strategies: readonly ForecastStrategy[];
  readonly wallets: ReadonlyMap<Address, ForecastWallet>;
  readonly prices: StrategyView["prices"];
  readonly bars: StrategyView["bars"];
  readonly limits: ForecastLimits;
  /** trades so far, as far back as the limits count */
  readonly trades: readonly TradeValue[];
  readonly zones: ZoneOffsets;
  /** how many slots of each strategy are forecast */
  readonly slots: number;
}

/** What would one swap bring? The caller quotes it. */
export interface FillQuestion {
  readonly spec: StrategySpec;
  readonly swap: PlannedSwap;
  /** gross amount sold, smallest unit */
  readonly amount: bigint;
  /** what swaps before it brought to its wallet, and took from it */
  readonly moved: Moved;
}

/** What is to be known besides of a swap that would be done. */
interface FillNotes {
  /** the contract that takes what is sold, where that is known */
  readonly spender?: Address | undefined;
  /** why it could not be tried out as it will be: what it brings is the quote's word alone */
  readonly untried?: string | undefined;
}

/** The answer: the amount after all fees, or why there would be none. */
export type FillAnswer = ({ readonly bought: bigint } & FillNotes) | { readonly code: string; readonly detail: string };

/** A swap that a slot would do. Amounts in smallest units. */
export interface ForecastSwap extends FillNotes {
  readonly sell: PlannedSwap["sell"];
  readonly buy: PlannedSwap["buy"];
  readonly amount: bigint;
  /** zero when it would not be done */
  readonly bought: bigint;
  /** what it would wait for before anything is signed */
  readonly waitsFor?: SwapWait | undefined;
  /** why it would not be done: a denial's or a service's code */
  readonly problem: { readonly code: string; readonly detail: string } | undefined;
}

/** What one slot would come to. */
export interface ForecastSlot {
  readonly strategyId: string;
  readonly slotMs: number;
  /** whether nothing holds it back: it begins as soon as a daemon runs */
  readonly isAtOnce: boolean;
  readonly isAfterOpenRun: boolean;
  readonly decision: "swap" | "skip" | "defer" | "barred";
  readonly reason: string | undefined;
  readonly detail: string | undefined;
  readonly swaps: readonly ForecastSwap[];
}

/** A strategy while the forecast goes on. */
interface Course extends Pick<ForecastStrategy, "spec" | "accepted"> {
  memory: StrategyMemory;
  barred: string | undefined;
  readonly ended: readonly EndedSlots[];
  readonly atOnce: RunAtOnce[];
  readonly isBusy: boolean;
  handledMs: number;
  next: NextRun | undefined;
  left: number;
  readonly spent: Map<Address, bigint>;
  readonly bought: Map<Address, bigint>;
  readonly budget: BudgetCourse | undefined;
}

/**
 * What the next slots of all strategies would do if the market stood still: the same decisions, memories and ceilings as
 * the daemon's, slot by slot in the order of their instants, each on what the ones before it left. Asks the caller what
 * each swap would bring, and ends with the slots.
 */
export function* forecast(world: ForecastWorld): Generator<FillQuestion, ForecastSlot[], FillAnswer> {
  const courses = world.strategies.map((strategy) => beginCourse(strategy, world));
  const holdings = new Map([...world.wallets].map(([address, wallet]) => [address, beginHoldings(wallet)]));
  const trades = [...world.trades];
  const slots: ForecastSlot[] = [];
  for (let course = earliest(courses); course?.next !== undefined; course = earliest(courses)) {
    const run = course.next;
    course.left -= 1;
    course.handledMs = Math.max(course.handledMs, run.slotMs);
    course.next = course.left > 0 ? nextRun(course, world) : undefined;
    slots.push(yield* decideSlot(course, run, { world, holdings, trades }));
  }
  return slots;
}

function beginCourse(strategy: ForecastStrategy, world: ForecastWorld): Course {
  const { spec, memory, barred, accepted, ended = [], isBusy = false } = strategy;
  const { runs, handledMs } = runsAtOnce(strategy, world);
  const course: Course = {
    ...{ spec, memory, barred, accepted, ended, handledMs, isBusy },
    atOnce: [...runs],
    next: undefined,
    left: world.slots,
    spent: new Map(strategy.spent),
    bought: new Map(strategy.bought),
    budget: strategy.budget === undefined ? undefined : beginBudget(strategy.budget),
  };
  course.next = nextRun(course, world);
  return course;
}

function earliest(courses: readonly Course[]): Course | undefined {
  let found: Course | undefined;
  for (const course of courses) {
    if (course.next === undefined || course.left <= 0) continue;
    if (found?.next === undefined || course.next.atMs < found.next.atMs) found = course;
  }
  return found;
}

interface Common {
  readonly world: ForecastWorld;
  readonly holdings: ReadonlyMap<Address, Holdings>;
  readonly trades: TradeValue[];
}

function* decideSlot(course: Course, run: NextRun, common: Common): Generator<FillQuestion, ForecastSlot, FillAnswer> {
  const { spec } = course;
  const { slotMs, isAtOnce, isAfterOpenRun } = run;
  const slot = { strategyId: spec.id, slotMs, isAtOnce, isAfterOpenRun, swaps: [] };
  if (course.barred !== undefined) {
    return { ...slot, decision: "barred", reason: course.barred, detail: undefined };
  }
  const decision = decideStrategy(spec, viewOf(course, run, common), course.memory);
  course.memory = decision.memory;
  const { outcome } = decision;
  if (decision.pause !== undefined) course.barred = "paused";
  if (outcome.kind !== "swap") {
    return { ...slot, decision: outcome.kind, reason: outcome.reason, detail: outcome.detail };
  }
  const swaps = yield* perform(course, run, { planned: outcome.swaps, common });
  const after = strategyRunEnded(spec, course.memory, runEnd(run, swaps));
  course.memory = after.memory;
  if (after.pause !== undefined) course.barred = "paused";
  if (course.budget !== undefined && swaps.some(({ bought }) => bought > 0n)) course.budget.runs += 1;
  const problem = swaps.find((swap) => swap.problem !== undefined)?.problem;
  return { ...slot, decision: "swap", reason: problem?.code, detail: problem?.detail, swaps };
}

function viewOf(course: Course, { slotMs, slots, atMs }: NextRun, { world, holdings }: Common): StrategyView {
  const { spec } = course;
  const held = holdings.get(spec.wallet.address);
  const free = freeFor(spec, held?.free ?? new Map(), world.strategies);
  const { instantsAfterMs: afterMs, external } = strategyNeeds(spec, course.memory);
  return {
    ...{ slotMs, slots, nowMs: atMs },
    free,
    ownGas: ownGasOf(spec, free),
    balances: held?.balances ?? new Map(),
    outside: held?.outside ?? new Map(),
    instants: afterMs === undefined ? 0 : instantsSince(spec.schedule, { afterMs, untilMs: slotMs }, world.zones),
    prices: world.prices,
    spent: course.spent,
    bought: course.bought,
    accepted: course.accepted,
    bars: world.bars,
    budget: course.budget && budgetAt(course.budget, budgetSpans(spec.budget, atMs, world.zones)),
    external: externalFor(external, holdings),
  };
}

const TOO_LITTLE = { code: "below_minimum_trade", detail: "earlier swaps of the run would bring too little" };

/** Swaps one after the other, each on the balances that the one before it left; after a denial nothing more is begun. */
function* perform(
  course: Course,
  { atMs }: NextRun,
  { planned, common }: { planned: readonly PlannedSwap[]; common: Common },
): Generator<FillQuestion, ForecastSwap[], FillAnswer> {
  const done: ForecastSwap[] = [];
  let denied: ForecastSwap["problem"];
  const moved = common.holdings.get(course.spec.wallet.address)?.moved ?? new Map();
  for (const swap of planned) {
    const { sell, buy } = swap;
    const amount = resolvePlannedAmount(swap.amount, (position) => done[position]?.bought ?? 0n) ?? 0n;
    const value = valueOfTrade({ sell, amount, atMs }, common.world.prices);
    const known = { trades: common.trades, limits: common.world.limits };
    const barrier = denied ?? (amount > 0n ? ceilingProblem(value, known) : TOO_LITTLE);
    const answer = barrier ?? (yield { spec: course.spec, swap, amount, moved });
    if ("code" in answer) {
      const { code, detail } = answer;
      done.push({ sell, buy, amount, bought: 0n, problem: { code, detail } });
      if (denies(code)) denied = { code: "earlier_swap_denied", detail: `${code}: ${detail}` };
      continue;
    }
    const { bought } = answer;
    if (value !== undefined) common.trades.push(value);
    settle(course, { swap, amount, bought }, common);
    course.budget?.sales.push({ atMs, token: sell.address, amount, usd: value?.usd ?? 0n });
    done.push({ sell, buy, amount, ...answer, waitsFor: swapWait(value?.usd, course), problem: undefined });
  }
  return done;
}

/** What was sold leaves the wallet, what was bought comes to the recipient where that is a wallet of ours. */
function settle(
  course: Course,
  fill: { swap: PlannedSwap; amount: bigint; bought: bigint },
  { holdings }: Common,
): void {
  const { swap, amount, bought } = fill;
  const { wallet, recipient } = course.spec;
  for (const [address, token, change] of [
    [wallet.address, swap.sell.address, -amount],
    [recipient, swap.buy.address, bought],
  ] as const) {
    const held = holdings.get(address);
    if (held !== undefined) move(held, token, change);
  }
  add(course.spent, swap.sell.address, amount);
  add(course.bought, swap.buy.address, bought);
}

function runEnd({ slotMs, atMs }: NextRun, swaps: readonly ForecastSwap[]): RunEnd {
  const ends = swaps.map(
    (swap, position): SwapEnd => ({
      position,
      sell: swap.sell,
      buy: swap.buy,
      sold: swap.problem === undefined ? swap.amount : 0n,
      bought: swap.bought,
      reason: swap.problem?.code,
    }),
  );
  return { slotMs, nowMs: atMs, filled: ends.some((end) => end.bought > 0n), swaps: ends };
}
