import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { migrateLane } from "../../src/adapters/sqlite/lanes.ts";
import { openDaemonDatabase } from "../../src/app/daemon-database.ts";
import { Killed } from "./daemon/machine.ts";
import { loadCatalogue } from "./daemon/workload.ts";
import { type Bench, type SeedResult, type SeedTerms, simulate } from "./simulate.ts";
import { trapRealTime, VirtualTime } from "./virtual-time.ts";

/** What a process of seeds sends back: maps become lists. */
export interface SentResult extends Omit<SeedResult, "passed" | "struck" | "hits"> {
  readonly passed: readonly (readonly [string, number])[];
  readonly struck: readonly (readonly [string, number])[];
  readonly hits: readonly (readonly [string, number])[];
}

/** Errors are made all the time here, and their stacks would take longer than they do. */
Error.stackTraceLimit = 5;

keepRowFactories();

const SHARED_MEMORY = "/dev/shm";
const folder = mkdtempSync(join(existsSync(SHARED_MEMORY) ? SHARED_MEMORY : tmpdir(), "swapd-simulation-"));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));

function openBench(): Bench {
  const emptyDatabase = join(folder, "empty.db");
  const db = openDaemonDatabase(emptyDatabase);
  migrateLane(db);
  db.close();
  let world = new VirtualTime(0);
  const configuration = loadCatalogue(join(folder, "configuration"));
  const edited = loadCatalogue(join(folder, "edited"), "edited").strategies;
  trapRealTime(() => world);
  return {
    ...{ configuration, edited, emptyDatabase, folder },
    enter: (time) => {
      world = time;
    },
  };
}

process.on("unhandledRejection", (error) => {
  // What a dead process still had under way ends here: nobody waits for it.
  if (error instanceof Killed || /not open|readonly database/.test(String(error))) return;
  console.error("unhandled", error);
  process.exit(70);
});

// Ctrl-C reaches all processes of a terminal: this one ends with the campaign, after the seed that it is at.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => undefined);

const bench = openBench();
process.on("message", (terms: SeedTerms) => {
  simulate(bench, terms).then(
    ({ passed, struck, hits, ...result }) =>
      process.send?.({ ...result, passed: [...passed], struck: [...struck], hits: [...hits] } satisfies SentResult),
    (error: unknown) => process.send?.(unplayed(terms, error)),
  );
});
process.on("disconnect", () => process.exit(0));
process.send?.("ready");

/** A seed that the simulation itself could not play is a failure of that seed, not the end of a campaign of hours. */
function unplayed({ seed }: SeedTerms, error: unknown): SentResult {
  const what = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return {
    ...{ seed, strategies: [], faults: [], trace: [], traceHash: "", passed: [], struck: [], hits: [] },
    ...{ lives: 0, cuts: 0, fills: 0, hidden: 0, violations: [{ invariant: "simulation", what, atMs: 0 }] },
  };
}

/** better-sqlite3 compiles a function for the rows of each statement of each connection: the same text is compiled once. */
function keepRowFactories(): void {
  const made = new Map<string, unknown>();
  const apply = (target: FunctionConstructor, _self: unknown, texts: string[]): unknown => {
    const text = texts.join("\n");
    if (!/^return \((v\d+,?)+\) => /.test(text)) return target(...texts);
    const known = made.get(text) ?? target(text)();
    made.set(text, known);
    return () => known;
  };
  globalThis.Function = new Proxy(Function, { apply });
}
