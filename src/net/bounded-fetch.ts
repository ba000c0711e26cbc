import type { IncomingHttpHeaders } from "node:http";
import { Readable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { createSecureContext } from "node:tls";
import { Agent, type Dispatcher } from "undici";
import { type BoundedBody, createBoundedBody, type Unreadable } from "./bounded-body.ts";
import { codeOf } from "./error-code.ts";
import { hostOf, type Secret } from "./secret.ts";

/** A request whose answer is bounded in size and time. */
export interface BoundedRequest {
  readonly url: string;
  readonly method?: "GET" | "POST" | "PUT";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** for everything: connection, headers and the whole body */
  readonly timeoutMs: number;
  /** bytes of the body, as it is sent and after decompression */
  readonly maxBytes: number;
  readonly signal?: AbortSignal;
}

/** Status and headers of an answer. */
export interface AnswerHead {
  readonly status: number;
  /** A header by its name in lower case, null when it is absent; the values of a repeated one with commas between. */
  header(name: string): string | null;
}

export interface BoundedResponse extends AnswerHead {
  readonly text: string;
}

/**
 * No usable answer came. It proves nothing about what the server did with the request. The message names the host only.
 */
export class FetchError extends Error {
  readonly kind: "bad url" | "timeout" | "aborted" | "redirect" | "too large" | "not utf-8" | "transport";
  readonly host: string;
  /** status and headers, where at least these came */
  readonly answer: AnswerHead | undefined;

  constructor(kind: FetchError["kind"], host: string, detail: string, answer?: AnswerHead) {
    super(`${host}: ${detail}`);
    this.name = "FetchError";
    this.kind = kind;
    this.host = host;
    this.answer = answer;
  }
}

/** How one request is sent: over HTTP by {@link boundedFetch}, or to whatever stands for the network. */
export type BoundedFetch = (request: BoundedRequest) => Promise<BoundedResponse>;

const LONGEST_TIMER_MS = 2_147_483_647;

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/**
 * Idle connections are closed after this long, or a second before the server says that it will: a request that meets a
 * connection which the server is about to close has no answer.
 */
const IDLE_MS = 4_000;

/** A host that has not taken a connection after this long is away, however long the request may take. */
const CONNECT_MS = 10_000;

/** The socket takes this much at once. Of a longer body it must be known whether it was taken before the answer came. */
const WRITTEN_AT_ONCE_BYTES = 16_384;

/**
 * Kept connections, each with one request at a time: behind another one, or among streams of HTTP/2, a request can be
 * sent again by itself. The client's own times for headers and for pauses in a body are switched off: every request has
 * a time for everything. An environment that switches the checks of certificates off for a whole process does not switch
 * them off here.
 */
const CONNECTIONS = connectionsOf({});

/** Who we are for a server that asks (mutual TLS), and whose certificates we believe besides those of the system: PEM texts. */
export interface TlsIdentity {
  readonly certificate: string;
  readonly key: Secret;
  /** believed instead of the system's: a server in one's own network usually signs for itself */
  readonly authority: string | undefined;
}

function connectionsOf(tls: { readonly cert?: string; readonly key?: string; readonly ca?: string }): Agent {
  return new Agent({
    connect: { timeout: CONNECT_MS, ...tls, rejectUnauthorized: true },
    pipelining: 1,
    allowH2: false,
    keepAliveTimeout: IDLE_MS,
    keepAliveMaxTimeout: IDLE_MS,
    keepAliveTimeoutThreshold: 1_000,
    headersTimeout: 0,
    bodyTimeout: 0,
  });
}

/** Hosts behind a firewall refuse who has no name; caches in between must not answer out of their memory. */
const SAID_ALWAYS = {
  accept: "*/*",
  "accept-encoding": "gzip",
  "cache-control": "no-cache",
  "user-agent": "swapd",
} as const;

/**
 * Sends one HTTP request, once. Redirects are errors (they would carry keys to another host), nothing is cached, the
 * body is counted while it streams, and its text must be valid UTF-8. Any status is an answer, also 4xx and 5xx.
 * @throws FetchError when there is no complete answer within the bounds
 */
export async function boundedFetch(request: BoundedRequest): Promise<BoundedResponse> {
  return await send(request, CONNECTIONS);
}

/** The same over connections of its own, on which we show who we are. @throws Error when these are no PEM texts of a pair */
export function createTlsFetch({ certificate, key, authority }: TlsIdentity): BoundedFetch {
  const tls = { cert: certificate, key: key.reveal(), ...(authority !== undefined && { ca: authority }) };
  createSecureContext(tls);
  const connections = connectionsOf(tls);
  return (request) => send(request, connections);
}

async function send(request: BoundedRequest, connections: Agent): Promise<BoundedResponse> {
  const { timeoutMs, maxBytes, signal } = request;
  const host = hostOf(request.url);
  const sendable = toSendable(request, host);
  if (!(timeoutMs > 0 && timeoutMs <= LONGEST_TIMER_MS)) {
    throw new RangeError(`a request needs a timeout of 1 to ${LONGEST_TIMER_MS} ms, not ${timeoutMs}`);
  }
  const aborted = () => new FetchError("aborted", host, "the request was aborted");
  // The client checks a kept connection at the end of the turn of the loop in which it is called. Only in the next one
  // does the check show what came while this process was busy, and is the connection of the last answer free again.
  await nextTurn();
  if (signal?.aborted === true) throw aborted();
  const exchange = new Exchange(host, maxBytes);
  const giveUp = () => exchange.fail(aborted());
  const timer = setTimeout(
    () => exchange.fail(new FetchError("timeout", host, `no complete answer within ${timeoutMs} ms`)),
    timeoutMs,
  );
  signal?.addEventListener("abort", giveUp);
  try {
    connections.dispatch(sendable, exchange);
    return await exchange.answer;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", giveUp);
  }
}

/** One request, from a connection for it to the end of its answer, whichever way it ends. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #host: string;
  readonly #body: BoundedBody;
  readonly #settled = Promise.withResolvers<BoundedResponse>();
  #sent: Dispatcher.DispatchController | undefined;
  #head: AnswerHead | undefined;
  #failed: FetchError | undefined;

  constructor(host: string, maxBytes: number) {
    this.#host = host;
    this.#body = createBoundedBody(maxBytes);
  }

  get answer(): Promise<BoundedResponse> {
    return this.#settled.promise;
  }

  /** Ends it without an answer. The first reason counts: what breaks by it is none. */
  fail(reason: FetchError): void {
    if (this.#failed !== undefined) return;
    this.#failed = this.#head === undefined ? reason : withAnswer(reason, this.#head);
    this.#settled.reject(this.#failed);
    this.#sent?.abort(this.#failed);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#sent = controller;
    // Given up while it had no connection: it is not sent.
    if (this.#failed !== undefined) controller.abort(this.#failed);
  }

  onResponseStart(_: unknown, status: number, headers: IncomingHttpHeaders): void {
    // Early hints are no answer.
    if (status < 200) return;
    this.#head = { status, header: (name) => joined(headers[name]) };
    if (!REDIRECTS.has(status)) return;
    this.fail(new FetchError("redirect", this.#host, "the server answered with a redirect, which is not followed"));
  }

  onResponseData(_: unknown, piece: Buffer): void {
    const unreadable = this.#body.add(piece);
    if (unreadable !== undefined) this.#failUnread(unreadable);
  }

  onResponseEnd(): void {
    const head = this.#head;
    if (head === undefined) throw new Error("an answer ended that never began");
    const text = this.#body.text(head.header("content-encoding"));
    if (typeof text === "string") this.#settled.resolve({ ...head, text });
    else this.#failUnread(text);
  }

  onResponseError(_: unknown, error: Error): void {
    this.fail(toFetchError(error, this.#host));
  }

  #failUnread({ kind, detail }: Unreadable): void {
    this.fail(new FetchError(kind, this.#host, detail));
  }
}

function joined(header: string | string[] | undefined): string | null {
  return Array.isArray(header) ? header.join(", ") : (header ?? null);
}

/** The same reason, with what the server has said before it. */
function withAnswer(error: FetchError, answer: AnswerHead): FetchError {
  const detail = error.message.slice(error.host.length + 2);
  return new FetchError(error.kind, error.host, detail, answer);
}

/** Credentials move from the URL to a header, so that no error of the HTTP client can contain them. */
function toSendable(request: BoundedRequest, host: string): Dispatcher.DispatchOptions {
  const url = URL.parse(request.url);
  if (url === null) throw new FetchError("bad url", host, "the configured address is not a URL");
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw new FetchError("bad url", host, `only http and https are supported, not ${url.protocol}`);
  }
  const headers: Record<string, string> = { ...SAID_ALWAYS, ...request.headers };
  if (url.username !== "" || url.password !== "") {
    headers.authorization = `Basic ${Buffer.from(credentialsOf(url, host)).toString("base64")}`;
  }
  const bytes = request.body === undefined ? null : Buffer.from(request.body);
  const isLong = bytes !== null && bytes.length > WRITTEN_AT_ONCE_BYTES;
  if (isLong) headers["content-length"] = String(bytes.length);
  return {
    origin: url.origin,
    path: url.pathname + url.search,
    method: request.method ?? "GET",
    headers,
    // The last byte follows when the others are written: until then the client knows that the request has not ended.
    body: isLong ? Readable.from([bytes.subarray(0, -1), bytes.subarray(-1)]) : bytes,
  };
}

function credentialsOf({ username, password }: URL, host: string): string {
  try {
    return `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  } catch {
    throw new FetchError("bad url", host, "the name or the password in the address has a % that must be written %25");
  }
}

/** Keeps the code: messages of the HTTP client can contain the URL. That of a broken connection says only how it broke. */
function toFetchError(error: Error, host: string): FetchError {
  const code = codeOf(error);
  if (code === "UND_ERR_INVALID_ARG") {
    return new FetchError("bad url", host, "the address or a key has a character that HTTP cannot carry");
  }
  return new FetchError("transport", host, `no complete answer (${code === "UND_ERR_SOCKET" ? error.message : code})`);
}
