import { formatDuration } from "../domain/time/format-duration.ts";
import type { Change, Decided } from "../ports/changes.ts";
import type { Answered } from "../ports/questions.ts";
import { notifyOfAlerts } from "./alerts.ts";
import { type EngineContext, modeName, strategyOf } from "./engine-context.ts";
import { messageChange, PREFIX } from "./messages.ts";
import type { OutcomeListener, SlotOutcome } from "./slot-gaps.ts";

/** How often it is written down that the daemon is at work: a downtime is known as exactly as this. */
const ALIVE_EVERY_MS = 30_000;

/** The report waits so long for swaps that were open at the start. */
const SETTLE_WITHIN_MS = 60_000;

/** Without a note for so long nobody was at work: the machine slept, or its clock was not believed. */
const STOOD_STILL_MS = 300_000;

/**
 * Reports once, after a start, what happened while the daemon was down, and likewise after a time in which it stood still;
 * and keeps the note that it is at work.
 */
export interface DowntimeWatch {
  /** Before anything is decided: what the last life left behind. */
  started(): Promise<void>;
  /** Once a second, before slots are handled: whether it stood still until now. */
  goesOn(): Promise<void>;
  /** Takes in what became of the slots of the downtime. */
  readonly heard: OutcomeListener;
  /** Once a second. */
  tick(): Promise<void>;
  /** The last sign of life before the process ends. */
  stopped(): Promise<void>;
}

const DID = { down: "was down", "stood still": "stood still" } as const;

interface Report {
  readonly was: "down" | "stood still";
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
  const note = (): Decided<void> => {
    notedMs = clock.nowMs();
    return { changes: [{ kind: "alive" }], atMs: notedMs, value: undefined };
  };
  const writeNote = async (): Promise<void> => {
    await store.commit([{ question: { kind: "nothing" }, decide: note }]);
  };
  const notify = async (reported: Report): Promise<void> => {
    const [written] = await store.commit([
      {
        question: { kind: "downtime", swapIds: reported.openSwapIds },
        decide: (rows) => {
          const atMs = clock.nowMs();
          const text = isComplete(reported, rows, atMs) ? describe(context, reported, rows) : undefined;
          return { changes: text === undefined ? [] : noteOf(context, reported, text), atMs, value: text };
        },
      },
    ]);
    if (written?.value === undefined) return;
    notifyOfAlerts(context.deps, written.alerts);
    report = undefined;
    logger.info({ downtime: written.value }, `what happened while the daemon ${DID[reported.was]}`);
  };
  const begin = async (was: Report["was"]): Promise<void> => {
    const [written] = await store.commit([
      { question: { kind: "downtime", swapIds: [] }, decide: (rows) => ({ ...note(), value: rows }) },
    ]);
    if (written?.value.lastAliveMs === undefined) return;
    const { lastAliveMs: sinceMs, unsettled: openSwapIds } = written.value;
    report = { was, sinceMs, startedMs: notedMs, openSwapIds, outcomes: [] };
  };
  return {
    started: () => begin("down"),
    goesOn: async () => {
      if (clock.nowMs() - notedMs < STOOD_STILL_MS) return;
      // What is still to be said of the time before is as complete as it gets.
      if (report !== undefined) await notify(report);
      await begin("stood still");
    },
    heard: (outcome) => {
      const firstMs = outcome.kind === "gap" ? outcome.gap.firstMs : outcome.slotMs;
      if (report !== undefined && firstMs <= report.startedMs) report.outcomes.push(outcome);
    },
    tick: async () => {
      // A clock that was set back must not silence the note until it catches up.
      if (Math.abs(clock.nowMs() - notedMs) >= ALIVE_EVERY_MS) await writeNote();
      if (report !== undefined) await notify(report);
    },
    stopped: writeNote,
  };
}

type Rows = Answered<"downtime">;

/** A message as well, where messages of starts are wanted and there is something to report. */
function noteOf(context: EngineContext, { outcomes, openSwapIds }: Report, text: string): readonly Change[] {
  const event = { kind: "daemon-event", event: "downtime", detail: text } as const;
  const isNews = outcomes.length > 0 || openSwapIds.length > 0;
  if (!context.settings.notifications.starts || !isNews) return [event];
  const said = `${PREFIX[modeName(context.settings)]}on ${context.settings.network}: ${text}`;
  const message = { id: context.deps.ids.newId("downtime"), code: "DOWNTIME", subject: "swapd", text: said };
  return [event, messageChange(context, { ...message, run: undefined })];
}

function isComplete({ openSwapIds, startedMs }: Report, { unsettled }: Rows, nowMs: number): boolean {
  if (openSwapIds.length === 0 || nowMs - startedMs >= SETTLE_WITHIN_MS) return true;
  const open = new Set(unsettled);
  return !openSwapIds.some((id) => open.has(id));
}

function describe(context: EngineContext, report: Report, rows: Rows): string {
  const { was, sinceMs, startedMs, openSwapIds, outcomes } = report;
  const parts = [`${was} ${formatDuration(Math.max(0, startedMs - sinceMs))}`, describeSlots(context, outcomes)];
  if (openSwapIds.length > 0) parts.push(describeSwaps(openSwapIds, rows));
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

function describeSwaps(ids: readonly string[], { unsettled, states }: Rows): string {
  const open = new Set(unsettled);
  const counts = new Map<string, number>();
  for (const id of ids) {
    const state = states.get(id) ?? "unknown";
    const what = open.has(id) ? `still ${state}` : state;
    counts.set(what, (counts.get(what) ?? 0) + 1);
  }
  return `${ids.length} ${ids.length === 1 ? "swap was" : "swaps were"} open: ${listCounts(counts)}`;
}

function listCounts(counts: ReadonlyMap<string, number>): string {
  return [...counts].map(([what, count]) => `${count} ${what}`).join(", ");
}
