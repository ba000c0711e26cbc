import type { Key } from "./answers.ts";
import type { Session, Verdict } from "./session.ts";

/** What is asked, and how an answer is judged at once. */
export interface Question {
  readonly asks: (session: Session) => string;
  /** what `?` shows */
  readonly explains: string;
  /** what an empty answer means; undefined: it must be answered */
  readonly fallback: (session: Session) => Promise<string | undefined> | string | undefined;
  readonly judge: (session: Session, answer: string) => Promise<Verdict> | Verdict;
  /** false: the question does not arise, and this is its answer */
  readonly settled?: (session: Session) => string | undefined;
}

/** What was answered to an earlier question. */
export function answerOf({ answers }: Session, key: Key): string {
  return answers.get(key) ?? "";
}
