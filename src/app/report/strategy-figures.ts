import { type Asset, type Entry, type SwapEntry, worthOf, worthOfSwap } from "../../domain/books/entry.ts";
import { ONE_PPM } from "../../domain/money/fraction.ts";
import { againstReference, median } from "../../domain/paper/fill-quality.ts";

/** How a fill came out, in parts per million; less than zero is worse. undefined: what it would be compared with is not kept. */
export interface Execution {
  readonly atMs: number;
  readonly strategy: string;
  readonly reference: bigint | undefined;
  readonly quote: bigint | undefined;
}

/** Each fill against the reference prices of its clearing, and against its quote. */
export function executionsOf(entries: readonly Entry[]): readonly Execution[] {
  return swapsOf(entries).map(({ atMs, strategy = "", sold, bought, prices, quoted }) => ({
    atMs,
    strategy,
    reference:
      prices.sold === undefined || prices.bought === undefined
        ? undefined
        : againstReference({
            sold: { raw: sold.raw, decimals: sold.asset.decimals, usd: prices.sold.usd },
            bought: { raw: bought.raw, decimals: bought.asset.decimals, usd: prices.bought.usd },
          }),
    quote: quoted === undefined || quoted === 0n ? undefined : ((bought.raw - quoted) * ONE_PPM) / quoted,
  }));
}

/** What a strategy did. Values in dollars (1e-18); what has no price is in none. */
export interface StrategyFigures {
  readonly strategy: string;
  readonly swaps: number;
  readonly value: bigint;
  readonly fees: bigint;
  readonly gas: bigint;
  /** medians, parts per million */
  readonly reference: bigint | undefined;
  readonly quote: bigint | undefined;
}

/** What each strategy did, the one that traded most first. */
export function strategyFigures(entries: readonly Entry[]): readonly StrategyFigures[] {
  const executions = Map.groupBy(executionsOf(entries), ({ strategy }) => strategy);
  const byStrategy = Map.groupBy(
    entries.filter(({ kind }) => kind === "swap" || kind === "gas"),
    ({ strategy = "(none)" }) => strategy,
  );
  return [...byStrategy]
    .map(([strategy, own]) => {
      const quality = executions.get(strategy) ?? [];
      const costs = costsOf(own);
      return {
        ...{ strategy, swaps: swapsOf(own).length },
        value: sum(swapsOf(own).map((swap) => worthOfSwap(swap) ?? 0n)),
        ...{ fees: sum(costs.map(({ fees }) => fees)), gas: sum(costs.map(({ gas }) => gas)) },
        reference: median(quality.flatMap(({ reference }) => reference ?? [])),
        quote: median(quality.flatMap(({ quote }) => quote ?? [])),
      };
    })
    .sort((one, other) => (one.value > other.value ? -1 : one.value < other.value ? 1 : 0));
}

/** What trading cost at an instant, in dollars (1e-18). */
interface Cost {
  readonly atMs: number;
  readonly fees: bigint;
  readonly gas: bigint;
}

/** Fees of the service and of affiliates, and gas, entry by entry; what has no price counts nothing. */
export function costsOf(entries: readonly Entry[]): readonly Cost[] {
  return entries.flatMap((entry) => {
    if (entry.kind === "gas") return [{ atMs: entry.atMs, fees: 0n, gas: worthOf(entry.gas, entry.price) ?? 0n }];
    if (entry.kind !== "swap") return [];
    const { atMs, fees, sold, gas, prices } = entry;
    const raw = (fees.service ?? 0n) + (fees.affiliate ?? 0n);
    const gasWorth = gas === undefined ? 0n : (worthOf(gas, prices.native) ?? 0n);
    return [{ atMs, fees: worthOf({ asset: sold.asset, raw }, prices.sold) ?? 0n, gas: gasWorth }];
  });
}

/** A strategy that bought one asset for one other, against having bought all of it at the first swap. */
export interface AgainstLumpSum {
  readonly strategy: string;
  readonly bought: Asset;
  readonly points: readonly { readonly atMs: number; readonly inSteps: bigint; readonly atOnce: bigint }[];
}

/** Fewer swaps tell nothing. */
const FEWEST_SWAPS = 3;

/**
 * What was bought in steps, with what was not spent yet, against all of it at the first reference price, without any cost.
 * Values at the reference price of each swap, in dollars (1e-18). Strategies that sell or buy more than one asset are left
 * out, and those of which a swap has no price are named.
 */
export function againstLumpSums(entries: readonly Entry[]): {
  readonly found: readonly AgainstLumpSum[];
  readonly unpriced: readonly string[];
} {
  const found: AgainstLumpSum[] = [];
  const unpriced: string[] = [];
  for (const [strategy, swaps] of Map.groupBy(swapsOf(entries), ({ strategy = "" }) => strategy)) {
    const pairs = new Set(swaps.map(({ sold, bought }) => `${sold.asset.address} ${bought.asset.address}`));
    if (swaps.length < FEWEST_SWAPS || pairs.size > 1) continue;
    const one = againstLumpSum(swaps);
    if (one === undefined) unpriced.push(strategy);
    else found.push({ strategy, ...one });
  }
  return { found, unpriced };
}

/** @returns undefined where a swap has no price */
function againstLumpSum(swaps: readonly SwapEntry[]): Omit<AgainstLumpSum, "strategy"> | undefined {
  const steps = swaps.flatMap(({ atMs, sold, bought, prices }) => {
    const spent = worthOf(sold, prices.sold);
    return spent === undefined || prices.bought === undefined ? [] : [{ atMs, spent, bought, price: prices.bought }];
  });
  const [start] = steps;
  if (start === undefined || steps.length < swaps.length || start.price.usd === 0n) return undefined;
  const all = sum(steps.map(({ spent }) => spent));
  const { asset } = start.bought;
  const units = (all * 10n ** BigInt(asset.decimals)) / start.price.usd;
  let [spent, held] = [0n, 0n];
  const points = steps.map((step) => {
    spent += step.spent;
    held += step.bought.raw;
    const inSteps = (worthOf({ asset, raw: held }, step.price) ?? 0n) + all - spent;
    return { atMs: step.atMs, inSteps, atOnce: worthOf({ asset, raw: units }, step.price) ?? 0n };
  });
  return { bought: asset, points };
}

function swapsOf(entries: readonly Entry[]): readonly SwapEntry[] {
  return entries.filter((entry) => entry.kind === "swap");
}

function sum(parts: readonly bigint[]): bigint {
  return parts.reduce((total, part) => total + part, 0n);
}
