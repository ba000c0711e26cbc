import type { ChatMessage, Heard } from "../../adapters/notify/bot.ts";
import { SUBJECT } from "../../domain/run/alert.ts";
import { type AlertDeps, raiseChange, writeAndNotify } from "../../engine/alerts.ts";
import { BY_CHAT } from "../../engine/operator-modes.ts";
import { isStorageFault } from "../../storage/storage-fault.ts";
import { type ChatDeps, carryOut, describeRequest, noteTaken } from "./carry-out.ts";
import { createCodes } from "./codes.ts";
import { type Asked, type ChatTerms, isOurs, LONGEST_AGE_SECONDS, understand } from "./commands.ts";

const WAIT_SECONDS = 25;
/** A service that does not wait as it is asked to is not asked without a pause. */
const SHORTEST_GAP_MS = 250;
/** Of more commands than these at once the rest is dropped, and its sender hears of it. */
const MOST_AT_ONCE = 10;
const SHORTEST_RETRY_MS = 2_000;
const LONGEST_RETRY_MS = 60_000;
/** However long a service asks to be left alone, it is asked again after this. */
const LONGEST_ASKED_MS = 30 * 60_000;
/** Nobody is told of a service that is away for a moment. */
const UNHEARD_AFTER_MS = 60_000;
/** Where nothing came for a week the service may number its updates anew, from anywhere. */
const OFFSET_VALID_MS = 6 * 86_400_000;

/**
 * What was asked for by chat in an earlier life is not done in this one: it may have been hours ago.
 * To be called before requests are taken.
 * @returns what was refused, for the chat that is listened to afterwards
 */
export async function refuseOldRequests({
  store,
  clock,
}: Pick<AlertDeps, "store" | "clock">): Promise<readonly string[]> {
  const answer = "refused: the daemon was started since; send it again";
  const [refused] = await store.commit<"requests", readonly string[]>([
    {
      question: { kind: "requests" },
      decide: (requests) => {
        const old = requests.filter(({ madeBy }) => madeBy.startsWith(BY_CHAT));
        const changes = old.map(({ id: requestId }) => ({ kind: "request-answered", requestId, answer }) as const);
        return { changes, atMs: clock.nowMs(), value: old.map(describeRequest) };
      },
    },
  ]);
  return refused?.value ?? [];
}

/**
 * Listens to one chat, in one loop: nothing waits for it, and what it does goes through the rows of operators' requests.
 * What was sent while nobody listened is dropped, whatever its instant says: the first messages of a life, and those after
 * a time in which the service did not answer.
 * @param refused what was asked for in an earlier life and not taken: its sender hears of it
 * @returns ends it
 */
export function startListening(terms: ChatTerms, deps: ChatDeps, refused: readonly string[] = []): () => Promise<void> {
  const stopping = new AbortController();
  const memory: Memory = {
    ...{ refused, isCaughtUp: false, heardAtMs: deps.clock.monotonicMs(), failures: 0 },
    ...{ failingSinceMs: undefined, name: undefined },
  };
  const running = listen(terms, deps, { memory, signal: stopping.signal });
  return async () => {
    stopping.abort();
    await running;
  };
}

/** What one life remembers. Its clock is the monotonic one. */
interface Memory {
  isCaughtUp: boolean;
  /** requests of an earlier life whose sender has had no answer yet */
  refused: readonly string[];
  heardAtMs: number;
  failures: number;
  failingSinceMs: number | undefined;
  name: string | undefined;
}

async function listen(
  terms: ChatTerms,
  deps: ChatDeps,
  { memory, signal }: { readonly memory: Memory; readonly signal: AbortSignal },
): Promise<void> {
  const { bot, clock, logger } = deps;
  const codes = createCodes(clock);
  while (!signal.aborted) {
    try {
      await clock.sleep(SHORTEST_GAP_MS, signal);
      if (clock.monotonicMs() - memory.heardAtMs > LONGEST_AGE_SECONDS * 1_000) memory.isCaughtUp = false;
      const update = await offsetOf(deps);
      const heard = await bot.hear({ update, waitSeconds: memory.isCaughtUp ? WAIT_SECONDS : 0 }, signal);
      if (signal.aborted) return;
      if (!heard.ok) {
        const askedMs = Math.min(heard.afterMs ?? 0, LONGEST_ASKED_MS);
        await noteUnheard(deps, memory, { ...heard, askedMs });
        await clock.sleep(Math.max(retryMs(memory.failures), askedMs), signal);
        continue;
      }
      memory.name ??= await bot.name(signal);
      await noteHeard(deps, memory);
      await sayRefused(terms, deps, { memory, signal });
      await takeAll(terms, deps, { heard, memory, codes, signal });
    } catch (error) {
      if (!isStorageFault(error)) throw error;
      logger.error({ error }, "the chat cannot be listened to now");
      await clock.sleep(LONGEST_RETRY_MS, signal);
    }
  }
}

function retryMs(failures: number): number {
  return Math.min(LONGEST_RETRY_MS, SHORTEST_RETRY_MS * 2 ** Math.min(failures, 10));
}

async function offsetOf({ store, bot, clock }: ChatDeps): Promise<number | undefined> {
  const stored = await store.read({ kind: "chat-offset", bot: bot.id });
  if (stored === undefined || Math.abs(clock.nowMs() - stored.atMs) > OFFSET_VALID_MS) return undefined;
  return stored.nextUpdate;
}

