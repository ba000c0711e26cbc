import { type EngineContext, strategyOf } from "./engine-context.ts";
import { formatDuration } from "./format-duration.ts";
import type { OutcomeListener, SlotOutcome } from "./slot-gaps.ts";

/** How often it is written down that the daemon is at work: a downtime is known as exactly as this. */
const ALIVE_EVERY_MS = 30_000;

/** Swaps that were open at the start are waited for so long before the report is given. */
const SETTLE_WITHIN_MS = 60_000;

/** Tells once, after a start, what happened while the daemon was down; and keeps the note that it is at work. */
export interface DowntimeWatch {
  /** Before anything is decided: what the last life left behind. */
  started(): void;
  /** Hears what became of the slots of the downtime. */
  readonly heard: OutcomeListener;
  /** Once a second. */
  tick(): void;
  /** The last sign of life before the process ends. */
  stopped(): void;
}

interface Report {
  readonly sinceMs: number;
  readonly startedMs: number;
  readonly openSwapIds: readonly string[];
  readonly outcomes: SlotOutcome[];
}

/** Makes the watch of one life of the daemon. */
export function createDowntimeWatch(context: EngineContext): DowntimeWatch {
  const { store, clock, logger } = context.deps;
  let report: Report | undefined;
  let notedMs = Number.NEGATIVE_INFINITY;
  const note = (): void => {
    notedMs = clock.nowMs();
    store.noteAlive(notedMs);
  };
  return {
    started: () => {
      const sinceMs = store.lastAliveMs();
      const openSwapIds = store.unsettledSwaps();
      if (sinceMs !== undefined) report = { sinceMs, startedMs: clock.nowMs(), openSwapIds, outcomes: [] };
      note();
    },
    heard: (outcome) => {
      const firstMs = outcome.kind === "gap" ? outcome.gap.firstMs : outcome.slotMs;
      if (report !== undefined && firstMs <= report.startedMs) report.outcomes.push(outcome);
    },
    tick: () => {
      // A clock that was set back must not silence the note until it catches up.
      if (Math.abs(clock.nowMs() - notedMs) >= ALIVE_EVERY_MS) note();
      if (report === undefined || !isComplete(context, report)) return;
      const text = describe(context, report);
      report = undefined;
      store.addDaemonEvent("downtime", text, clock.nowMs());
      logger.info({ downtime: text }, "what happened while the daemon was down");
    },
    stopped: note,
  };
}

function isComplete({ deps }: EngineContext, { openSwapIds, startedMs }: Report): boolean {
  if (openSwapIds.length === 0 || deps.clock.nowMs() - startedMs >= SETTLE_WITHIN_MS) return true;
  const unsettled = new Set(deps.store.unsettledSwaps());
  return !openSwapIds.some((id) => unsettled.has(id));
}

function describe(context: EngineContext, report: Report): string {
  const { sinceMs, startedMs, openSwapIds, outcomes } = report;
  const parts = [`down ${formatDuration(Math.max(0, startedMs - sinceMs))}`, describeSlots(context, outcomes)];
  if (openSwapIds.length > 0) parts.push(describeSwaps(context, openSwapIds));
  return parts.join("; ");
}

/** Why a slot of the downtime got no run, in few words; modes stand for themselves. */
const SHORT_REASONS: Readonly<Record<string, string>> = {
  missed: "too late",
  accumulated: "part of a later slot's run",
  outside_window: "outside of the windows",
  overlap: "the run before is open",
};

function describeSlots(context: EngineContext, outcomes: readonly SlotOutcome[]): string {
  const counts = new Map<string, number>();
  let slots = 0;
  for (const outcome of outcomes) {
    const count = outcome.kind === "gap" ? outcome.gap.count : 1;
    const policy = strategyOf(context, outcome.strategy)?.spec.catchUp.policy ?? "unknown";
    const what =
      outcome.kind === "run"
        ? `run (policy ${policy})`
        : `skipped (${SHORT_REASONS[outcome.gap.reason] ?? outcome.gap.reason})`;
    counts.set(what, (counts.get(what) ?? 0) + count);
    slots += count;
  }
  if (slots === 0) return "no slot missed";
  return `${slots} ${slots === 1 ? "slot" : "slots"} missed: ${listCounts(counts)}`;
}

function describeSwaps({ deps }: EngineContext, ids: readonly string[]): string {
  const unsettled = new Set(deps.store.unsettledSwaps());
  const counts = new Map<string, number>();
  for (const id of ids) {
    const state = deps.store.swapState(id) ?? "unknown";
    const what = unsettled.has(id) ? `still ${state}` : state;
    counts.set(what, (counts.get(what) ?? 0) + 1);
  }
  return `${ids.length} ${ids.length === 1 ? "swap was" : "swaps were"} open: ${listCounts(counts)}`;
}

function listCounts(counts: ReadonlyMap<string, number>): string {
  return [...counts].map(([what, count]) => `${count} ${what}`).join(", ");
}
