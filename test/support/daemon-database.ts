import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { DaemonStore } from "../../src/adapters/sqlite/daemon/store.ts";
import { createStore } from "../../src/adapters/sqlite/daemon/store.ts";
import { createLaneRows } from "../../src/adapters/sqlite/lane-rows.ts";
import { migrateLane } from "../../src/adapters/sqlite/lanes.ts";
import type { Transition } from "../../src/domain/run/records.ts";
import type { Run, Swap } from "../../src/domain/run/run.ts";
import { RUN_TRANSITIONS, SWAP_TRANSITIONS } from "../../src/domain/run/states.ts";
import type { StrategySpec } from "../../src/domain/strategy/spec.ts";
import { initialStrategyMemory } from "../../src/domain/strategy/strategy.ts";
import type { LaneRowStore } from "../../src/ports/lane-row-store.ts";
import { openDatabase, type SqliteDatabase } from "../../src/storage/database.ts";
import { migrate, readMigrations } from "../../src/storage/migrations.ts";
import { dcaSpec, NOW_MS, runSample, SLOT_MS } from "./builders.ts";
import { memoryDirectory, temporaryDirectory } from "./temporary-directory.ts";

const MIGRATIONS = readMigrations(new URL("../../src/adapters/sqlite/daemon/", import.meta.url));

export interface DaemonDatabase {
  readonly file: string;
  readonly db: SqliteDatabase;
  readonly store: DaemonStore;
  readonly lanes: LaneRowStore;
}

/** The daemon's database with all its tables, in a file of its own, closed and removed with the test. */
export function openDaemonDatabase(file = join(temporaryDirectory(), "daemon.db")): DaemonDatabase {
  if (!existsSync(file)) writeFileSync(file, emptyDatabase(), { mode: 0o600 });
  const db = openDatabase({ file });
  onTestFinished(() => void db.close());
  migrateAll(db);
  return { file, db, store: createStore(db), lanes: createLaneRows(db) };
}

let empty: Buffer | undefined;

/** The bytes of a database that was just made. All tables are written once for a process, and not for each test. */
function emptyDatabase(): Buffer {
  if (empty !== undefined) return empty;
  const file = join(memoryDirectory(), "empty.db");
  const db = openDatabase({ file });
  migrateAll(db);
  // The last connection takes the log into the file.
  db.close();
  empty = readFileSync(file);
  return empty;
}

function migrateAll(db: SqliteDatabase): void {
  migrate(db, { set: "daemon", migrations: MIGRATIONS, backup: true });
  migrateLane(db);
}

/** Makes a strategy known, as it is when it was never asked. */
export function addStrategy(store: DaemonStore, spec: StrategySpec = dcaSpec()): void {
  const memory = JSON.stringify(initialStrategyMemory(spec));
  const row = { id: spec.id, kind: spec.kind, specHash: "spec", spec, memory, lastSlotMs: SLOT_MS };
  store.saveStrategy(row, NOW_MS);
}

/** Writes a run with its swaps as they are, and what each of them reserves. */
export function addRun(store: DaemonStore, run: Run, options: { atMs?: number } = {}): Run {
  const atMs = options.atMs ?? NOW_MS;
  store.transaction(() => {
    if (!store.insertRun({ ...run, state: "due", swaps: [] }, atMs)) throw new Error(`${run.id}: the slot is taken`);
    saveAs(store, run, atMs);
    for (const swap of run.swaps) reserve(store, run, { swap, atMs });
  });
  return run;
}

/** Saves a run that the database knows in whatever state, by a legal way from where its row and its swaps' rows are. */
export function saveAs(store: DaemonStore, run: Run, atMs = NOW_MS): void {
  const before = store.run(run.id);
  if (before === undefined) throw new Error(`${run.id} has no row`);
  const swaps = run.swaps.flatMap(({ id, state }) => {
    const known = before.swaps.find((swap) => swap.id === id);
    const first = known === undefined ? [transition("swap", id, { to: "planned" })] : [];
    const way = wayTo(SWAP_TRANSITIONS, known?.state ?? "planned", state);
    return [...first, ...way.map((move) => transition("swap", id, move))];
  });
  const way = wayTo(RUN_TRANSITIONS, before.state, run.state);
  store.saveRun(run, [...way.map((move) => transition("run", run.id, move)), ...swaps], atMs);
}

/** Ends all runs that are open, without anything having been done. */
export function skipOpenRuns(store: DaemonStore): void {
  store.transaction(() => {
    for (const { runId } of store.openWork()) {
      const run = store.run(runId);
      if (run !== undefined) saveAs(store, { ...run, state: "skipped" });
    }
  });
}

/** One move as it is written down. */
function transition(
  subject: Transition["subject"],
  subjectId: string,
  move: Pick<Transition, "to"> & Partial<Pick<Transition, "from">>,
): Transition {
  return { subject, subjectId, from: move.from, to: move.to, reason: undefined, detail: undefined };
}

/** The shortest way from one state to another through a table of transitions. */
function wayTo<State extends string>(
  table: Readonly<Record<State, readonly State[]>>,
  from: State,
  to: State,
): readonly { from: State; to: State }[] {
  const ways = new Map<State, readonly { from: State; to: State }[]>([[from, []]]);
  for (const [state, way] of ways) {
    for (const next of table[state]) if (!ways.has(next)) ways.set(next, [...way, { from: state, to: next }]);
  }
  const way = ways.get(to);
  if (way === undefined) throw new Error(`no way leads from ${from} to ${to}`);
  return way;
}

function reserve(store: DaemonStore, run: Run, { swap, atMs }: { swap: Swap; atMs: number }): void {
  if (swap.gross === undefined) return;
  store.writeRecord(run, { kind: "reserve", swapId: swap.id, token: swap.sell, amount: swap.gross }, atMs);
}

/** Writes what became of the money of swaps that ended: it was spent where they were filled. */
export function settle(store: DaemonStore, run: Run, atMs: number): void {
  for (const { id: swapId, state, gross: amount } of run.swaps) {
    if (amount === undefined) continue;
    store.writeRecord(run, state === "final" ? { kind: "spend", swapId, amount } : { kind: "release", swapId }, atMs);
  }
}

const swapsAdded = new WeakMap<DaemonStore, number>();

/** A run of its own for each swap, each in another slot. */
export function addSwap(store: DaemonStore, swap: Swap, change: Partial<Run> = {}): Run {
  const id = `run_${swap.id}`;
  const before = swapsAdded.get(store) ?? 0;
  swapsAdded.set(store, before + 1);
  const slotMs = SLOT_MS + 60_000 * (1 + before);
  return addRun(store, runSample({ id, slotMs, ...change, swaps: [{ ...swap, runId: id }] }));
}