async function noteUnheard(
  deps: ChatDeps,
  memory: Memory,
  { detail, askedMs }: Extract<Heard, { ok: false }> & { readonly askedMs: number },
): Promise<void> {
  const { bot, clock, logger } = deps;
  const now = clock.monotonicMs();
  memory.failures += 1;
  memory.failingSinceMs ??= now;
  logger.warn({ host: bot.host, outcome: detail }, "the chat was not heard; it is asked again later");
  // Asked to wait for longer than that, it hears nothing until then.
  if (now + askedMs - memory.failingSinceMs < UNHEARD_AFTER_MS) return;
  const why =
    detail === "HTTP 409" ? ": another program listens with the same bot, or it has a webhook" : `: ${detail}`;
  const text = `commands by chat are not heard${why}; what is sent meanwhile is dropped, so use swapd itself`;
  await warn(deps, text);
}

async function warn(deps: ChatDeps, text: string): Promise<void> {
  const alert = { severity: "warning", code: "CHAT_UNHEARD", subject: SUBJECT.chat(), text } as const;
  await writeAndNotify(deps, [raiseChange(deps, alert)]);
}

/** A bot whose name is not known does not know what is sent to it by name: that is half deaf. */
async function noteHeard(deps: ChatDeps, memory: Memory): Promise<void> {
  const now = deps.clock.monotonicMs();
  memory.heardAtMs = now;
  if (memory.name === undefined) {
    memory.failures = 0;
    memory.failingSinceMs ??= now;
    const text =
      "commands by chat that name the bot are not taken: the service does not say its name (getMe); send them without the @";
    return now - memory.failingSinceMs < UNHEARD_AFTER_MS ? undefined : await warn(deps, text);
  }
  if (memory.failures === 0 && memory.failingSinceMs === undefined && memory.isCaughtUp) return;
  memory.failures = 0;
  memory.failingSinceMs = undefined;
  await writeAndNotify(deps, [{ kind: "alerts-over", subject: SUBJECT.chat() }]);
}

async function sayRefused(
  terms: ChatTerms,
  deps: ChatDeps,
  { memory, signal }: Pick<Taking, "memory" | "signal">,
): Promise<void> {
  if (memory.refused.length === 0) return;
  const text = `refused, because the daemon was started before it took them: ${memory.refused.join(", ")}; send again what is still meant`;
  memory.refused = [];
  await reply(deps, terms, text, signal);
}

interface Taking {
  readonly heard: Extract<Heard, { ok: true }>;
  readonly memory: Memory;
  readonly codes: ReturnType<typeof createCodes>;
  readonly signal: AbortSignal;
}

async function takeAll(terms: ChatTerms, deps: ChatDeps, taking: Taking): Promise<void> {
  const { heard, memory, signal } = taking;
  const { messages, next, isAll } = heard;
  if (!memory.isCaughtUp) {
    await noteTaken(deps, next, []);
    const dropped = messages.filter((message) => isOurs(message, terms)).length;
    if (dropped > 0)
      await reply(deps, terms, `dropped ${dropped} sent while nobody listened; send again what is still meant`, signal);
    memory.isCaughtUp = isAll;
    return;
  }
  const nowSeconds = heard.nowSeconds ?? deps.clock.nowMs() / 1_000;
  const commands = messages
    .filter((one) => isOurs(one, terms))
    .flatMap((message) => commandIn(message, understand(message.text, terms, memory.name)));
  for (const command of commands.slice(0, MOST_AT_ONCE)) {
    if (signal.aborted) return;
    await takeOne(terms, deps, { ...taking, ...command, nowSeconds });
  }
  await noteTaken(deps, next, []);
  const left = commands.slice(MOST_AT_ONCE).map(({ message }) => message.text.slice(0, 64));
  if (left.length === 0) return;
  deps.logger.warn({ commands: left }, "more commands by chat at once than are taken");
  const text = `dropped ${left.length}, because no more than ${MOST_AT_ONCE} are taken at once: ${left.join(", ")}; send again what is still meant`;
  await reply(deps, terms, text, signal);
}

type Understood = Exclude<ReturnType<typeof understand>, { kind: "ignored" }>;

interface Command {
  readonly message: ChatMessage;
  readonly understood: Understood;
}

function commandIn(message: ChatMessage, understood: ReturnType<typeof understand>): readonly Command[] {
  return understood.kind === "ignored" ? [] : [{ message, understood }];
}

async function takeOne(
  terms: ChatTerms,
  deps: ChatDeps,
  { message, understood, nowSeconds, codes, signal }: Taking & Command & { readonly nowSeconds: number },
): Promise<void> {
  const next = message.updateId + 1;
  const { user = "" } = message;
  const ageSeconds = Math.round(nowSeconds - message.atSeconds);
  if (Math.abs(ageSeconds) > LONGEST_AGE_SECONDS) {
    await noteTaken(deps, next, []);
    return await reply(deps, terms, `dropped: it was sent ${ageSeconds} s ago by this clock; send it again`, signal);
  }
  deps.logger.info({ user, command: message.text.slice(0, 64) }, "a command by chat");
  const asked = askedFor(understood, { user, codes });
  if (typeof asked === "string") {
    await noteTaken(deps, next, []);
    return await reply(deps, terms, asked, signal);
  }
  await reply(deps, terms, await carryOut(deps, { asked, user, next, signal }), signal);
}

/** @returns what is to be done; else what to say */
function askedFor(
  understood: Understood,
  { user, codes }: { readonly user: string; readonly codes: ReturnType<typeof createCodes> },
): Asked | string {
  if (understood.kind === "unfit") return understood.reply;
  if (understood.kind === "code") return codes.redeem(user, understood.code);
  return understood.needsCode ? codes.ask(user, understood.asked) : understood.asked;
}

async function reply(deps: ChatDeps, { chat }: ChatTerms, text: string, signal: AbortSignal): Promise<void> {
  const trouble = await deps.bot.say(chat, text, signal);
  if (trouble !== undefined)
    deps.logger.warn({ host: deps.bot.host, outcome: trouble }, "an answer by chat was not sent");
}
