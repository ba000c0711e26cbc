import { isRecord } from "../domain/json.ts";
import { type BoundedFetch, type BoundedRequest, boundedFetch, FetchError } from "../net/bounded-fetch.ts";
import { createRedactor, type Redactor } from "../net/redact.ts";
import { hostOf, type Secret } from "../net/secret.ts";

/**
 * `transport`: no proper answer came, which proves nothing about what the node did. `rpc`: the node itself answered with
 * an error. The message is redacted and names the host.
 */
export class RpcError extends Error {
  readonly kind: "transport" | "rpc";
  readonly host: string;
  /** JSON-RPC error code, of `rpc` only */
  readonly code: number | undefined;
  /** the number that some providers give with the code */
  readonly event: number | undefined;
  /** the node's own words, redacted and cut; of `transport`, what the body of an HTTP error said */
  readonly nodeMessage: string | undefined;
  /** the error's `data` member, often revert data */
  readonly data: unknown;
  /** HTTP status of the answer, where there was one */
  readonly status: number | undefined;
  /** how long the endpoint asks to be left alone, where it says so in seconds */
  readonly retryAfterSeconds: number | undefined;
  /** of `transport`: the answer was larger than is read */
  readonly isTooLarge: boolean;

  constructor(fields: {
    kind: RpcError["kind"];
    host: string;
    message: string;
    code?: number;
    event?: number | undefined;
    nodeMessage?: string | undefined;
    data?: unknown;
    status?: number;
    retryAfterSeconds?: number | undefined;
    isTooLarge?: boolean;
  }) {
    super(fields.message);
    this.name = "RpcError";
    this.kind = fields.kind;
    this.host = fields.host;
    this.code = fields.code;
    this.event = fields.event;
    this.nodeMessage = fields.nodeMessage;
    this.data = fields.data;
    this.status = fields.status;
    this.retryAfterSeconds = fields.retryAfterSeconds;
    this.isTooLarge = fields.isTooLarge === true;
  }
}

export interface RpcRequest {
  readonly method: string;
  readonly params: readonly unknown[];
}

/** A client of one JSON-RPC endpoint. It never tries again by itself. */
export interface JsonRpc {
  /** What may be shown of the endpoint. */
  readonly host: string;
  /** @throws RpcError */
  call(method: string, params: readonly unknown[], signal?: AbortSignal): Promise<unknown>;
  /**
   * Sends all requests in one HTTP request and gives their answers in the same order; a node's error stands in its place.
   * @throws RpcError of kind `transport` when the batch as a whole has no proper answer
   */
  batch(requests: readonly RpcRequest[], signal?: AbortSignal): Promise<readonly (unknown | RpcError)[]>;
}

export interface JsonRpcOptions {
  readonly url: string | Secret;
  readonly timeoutMs: number;
  readonly maxBytes: number;
  /** default: over HTTP */
  readonly fetch?: BoundedFetch | undefined;
}

const LONGEST_MESSAGE = 300;
const LONGEST_SEARCHED = 64 * LONGEST_MESSAGE;

/** Creates a client over kept-alive HTTP. */
export function createJsonRpc(options: JsonRpcOptions): JsonRpc {
  const url = typeof options.url === "string" ? options.url : options.url.reveal();
  const endpoint: Endpoint = {
    host: hostOf(url),
    redactor: createRedactor([url]),
    fetch: options.fetch ?? boundedFetch,
  };
  let lastId = 0;

  async function post(body: unknown, signal?: AbortSignal): Promise<Answered> {
    const response = await fetchOrThrow(endpoint, {
      url,
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
      timeoutMs: options.timeoutMs,
      maxBytes: options.maxBytes,
      ...(signal === undefined ? {} : { signal }),
    });
    const { status } = response;
    const http = { status, retryAfterSeconds: readSeconds(response.header("retry-after")) };
    return { http, json: parseBody(endpoint, http, response.text) };
  }

  return {
    host: endpoint.host,
    async call(method, params, signal) {
      const id = ++lastId;
      const { http, json } = await post({ jsonrpc: "2.0", id, method, params }, signal);
      const answer = readEnvelope(endpoint, json, http);
      if (answer.id !== id) throw transport(endpoint, `answer for request ${String(answer.id)} instead of ${id}`);
      if (answer.value instanceof RpcError) throw answer.value;
      return answer.value;
    },
    async batch(requests, signal) {
      if (requests.length === 0) return [];
      const first = lastId + 1;
      lastId += requests.length;
      const body = requests.map(({ method, params }, index) => ({ jsonrpc: "2.0", id: first + index, method, params }));
      const { http, json } = await post(body, signal);
      if (!Array.isArray(json)) throw notABatch(endpoint, json, http);
      const answers = new Map<number, unknown>();
      for (const item of json) {
        const { id, value } = readEnvelope(endpoint, item, http);
        if (answers.has(id)) throw transport(endpoint, `two answers for request ${id}`);
        answers.set(id, value);
      }
      return requests.map((_, index) => {
        const id = first + index;
        if (!answers.has(id)) throw transport(endpoint, `no answer for request ${id} of a batch`);
        return answers.get(id);
      });
    },
  };
}

