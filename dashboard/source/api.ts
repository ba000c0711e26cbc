import type { ActionBody, AnswerOf, OperationId, PathOf, Session } from "./answers.ts";
import { problemIn } from "./model/problem.ts";
import { createTurns } from "./model/turns.ts";
import { store, stored } from "./stored.ts";

/** Why the daemon did not answer as it was asked, in words for people. */
export class Refusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

const TIMEOUT_MS = 30_000;
const LATE = "late";
/** Of a browser's six connections to a server the events have one, and what a person asks for must find one that is free. */
const MOST_QUESTIONS = 4;

/**
 * What shows that an action comes from the page that logged in: browsers send the login's cookie to all ports of a host, and
 * keep this for one of them. A proxy may serve several daemons, each below a folder.
 */
const PAGE_KEY = `swapd-page-key ${location.pathname}`;

/** What this browser acts by; empty where it forgot it, even where it kept the cookie. */
export function pageKey(): string {
  return stored(PAGE_KEY);
}

interface Sent {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** ends it when nobody waits for it any more, or for too long */
  readonly end?: AbortController | undefined;
}

async function request(method: string, path: string, { body, headers = {}, end = new AbortController() }: Sent = {}) {
  const timer = setTimeout(() => end.abort(LATE), TIMEOUT_MS);
  try {
    const answer = await fetch(`api/v1${path}`, {
      method,
      headers: {
        accept: "application/json",
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: end.signal,
    });
    const text = await answer.text();
    if (!answer.ok) throw new Refusal(answer.status, problemIn(text) ?? `the daemon answered ${answer.status}`);
    return text === "" ? undefined : (JSON.parse(text) as unknown);
  } catch (error) {
    // An answer may also stop on its way.
    if (error instanceof Refusal || error instanceof SyntaxError) throw error;
    throw new Refusal(0, error === LATE ? "the daemon did not answer in time" : "the daemon cannot be reached");
  } finally {
    clearTimeout(timer);
  }
}

const inTurn = createTurns(MOST_QUESTIONS);

/** Reads something. The names of operations and their paths are checked against the daemon's own table. */
export async function ask<Id extends OperationId>(
  _operation: Id,
  path: PathOf<Id>,
  end?: AbortController,
): Promise<AnswerOf<Id>> {
  return (await inTurn(() => request("GET", path, { end }))) as AnswerOf<Id>;
}

/** Asks for an action. The same key acts once, however often it is sent. */
export async function act(body: ActionBody, key: string): Promise<AnswerOf<"act">> {
  const headers = { "idempotency-key": key, "swapd-page-key": pageKey() };
  return (await request("POST", "/actions", { body, headers })) as AnswerOf<"act">;
}

export async function logIn(code: string): Promise<Session> {
  const session = (await request("POST", "/session", { body: { code } })) as Session;
  store(PAGE_KEY, session.key ?? "");
  return session;
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
