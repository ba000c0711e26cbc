import { createChance } from "./chance.ts";
import { createFaults } from "./faults.ts";
import { openSeedPool } from "./pool.ts";
import type { SentResult } from "./seed-process.ts";
import { shrink } from "./shrink.ts";
import { isWithoutNonces } from "./world/profile.ts";

/** What a campaign of seeds came to. */
export interface Campaign {
  readonly seeds: number;
  readonly failures: readonly SentResult[];
  readonly lives: number;
  readonly fills: number;
  /** transactions that were sent to private endpoints */
  readonly hidden: number;
  readonly seconds: number;
  /** how often each named instant of the program was passed */
  readonly passed: ReadonlyMap<string, number>;
  /** how often each fault struck, by its name and where */
  readonly struck: ReadonlyMap<string, number>;
  /** how often each fault struck while a swap was in each state */
  readonly hits: ReadonlyMap<string, number>;
}

/** Each so many-th seed is run twice: the same seed is the same world, to the last line of its trace. */
const TWICE_EVERY = 100;

const MOST_FAILURES = 10;

export interface CampaignTerms {
  readonly from: number;
  readonly seeds: number;
  readonly processes: number;
  readonly shrinks: boolean;
  /** results carry what happened although nothing broke */
  readonly tells?: boolean;
  /** instead of those that each seed draws */
  readonly faults?: readonly string[] | undefined;
  /** only the seeds whose service has orders without nonces */
  readonly withoutNonces?: boolean;
  /** only the seeds that draw one of these faults */
  readonly amongFaults?: readonly string[] | undefined;
  /** once it is aborted no further seed begins, and what was found so far is reported */
  readonly until?: AbortSignal;
  /** hears of each result */
  heard?(result: SentResult): void;
  said(line: string): void;
}

function isWanted({ withoutNonces, amongFaults }: CampaignTerms, seed: number): boolean {
  if (withoutNonces === true && !isWithoutNonces(createChance(seed))) return false;
  return amongFaults === undefined || createFaults(seed).on.some((name) => amongFaults.includes(name));
}

/** Runs seeds, the failed ones again until nothing can be taken away from them. */
export async function runCampaign(terms: CampaignTerms): Promise<Campaign> {
  const pool = openSeedPool(terms.processes);
  const startedMs = performance.now();
  const failures: SentResult[] = [];
  const passed = new Map<string, number>();
  const struck = new Map<string, number>();
  const hits = new Map<string, number>();
  const sums = { seeds: 0, lives: 0, fills: 0, hidden: 0 };
  const take = (result: SentResult): void => {
    sums.seeds += 1;
    sums.lives += result.lives;
    sums.fills += result.fills;
    sums.hidden += result.hidden;
    addTo(passed, result.passed);
    addTo(struck, result.struck);
    addTo(hits, result.hits);
    if (result.violations.length > 0) {
      failures.push(result);
      terms.said(`seed ${result.seed} fails: ${firstOf(result)}`);
    }
  };
  const one = async (seed: number): Promise<void> => {
    const result = await pool.run({ seed, faults: terms.faults, tells: terms.tells });
    terms.heard?.(result);
    take(result);
    if (seed % TWICE_EVERY !== 0) return;
    const again = await pool.run({ seed, faults: terms.faults });
    if (again.traceHash === result.traceHash) return;
    const what = `the same seed gave ${result.traceHash} and ${again.traceHash}`;
    failures.push({ ...result, violations: [{ invariant: "determinism", what, atMs: 0 }] });
    terms.said(`seed ${seed} fails: ${what}`);
  };
  const count = createCounter(terms.from, terms.seeds);
  const next = (): number | undefined => {
    let seed = count();
    while (seed !== undefined && !isWanted(terms, seed)) seed = count();
    return seed;
  };
  const isOver = (): boolean => failures.length >= MOST_FAILURES || terms.until?.aborted === true;
  const line = async (): Promise<void> => {
    for (let seed = next(); seed !== undefined && !isOver(); seed = next()) {
      await one(seed);
      if (sums.seeds % 500 === 0) terms.said(`${sums.seeds} seeds, ${perSecond(sums.seeds, startedMs)} a second`);
    }
  };
  try {
    await Promise.all(Array.from({ length: terms.processes }, line));
    const smallest: SentResult[] = [];
    for (const failed of failures) {
      const first = failed.violations[0]?.invariant;
      const isWhole = !terms.shrinks || first === "determinism" || first === "simulation";
      smallest.push(isWhole ? failed : await shrink(pool, failed));
    }
    return { ...sums, failures: smallest, passed, struck, hits, seconds: (performance.now() - startedMs) / 1_000 };
  } finally {
    pool.close();
  }
}

function addTo(sums: Map<string, number>, counts: readonly (readonly [string, number])[]): void {
  for (const [key, count] of counts) sums.set(key, (sums.get(key) ?? 0) + count);
}

function createCounter(from: number, count: number): () => number | undefined {
  let seed = from;
  return () => (seed < from + count ? seed++ : undefined);
}

export function firstOf({ violations: [first] }: SentResult): string {
  return first === undefined ? "nothing" : `${first.invariant}: ${first.what}`;
}

function perSecond(count: number, sinceMs: number): string {
  return ((count * 1_000) / (performance.now() - sinceMs)).toFixed(1);
}
