import { GLOBAL_SCOPE } from "../domain/run/operating-mode.ts";
import { nextWithoutEnd } from "../domain/schedule/ended-slots.ts";
import type { OperatorRequest } from "../ports/daemon-rows.ts";
import type { Answered, Question, QuestionKind } from "../ports/questions.ts";
import type { Unit } from "../ports/unit-of-work.ts";
import { notifyOfAlerts, writeAndNotify } from "./alerts.ts";
import { type EngineContext, type LoadedStrategy, strategyOf } from "./engine-context.ts";
import { decideLotOrder } from "./lot-orders.ts";
import { decideHoldAnswer } from "./operator-answers.ts";
import { decideMode } from "./operator-modes.ts";
import {
  cancellationAsked,
  decideCancellation,
  decideRevocationAsked,
  type Outcome,
  revocationAsked,
} from "./operator-transactions.ts";
import { decideAcceptance } from "./reconcile/accept.ts";
import { barredReason, dueRun, insertDueRuns } from "./scheduler.ts";
import { NO_GAP, nobody, type OutcomeListener } from "./slot-gaps.ts";
import { refusesRun, whyUntimely } from "./untimely-requests.ts";

/**
 * Takes what operators asked for since the last check. Each request is answered in the commit that carries it out.
 * @param clockProblem why the wall clock cannot be believed: what lets trade or uses up a slot is refused then, stopping
 * never is
 * @param heard what slots came to that were due before a request
 */
export async function takeRequests(
  context: EngineContext,
  {
    clockProblem,
    heard = nobody,
  }: { readonly clockProblem?: string | undefined; readonly heard?: OutcomeListener } = {},
): Promise<void> {
  const { clock, store, logger } = context.deps;
  for (const request of await store.read({ kind: "requests" })) {
    const { id, command, madeBy } = request;
    try {
      const untimely = whyUntimely(request, clockProblem, clock.nowMs());
      const answer =
        untimely === undefined
          ? await carryOut(context, request, heard)
          : await answerOnly(context, id, `refused: ${untimely}`);
      // What was halted and may go on stands in no other line of the log.
      logger.info({ command, madeBy, answer }, "operator request taken");
    } catch (error) {
      // Nothing of it was written. Left open it would end every start that comes after this one.
      logger.error({ command, madeBy, error: messageOf(error) }, "an operator request could not be carried out");
      await answerOnly(context, id, `refused: ${messageOf(error)}`);
    }
  }
}

async function answerOnly({ deps }: EngineContext, requestId: number, answer: string): Promise<string> {
  await writeAndNotify(deps, [{ kind: "request-answered", requestId, answer }]);
  return answer;
}

function refused(why: string): Outcome {
  return { answer: `refused: ${why}`, changes: [] };
}

/** @returns what came of it, for the operator */
async function carryOut(context: EngineContext, request: OperatorRequest, heard: OutcomeListener): Promise<string> {
  switch (request.command) {
    case "mode": {
      const scope = request.arguments.scope ?? GLOBAL_SCOPE;
      return await decideAndAnswer(context, request, {
        question: { kind: "scope", scope },
        decide: (rows) => decideMode(context, rows, { request, scope }),
      });
    }
    case "run":
      return await withStrategy(context, request, { command: runNow, heard });
    case "skip":
      if (refusesRun(request)) return await answerHold(context, request, "refused");
      return await withStrategy(context, request, { command: skipNext, heard });
    case "approve":
      return await answerHold(context, request, "approved");
    case "revoke":
      return await revoke(context, request);
    case "accept":
      return await decideAndAnswer(context, request, {
        question: { kind: "acceptance" },
        decide: (rows) => {
          const { changes, value: answer } = decideAcceptance(context, rows, request.madeBy);
          return { changes, answer };
        },
      });
    case "lot-order":
      return await decideAndAnswer(context, request, {
        question: { kind: "newest-fill" },
        decide: (newestFillMs) => decideLotOrder(request, { nowMs: context.deps.clock.nowMs(), newestFillMs }),
      });
    case "cancel":
      return await cancel(context, request);
    default:
      return await answerOnly(context, request.id, `refused: unknown command ${JSON.stringify(request.command)}`);
  }
}

async function answerHold(
  context: EngineContext,
  request: OperatorRequest,
  decision: "approved" | "refused",
): Promise<string> {
  const { run, strategy } = request.arguments;
  const runId = run ?? strategy ?? "";
  const answer = { decision, by: request.madeBy, atMs: context.deps.clock.nowMs() } as const;
  return await decideAndAnswer(context, request, {
    question: { kind: "hold", runId },
    decide: (rows) => decideHoldAnswer(rows, { runId, answer }),
  });
}

async function revoke(context: EngineContext, request: OperatorRequest): Promise<string> {
  const asked = revocationAsked(context, request.arguments);
  if (typeof asked === "string") return await answerOnly(context, request.id, asked);
  const { wallet, token } = asked.grant;
  return await decideAndAnswer(context, request, {
    question: { kind: "grant", wallet, token },
    decide: (rows) => decideRevocationAsked(context, asked, rows),
  });
}

async function cancel(context: EngineContext, request: OperatorRequest): Promise<string> {
  const asked = await cancellationAsked(context, request.arguments.intent ?? "");
  if (typeof asked === "string") return await answerOnly(context, request.id, asked);
  return await decideAndAnswer(context, request, {
    question: { kind: "lane-signing", ...asked },
    decide: (rows) => decideCancellation(context, { asked, rows, by: request.madeBy }),
  });
}

