import { isDenialCode } from "../../domain/guard/denial.ts";
import { type BoundedFetch, type BoundedResponse, boundedFetch, FetchError } from "../../net/bounded-fetch.ts";
import { type LosslessJson, parseJsonLossless } from "../../net/parse-json.ts";
import { createRedactor, type Redactor } from "../../net/redact.ts";
import { retryRead } from "../../net/retry-read.ts";
import { hostOf, type Secret } from "../../net/secret.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Logger } from "../../ports/logger.ts";
import type { CallPriority, LimitedAnswer, Permission, RateLimiter } from "../../ports/rate-limiter.ts";
import type { ServiceRefusal } from "../../ports/swap-service.ts";
import { createReader, isProblem, type WireProblem } from "./wire-reader.ts";

/** How one service is reached, and within which bounds. */
export interface ServiceCallOptions {
  readonly baseUrl: string;
  readonly apiKey?: Secret | undefined;
  /** headers of the service's own, with the key where there is one; else the service interface's */
  readonly headers?: (apiKey: string | undefined) => Readonly<Record<string, string>>;
  /** the fields in which a refusal has its name and its words; else the service interface's */
  readonly refusalFields?: RefusalFields;
  /** for one answer, body included; waiting for the rate limit is not counted */
  readonly timeoutMs: number;
  readonly maxBytes: number;
  /** repetitions of a read whose answer was lost or refused for the moment; default 2 */
  readonly retries?: number;
  readonly signal?: AbortSignal | undefined;
}

/** Names of two fields of an answer that refuses. */
interface RefusalFields {
  readonly name: string;
  readonly message: string;
}

const INTERFACE_REFUSALS: RefusalFields = { name: "error", message: "message" };
const interfaceHeaders = (apiKey: string | undefined): Record<string, string> =>
  apiKey === undefined ? {} : { apikey: apiKey };

/** What the calls work with; what is left out is the machine's. */
export interface ServiceCallDependencies {
  readonly limiter: RateLimiter;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly fetch?: BoundedFetch | undefined;
  /** a number in [0, 1) */
  readonly random?: (() => number) | undefined;
}

/** A good answer, or why there is none. */
export type Answer =
  | { readonly kind: "answer"; readonly json: LosslessJson; readonly cached: boolean }
  | ServiceRefusal;

/** Calls of a service. Every one is paced, bounded in size and time, and never follows a redirect. */
export interface ServiceCalls {
  /** A read; repeated a few times while only the moment speaks against it. */
  get(path: string, query: URLSearchParams, priority: CallPriority): Promise<Answer>;
  /** A question that is asked by POST and changes nothing; repeated like a read. */
  ask(path: string, body: Readonly<Record<string, unknown>>, priority: CallPriority): Promise<Answer>;
  /** Sends once, whatever comes back; not at all where `heldBack` gives a reason at the instant of sending. */
  post(
    path: string,
    body: Readonly<Record<string, unknown>>,
    heldBack: () => Promise<string | undefined>,
  ): Promise<Answer>;
  /** Words of the service without our key, without control characters, and not too many of them. */
  presentable(words: string): string;
}

const DEFAULT_RETRIES = 2;
const RETRY_MIN_MS = 250;
const RETRY_MAX_MS = 3_000;
const LONGEST_MESSAGE = 300;
const WAITED_TOO_LONG = "CALL_WAITED_TOO_LONG";
/** Code of a call that was held back, and never made: without a status. */
export const NOT_SENT = "NOT_SENT";
const NAME_PATTERN = /^[A-Za-z0-9_.-]{1,64}$/;

/** Statuses about the moment, not about the request. 410 is an expired quote: a fresh one helps. */
const PASSING_STATUSES = new Set([408, 410, 425, 429]);

/** The service knows the quote no more, as after a start: a fresh one helps. */
const PAST_QUOTES = new Set(["QUOTE_FORGOTTEN", "QUOTE_UNKNOWN"]);

/** A refusal on its way through the retry loop. */
class PassingRefusal extends Error {
  readonly refusal: ServiceRefusal;

  constructor(refusal: ServiceRefusal) {
    super(refusal.message);
    this.refusal = refusal;
  }
}

