const MOST_ANSWERS = 5_000;

/** The same function, which works out each answer once: for pure work that tests with very many lives repeat. */
export function remembered<I, T extends object>(work: (input: I) => T, keyOf: (input: I) => string): (input: I) => T {
  const answers = new Map<string, T>();
  return (input) => {
    const key = keyOf(input);
    const known = answers.get(key);
    if (known !== undefined) return known;
    if (answers.size >= MOST_ANSWERS) answers.clear();
    const answer = work(input);
    answers.set(key, answer);
    return answer;
  };
}
