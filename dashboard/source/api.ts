import type { ActionBody, AnswerOf, OperationId, PathOf, Session } from "./answers.ts";
import { problemIn } from "./model/problem.ts";
import { createTurns } from "./model/turns.ts";

/** Why the daemon did not answer as it was asked, in words for people. */
export class Refusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

const TIMEOUT_MS = 30_000;
/** Of a browser's six connections to a server the events have one, and what a person asks for must find one that is free. */
const MOST_QUESTIONS = 4;

interface Sent {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** ends it when nobody waits for it any more */
  readonly left?: AbortSignal | undefined;
}

async function request(method: string, path: string, { body, headers = {}, left }: Sent = {}) {
  const answer = await reach(`api/v1${path}`, {
    method,
    credentials: "same-origin",
    headers: {
      accept: "application/json",
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: endOf(left),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Refusal(answer.status, problemIn(text) ?? `the daemon answered ${answer.status}`);
  return text === "" ? undefined : (JSON.parse(text) as unknown);
}

/** `AbortSignal.any`, which telephones of some years ago lack. */
function endOf(left: AbortSignal | undefined): AbortSignal {
  const late = AbortSignal.timeout(TIMEOUT_MS);
  if (left === undefined) return late;
  const ended = new AbortController();
  for (const one of [late, left]) {
    const end = (): void => ended.abort(one.reason);
    if (one.aborted) end();
    else one.addEventListener("abort", end, { once: true, signal: ended.signal });
  }
  return ended.signal;
}

async function reach(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (error) {
    const isLate = error instanceof DOMException && error.name === "TimeoutError";
    throw new Refusal(0, isLate ? "the daemon did not answer in time" : "the daemon cannot be reached");
  }
}

const inTurn = createTurns(MOST_QUESTIONS);

/** Reads something. The names of operations and their paths are checked against the daemon's own table. */
export async function ask<Id extends OperationId>(
  _operation: Id,
  path: PathOf<Id>,
  left?: AbortSignal,
): Promise<AnswerOf<Id>> {
  return (await inTurn(() => request("GET", path, { left }))) as AnswerOf<Id>;
}

/** Asks for an action. The same key acts once, however often it is sent. */
export async function act(body: ActionBody, key: string): Promise<AnswerOf<"act">> {
  return (await request("POST", "/actions", { body, headers: { "idempotency-key": key } })) as AnswerOf<"act">;
}

export async function logIn(code: string): Promise<Session> {
  return (await request("POST", "/session", { body: { code } })) as Session;
}

export async function logOut(): Promise<void> {
  await request("DELETE", "/session");
}

/** A key that nobody else has. `randomUUID` is missing where a page comes over plain HTTP from another host. */
export function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export function query(parameters: Readonly<Record<string, string | number | undefined>>): string {
  const given = Object.entries(parameters).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, `${value}`]],
  );
  return new URLSearchParams(given).toString();
}
