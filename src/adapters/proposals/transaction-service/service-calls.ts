import { type BoundedFetch, boundedFetch, FetchError } from "../../../net/bounded-fetch.ts";
import { createRedactor } from "../../../net/redact.ts";
import { hostOf, type Secret } from "../../../net/secret.ts";
import type { LimitedAnswer, Permission, RateLimiter } from "../../../ports/rate-limiter.ts";

/** How the service is reached, and within which bounds. */
export interface TransactionServiceOptions {
  readonly url: string;
  readonly apiKey: Secret | undefined;
  /** for one answer, body included; waiting for the rate limit is not counted */
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly signal?: AbortSignal | undefined;
}

/** What its calls work with. */
export interface TransactionServiceDeps {
  readonly limiter: RateLimiter;
  /** default: over HTTP */
  readonly fetch?: BoundedFetch | undefined;
}

/** What the service answered, or why there is no answer: then nothing is known of what it did. */
export type Reply =
  | { readonly kind: "answer"; readonly status: number; readonly body: unknown; readonly words: string }
  | { readonly kind: "none"; readonly wasAsked: boolean; readonly detail: string };

/** Calls of the service, each made once, paced and bounded. */
export interface TransactionServiceCalls {
  readonly host: string;
  get(path: string, query?: Readonly<Record<string, string>>): Promise<Reply>;
  post(path: string, body: Readonly<Record<string, unknown>>): Promise<Reply>;
}

const LONGEST_WORDS = 200;

/** Creates the calls of one service. Its key goes into a header, and into nothing else. */
export function createTransactionServiceCalls(
  options: TransactionServiceOptions,
  { limiter, fetch = boundedFetch }: TransactionServiceDeps,
): TransactionServiceCalls {
  const { url, apiKey, timeoutMs, maxBytes, signal } = options;
  const base = url.replace(/\/+$/, "");
  const host = hostOf(url);
  const redactor = createRedactor(apiKey === undefined ? [] : [apiKey.reveal()]);
  const headers = {
    accept: "application/json",
    ...(apiKey !== undefined && { authorization: `Bearer ${apiKey.reveal()}` }),
  };
  const call = async (path: string, body?: string): Promise<Reply> => {
    const permission = await limiter.acquire("status", { signal });
    if (permission !== "granted")
      return { kind: "none", wasAsked: false, detail: `${host} was not asked: ${whyNot(permission)}` };
    let observed: LimitedAnswer | "lost" = "lost";
    try {
      const answer = await fetch({
        ...{ url: `${base}${path}`, timeoutMs, maxBytes },
        ...(signal !== undefined && { signal }),
        ...(body === undefined
          ? { headers }
          : { method: "POST", body, headers: { ...headers, "content-type": "application/json" } }),
      });
      observed = answer;
      const words = redactor.redact(answer.text.replaceAll(/\p{Cc}+/gu, " ")).slice(0, LONGEST_WORDS);
      return { kind: "answer", status: answer.status, body: jsonOf(answer.text), words };
    } catch (error) {
      if (!(error instanceof FetchError)) throw error;
      observed = error.answer ?? "lost";
      return { kind: "none", wasAsked: true, detail: error.message };
    } finally {
      limiter.observe(observed);
    }
  };
  return {
    host,
    get: (path, query = {}) => {
      const text = new URLSearchParams(query).toString();
      return call(text === "" ? path : `${path}?${text}`);
    },
    post: (path, body) => call(path, JSON.stringify(body)),
  };
}

function whyNot(permission: Exclude<Permission, "granted">): string {
  if (permission === "aborted") return "the daemon stops";
  if (permission === "queue full") return "too many calls wait for their turn";
  if ("heldBack" in permission) return permission.heldBack;
  return `the call waited ${Math.round(permission.waitedMs / 1_000)} s for ${permission.waitedFor}`;
}

/** undefined for what is no JSON. A number beyond what JavaScript holds exactly is none that this reads. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
