import { smaller } from "../money/bigint.ts";
import { ONE_PPM } from "../money/fraction.ts";
import { valueDown } from "../money/price.ts";
import { innerBandValue, isOutsideInnerBand } from "./rebalance-bands.ts";
import { type Mix, type Position, sellableValue } from "./rebalance-mix.ts";
import type { RebalanceSpec } from "./rebalance-spec.ts";

/** Value that goes from one token of the mix to another, in dollars (1e-18). */
export interface Move {
  readonly from: Position;
  readonly to: Position;
  readonly value: bigint;
}

/** Moves in the order of their size, and what kept some back. */
export interface Plan {
  readonly moves: readonly Move[];
  /** a limit left something of the way for later */
  readonly isCut: boolean;
  /** not even one move fits into the turnover that is left */
  readonly isTurnoverSpent: boolean;
}

/** How much of a position has to be sold (`size` above zero) or bought. */
interface Target {
  readonly position: Position;
  size: bigint;
}

/** What one plan may move at most, in dollars (1e-18). */
export interface PlanLimits {
  /** what is left of turnover and budget */
  readonly turnover: bigint | undefined;
  readonly ofOneToken: bigint | undefined;
}

/** Plans the way to the destination: the largest overweight goes into the largest underweight until none is left. */
export function planToDestination(spec: RebalanceSpec, mix: Mix, limits: PlanLimits): Plan {
  const targets = mix.positions.map((position) => ({ position, wanted: wantedOf(spec, mix, position) }));
  const over = targets.flatMap(({ position, wanted }) => {
    const size = smaller(wanted, sellableValue(position));
    return size > 0n ? [{ position, size }] : [];
  });
  const under = targets.flatMap(({ position, wanted }) => (wanted < 0n ? [{ position, size: -wanted }] : []));
  const excess = sum(over) - sum(under);
  if (excess > 0n) addCounterparts(under, mix, { size: excess, sign: -1n });
  if (excess < 0n) addCounterparts(over, mix, { size: -excess, sign: 1n });
  return pair(mix, { over, under }, limits);
}

/**
 * Plans how new money alone is put to work: of each token at most what came in, and only what it has above its target,
 * goes into underweight tokens.
 * @param money new money by token address, in the smallest unit
 */
export function planNewMoney(mix: Mix, money: (address: string) => bigint, limits: PlanLimits): Plan {
  const over = mix.positions.flatMap((position) => {
    const raw = money(position.token.address);
    const size = smaller(valueDown({ raw, decimals: position.token.decimals }, position.usd), position.gap);
    return size > 0n ? [{ position, size }] : [];
  });
  const under = mix.positions.flatMap((position) => (position.gap < 0n ? [{ position, size: -position.gap }] : []));
  return pair(mix, { over, under }, limits);
}

/** What a position asks for by itself: above zero it is sold. */
function wantedOf(spec: RebalanceSpec, mix: Mix, position: Position): bigint {
  const { destination, bands } = spec;
  const { gap, target } = position;
  if (target.exit || destination.to === "target") return gap;
  if (destination.to === "fraction") return (gap * destination.share) / ONE_PPM;
  if (bands === "none") return gap;
  if (!isOutsideInnerBand(mix, position, bands)) return 0n;
  const left = (innerBandValue(mix, position, bands) * (ONE_PPM - destination.inward)) / ONE_PPM;
  return gap > 0n ? gap - left : gap + left;
}

/**
 * What one side moves beyond the other is taken by the positions that are furthest from their targets on the other side,
 * down to their targets and never beyond. All gaps sum to zero, so there is always enough of it, but where it lies elsewhere
 * and where more cash is missing than all is worth.
 */
function addCounterparts(side: Target[], mix: Mix, needed: { size: bigint; sign: 1n | -1n }): void {
  const targetOf = (position: Position): bigint => side.find((target) => target.position === position)?.size ?? 0n;
  const reachOf = (position: Position): bigint =>
    needed.sign === 1n ? smaller(position.gap, sellableValue(position)) : -position.gap;
  const rooms = mix.positions
    .map((position) => ({ position, room: reachOf(position) - targetOf(position) }))
    .filter(({ room }) => room > 0n)
    .sort((a, b) => compare(b.room, a.room));
  let left = needed.size;
  for (const { position, room } of rooms) {
    if (left === 0n) return;
    const size = smaller(room, left);
    left -= size;
    const target = side.find((candidate) => candidate.position === position);
    if (target === undefined) side.push({ position, size });
    else target.size += size;
  }
}

/** Each round settles one side of a pair, so there are fewer moves than tokens. */
function pair(mix: Mix, targets: { over: readonly Target[]; under: readonly Target[] }, limits: PlanLimits): Plan {
  const over = targets.over.map(({ position, size }) => ({ position, size: smaller(size, sellableValue(position)) }));
  const under = targets.under.map((target) => ({ ...target }));
  const isCapped = [...over, ...under].filter((target) => cap(target, limits.ofOneToken)).length > 0;
  const moves: Move[] = [];
  let left = limits.turnover;
  for (let round = 0; round < mix.positions.length; round += 1) {
    const from = largest(over);
    const to = largest(under);
    if (from === undefined || to === undefined) break;
    const wanted = smaller(from.size, to.size);
    if (wanted < mix.minValue) break;
    const value = left === undefined ? wanted : smaller(wanted, left);
    const isShort = value < wanted;
    if (value >= mix.minValue) moves.push({ from: from.position, to: to.position, value });
    if (isShort) return { moves, isCut: true, isTurnoverSpent: moves.length === 0 };
    if (left !== undefined) left -= value;
    from.size -= value;
    to.size -= value;
  }
  return { moves, isCut: isCapped && moves.length > 0, isTurnoverSpent: false };
}

/** Cuts a target to a limit. @returns whether it was larger */
function cap(target: Target, limit: bigint | undefined): boolean {
  if (limit === undefined || target.size <= limit) return false;
  target.size = limit;
  return true;
}

function largest(targets: readonly Target[]): Target | undefined {
  return targets.reduce<Target | undefined>(
    (best, target) => (best === undefined || target.size > best.size ? target : best),
    undefined,
  );
}

function sum(targets: readonly Target[]): bigint {
  return targets.reduce((total, { size }) => total + size, 0n);
}

function compare(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
