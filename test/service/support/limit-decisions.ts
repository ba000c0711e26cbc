import type { LoadAnswer } from "./load-client.ts";

/** What is wrong with the headers of an answer; undefined when all are right. */
export function wrongHeaders(answer: LoadAnswer, limit: number): string | undefined {
  const { headers, status } = answer;
  const remaining = Number(headers["ratelimit-remaining"]);
  const problems = [
    headers["ratelimit-limit"] === String(limit) ? "" : `RateLimit-Limit ${headers["ratelimit-limit"]}`,
    headers["x-ratelimit-limit-second"] === String(limit) ? "" : "X-RateLimit-Limit-Second",
    headers["x-ratelimit-remaining-second"] === headers["ratelimit-remaining"] ? "" : "two remaining counts",
    Number.isInteger(remaining) && remaining >= 0 && remaining < limit ? "" : `remaining ${remaining}`,
    headers["ratelimit-reset"] === "1" ? "" : "RateLimit-Reset",
    status !== 429 || (headers["retry-after"] === "1" && remaining === 0) ? "" : "a refusal's own",
    status !== 429 || answer.text === '{"message":"API rate limit exceeded"}' ? "" : `body ${answer.text}`,
  ].filter((problem) => problem !== "");
  return problems.length === 0 ? undefined : `${answer.endpoint} ${status}: ${problems.join(", ")}`;
}

interface Second {
  /** remaining counts that were reported in this second for certain, and how often */
  readonly certain: Map<number, number>;
  /** those of answers that were on their way when the second began or ended */
  readonly possible: Set<number>;
  refusedForCertain: number;
}

/**
 * Wrong decisions of a server with fixed windows that shares this machine's clock, for all answers of one caller. Each
 * second has exactly the counts limit-1 ... 0 to give; who is refused must find them all given.
 */
export function wrongDecisions(answers: readonly LoadAnswer[], limit: number): string[] {
  const seconds = new Map<number, Second>();
  const at = (second: number): Second => {
    const known = seconds.get(second);
    if (known !== undefined) return known;
    const fresh: Second = { certain: new Map(), possible: new Set(), refusedForCertain: 0 };
    seconds.set(second, fresh);
    return fresh;
  };
  for (const { status, sentAtMs, gotAtMs, headers } of answers) {
    const [first, last] = [Math.floor(sentAtMs / 1_000), Math.floor(gotAtMs / 1_000)];
    const remaining = Number(headers["ratelimit-remaining"]);
    if (status === 429) {
      if (first === last) at(first).refusedForCertain += 1;
      continue;
    }
    for (let second = first; second <= last; second += 1) at(second).possible.add(remaining);
    if (first === last) at(first).certain.set(remaining, (at(first).certain.get(remaining) ?? 0) + 1);
  }
  return [...seconds].flatMap(([second, { certain, possible, refusedForCertain }]) => [
    ...[...certain].filter(([, times]) => times > 1).map(([count]) => `second ${second}: count ${count} given twice`),
    ...(refusedForCertain > 0 && possible.size < limit
      ? [`second ${second}: refused after ${possible.size} of ${limit}`]
      : []),
  ]);
}
