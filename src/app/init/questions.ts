import type { Key } from "./answers.ts";
import { maxPerDay, maxPerMonth, total } from "./ceiling-questions.ts";
import type { Question } from "./question.ts";
import { at, buy, sell, timezone } from "./trade-questions.ts";
import { wallet } from "./wallet-question.ts";
import { network, rpc } from "./where-questions.ts";

/** A question for each answer; an answer is judged by those before it. */
export const QUESTIONS: Readonly<Record<Key, Question>> = {
  network,
  rpc,
  sell,
  buy,
  at,
  timezone,
  total,
  maxPerDay,
  maxPerMonth,
  wallet,
};
