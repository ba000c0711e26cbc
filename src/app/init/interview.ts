import { CommandFailure, EXIT } from "../exit-codes.ts";
import type { Terminal } from "../terminal.ts";
import { KEYS, type Key } from "./answers.ts";
import type { LineSource } from "./lines.ts";
import { STRATEGY_KEYS } from "./present.ts";
import { QUESTIONS } from "./questions.ts";
import type { Session, Verdict } from "./session.ts";

/** What was said on the command line. */
export type Given = Readonly<Partial<Record<Key, string>>>;

const FLAGS: Readonly<Record<Key, string>> = {
  network: "--network",
  rpc: "--rpc",
  sell: "--sell",
  buy: "--buy",
  at: "--at",
  timezone: "--timezone",
  total: "--total",
  maxPerDay: "--max-per-day",
  maxPerMonth: "--max-per-month",
  wallet: "--wallet",
};

/** The questions that arise: of several strategies, or of one that does more, init changes none, and of wallets neither. */
function keysOf({ present }: Session): readonly Key[] {
  if (present === undefined) return KEYS;
  const kept: readonly Key[] = [
    ...(present.strategyFile === undefined ? STRATEGY_KEYS : []),
    ...(present.answers.wallet === undefined ? (["wallet"] as const) : []),
  ];
  return KEYS.filter((key) => !kept.includes(key));
}

/**
 * Asks one question after the other until each has an answer that is in order. A wrong answer, or `?`, is explained and
 * asked again; `back` goes to the question before.
 * @throws CommandFailure when the answers end too early: nothing was written then
 */
export async function interview(
  session: Session,
  given: Given,
  { lines, terminal }: { lines: LineSource; terminal: Terminal },
): Promise<void> {
  const keys = keysOf(session);
  const asked: number[] = [];
  for (let index = 0; index < keys.length; ) {
    const key = keys[index] as Key;
    const settled = QUESTIONS[key].settled?.(session) ?? undefined;
    if (settled !== undefined) {
      session.answers.set(key, settled);
      index += 1;
      continue;
    }
    const done = await askOne(session, key, { given: asked.includes(index) ? undefined : given[key], lines, terminal });
    if (done === "back") index = asked.pop() ?? 0;
    else {
      asked.push(index);
      index += 1;
    }
  }
}

async function askOne(
  session: Session,
  key: Key,
  from: { given: string | undefined; lines: LineSource; terminal: Terminal },
): Promise<"answered" | "back"> {
  const { lines, terminal } = from;
  const question = QUESTIONS[key];
  const fallback = await question.fallback(session);
  for (let text = from.given; ; text = undefined) {
    const shown = fallback === undefined ? "" : ` [${fallback}]`;
    const typed = text ?? (await lines.next(`${question.asks(session)}${shown}: `));
    if (typed === undefined) {
      throw new CommandFailure(
        EXIT.usage,
        `the answers ended at "${question.asks(session)}": nothing was written; begin again, or give flags with --yes`,
      );
    }
    const answer = typed.trim() === "" ? (fallback ?? "") : typed.trim();
    if (answer === "back") return "back";
    if (answer === "?") {
      terminal.err(
        `${question.explains}\n(an empty answer takes what stands in brackets; back goes to the question before)`,
      );
      continue;
    }
    const verdict = await question.judge(session, answer);
    if ("problem" in verdict) {
      terminal.err(`  ${verdict.problem}`);
      continue;
    }
    take(session, key, { verdict, terminal });
    return "answered";
  }
}

function take(
  session: Session,
  key: Key,
  { verdict, terminal }: { verdict: Exclude<Verdict, { problem: string }>; terminal: Terminal },
): void {
  session.answers.set(key, verdict.value);
  for (const line of verdict.says) terminal.err(`  ${line}`);
}

function isUnsaid({ present }: Session, given: Given, key: Key): boolean {
  return present !== undefined && (given[key] ?? present.answers[key]) === undefined;
}

/**
 * Takes flags, what is there already, and defaults, and asks nothing.
 * @throws CommandFailure with everything that is wrong, by flag
 */
export async function fromFlags(session: Session, given: Given, terminal: Terminal): Promise<void> {
  const problems: string[] = [];
  const keys = keysOf(session);
  for (const key of keys) {
    const question = QUESTIONS[key];
    const settled = question.settled?.(session);
    const answer = settled ?? given[key] ?? (await question.fallback(session)) ?? "";
    const verdict: Verdict =
      settled === undefined ? await question.judge(session, answer) : { value: settled, says: [] };
    if ("problem" in verdict) problems.push(`${FLAGS[key]}: ${verdict.problem}`);
    else take(session, key, { verdict, terminal });
    if (isUnsaid(session, given, key)) session.unsaid.add(key);
    // Without the network nothing can be judged that comes after it.
    if (key === "network" && "problem" in verdict) break;
  }
  const useless = Object.keys(given).filter((key) => !keys.includes(key as Key)) as Key[];
  for (const key of useless) {
    const what =
      key === "wallet"
        ? "the wallet here is one that init does not ask about: edit swapd.yaml"
        : "this folder has no strategy, several, or one that does more than init asks: edit its file";
    problems.push(`${FLAGS[key]}: ${what}`);
  }
  if (problems.length > 0) throw new CommandFailure(EXIT.usage, `${problems.join("\n")}\nnothing was written`);
}