interface Endpoint {
  readonly host: string;
  readonly redactor: Redactor;
  readonly fetch: BoundedFetch;
}

/** What HTTP itself said of an answer. */
interface HttpFacts {
  readonly status: number;
  readonly retryAfterSeconds: number | undefined;
}

interface Answered {
  readonly http: HttpFacts;
  readonly json: unknown;
}

/** Only the form in seconds: an instant would have to be checked against the endpoint's own clock. */
function readSeconds(header: string | null): number | undefined {
  return header !== null && /^[0-9]{1,6}$/.test(header.trim()) ? Number(header.trim()) : undefined;
}

async function fetchOrThrow(endpoint: Endpoint, request: BoundedRequest) {
  try {
    return await endpoint.fetch(request);
  } catch (error) {
    if (error instanceof FetchError) {
      const isTooLarge = error.kind === "too large";
      throw new RpcError({ kind: "transport", host: endpoint.host, message: error.message, isTooLarge });
    }
    throw error;
  }
}

function parseBody(endpoint: Endpoint, http: HttpFacts, text: string): unknown {
  if (http.status >= 500) throw httpError(endpoint, http, { detail: `HTTP status ${http.status}`, said: text });
  try {
    return JSON.parse(text);
  } catch {
    const detail = `HTTP status ${http.status} with a body that is not JSON`;
    throw httpError(endpoint, http, { detail, said: text });
  }
}

function notABatch(endpoint: Endpoint, json: unknown, http: HttpFacts): RpcError {
  const said = wordsOf(json);
  const shown = said === undefined ? "" : `: ${cut(endpoint, said)}`;
  const detail = `HTTP status ${http.status}, the batch was not answered as a batch${shown}`;
  return httpError(endpoint, http, { detail, said });
}

/** Reads one answer strictly: version, a numeric id, and exactly one of result and error. */
function readEnvelope(endpoint: Endpoint, json: unknown, http: HttpFacts): { id: number; value: unknown | RpcError } {
  const { status } = http;
  const broken = (detail: string): RpcError => httpError(endpoint, http, { detail, said: wordsOf(json) });
  if (!isRecord(json) || json.jsonrpc !== "2.0") {
    throw broken(`HTTP status ${status} with a body that is not a JSON-RPC answer`);
  }
  const id = json.id;
  if (typeof id !== "number") throw broken(`HTTP status ${status} with a JSON-RPC answer to no request`);
  const hasResult = Object.hasOwn(json, "result");
  const error = json.error;
  const hasError = error !== undefined && error !== null;
  if (hasResult === hasError) throw transport(endpoint, "a JSON-RPC answer must have either a result or an error");
  if (hasError) {
    if (!isRecord(error)) throw transport(endpoint, "a JSON-RPC error that is not an object");
    return { id, value: nodeError(endpoint, error, http) };
  }
  if (status >= 300) throw broken(`HTTP status ${status} with a JSON-RPC result`);
  return { id, value: json.result };
}

function nodeError(endpoint: Endpoint, error: Readonly<Record<string, unknown>>, http: HttpFacts): RpcError {
  const code = typeof error.code === "number" ? error.code : 0;
  const words = typeof error.message === "string" ? error.message : "an error without a message";
  const nodeMessage = cut(endpoint, words);
  const event = typeof error.event === "number" ? error.event : undefined;
  const { host } = endpoint;
  const message = `${host}: ${nodeMessage} (code ${code})`;
  return new RpcError({ kind: "rpc", host, message, code, event, nodeMessage, data: error.data, ...http });
}

function transport(endpoint: Endpoint, detail: string): RpcError {
  return new RpcError({ kind: "transport", host: endpoint.host, message: `${endpoint.host}: ${detail}` });
}

/** An HTTP answer that is no JSON-RPC answer; what an error's body says is kept, because it may give the reason. */
function httpError(endpoint: Endpoint, http: HttpFacts, why: { detail: string; said: string | undefined }): RpcError {
  const { host } = endpoint;
  const nodeMessage = http.status >= 400 && why.said !== undefined ? cut(endpoint, why.said) : undefined;
  return new RpcError({ kind: "transport", host, message: `${host}: ${why.detail}`, nodeMessage, ...http });
}

function wordsOf(json: unknown): string | undefined {
  if (!isRecord(json)) return undefined;
  if (isRecord(json.error) && typeof json.error.message === "string") return json.error.message;
  return typeof json.message === "string" ? json.message : undefined;
}

/** Some nodes repeat all of a contract's revert: of that so much is searched for secrets that none is cut in what is kept. */
function cut(endpoint: Endpoint, words: string): string {
  return endpoint.redactor.redact(words.slice(0, LONGEST_SEARCHED)).slice(0, LONGEST_MESSAGE);
}
