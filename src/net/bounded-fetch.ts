import { TextDecoder } from "node:util";
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
  readonly headers: Headers;
  readonly text: string;
}

/**
 * No usable answer came. It proves nothing about what the server did with the request. The message names the host only.
 */
export class FetchError extends Error {
  readonly kind: "bad url" | "timeout" | "aborted" | "redirect" | "too large" | "not utf-8" | "transport";
  readonly host: string;

  constructor(kind: FetchError["kind"], host: string, detail: string) {
    super(`${host}: ${detail}`);
    this.name = "FetchError";
    this.kind = kind;
    this.host = host;
  }
}

const LONGEST_TIMER_MS = 2_147_483_647;

/**
 * Sends one HTTP request, once. Redirects are errors (they would carry keys to another host), nothing is cached, the
 * body is counted while it streams, and its text must be valid UTF-8. Any status is an answer, also 4xx and 5xx.
 * @throws FetchError when there is no complete answer within the bounds
 */
export async function boundedFetch(request: BoundedRequest): Promise<BoundedResponse> {
  const host = hostOf(request.url);
  const { url, headers } = splitCredentials(request, host);
  if (!(request.timeoutMs > 0 && request.timeoutMs <= LONGEST_TIMER_MS)) {
    throw new RangeError(`a request needs a timeout of 1 to ${LONGEST_TIMER_MS} ms, not ${request.timeoutMs}`);
  }
  const timeout = AbortSignal.timeout(request.timeoutMs);
  const signal = request.signal === undefined ? timeout : AbortSignal.any([timeout, request.signal]);
  try {
    const response = await fetch(url, {
      method: request.method ?? "GET",
      headers,
      redirect: "error",
      cache: "no-store",
      signal,
      ...(request.body === undefined ? {} : { body: request.body }),
    });
    const text = await readText(response, request.maxBytes, host);
    return { status: response.status, headers: response.headers, text };
  } catch (error) {
    if (error instanceof FetchError) throw error;
    if (request.signal?.aborted === true) throw new FetchError("aborted", host, "the request was aborted");
    if (timeout.aborted) throw new FetchError("timeout", host, `no complete answer within ${request.timeoutMs} ms`);
    throw transportError(error, host);
  }
}

/** Credentials move from the URL to a header: fetch refuses such URLs with an error that contains them. */
function splitCredentials(request: BoundedRequest, host: string): { url: URL; headers: Headers } {
  if (!URL.canParse(request.url)) throw new FetchError("bad url", host, "the configured address is not a URL");
  const url = new URL(request.url);
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw new FetchError("bad url", host, `only http and https are supported, not ${url.protocol}`);
  }
  const headers = new Headers(request.headers);
  if (url.username !== "" || url.password !== "") {
    const pair = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
    headers.set("authorization", `Basic ${Buffer.from(pair).toString("base64")}`);
    url.username = "";
    url.password = "";
  }
  return { url, headers };
}

async function readText(response: Response, maxBytes: number, host: string): Promise<string> {
  // A byte order mark is kept, so that the parser refuses it like any other stray character.
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const reader = response.body?.getReader();
  if (reader === undefined) return "";
  let bytes = 0;
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decodeChunk(decoder, undefined, host);
    bytes += value.byteLength;
    if (bytes > maxBytes) {
      await reader.cancel();
      throw new FetchError("too large", host, `the answer is larger than ${maxBytes} bytes`);
    }
    text += decodeChunk(decoder, value, host);
  }
}

function decodeChunk(decoder: TextDecoder, chunk: Uint8Array | undefined, host: string): string {
  try {
    return chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true });
  } catch {
    throw new FetchError("not utf-8", host, "the answer is not valid UTF-8 text");
  }
}

/** Keeps the code of the cause only: messages of the HTTP client can contain the URL. */
function transportError(error: unknown, host: string): FetchError {
  const cause = error instanceof Error ? error.cause : undefined;
  if (cause instanceof Error && cause.message === "unexpected redirect") {
    return new FetchError("redirect", host, "the server answered with a redirect, which is not followed");
  }
  const code = codeOf(cause) ?? codeOf(error) ?? (error instanceof Error ? error.name : "unknown error");
  return new FetchError("transport", host, `no complete answer (${code})`);
}

function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}
