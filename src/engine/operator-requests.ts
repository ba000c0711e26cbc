import { SUBJECT } from "../domain/run/alert.ts";
import { GLOBAL_SCOPE, OPERATING_MODES, type OperatingMode } from "../domain/run/operating-mode.ts";
import { nextInstant } from "../domain/schedule/next-instants.ts";
import type { OperatorRequest } from "../ports/store.ts";
import { changeMode, type RaisedAlert, raiseAlerts, tellAlerts } from "./alerts.ts";
import { type EngineContext, type LoadedStrategy, strategyOf } from "./engine-context.ts";
import { cancelTransaction, revokeAllowance } from "./operator-transactions.ts";
import { messageOf } from "./perform/message-of.ts";
import { acceptDifferences } from "./reconcile/accept.ts";
import { barredReason, dueRun, insertDueRuns } from "./scheduler.ts";

/**
 * Takes what operators asked for since the last look. Each request is answered in the commit that carries it out.
 * @param clockProblem why the wall clock cannot be believed: what depends on slots is refused then, stopping never is
 */
export function takeRequests(context: EngineContext, clockProblem?: string): void {
  const { store, clock, logger } = context.deps;
  for (const request of store.openRequests()) {
    const { id, command, madeBy } = request;
    try {
      take(context, request, clockProblem);
      logger.info({ command, madeBy }, "operator request taken");
    } catch (error) {
      // Nothing of it was written. Left open it would end every start that comes after this one.
      logger.error({ command, madeBy, error: messageOf(error) }, "an operator request could not be carried out");
      store.transaction(() => store.answerRequest(id, `refused: ${messageOf(error)}`, clock.nowMs()));
    }
  }
}

function take(context: EngineContext, request: OperatorRequest, clockProblem: string | undefined): void {
  const { store, clock } = context.deps;
  const alerts: RaisedAlert[] = [];
  store.transaction(() => {
    const answer =
      clockProblem !== undefined && needsSlots(request)
        ? `refused: ${clockProblem}; then ask again`
        : carryOut(context, request, (raised) => alerts.push(...raised));
    store.answerRequest(request.id, answer, clock.nowMs());
  });
  tellAlerts(context.deps, alerts);
}

/** Whether the request uses up a slot, or says from when on slots may run again. */
function needsSlots({ command, arguments: { mode } }: OperatorRequest): boolean {
  return command === "run" || command === "skip" || (command === "mode" && mode === "active");
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
    case "revoke":
      return revokeAllowance(context, request.arguments);
    case "accept":
      return acceptDifferences(context, request.madeBy);
    case "cancel":
      return cancelTransaction(context, request.arguments.intent ?? "", request.madeBy);
    default:
      return `refused: unknown command ${JSON.stringify(request.command)}`;
  }
}

function setMode(context: EngineContext, request: OperatorRequest, onAlerts: OnAlerts): string {
  const { mode, scope = GLOBAL_SCOPE, reason = "no reason given" } = request.arguments;
  if (!isMode(mode)) return `refused: no mode ${JSON.stringify(mode)}; known are ${OPERATING_MODES.join(", ")}`;
  // One whose file is gone may still have an open run, and must be stoppable.
  const isKnown = strategyOf(context, scope) !== undefined || context.deps.store.strategy(scope) !== undefined;
  if (scope !== GLOBAL_SCOPE && !isKnown) return `refused: no strategy "${scope}"`;
  const row = { scope, mode, setBy: request.madeBy, reason, atMs: request.madeAtMs };
  // Setting active what is active changes nothing: the row says since when runs may start.
  const isActive = mode === "active" && (context.deps.store.mode(scope)?.mode ?? "active") === "active";
  if (!isActive) changeMode(context.deps, row);
  if (mode === "active") context.deps.store.endAlertsOfFills(scope, context.deps.clock.nowMs());
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
  const { store, laneStore, lanes, clock, logger } = context.deps;
  return [...lanes.keys()].flatMap((wallet) => {
    const halt = laneStore.halt(wallet, context.settings.chainId);
    if (halt === undefined) return [];
    const { account, chainId, reason } = halt;
    const over = { kind: "alerts-over", subject: SUBJECT.account(account) } as const;
    store.write([{ kind: "halt-released", account, chainId, by }, over], clock.nowMs());
    logger.warn({ account, by, reason }, "a person released a halted account");
    return [`released ${account}, which was halted because ${reason}`];
  });
}