/** Creates the calls of one service. */
export function createServiceCalls(options: ServiceCallOptions, dependencies: ServiceCallDependencies): ServiceCalls {
  const base = options.baseUrl.replace(/\/+$/, "");
  const { apiKey, headers = interfaceHeaders, refusalFields = INTERFACE_REFUSALS } = options;
  const { clock, fetch = boundedFetch, random = Math.random } = dependencies;
  const redactor = createRedactor(apiKey === undefined ? [options.baseUrl] : [options.baseUrl, apiKey.reveal()]);

  async function once(call: Call): Promise<Answer> {
    const { priority, heldBack } = call;
    const permission = await dependencies.limiter.acquire(priority, { signal: options.signal, heldBack });
    if (permission !== "granted") return notSent(permission);
    const reason = await heldBack?.();
    // No call was made, so nothing came to an end: only an answer, or one that was lost, says that others may go on.
    if (reason !== undefined) return notSent({ heldBack: reason });
    const startedAt = clock.monotonicMs();
    const answer = await send(call);
    const fields = { path: call.path, outcome: answer.kind === "answer" ? "ok" : answer.code };
    const durationMs = Math.round(clock.monotonicMs() - startedAt);
    dependencies.logger.debug({ ...fields, durationMs }, "called the service");
    return answer;
  }

  async function send(call: Call): Promise<Answer> {
    let observed: LimitedAnswer | "lost" = "lost";
    try {
      const response = await fetch({
        url: `${base}${call.path}`,
        method: call.body === undefined ? "GET" : "POST",
        headers: { ...headersOf(call), ...headers(apiKey?.reveal()) },
        timeoutMs: options.timeoutMs,
        maxBytes: options.maxBytes,
        ...(call.body === undefined ? {} : { body: call.body }),
        ...(options.signal === undefined ? {} : { signal: options.signal }),
      });
      observed = response;
      return readResponse(response, { redactor, refusalFields, host: hostOf(options.baseUrl) });
    } catch (error) {
      if (!(error instanceof FetchError)) throw error;
      observed = error.answer ?? "lost";
      return fromFetchError(error);
    } finally {
      // Whatever became of it: the pace waits for the end of a call, not for a good one.
      dependencies.limiter.observe(observed);
    }
  }

  async function repeated(call: Call): Promise<Answer> {
    try {
      return await retryRead(() => throwPassing(once(call)), {
        retries: options.retries ?? DEFAULT_RETRIES,
        minDelayMs: RETRY_MIN_MS,
        maxDelayMs: RETRY_MAX_MS,
        pauses: { sleep: clock.sleep, random },
        isTransient: (error) => error instanceof PassingRefusal && isWorthRepeating(error.refusal),
        ...(options.signal === undefined ? {} : { signal: options.signal }),
      });
    } catch (error) {
      if (error instanceof PassingRefusal) return error.refusal;
      if (options.signal?.aborted === true) return notSent("aborted");
      throw error;
    }
  }

  return {
    get: (path, query, priority) => repeated({ path: withQuery(path, query), body: undefined, priority }),
    ask: (path, body, priority) => repeated({ path, body: JSON.stringify(body), priority }),
    post: (path, body, heldBack) => once({ path, body: JSON.stringify(body), priority: "status", heldBack }),
    presentable: (words) => presentable(words, redactor),
  };
}

/** A quote that is past stays so, and who has waited as long as a call may does not wait again. */
function isWorthRepeating(refusal: ServiceRefusal): boolean {
  const { status, code } = refusal;
  return status !== 410 && !PAST_QUOTES.has(code) && code !== WAITED_TOO_LONG;
}

interface Call {
  readonly path: string;
  readonly body: string | undefined;
  readonly priority: CallPriority;
  readonly heldBack?: () => Promise<string | undefined>;
}

async function throwPassing(answer: Promise<Answer>): Promise<Answer> {
  const result = await answer;
  if (result.kind === "refused" && result.retryable) throw new PassingRefusal(result);
  return result;
}

function headersOf({ body }: Call): Record<string, string> {
  const accept = { accept: "application/json" };
  return body === undefined ? accept : { ...accept, "content-type": "application/json" };
}

