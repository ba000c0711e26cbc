import type { Address, Hex } from "../../domain/money/address.ts";
import { smaller } from "../../domain/money/bigint.ts";
import { kindOf } from "../pools/kinds.ts";
import { identityOf } from "../pools/pool.ts";
import { type Hop, type PlannedHop, PORTION_ALL } from "./plan.ts";

/** A hop with the part of the sold amount that goes through it, in the sold token. */
interface Branch {
  readonly hop: PlannedHop;
  left: bigint;
}

/** One pool after the other, with an amount of its own. */
interface Leg {
  readonly hops: readonly PlannedHop[];
  amount: bigint;
}

/** A leg with less than this part of the trade is not worth a call of its own: the largest one takes its amount. */
const LEAST_PART = 10_000n;

/**
 * The same flow as legs, one after the other: each takes its part of the sold token through pools of its own, and all that
 * it brings on the way. So a router can take it that knows amounts only, and no shares of what it holds. A pool that
 * several legs share is met by each as those before it left it; one whose fee moves is met by the largest of them alone,
 * and the largest of all takes the others' parts. Where they have more hops than may be, the larger legs share what the
 * others would have taken.
 * @param planned hops in their order of execution, with what each of them moved
 */
export function inLegs(
  planned: readonly PlannedHop[],
  performed: readonly Hop[],
  { from, maxHops }: { readonly from: Address; readonly maxHops: number },
): readonly PlannedHop[] {
  const branches = branchesOf(planned, performed, from);
  const legs: Leg[] = [];
  for (let leg = nextLeg(branches, from); leg !== undefined; leg = nextLeg(branches, from)) legs.push(leg);
  return toPlanned(withinHops(withoutDust(legs, meetOnce(legs)), maxHops));
}

/** The hops of each leg: one begins wherever the sold token is sold. */
export function legsOf<H extends { readonly tokenIn: Address }>(hops: readonly H[]): readonly (readonly H[])[] {
  const legs: H[][] = [];
  for (const hop of hops) {
    if (hop.tokenIn === hops[0]?.tokenIn) legs.push([hop]);
    else legs.at(-1)?.push(hop);
  }
  return legs;
}

/** What reaches a token is shared among the hops that leave it, as it was; the last of them takes what rounding leaves. */
function branchesOf(
  planned: readonly PlannedHop[],
  performed: readonly Hop[],
  from: Address,
): ReadonlyMap<Address, readonly Branch[]> {
  const reached = new Map<Address, bigint>([[from, sumOf(performed, from)]]);
  const branches = new Map<Address, Branch[]>();
  for (const token of new Set(planned.map(({ tokenIn }) => tokenIn))) {
    const [source, total] = [reached.get(token) ?? 0n, sumOf(performed, token)];
    const leaving = planned.flatMap((hop, index) => {
      const moved = performed[index]?.amountIn ?? 0n;
      return hop.tokenIn === token && moved > 0n ? [{ hop, left: (source * moved) / total }] : [];
    });
    const last = leaving.at(-1);
    if (last !== undefined) last.left += source - leaving.reduce((sum, { left }) => sum + left, 0n);
    for (const { hop, left } of leaving) reached.set(hop.tokenOut, (reached.get(hop.tokenOut) ?? 0n) + left);
    branches.set(token, leaving);
  }
  return branches;
}

function sumOf(performed: readonly Hop[], token: Address): bigint {
  return performed.reduce((sum, { tokenIn, amountIn }) => (tokenIn === token ? sum + amountIn : sum), 0n);
}

/** Takes the widest way that is left; undefined when nothing is. */
function nextLeg(branches: ReadonlyMap<Address, readonly Branch[]>, from: Address): Leg | undefined {
  const way: Branch[] = [];
  for (let at = widest(branches.get(from)); at !== undefined; at = widest(branches.get(at.hop.tokenOut))) way.push(at);
  if (way.length === 0) return undefined;
  const amount = way.map(({ left }) => left).reduce(smaller);
  for (const branch of way) branch.left -= amount;
  return { hops: way.map(({ hop }) => hop), amount };
}

function widest(branches: readonly Branch[] | undefined): Branch | undefined {
  const most = branches?.reduce((best, one) => (one.left > best.left ? one : best));
  return most !== undefined && most.left > 0n ? most : undefined;
}

function bySize(legs: readonly Leg[]): readonly Leg[] {
  return [...legs].sort((a, b) => (a.amount < b.amount ? 1 : -1));
}

/** The legs that meet no pool again whose fee moves: the larger ones go first. */
function meetOnce(legs: readonly Leg[]): ReadonlySet<Leg> {
  const met = new Set<Hex>();
  const kept = bySize(legs).filter(({ hops }) => {
    const moved = hops.flatMap(({ state: { pool } }) => (kindOf(pool).feeMoves === true ? [identityOf(pool)] : []));
    if (moved.some((pool) => met.has(pool))) return false;
    for (const pool of moved) met.add(pool);
    return true;
  });
  return new Set(kept);
}

function amountOf(legs: readonly Leg[]): bigint {
  return legs.reduce((sum, { amount }) => sum + amount, 0n);
}

function withoutDust(legs: readonly Leg[], allowed: ReadonlySet<Leg>): readonly Leg[] {
  const total = amountOf(legs);
  const [largest, ...rest] = bySize(legs);
  if (largest === undefined) return [];
  const kept = rest.filter((leg) => allowed.has(leg) && leg.amount * LEAST_PART >= total);
  const amount = total - amountOf(kept);
  return [{ hops: largest.hops, amount }, ...kept];
}

/** As many of the first legs as have no more hops together; each gets its part of what the others had. */
function withinHops(legs: readonly Leg[], maxHops: number): readonly Leg[] {
  let left = maxHops;
  const kept = legs.filter(({ hops }) => {
    if (hops.length > left) return false;
    left -= hops.length;
    return true;
  });
  const [total, own] = [amountOf(legs), amountOf(kept)];
  if (own === total) return legs;
  const shares = kept.map(({ hops, amount }) => ({ hops, amount: (amount * total) / own }));
  const [largest] = shares;
  if (largest !== undefined) largest.amount += total - amountOf(shares);
  return shares;
}

/** As hops whose portions give each leg its amount, and its later hops all that the leg brought. */
function toPlanned(legs: readonly Leg[]): readonly PlannedHop[] {
  let left = amountOf(legs);
  return legs.flatMap(({ hops, amount }, index) => {
    const portion = index === legs.length - 1 ? PORTION_ALL : (amount * PORTION_ALL) / left;
    left -= amount;
    return hops.map((hop, place) => ({ ...hop, portion: place === 0 ? portion : PORTION_ALL }));
  });
}
