import type { Clock } from "../../ports/clock.ts";
import { type Refusal, refuse } from "../errors/errors.ts";
import { createTimeLimit, type TimeLimit } from "../time-limit.ts";
import type { Caller } from "./caller.ts";

/** How long a quote may take when the request does not say. */
const DEFAULT_TIMEOUT_MS = 10_000;

/** Of the time given, what is kept for writing the answer and sending it: a tenth, and no more than this. */
const ANSWER_SHARE = 1 / 10;
const ANSWER_MS = 50;

/** Of the time given, what is kept for all that comes after the search: a quarter, and no more than this. */
const AFTER_SEARCH_SHARE = 1 / 4;
const AFTER_SEARCH_MS = 250;

/**
 * Answers within the time that a caller gives, whatever the node, the search and the simulation of the swap do meanwhile.
 * @param work gets the limit of its search, which leaves time for the rest
 */
export async function inTime<T>(
  { timeoutMs, caller }: { readonly timeoutMs: number | undefined; readonly caller: Caller },
  clock: Clock,
  work: (search: TimeLimit) => Promise<T>,
): Promise<T | Refusal> {
  const givenMs = timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const answerMs = givenMs - Math.min(givenMs * ANSWER_SHARE, ANSWER_MS);
  const searchMs = givenMs - Math.min(givenMs * AFTER_SEARCH_SHARE, AFTER_SEARCH_MS);
  const search = createTimeLimit(searchMs, clock, caller);
  const done = await createTimeLimit(answerMs, clock, caller).within(work(search));
  if (done !== undefined) return done.value;
  const detail = `within ${givenMs} ms the network's node had not answered all that the quote needs`;
  return refuse("QUOTE_TIMEOUT", { detail, ...(timeoutMs === undefined ? {} : { parameter: "timeoutMs" }) });
}
