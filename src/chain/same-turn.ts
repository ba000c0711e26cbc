/** A question, and who waits for its answer. */
export interface Asked<Question, Answer> {
  readonly question: Question;
  resolve(answer: Answer): void;
  reject(error: unknown): void;
}

/**
 * Gathers what is asked in the same turn of the event loop: what it then costs together is less than each by itself.
 * @param send answers all of it, or rejects it
 */
export function gatherTurn<Question, Answer>(
  send: (asked: readonly Asked<Question, Answer>[]) => void,
): (question: Question) => Promise<Answer> {
  let waiting: Asked<Question, Answer>[] = [];
  const flush = (): void => {
    const asked = waiting;
    waiting = [];
    send(asked);
  };
  return (question) =>
    new Promise((resolve, reject) => {
      if (waiting.length === 0) setImmediate(flush);
      waiting.push({ question, resolve, reject });
    });
}
