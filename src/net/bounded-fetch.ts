import http, { type IncomingMessage } from "node:http";
import https from "node:https";
import { pipeline, type Readable, type Transform } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { TextDecoder } from "node:util";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { hostOf } from "./secret.ts";

/** A request whose answer is bounded in size and time. */
export interface BoundedRequest {
  readonly url: string;
  readonly method?: "GET" | "POST";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** for everything: connection, headers and the whole body */
  readonly timeoutMs: number;
  /** bytes of the body after decompression */
  readonly maxBytes: number;
  readonly signal?: AbortSignal;
}

export interface BoundedResponse {
  readonly status: number;
  /** A header by its name in lower case, null when it is absent; the values of a repeated one with commas between. */
  header(name: string): string | null;
  readonly text: string;
}

/**
 * No usable answer came. It proves nothing about what the server did with the request. The message names the host only.
 */
export class FetchError extends Error {
  readonly kind: "bad url" | "timeout" | "aborted" | "redirect" | "too large" | "not utf-8" | "transport";
  readonly host: string;
  /** status and headers, where at least these came */
  readonly answer: Omit<BoundedResponse, "text"> | undefined;

  constructor(kind: FetchError["kind"], host: string, detail: string, answer?: Omit<BoundedResponse, "text">) {
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

/**
 * Plain connections, kept alive: the built-in `fetch` takes three times the processor time for a small answer. An
 * environment that switches the checks of certificates off for a whole process does not switch them off here.
 */
const CLIENTS = {
  "http:": { request: http.request, agent: new http.Agent({ keepAlive: true, timeout: IDLE_MS }) },
  "https:": {
    request: https.request,
    agent: new https.Agent({ keepAlive: true, timeout: IDLE_MS, rejectUnauthorized: true }),
  },
} as const;

/** Hosts behind a firewall refuse who has no name; caches in between must not answer out of their memory. */
const SAID_ALWAYS = {
  accept: "*/*",
  "accept-encoding": "gzip",
  "cache-control": "no-cache",
  "user-agent": "swapd",
} as const;

/** Only gzip is asked for; some servers in between compress in their own way all the same. */
const DECOMPRESSORS: ReadonlyMap<string, () => Transform> = new Map([
  ["gzip", createGunzip],
  ["x-gzip", createGunzip],
  ["deflate", createInflate],
  ["br", createBrotliDecompress],
]);

/**
 * Sends one HTTP request, once. Redirects are errors (they would carry keys to another host), nothing is cached, the
 * body is counted while it streams, and its text must be valid UTF-8. Any status is an answer, also 4xx and 5xx.
 * @throws FetchError when there is no complete answer within the bounds
 */
export async function boundedFetch(request: BoundedRequest): Promise<BoundedResponse> {
  const host = hostOf(request.url);
  const target = targetOf(request, host);
  if (!(request.timeoutMs > 0 && request.timeoutMs <= LONGEST_TIMER_MS)) {
    throw new RangeError(`a request needs a timeout of 1 to ${LONGEST_TIMER_MS} ms, not ${request.timeoutMs}`);
  }
  const aborted = () => new FetchError("aborted", host, "the request was aborted");
  // A server that has closed a kept connection is heard of in the next turn of the loop: only then is it not taken.
  await nextTurn();
  if (request.signal?.aborted === true) throw aborted();
  const sent = startRequest(target, request.method ?? "GET", host);
  return new Promise((resolve, reject) => {
    const late = () => fail(new FetchError("timeout", host, `no complete answer within ${request.timeoutMs} ms`));
    const onAbort = () => fail(aborted());
    const timer = setTimeout(late, request.timeoutMs);
    request.signal?.addEventListener("abort", onAbort);
    function release(): void {
      clearTimeout(timer);
      request.signal?.removeEventListener("abort", onAbort);
    }
    function fail(error: Error): void {
      release();
      const reason = error instanceof FetchError ? error : transportError(error, host);
      reject(answer === undefined ? reason : withAnswer(reason, answer));
      // After the first reason: what breaks by this is none.
      sent.destroy();
    }
    let answer: IncomingMessage | undefined;
    sent.on("error", (error) => {
      // What breaks after the whole answer takes nothing from it: bytes too many, or a request that nobody read.
      if (answer?.complete !== true) fail(error);
    });
    // Without a listener, the HTTP client drops such an answer and says nothing.
    sent.on("upgrade", (_response, socket) => {
      socket.destroy();
      fail(new FetchError("transport", host, "the server wants to speak another protocol"));
    });
    sent.on("response", (response) => {
      answer = response;
      readText(response, request.maxBytes, host).then((text) => {
        release();
        // A connection that is free again is left alone. One whose server has not read the whole request never is.
        sent.destroy();
        resolve(toBoundedResponse(response, text));
      }, fail);
    });
    sent.end(request.body);
  });
}

function startRequest({ url, client, headers }: ReturnType<typeof targetOf>, method: string, host: string) {
  try {
    return client.request(url, { method, headers, agent: client.agent });
  } catch (error) {
    const detail = `the address or a key has a character that HTTP cannot carry (${codeOf(error as Error)})`;
    throw new FetchError("bad url", host, detail);
  }
}

function toBoundedResponse(response: IncomingMessage, text: string): BoundedResponse {
  return { ...headOf(response), text };
}

function headOf(response: IncomingMessage): Omit<BoundedResponse, "text"> {
  return {
    status: response.statusCode ?? 0,
    header: (name) => response.headersDistinct[name]?.join(", ") ?? null,
  };
}

/** The same reason, with what the server has said before it. */
function withAnswer(error: FetchError, response: IncomingMessage): FetchError {
  const detail = error.message.slice(error.host.length + 2);
  return new FetchError(error.kind, error.host, detail, headOf(response));
}

/** Credentials move from the URL to a header, so that no error of the HTTP client can contain them. */
function targetOf(request: BoundedRequest, host: string) {
  if (!URL.canParse(request.url)) throw new FetchError("bad url", host, "the configured address is not a URL");
  const url = new URL(request.url);
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw new FetchError("bad url", host, `only http and https are supported, not ${url.protocol}`);
  }
  const headers: Record<string, string> = { ...SAID_ALWAYS, ...request.headers };
  if (request.body !== undefined) headers["content-length"] = String(Buffer.byteLength(request.body));
  if (url.username !== "" || url.password !== "") {
    headers.authorization = `Basic ${Buffer.from(credentialsOf(url, host)).toString("base64")}`;
    url.username = "";
    url.password = "";
  }
  return { url, client: CLIENTS[url.protocol], headers };
}

function credentialsOf({ username, password }: URL, host: string): string {
  try {
    return `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  } catch {
    throw new FetchError("bad url", host, "the name or the password in the address has a % that must be written %25");
  }
}

/** Reads the whole body. @throws FetchError, or what breaks the connection */
async function readText(response: IncomingMessage, maxBytes: number, host: string): Promise<string> {
  if (REDIRECTS.has(response.statusCode ?? 0)) {
    throw new FetchError("redirect", host, "the server answered with a redirect, which is not followed");
  }
  let isEmpty = true;
  response.once("data", () => {
    isEmpty = false;
  });
  const body = decompressed(response, host);
  const collected = createCollector();
  await new Promise<void>((resolve, reject) => {
    body.on("data", (chunk: Buffer) => {
      if (collected.add(chunk) <= maxBytes) return;
      reject(new FetchError("too large", host, `the answer is larger than ${maxBytes} bytes`));
      body.destroy();
    });
    body.on("end", resolve);
    // Answers without a body, like a 204, may name a compression: nothing is what it makes of nothing.
    body.on("error", (error) => (isEmpty && response.complete ? resolve() : reject(error)));
  });
  return textOf(collected.bytes(), host);
}

function decompressed(response: IncomingMessage, host: string): Readable {
  const encoding = response.headers["content-encoding"]?.toLowerCase() ?? "";
  if (encoding === "" || encoding === "identity") return response;
  const create = DECOMPRESSORS.get(encoding);
  if (create === undefined) {
    throw new FetchError("transport", host, "the answer is compressed in a way nobody asked for");
  }
  // Whatever ends it, the one who reads hears of it as an end or an error.
  return pipeline(response, create(), () => undefined);
}

/** Copies pieces together as they come: kept by itself, a piece of one byte would weigh hundreds. One alone is not copied. */
function createCollector(): { add(piece: Buffer): number; bytes(): Buffer } {
  let store: Buffer = Buffer.alloc(0);
  let length = 0;
  return {
    add(piece) {
      if (length === 0) store = piece;
      else {
        if (length + piece.length > store.length) {
          const larger = Buffer.allocUnsafe(2 * (length + piece.length));
          store.copy(larger, 0, 0, length);
          store = larger;
        }
        piece.copy(store, length);
      }
      length += piece.length;
      return length;
    },
    bytes: () => store.subarray(0, length),
  };
}

function textOf(bytes: Buffer, host: string): string {
  try {
    // A byte order mark is kept, so that the parser refuses it like any other stray character.
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new FetchError("not utf-8", host, "the answer is not valid UTF-8 text");
  }
}

/** Keeps the code only: messages of the HTTP client can contain the URL. */
function transportError(error: Error, host: string): FetchError {
  return new FetchError("transport", host, `no complete answer (${codeOf(error)})`);
}

function codeOf(error: Error): string {
  return "code" in error && typeof error.code === "string" ? error.code : error.name;
}