function isMode(text: string | undefined): text is OperatingMode {
  return OPERATING_MODES.some((mode) => mode === text);
}

type StrategyCommand = (
  context: EngineContext,
  strategy: LoadedStrategy,
  asked: { readonly extra: boolean; readonly madeBy: string },
) => string;

function withStrategy(context: EngineContext, request: OperatorRequest, command: StrategyCommand): string {
  const id = request.arguments.strategy ?? "";
  const strategy = strategyOf(context, id);
  if (strategy === undefined) return `refused: no strategy "${id}"`;
  // Slots that are due already come first: consuming the next one would pass over them without an end.
  insertDueRuns(context);
  return command(context, strategy, { extra: request.arguments.extra === "true", madeBy: request.madeBy });
}

/**
 * Runs the strategy now. The run takes the place of the next slot, so that asking does not buy twice; an extra one takes
 * nobody's place, and this second is its slot.
 */
const runNow: StrategyCommand = (context, strategy, { extra, madeBy }) => {
  const { store, clock } = context.deps;
  const { id } = strategy.spec;
  const barred = barredReason(context, strategy);
  if (barred === "overlap") return `refused: ${id} still has an open run`;
  if (barred !== undefined) return `refused: ${id} starts no runs, its mode is ${barred}`;
  const nowMs = clock.nowMs();
  const slotMs = extra ? freeSecond(context, strategy) : consumeNextSlot(context, strategy);
  if (slotMs === undefined && extra) return `refused: this second is a slot of ${id} that is still to start; ask again`;
  if (slotMs === undefined) return `refused: the schedule of ${id} has no further slot; \`--extra\` needs none`;
  const detail = extra ? `an extra run, asked for by ${madeBy}` : `asked for by ${madeBy}, in place of its slot`;
  const run = dueRun(context, strategy, { slotMs, slots: 1, detail });
  if (!store.insertRun(run, nowMs)) return `refused: ${id} already ran for this slot; ask again in a second`;
  return extra
    ? `started ${run.id}, besides the schedule`
    : `started ${run.id} in place of the slot of ${new Date(slotMs).toISOString()}`;
};

/** This second, unless it is a slot that jitter still delays: an extra run must not take its place. */
function freeSecond(context: EngineContext, strategy: LoadedStrategy): number | undefined {
  const secondMs = Math.floor(context.deps.clock.nowMs() / 1_000) * 1_000;
  return nextSlot(context, strategy) === secondMs ? undefined : secondMs;
}

const skipNext: StrategyCommand = (context, strategy) => {
  const { id } = strategy.spec;
  const slotMs = consumeNextSlot(context, strategy);
  if (slotMs === undefined) return `refused: the schedule of ${id} has no further slot`;
  const { store, clock } = context.deps;
  const gap = { strategy: id, firstSlotMs: slotMs, lastSlotMs: slotMs, count: 1, reason: "skipped_by_operator" };
  store.addGap(gap, -1, clock.nowMs());
  return `the slot of ${new Date(slotMs).toISOString()} will not run`;
};

/** The next slot without an end. It may have passed already: delayed by jitter, or waiting for its turn. */
function nextSlot(context: EngineContext, { spec }: LoadedStrategy): number | undefined {
  const { store, clock, zones } = context.deps;
  const handledMs = store.lastSlots([spec.id]).get(spec.id) ?? clock.nowMs();
  return nextInstant(spec.schedule, handledMs, zones);
}

function consumeNextSlot(context: EngineContext, strategy: LoadedStrategy): number | undefined {
  const slotMs = nextSlot(context, strategy);
  if (slotMs !== undefined) context.deps.store.setLastSlot(strategy.spec.id, slotMs);
  return slotMs;
}
