import { ONE_PPM, type Ppm, toPpm } from "../money/fraction.ts";
import type { Token } from "../money/token.ts";
import type { PlannedAmount, PlannedSwap } from "./decision.ts";
import type { RunNote } from "./rebalance-memory.ts";
import { type Mix, type Position, rawOf, sellableValue } from "./rebalance-mix.ts";
import type { Move } from "./rebalance-plan.ts";
import type { RebalanceSpec } from "./rebalance-spec.ts";

/** A millionth of a dollar: what is left of a token that is sold out is less than that only by rounding. */
const DUST = 10n ** 12n;

/** Swaps of a run in their order, with what the memory has to note of them. */
export interface Legs {
  readonly swaps: readonly PlannedSwap[];
  readonly notes: RunNote["legs"];
  /** proceeds that refill the token that swaps go over */
  readonly hole: bigint;
  /** proceeds below this are no trade of their own */
  readonly least: bigint;
}

interface Leg {
  readonly swap: PlannedSwap;
  readonly note: RunNote["legs"][number];
}

/**
 * Turns moves into swaps. A swap that spends what another one brings is sized by what was measured; everything else is a
 * fixed amount, rounded down, and together never more than may be sold of the token.
 */
export function legsOf(spec: RebalanceSpec, mix: Mix, moves: readonly Move[]): Legs {
  const { via, order } = spec.trades;
  const sale = saleOf(mix);
  const planned =
    via === undefined
      ? { legs: moves.flatMap((move) => directLeg(mix, sale, move)), hole: 0n }
      : order === "sells-first"
        ? sellsFirst(mix, { moves, via, sale })
        : { legs: pairByPair(mix, { moves, via, sale }), hole: 0n };
  const swaps = planned.legs.map(({ swap }, position) => ({
    ...swap,
    retryForSeconds: windowOf(spec, swap, position),
  }));
  const least = leastProceeds(mix, via ?? spec.quote);
  return { swaps, notes: planned.legs.map(({ note }) => note), hole: planned.hole, least };
}

/** The first swap has the run's window; each later one gets its own from its turn on, or it might have none left. */
function windowOf(spec: RebalanceSpec, { amount }: PlannedSwap, position: number): number | undefined {
  if (amount.kind === "proceeds") return spec.trades.legTimeoutSeconds;
  return position === 0 ? undefined : spec.retryForSeconds;
}

/** Sizes sales: of a token that is sold out the last one takes what is left, so that no dust remains. */
function saleOf(mix: Mix): (from: Position, value: bigint) => bigint {
  const sold = new Map<Position, { raw: bigint; value: bigint }>();
  return (from, value) => {
    const before = sold.get(from) ?? { raw: 0n, value: 0n };
    const left = from.sellable - before.raw;
    const worth = rawOf(mix, from.token, value);
    const isRest = from.target.exit && sellableValue(from) - before.value - value < DUST;
    const raw = isRest || worth > left ? left : worth;
    sold.set(from, { raw: before.raw + raw, value: before.value + value });
    return raw;
  };
}

function directLeg(mix: Mix, sale: ReturnType<typeof saleOf>, move: Move): Leg[] {
  const raw = sale(move.from, move.value);
  if (raw === 0n) return [];
  const swap = { sell: move.from.token, buy: move.to.token, amount: { kind: "fixed", raw } } as const;
  return [{ swap, note: { turnover: turnoverOf(mix, move.value), of: [] } }];
}

interface Route {
  readonly moves: readonly Move[];
  readonly via: Token;
  readonly sale: ReturnType<typeof saleOf>;
}

