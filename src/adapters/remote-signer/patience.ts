import { SigningError } from "../../domain/signing-error.ts";
import type { Clock } from "../../ports/clock.ts";

/** So long whoever asks is kept; then he does something else, and finds the answer when he asks again. */
const PATIENCE_MS = 1_000;
/** An answer is kept for so long: whoever asked for it may have to look at something else first. */
const KEPT_MS = 60_000;
const SHORTEST_REST_MS = 1_000;
const LONGEST_REST_MS = 60_000;
/** Questions without an answer; a wallet has one transaction and a few orders under way. */
const MOST_WAITING = 64;

/** Asks a signer so that whoever needs it is never held up for long, and it is never asked twice at once for the same. */
export interface Patience {
  /**
   * @param key names the content: the same one is the same question
   * @throws SigningError
   */
  answerOf<T>(key: string, ask: () => Promise<T>): Promise<T>;
}

interface Question {
  readonly answer: Promise<unknown>;
  answeredAtMs: number | undefined;
}

/** What the asking tells of the signer: a trouble each time, and undefined when it answered as it was asked. */
export type Hears = (trouble: SigningError | undefined) => void;

/** A signer that failed is asked again after a pause that doubles, so that a broken one is not asked a thousand times. */
export function createPatience(clock: Pick<Clock, "monotonicMs" | "sleep">, hears: Hears): Patience {
  const questions = new Map<string, Question>();
  let failures = 0;
  let rest: { readonly untilMs: number; readonly why: SigningError } | undefined;
  const failed = (key: string, error: unknown): void => {
    questions.delete(key);
    if (!(error instanceof SigningError)) return;
    const pauseMs = Math.min(SHORTEST_REST_MS * 2 ** Math.min(failures, 10), LONGEST_REST_MS);
    failures += 1;
    rest = { untilMs: clock.monotonicMs() + pauseMs, why: error };
    hears(error);
  };
  const answered = (question: Question): void => {
    question.answeredAtMs = clock.monotonicMs();
    failures = 0;
    rest = undefined;
    hears(undefined);
  };
  const begin = (key: string, ask: () => Promise<unknown>): Question => {
    if (rest !== undefined && clock.monotonicMs() < rest.untilMs)
      throw new SigningError("held back", `it is asked again in a moment: ${rest.why.message}`);
    if ([...questions.values()].filter(isWaiting).length >= MOST_WAITING)
      throw new SigningError("held back", `${MOST_WAITING} questions wait for the signer's answer`);
    const question: Question = { answer: ask(), answeredAtMs: undefined };
    questions.set(key, question);
    question.answer.then(
      () => answered(question),
      (error: unknown) => failed(key, error),
    );
    return question;
  };
  return {
    answerOf: async <T>(key: string, ask: () => Promise<T>): Promise<T> => {
      forgetOld(questions, clock.monotonicMs());
      const { answer } = questions.get(key) ?? begin(key, ask);
      // Only answers to this very content are kept under its name, so that they are of its kind.
      return (await orPending(clock, answer)) as T;
    },
  };
}

function isWaiting({ answeredAtMs }: Question): boolean {
  return answeredAtMs === undefined;
}

function forgetOld(questions: Map<string, Question>, nowMs: number): void {
  for (const [key, { answeredAtMs = nowMs }] of questions) if (nowMs - answeredAtMs >= KEPT_MS) questions.delete(key);
}

async function orPending(clock: Pick<Clock, "sleep">, answer: Promise<unknown>): Promise<unknown> {
  const settled = new AbortController();
  const tooLong = clock.sleep(PATIENCE_MS, settled.signal).then(() => {
    throw new SigningError("pending", "the signer was asked and has not answered yet");
  });
  // Whichever is later is nobody's any more.
  tooLong.catch(() => undefined);
  try {
    return await Promise.race([answer, tooLong]);
  } finally {
    settled.abort();
  }
}
