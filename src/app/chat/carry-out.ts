import type { Bot } from "../../adapters/notify/bot.ts";
import { GLOBAL_SCOPE } from "../../domain/run/operating-mode.ts";
import { type AlertDeps, writeAndNotify } from "../../engine/alerts.ts";
import { BY_CHAT } from "../../engine/operator-modes.ts";
import type { Change } from "../../ports/changes.ts";
import type { OperatorRequest } from "../../ports/daemon-rows.ts";
import type { Logger } from "../../ports/logger.ts";
import { type AnswerSources, profitAnswer, statusAnswer, whyAnswer } from "./answers.ts";
import { type Asked, describeAsked } from "./commands.ts";

/** What a chat is listened to with. */
export interface ChatDeps extends AlertDeps {
  readonly bot: Bot;
  readonly logger: Logger;
  readonly sources: AnswerSources;
}

const ANSWER_WITHIN_MS = 10_000;
const ANSWER_LOOK_MS = 200;

/** The next update, and what follows from this one, in one commit: after a kill both are there, or neither. */
export async function noteTaken(
  deps: ChatDeps,
  nextUpdate: number | undefined,
  changes: readonly Change[],
): Promise<void> {
  if (nextUpdate === undefined) return;
  await writeAndNotify(deps, [{ kind: "chat-heard", bot: deps.bot.id, nextUpdate }, ...changes]);
}

/** Does what was asked for, as an operator's request, or answers what is only read. @returns what to say */
export async function carryOut(
  deps: ChatDeps,
  of: { readonly asked: Asked; readonly user: string; readonly next: number; readonly signal: AbortSignal },
): Promise<string> {
  const { asked, user, next, signal } = of;
  const request = requestOf(asked);
  if (request !== undefined) {
    const made = { kind: "request-made", request: { ...request, madeBy: `${BY_CHAT}${user}` } } as const;
    return await answerOf(deps, { asked, requestId: await writeRequest(deps, next, made) }, signal);
  }
  await noteTaken(deps, next, []);
  try {
    return await readAnswer(deps.sources, asked);
  } catch (error) {
    // Nothing depends on what a person only reads: whatever is wrong with it, trading goes on.
    deps.logger.error({ error, command: asked.command }, "a question by chat could not be answered");
    return `/${asked.command} cannot be answered now: the daemon goes on, and its log says why`;
  }
}

async function readAnswer(sources: AnswerSources, asked: Asked): Promise<string> {
  if (asked.command === "why") return await whyAnswer(sources, asked.about ?? "");
  return asked.command === "profit" ? await profitAnswer(sources) : await statusAnswer(sources);
}

const MODES = { pause: "paused", halt: "halted", resume: "active" } as const;

/** The row of an operator's request; undefined for what only reads. */
function requestOf({ command, about }: Asked): { command: string; arguments: Record<string, string> } | undefined {
  if (command === "run") return { command: "run", arguments: { strategy: about ?? "" } };
  if (command === "approve") return { command: "approve", arguments: { run: about ?? "" } };
  if (command !== "pause" && command !== "halt" && command !== "resume") return undefined;
  return {
    command: "mode",
    arguments: { mode: MODES[command], scope: about ?? GLOBAL_SCOPE, reason: "asked for by chat" },
  };
}

/** Such a row as it was asked for, in words. */
export function describeRequest({ command, arguments: of }: Pick<OperatorRequest, "command" | "arguments">): string {
  const [word = command] = Object.entries(MODES).find(([, mode]) => mode === of.mode) ?? [];
  const about = of.strategy ?? of.run ?? of.scope ?? GLOBAL_SCOPE;
  return `${word} ${about === GLOBAL_SCOPE ? "everything" : about}`;
}

/** @returns the id of the request */
async function writeRequest({ store, bot, clock }: ChatDeps, nextUpdate: number, made: Change): Promise<number> {
  const atMs = clock.nowMs();
  const heard = { kind: "chat-heard", bot: bot.id, nextUpdate } as const;
  const [, newest] = await store.commit<"nothing" | "newest-request", number>([
    { question: { kind: "nothing" }, decide: () => ({ changes: [heard, made], atMs, value: 0 }) },
    { question: { kind: "newest-request" }, decide: (id: number) => ({ changes: [], atMs, value: id }) },
  ]);
  if (newest === undefined) throw new Error("a request was not written down");
  return newest.value;
}

/** Waits for the engine's word: it takes requests once a second, and not before it may begin. */
async function answerOf(
  { store, clock }: ChatDeps,
  { asked, requestId }: { readonly asked: Asked; readonly requestId: number },
  signal: AbortSignal,
): Promise<string> {
  const untilMs = clock.monotonicMs() + ANSWER_WITHIN_MS;
  while (clock.monotonicMs() < untilMs && !signal.aborted) {
    const answer = await store.read({ kind: "request-answer", requestId });
    if (answer !== undefined) return answer;
    await clock.sleep(ANSWER_LOOK_MS, signal);
  }
  return `${describeAsked(asked)}: written down, and not taken within ${ANSWER_WITHIN_MS / 1_000} s; see /status`;
}