/** One sell a token into the token that everything goes over, then one buy a token with what that brought. */
function sellsFirst(mix: Mix, { moves, via, sale }: Route): { legs: Leg[]; hole: bigint } {
  const isVia = (position: Position): boolean => position.token.address === via.address;
  const sells = byPosition(
    moves.filter(({ from }) => !isVia(from)).map(({ from, value }) => ({ position: from, value })),
  );
  const buys = byPosition(moves.filter(({ to }) => !isVia(to)).map(({ to, value }) => ({ position: to, value })));
  const legs = sells.flatMap(({ position, value }): Leg[] => {
    const raw = sale(position, value);
    if (raw === 0n) return [];
    const swap = { sell: position.token, buy: via, amount: { kind: "fixed", raw } } as const;
    return [{ swap, note: { turnover: turnoverOf(mix, value), of: [] } }];
  });
  const of = legs.map((_leg, position) => position);
  const ownMoney = sumOf(moves.filter(({ from }) => isVia(from)));
  const hole = sumOf(moves.filter(({ to }) => isVia(to)));
  const holeRaw = hole === 0n ? 0n : rawOf(mix, via, hole) + 1n;
  const base = rawOf(mix, via, ownMoney) - holeRaw;
  const shares = sharesOf(buys);
  let isOwnCounted = false;
  for (const [index, { position, value }] of buys.entries()) {
    const share = shares[index] ?? toPpm(0);
    const max = rawOf(mix, via, value);
    const amount: PlannedAmount =
      of.length === 0
        ? { kind: "fixed", raw: max }
        : { kind: "proceeds", of, base, share, max, min: leastProceeds(mix, via) };
    if (max === 0n) continue;
    const turnover = isOwnCounted ? 0 : turnoverOf(mix, ownMoney);
    isOwnCounted = true;
    legs.push({ swap: { sell: via, buy: position.token, amount }, note: { turnover, of } });
  }
  return { legs, hole: holeRaw };
}

/** Each buy right behind the sell that pays for it: more swaps, but less money between two tokens at a time. */
function pairByPair(mix: Mix, { moves, via, sale }: Route): Leg[] {
  const legs: Leg[] = [];
  for (const move of moves) {
    const isDirect = [move.from, move.to].some(({ token }) => token.address === via.address);
    const [first] = directLeg(mix, sale, move);
    if (first === undefined) continue;
    const max = rawOf(mix, via, move.value);
    if (isDirect || max === 0n) {
      legs.push(first);
      continue;
    }
    const of = [legs.length];
    const min = leastProceeds(mix, via);
    legs.push({ ...first, swap: { ...first.swap, buy: via } });
    legs.push({
      swap: { sell: via, buy: move.to.token, amount: { kind: "proceeds", of, base: 0n, share: ONE_PPM, max, min } },
      note: { turnover: 0, of },
    });
  }
  return legs;
}

/** Proceeds come out below the plan by fees, and a buy is still done then: half the smallest trade is enough for it. */
function leastProceeds(mix: Mix, via: Token): bigint {
  const half = rawOf(mix, via, mix.minValue / 2n);
  return half > 0n ? half : 1n;
}

/** Shares in proportion that sum to exactly one whole: the last one takes what rounding left, so that nothing is. */
function sharesOf(buys: readonly { value: bigint }[]): readonly Ppm[] {
  const sum = buys.reduce((total, { value }) => total + value, 0n);
  let left: bigint = ONE_PPM;
  return buys.map(({ value }, index) => {
    const share = index === buys.length - 1 ? left : (value * ONE_PPM) / sum;
    left -= share;
    return toPpm(share);
  });
}

function byPosition(parts: readonly { position: Position; value: bigint }[]): { position: Position; value: bigint }[] {
  const sums = new Map<Position, bigint>();
  for (const { position, value } of parts) sums.set(position, (sums.get(position) ?? 0n) + value);
  return [...sums]
    .map(([position, value]) => ({ position, value }))
    .sort((a, b) => (a.value === b.value ? 0 : a.value < b.value ? 1 : -1));
}

function sumOf(moves: readonly Move[]): bigint {
  return moves.reduce((total, { value }) => total + value, 0n);
}

/** The share of what is there that a value is, rounded up: it counts against the limit. */
function turnoverOf({ there }: Mix, value: bigint): number {
  return Number((value * ONE_PPM + there - 1n) / there);
}
