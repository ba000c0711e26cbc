import type { EffectGroup, PendingEffect } from "../../../ports/daemon-rows.ts";
import type { SqliteDatabase } from "../../../storage/database.ts";
import { onTakenBack } from "../../../storage/transaction.ts";

/** An effect that is to be done, not before an instant; who wrote that instant had read this clock. */
export interface WaitingEffect extends PendingEffect {
  readonly notBeforeMs: number;
  readonly writtenAtMs: number;
}

/**
 * What is to be done, as the rows have it. The daemon alone writes these rows, so they are read once, and the database is
 * not asked again and again.
 */
export interface WorkQueue {
  /** false: no run waits to begin; true: one may */
  mayHaveDueRuns: boolean;
  add(effect: WaitingEffect): void;
  remove(id: number): void;
  /** Does nothing where the effect is done. */
  move(id: number, instants: Pick<WaitingEffect, "notBeforeMs" | "writtenAtMs">): void;
  /** What waits for a time to come by a clock that ran ahead of this instant. */
  ahead(nowMs: number): readonly WaitingEffect[];
  hasten(nowMs: number): void;
  due(nowMs: number, limit: number, group: EffectGroup): readonly PendingEffect[];
  nextMs(): number | undefined;
}

type Line = "polls" | "routes" | "submissions" | "others";

const LINES_OF: Readonly<Record<EffectGroup, readonly Line[]>> = {
  polls: ["polls"],
  routes: ["routes"],
  submissions: ["submissions"],
  others: ["submissions", "others"],
  "no routes": ["polls", "submissions", "others"],
};

const queues = new WeakMap<SqliteDatabase, WorkQueue>();

/**
 * The queue of a connection: the one that it has, or a new one. After anything was taken back in the database all of it is
 * read again.
 * @param read the effects that are not done, in any order
 */
export function workQueueOf(db: SqliteDatabase, read: () => readonly WaitingEffect[]): WorkQueue {
  const known = queues.get(db);
  if (known !== undefined) return known;
  let rows: Rows | undefined;
  const now = (): Rows => {
    rows ??= createRows(read());
    return rows;
  };
  onTakenBack(db, () => {
    rows = undefined;
    queue.mayHaveDueRuns = true;
  });
  const queue: WorkQueue = {
    mayHaveDueRuns: true,
    // What was never read is complete without it: the row is there already.
    add: (effect) => rows?.insert(effect),
    remove: (id) => {
      rows?.take(id);
    },
    move: (id, instants) => {
      const effect = rows?.take(id);
      if (effect !== undefined) rows?.insert({ ...effect, ...instants });
    },
    ahead: (nowMs) =>
      now()
        .all()
        .filter(({ notBeforeMs, writtenAtMs }) => notBeforeMs > nowMs && writtenAtMs > nowMs),
    hasten: (nowMs) => {
      for (const { id, writtenAtMs } of queue.ahead(nowMs)) queue.move(id, { notBeforeMs: nowMs, writtenAtMs });
    },
    due: (nowMs, limit, group) => {
      const found = LINES_OF[group].flatMap((name) => now().due(name, nowMs, limit));
      const first = found.sort(byInstant).slice(0, limit);
      return first.map(({ id, runId, effect }) => ({ id, runId, effect }));
    },
    nextMs: () => now().nextMs(),
  };
  queues.set(db, queue);
  return queue;
}

interface Rows {
  insert(effect: WaitingEffect): void;
  /** @returns what was taken out, undefined when it is not here */
  take(id: number): WaitingEffect | undefined;
  all(): readonly WaitingEffect[];
  due(line: Line, nowMs: number, limit: number): readonly WaitingEffect[];
  nextMs(): number | undefined;
}

function createRows(effects: readonly WaitingEffect[]): Rows {
  const byId = new Map(effects.map((effect) => [effect.id, effect]));
  const inLine = (name: Line): WaitingEffect[] => effects.filter((effect) => lineOf(effect) === name).sort(byInstant);
  const lines: Readonly<Record<Line, WaitingEffect[]>> = {
    polls: inLine("polls"),
    routes: inLine("routes"),
    submissions: inLine("submissions"),
    others: inLine("others"),
  };
  return {
    insert: (effect) => {
      byId.set(effect.id, effect);
      const line = lines[lineOf(effect)];
      line.splice(placeOf(line, effect), 0, effect);
    },
    take: (id) => {
      const effect = byId.get(id);
      if (effect === undefined) return undefined;
      byId.delete(id);
      const line = lines[lineOf(effect)];
      line.splice(placeOf(line, effect), 1);
      return effect;
    },
    all: () => [...byId.values()],
    due: (name, nowMs, limit) => {
      const line = lines[name];
      const end = line.findIndex(({ notBeforeMs }, index) => notBeforeMs > nowMs || index === limit);
      return end === -1 ? line : line.slice(0, end);
    },
    nextMs: () => {
      const firsts = Object.values(lines).flatMap(([first]) => (first === undefined ? [] : [first.notBeforeMs]));
      return firsts.length === 0 ? undefined : Math.min(...firsts);
    },
  };
}

function lineOf({ effect }: PendingEffect): Line {
  if (effect.kind === "ReadChain") return "polls";
  if (effect.kind === "SubmitGasless") return "submissions";
  return effect.kind === "FetchRoute" ? "routes" : "others";
}

function byInstant(a: WaitingEffect, b: WaitingEffect): number {
  return a.notBeforeMs - b.notBeforeMs || a.id - b.id;
}

/** Where an effect stands in a sorted line, or would stand. */
function placeOf(line: readonly WaitingEffect[], effect: WaitingEffect): number {
  let [from, to] = [0, line.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    const other = line[middle];
    if (other !== undefined && byInstant(other, effect) < 0) from = middle + 1;
    else to = middle;
  }
  return from;
}
