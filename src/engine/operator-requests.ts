import { SUBJECT } from "../domain/run/alert.ts";
import { OPERATING_MODES, type OperatingMode } from "../domain/run/operating-mode.ts";
import { nextInstant } from "../domain/schedule/next-instants.ts";
import type { OperatorRequest } from "../ports/store.ts";
import { changeMode, type RaisedAlert, raiseAlerts, tellAlerts } from "./alerts.ts";
import { type EngineContext, type LoadedStrategy, strategyOf } from "./engine-context.ts";
import { GLOBAL_SCOPE } from "./modes.ts";
import { barredReason, dueRun, insertDueRuns } from "./scheduler.ts";

/** Takes what operators asked for since the last look. Each request is answered in the commit that carries it out. */
export function takeRequests(context: EngineContext): void {
  const { store, clock } = context.deps;
  for (const request of store.openRequests()) {
    const alerts: RaisedAlert[] = [];
    store.transaction(() => {
      const answer = carryOut(context, request, (raised) => alerts.push(...raised));
      store.answerRequest(request.id, answer, clock.nowMs());
    });
    tellAlerts(context.deps, alerts);
    context.deps.logger.info({ command: request.command, madeBy: request.madeBy }, "operator request taken");
  }
}

/** Hears of alerts that are to be told once they are committed. */
type OnAlerts = (raised: readonly RaisedAlert[]) => void;

/** @returns what came of it, for the operator */
function carryOut(context: EngineContext, request: OperatorRequest, onAlerts: OnAlerts): string {
  switch (request.command) {
    case "mode":
      return setMode(context, request, onAlerts);
    case "run":
      return withStrategy(context, request, runNow);
    case "skip":
      return withStrategy(context, request, skipNext);
    default:
      return `refused: unknown command ${JSON.stringify(request.command)}`;
  }
}

function setMode(context: EngineContext, request: OperatorRequest, onAlerts: OnAlerts): string {
  const { mode, scope = GLOBAL_SCOPE, reason = "no reason given" } = request.arguments;
  if (!isMode(mode)) return `refused: no mode ${JSON.stringify(mode)}; known are ${OPERATING_MODES.join(", ")}`;
  if (scope !== GLOBAL_SCOPE && strategyOf(context, scope) === undefined) return `refused: no strategy "${scope}"`;
  const row = { scope, mode, setBy: request.madeBy, reason, atMs: request.madeAtMs };
  changeMode(context.deps, row);
  if (mode === "halted") {
    const text = `${scope} is halted by ${row.setBy}: ${reason}; nothing new is signed`;
    const alert = { severity: "info", code: "HALTED_BY_OPERATOR", subject: SUBJECT.mode(scope), text } as const;
    onAlerts(raiseAlerts(context.deps, [alert]));
  }
  const released = scope === GLOBAL_SCOPE && mode === "active" ? releaseAccounts(context, request.madeBy) : [];
  return [`${scope} is ${mode}`, ...released].join("; ");
}

/** Going back to active for everything is a person's word that halted accounts may go on, too. */
function releaseAccounts(context: EngineContext, by: string): string[] {
  return [...context.deps.lanes.values()].flatMap((lane) => {
    const halt = lane.release(by);
    return halt === undefined ? [] : [`released ${halt.account}, which was halted because ${halt.reason}`];
  });
}

function isMode(text: string | undefined): text is OperatingMode {
  return OPERATING_MODES.some((mode) => mode === text);
}

type StrategyCommand = (context: EngineContext, strategy: LoadedStrategy) => string;

function withStrategy(context: EngineContext, request: OperatorRequest, command: StrategyCommand): string {
  const id = request.arguments.strategy ?? "";
  const strategy = strategyOf(context, id);
  if (strategy === undefined) return `refused: no strategy "${id}"`;
  // Slots that are due already come first: consuming the next one would pass over them without an end.
  insertDueRuns(context);
  return command(context, strategy);
}

/** Runs the strategy now. The run takes the place of the next slot, so that asking does not buy twice. */
const runNow: StrategyCommand = (context, strategy) => {
  const { store, clock } = context.deps;
  const { id } = strategy.spec;
  const barred = barredReason(context, strategy);
  if (barred === "overlap") return `refused: ${id} still has an open run`;
  if (barred !== undefined) return `refused: ${id} starts no runs, its mode is ${barred}`;
  const slotMs = consumeNextSlot(context, strategy);
  if (slotMs === undefined) return `refused: the schedule of ${id} has no further slot`;
  const run = dueRun(context, strategy, slotMs);
  return store.insertRun(run, clock.nowMs()) ? `started ${run.id}` : `refused: ${id} already ran for this slot`;
};

const skipNext: StrategyCommand = (context, strategy) => {
  const { id } = strategy.spec;
  const slotMs = consumeNextSlot(context, strategy);
  if (slotMs === undefined) return `refused: the schedule of ${id} has no further slot`;
  const { store, clock } = context.deps;
  const gap = { strategy: id, firstSlotMs: slotMs, lastSlotMs: slotMs, count: 1, reason: "skipped_by_operator" };
  store.addGap(gap, -1, clock.nowMs());
  return `the slot of ${new Date(slotMs).toISOString()} will not run`;
};

function consumeNextSlot(context: EngineContext, strategy: LoadedStrategy): number | undefined {
  const { store, clock, zones } = context.deps;
  const handledMs = store.strategy(strategy.spec.id)?.lastSlotMs ?? clock.nowMs();
  const slotMs = nextInstant(strategy.spec.schedule, Math.max(handledMs, clock.nowMs()), zones);
  if (slotMs !== undefined) store.setLastSlot(strategy.spec.id, slotMs);
  return slotMs;
}
