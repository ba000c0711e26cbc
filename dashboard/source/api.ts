import type { ActionBody, AnswerOf, OperationId, PathOf, Session } from "./answers.ts";

/** Why the daemon did not answer as it was asked, in words for people. */
export class Refusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

const TIMEOUT_MS = 30_000;

async function request(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  const answer = await reach(`api/v1${path}`, {
    method,
    credentials: "same-origin",
    headers: {
      accept: "application/json",
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Refusal(answer.status, problemIn(text) ?? `the daemon answered ${answer.status}`);
  return text === "" ? undefined : (JSON.parse(text) as unknown);
}

async function reach(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (error) {
    const isLate = error instanceof DOMException && error.name === "TimeoutError";
    throw new Refusal(0, isLate ? "the daemon did not answer in time" : "the daemon cannot be reached");
  }
}

/** The sentence of a problem document (RFC 9457), if the text is one. */
function problemIn(text: string): string | undefined {
  try {
    const problem = JSON.parse(text) as { title?: unknown; detail?: unknown };
    const sentence = problem.detail ?? problem.title;
    return typeof sentence === "string" ? sentence : undefined;
  } catch {
    // no JSON: a proxy's own page, for example
    return undefined;
  }
}

/** Reads something. The names of operations and their paths are checked against the daemon's own table. */
export async function ask<Id extends OperationId>(_operation: Id, path: PathOf<Id>): Promise<AnswerOf<Id>> {
  return (await request("GET", path)) as AnswerOf<Id>;
}

/** Asks for an action. The same key acts once, however often it is sent. */
export async function act(body: ActionBody, key: string): Promise<AnswerOf<"act">> {
  return (await request("POST", "/actions", body, { "idempotency-key": key })) as AnswerOf<"act">;
}

export async function logIn(code: string): Promise<Session> {
  return (await request("POST", "/session", { code })) as Session;
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
