import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { type Campaign, firstOf, runCampaign } from "./campaign.ts";
import { LABELS } from "./daemon/aim.ts";
import { FAULT_NAMES } from "./faults.ts";
import { allPairs, PAIRS_WANTED, rarePairs } from "./pairs.ts";
import type { SentResult } from "./seed-process.ts";
import { sourceOfSeeds } from "./source.ts";

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "1000" },
    from: { type: "string", default: "1" },
    seed: { type: "string" },
    processes: { type: "string", default: String(Math.min(2, availableParallelism())) },
    lines: { type: "string", default: "80" },
    histogram: { type: "boolean", default: false },
    "without-nonces": { type: "boolean", default: false },
    among: { type: "string" },
    whole: { type: "boolean", default: false },
    faults: { type: "string" },
    trace: { type: "boolean", default: false },
    source: { type: "boolean", default: false },
  },
});

function show(result: SentResult): void {
  console.log(`\nseed ${result.seed}: ${firstOf(result)}`);
  console.log(`  strategies: ${result.strategies.join(", ")}`);
  console.log(`  faults: ${result.faults.join("; ")}`);
  for (const line of result.trace.slice(-Number(values.lines))) console.log(`  ${line.slice(0, 400)}`);
  for (const { invariant, what } of result.violations) console.log(`  VIOLATION ${invariant}: ${what}`);
}

/** What struck where, and what struck in which state of a swap. */
function showHistogram({ struck, hits }: Campaign): void {
  for (const counts of [struck, hits]) {
    console.log("");
    for (const [key, count] of [...counts].sort(([a], [b]) => (a < b ? -1 : 1)))
      console.log(`${String(count).padStart(9)}  ${key}`);
  }
}

/** So many seeds pass every label and are killed there, or something is wrong with what the seeds draw. */
const SEEDS_FOR_ALL_LABELS = 20_000;

/** @returns the labels at which no daemon was killed */
function showLabels({ passed, struck }: Campaign): readonly string[] {
  const kills = (label: string): number =>
    FAULT_NAMES.reduce((sum, name) => sum + (struck.get(`${name} | ${label}`) ?? 0), 0);
  const never = LABELS.filter((label) => kills(label) === 0);
  console.log(`\nkilled at ${LABELS.length - never.length} of ${LABELS.length} crash labels; passed and killed:`);
  for (const label of LABELS) {
    console.log(`${String(passed.get(label) ?? 0).padStart(9)} ${String(kills(label)).padStart(6)}  ${label}`);
  }
  if (never.length > 0) console.log(`  never at: ${never.join(", ")}`);
  return never;
}

const SHOWN_PAIRS = 12;

/** @returns whether a pair of fault and state came up too rarely, for the seeds of this campaign */
function showPairs({ hits, seeds }: Campaign): boolean {
  const rare = rarePairs(hits, seeds);
  const { times, inSeeds } = PAIRS_WANTED;
  console.log(
    `\n${rare.length} of ${allPairs().length} pairs of fault and state come up less than ${times} times in ${inSeeds} seeds:`,
  );
  for (const pair of rare.slice(0, values.histogram ? rare.length : SHOWN_PAIRS))
    console.log(`${String(pair.times).padStart(9)} ${String(pair.scaled).padStart(6)}  ${pair.pair}`);
  return rare.length > 0;
}

/** A campaign that is misspelled would run no seed, or no fault, and find nothing. */
function whole(option: string, text: string): number {
  if (!/^\d+$/.test(text)) throw new Error(`--${option} ${JSON.stringify(text)} is no whole number`);
  return Number(text);
}

function faultsOf(option: string, text: string | undefined): readonly string[] | undefined {
  const names = text?.split(",").filter((name) => name !== "");
  const unknown = names?.filter((name) => !FAULT_NAMES.some((known) => known === name)) ?? [];
  if (unknown.length > 0)
    throw new Error(`--${option}: there is no fault ${unknown.join(", ")}; there are ${FAULT_NAMES.join(", ")}`);
  return names;
}

/** Read before anything runs: files may be edited meanwhile, and the processes have loaded those of now. */
const source = sourceOfSeeds();
const sourceLine = `source ${source.digest}, of ${source.files.length} files below src/`;
if (values.source) {
  console.log(sourceLine);
  process.exit(0);
}

const isOne = values.seed !== undefined;
/** Anyone who ends a long campaign is told what it found. */
const interrupt = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => interrupt.abort());
const campaign = await runCampaign({
  from: isOne ? whole("seed", values.seed ?? "") : whole("from", values.from),
  seeds: isOne ? 1 : whole("seeds", values.seeds),
  processes: isOne ? 1 : whole("processes", values.processes),
  shrinks: !values.whole,
  withoutNonces: values["without-nonces"],
  amongFaults: faultsOf("among", values.among),
  tells: values.trace,
  until: interrupt.signal,
  faults: faultsOf("faults", values.faults),
  said: (line) => console.log(line),
  heard: (result) => {
    if (values.trace) for (const line of result.trace) console.log(line.slice(0, 400));
  },
});
for (const failure of campaign.failures) show(failure);
if (values.histogram) showHistogram(campaign);
const missed = isOne ? [] : showLabels(campaign);
const hasRarePairs = !isOne && showPairs(campaign);
const { seeds, lives, fills, hidden, seconds, failures } = campaign;
console.log(
  `\n${seeds} seeds, ${failures.length} failed; ${lives} lives of the daemon, ${fills} fills, ${hidden} transactions sent privately; ` +
    `${seconds.toFixed(0)} s, ${(seeds / seconds).toFixed(1)} seeds a second, ${((seeds * 60) / seconds).toFixed(0)} a minute`,
);
if (!isOne) console.log(sourceLine);
const isTooNarrow = missed.length > 0 && values.faults === undefined && seeds >= SEEDS_FOR_ALL_LABELS;
if (isTooNarrow)
  console.log(`no promise broke, but ${missed.length} crash labels were never tried: the campaign fails`);
const missesPairs = hasRarePairs && values.faults === undefined && seeds >= PAIRS_WANTED.inSeeds;
if (missesPairs)
  console.log("no promise broke, but some pairs of fault and state came up too rarely: the campaign fails");
process.exitCode = failures.length === 0 && !isTooNarrow && !missesPairs ? 0 : 1;