/**
 * Decides on rows, and writes what follows and the answer together. What has its answer by then has no other one: whose
 * token another process revoked a moment ago asks for nothing any more.
 */
async function decideAndAnswer<K extends QuestionKind>(
  { deps }: EngineContext,
  { id: requestId }: OperatorRequest,
  { question, decide }: { readonly question: Question<K>; decide(rows: Answered<K>): Outcome },
): Promise<string> {
  let before: string | undefined;
  const look: Unit<"request-answer", string> = {
    question: { kind: "request-answer", requestId },
    decide: (said) => {
      before = said;
      return { changes: [], atMs: deps.clock.nowMs(), value: said ?? "" };
    },
  };
  const act: Unit<K, string> = {
    question,
    decide: (rows) => {
      const atMs = deps.clock.nowMs();
      if (before !== undefined) return { changes: [], atMs, value: before };
      const { changes, answer } = decide(rows);
      const answered = { kind: "request-answered", requestId, answer } as const;
      return { changes: [...changes, answered], atMs, value: answer };
    },
  };
  const [, acted] = await deps.store.commit<"request-answer" | K, string>([look, act]);
  if (acted === undefined) throw new Error(`the request ${requestId} came to nothing`);
  notifyOfAlerts(deps, acted.alerts);
  return acted.value;
}

type StrategyCommand = (
  context: EngineContext,
  strategy: LoadedStrategy,
  asked: { readonly extra: boolean; readonly madeBy: string; readonly rows: Answered<"next-slot"> },
) => Outcome;

async function withStrategy(
  context: EngineContext,
  request: OperatorRequest,
  { command, heard }: { readonly command: StrategyCommand; readonly heard: OutcomeListener },
): Promise<string> {
  const { strategy: id = "", extra } = request.arguments;
  const { madeBy } = request;
  const strategy = strategyOf(context, id);
  if (strategy === undefined) return await answerOnly(context, request.id, `refused: no strategy "${id}"`);
  // Slots that are due already come first: consuming the next one would pass over them without an end.
  await insertDueRuns(context, heard);
  return await decideAndAnswer(context, request, {
    question: { kind: "next-slot", strategyId: id, fromMs: thisSecond(context) },
    decide: (rows) => command(context, strategy, { extra: extra === "true", madeBy, rows }),
  });
}

/**
 * Runs the strategy now. The run takes the place of the next slot, so that asking does not buy twice; an extra one takes
 * nobody's place, and this second is its slot.
 */
const runNow: StrategyCommand = (context, strategy, { extra, madeBy, rows }) => {
  const { id } = strategy.spec;
  const barred = barredReason(rows, strategy);
  if (barred === "overlap") return refused(`${id} still has an open run`);
  if (barred !== undefined) return refused(`${id} starts no runs, its mode is ${barred}`);
  const nextMs = nextSlot(context, strategy, rows);
  const slotMs = extra ? freeSecond(context, nextMs) : nextMs;
  if (slotMs === undefined && extra) return refused(`this second is a slot of ${id} that is still to start; ask again`);
  if (slotMs === undefined) return refused(`the schedule of ${id} has no further slot; \`--extra\` needs none`);
  if (rows.taken.includes(slotMs)) return refused(`${id} already ran for this slot; ask again in a second`);
  const detail = extra ? `an extra run, asked for by ${madeBy}` : `asked for by ${madeBy}, in place of its slot`;
  const run = dueRun(context, strategy, { slotMs, slots: 1, detail });
  const begun = { kind: "run-due", run } as const;
  if (extra) return { answer: `started ${run.id}, besides the schedule`, changes: [begun] };
  return {
    answer: `started ${run.id} in place of the slot of ${new Date(slotMs).toISOString()}`,
    changes: [{ kind: "last-slot", strategyId: id, lastSlotMs: slotMs }, begun],
  };
};

function thisSecond({ deps }: EngineContext): number {
  return Math.floor(deps.clock.nowMs() / 1_000) * 1_000;
}

/** This second, unless it is a slot that jitter still delays: an extra run must not take its place. */
function freeSecond(context: EngineContext, nextMs: number | undefined): number | undefined {
  const secondMs = thisSecond(context);
  return nextMs === secondMs ? undefined : secondMs;
}

const skipNext: StrategyCommand = (context, strategy, { rows }) => {
  const { id } = strategy.spec;
  const slotMs = nextSlot(context, strategy, rows);
  if (slotMs === undefined) return refused(`the schedule of ${id} has no further slot`);
  const gap = { strategy: id, firstSlotMs: slotMs, lastSlotMs: slotMs, count: 1, reason: "skipped_by_operator" };
  return {
    answer: `the slot of ${new Date(slotMs).toISOString()} will not run`,
    changes: [
      { kind: "last-slot", strategyId: id, lastSlotMs: slotMs },
      { kind: "gap", gap, joinsAtMs: NO_GAP },
    ],
  };
};

/** The next slot without an end. It may have passed already: delayed by jitter, or waiting for its turn. */
function nextSlot(
  { deps }: EngineContext,
  { spec }: LoadedStrategy,
  { lastSlots, endedAhead }: Answered<"next-slot">,
): number | undefined {
  const afterMs = lastSlots.get(spec.id) ?? deps.clock.nowMs();
  return nextWithoutEnd(spec.schedule, { afterMs, ended: endedAhead.get(spec.id) ?? [] }, deps.zones);
}

/** Text of an error from an adapter, which has redacted it. */
function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