function withQuery(path: string, query: URLSearchParams): string {
  return query.size === 0 ? path : `${path}?${query}`;
}

function refused(code: string, message: string, status: number | undefined, retryable: boolean): ServiceRefusal {
  return { kind: "refused", code, message, status, retryable };
}

function notSent(permission: Exclude<Permission, "granted">): ServiceRefusal {
  if (permission === "aborted") return refused("ABORTED", "the call was given up before it was sent", undefined, true);
  if (permission === "queue full") {
    return refused("CALLS_QUEUED", "too many calls wait for the service's rate limit", undefined, true);
  }
  if ("heldBack" in permission) return refused(NOT_SENT, permission.heldBack, undefined, false);
  const seconds = Math.round(permission.waitedMs / 1_000);
  return refused(WAITED_TOO_LONG, `the call waited ${seconds} s for ${permission.waitedFor}`, undefined, true);
}

function fromFetchError(error: FetchError): ServiceRefusal {
  switch (error.kind) {
    case "too large":
      return refused("ANSWER_TOO_LARGE", error.message, undefined, false);
    case "not utf-8":
      return refused("ANSWER_NOT_JSON", error.message, undefined, false);
    case "redirect":
      return refused("REDIRECTED", error.message, undefined, false);
    case "bad url":
      return refused("BAD_URL", error.message, undefined, false);
    case "aborted":
    case "timeout":
    case "transport":
      return refused("UNREACHABLE", error.message, undefined, true);
  }
}

interface ReadAs {
  readonly redactor: Redactor;
  readonly refusalFields: RefusalFields;
  readonly host: string;
}

function readResponse(response: BoundedResponse, { redactor, refusalFields, host }: ReadAs): Answer {
  const parsed = parseJsonLossless(response.text);
  const { status } = response;
  if (status >= 200 && status < 300) {
    if ("refused" in parsed) return refused("ANSWER_NOT_JSON", `${host}: ${parsed.refused}`, status, false);
    return { kind: "answer", json: parsed.value, cached: /[1-9]/.test(response.header("age") ?? "") };
  }
  const reader = createReader("refused" in parsed ? undefined : parsed.value, "error");
  const name = reader.text(refusalFields.name);
  const code = reader.count("code");
  // Of any length: what is too much is cut.
  const said = reader.value(refusalFields.message);
  const words = typeof said === "string" ? said : "no message";
  const isFit = name !== undefined && NAME_PATTERN.test(name) && redactor.redact(name) === name;
  const known = isFit ? foreignCode(name) : undefined;
  const label = known ?? (code === undefined ? `HTTP_${status}` : `SERVICE_${code}`);
  const retryable = status >= 500 || PASSING_STATUSES.has(status) || PAST_QUOTES.has(label);
  return refused(label, `${host} answered ${status}: ${presentable(words, redactor)}`, status, retryable);
}

/** Its name for a refusal; one that we deny by says nothing of a check of ours, but that a quote expired is the same to both. */
function foreignCode(name: string): string {
  return isDenialCode(name) && name !== "QUOTE_EXPIRED" ? `SERVICE_${name}` : name;
}

/** The service's own words, without control characters and secrets, and not too many of them. */
function presentable(words: string, redactor: Redactor): string {
  return redactor.redact(words.replaceAll(/\p{Cc}+/gu, " ")).slice(0, LONGEST_MESSAGE);
}

/**
 * What a good answer says. One whose content cannot be used is refused, and one out of a cache too: it may be somebody
 * else's, or long past.
 */
export function readAnswer<T>(
  calls: Pick<ServiceCalls, "presentable">,
  answer: Answer,
  parse: (json: LosslessJson) => T | WireProblem,
): T | ServiceRefusal {
  if (answer.kind === "refused") return answer;
  if (answer.cached) {
    return refused("ANSWER_CACHED", "the answer came out of a cache between us and the service", undefined, true);
  }
  const parsed = parse(answer.json);
  if (!isProblem(parsed)) return parsed;
  return refused("ANSWER_MALFORMED", calls.presentable(parsed.problem), undefined, false);
}
