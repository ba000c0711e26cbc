import { type BoundedFetch, type BoundedRequest, boundedFetch, FetchError } from "./bounded-fetch.ts";
import { createRedactor, type Redactor } from "./redact.ts";
import { hostOf, type Secret } from "./secret.ts";

/**
 * `transport`: no proper answer came, which proves nothing about what the node did. `rpc`: the node itself answered with
 * an error. The message is redacted and names the host.
 */
export class RpcError extends Error {
  readonly kind: "transport" | "rpc";
  readonly host: string;
  /** JSON-RPC error code, of `rpc` only */
  readonly code: number | undefined;
  /** the node's own words, redacted and cut, of `rpc` only */
  readonly nodeMessage: string | undefined;
  /** the error's `data` member, often revert data */
  readonly data: unknown;

  constructor(fields: {
    kind: RpcError["kind"];
    host: string;
    message: string;
    code?: number;
    nodeMessage?: string;
    data?: unknown;
  }) {
    super(fields.message);
    this.name = "RpcError";
    this.kind = fields.kind;
    this.host = fields.host;
    this.code = fields.code;
    this.nodeMessage = fields.nodeMessage;
    this.data = fields.data;
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

/** Creates a client over kept-alive HTTP. */
export function createJsonRpc(options: JsonRpcOptions): JsonRpc {
  const url = typeof options.url === "string" ? options.url : options.url.reveal();
  const endpoint: Endpoint = {
    host: hostOf(url),
    redactor: createRedactor([url]),
    fetch: options.fetch ?? boundedFetch,
  };
  let lastId = 0;

  async function post(body: unknown, signal?: AbortSignal): Promise<{ status: number; json: unknown }> {
    const response = await fetchOrThrow(endpoint, {
      url,
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
      timeoutMs: options.timeoutMs,
      maxBytes: options.maxBytes,
      ...(signal === undefined ? {} : { signal }),
    });
    return { status: response.status, json: parseBody(endpoint, response) };
  }

  return {
    host: endpoint.host,
    async call(method, params, signal) {
      const id = ++lastId;
      const { status, json } = await post({ jsonrpc: "2.0", id, method, params }, signal);
      const answer = readEnvelope(endpoint, json, status);
      if (answer.id !== id) throw transport(endpoint, `answer for request ${String(answer.id)} instead of ${id}`);
      if (answer.value instanceof RpcError) throw answer.value;
      return answer.value;
    },
    async batch(requests, signal) {
      if (requests.length === 0) return [];
      const first = lastId + 1;
      lastId += requests.length;
      const body = requests.map(({ method, params }, index) => ({ jsonrpc: "2.0", id: first + index, method, params }));
      const { status, json } = await post(body, signal);
      if (!Array.isArray(json)) throw notABatch(endpoint, json, status);
      const answers = new Map<number, unknown>();
      for (const item of json) {
        const { id, value } = readEnvelope(endpoint, item, status);
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

async function fetchOrThrow(endpoint: Endpoint, request: BoundedRequest) {
  try {
    return await endpoint.fetch(request);
  } catch (error) {
    if (error instanceof FetchError) {
      throw new RpcError({ kind: "transport", host: endpoint.host, message: error.message });
    }
    throw error;
  }
}

function parseBody(endpoint: Endpoint, response: { status: number; text: string }): unknown {
  if (response.status >= 500) throw transport(endpoint, `HTTP status ${response.status}`);
  try {
    return JSON.parse(response.text);
  } catch {
    throw transport(endpoint, `HTTP status ${response.status} with a body that is not JSON`);
  }
}

function notABatch(endpoint: Endpoint, json: unknown, status: number): RpcError {
  const error = isObject(json) && isObject(json.error) ? nodeError(endpoint, json.error) : undefined;
  const detail = error?.nodeMessage === undefined ? "" : `: ${error.nodeMessage}`;
  return transport(endpoint, `HTTP status ${status}, the batch was not answered as a batch${detail}`);
}

/** Reads one answer strictly: version, a numeric id, and exactly one of result and error. */
function readEnvelope(endpoint: Endpoint, json: unknown, status: number): { id: number; value: unknown | RpcError } {
  if (!isObject(json) || json.jsonrpc !== "2.0") {
    throw transport(endpoint, `HTTP status ${status} with a body that is not a JSON-RPC answer`);
  }
  const id = json.id;
  if (typeof id !== "number") throw transport(endpoint, `HTTP status ${status} with a JSON-RPC answer to no request`);
  const hasResult = Object.hasOwn(json, "result");
  const error = json.error;
  const hasError = error !== undefined && error !== null;
  if (hasResult === hasError) throw transport(endpoint, "a JSON-RPC answer must have either a result or an error");
  if (hasError) {
    if (!isObject(error)) throw transport(endpoint, "a JSON-RPC error that is not an object");
    return { id, value: nodeError(endpoint, error) };
  }
  if (status >= 300) throw transport(endpoint, `HTTP status ${status} with a JSON-RPC result`);
  return { id, value: json.result };
}

function nodeError(endpoint: Endpoint, error: Readonly<Record<string, unknown>>): RpcError {
  const code = typeof error.code === "number" ? error.code : 0;
  const words = typeof error.message === "string" ? error.message : "an error without a message";
  const nodeMessage = endpoint.redactor.redact(words).slice(0, LONGEST_MESSAGE);
  const message = `${endpoint.host}: ${nodeMessage} (code ${code})`;
  return new RpcError({ kind: "rpc", host: endpoint.host, message, code, nodeMessage, data: error.data });
}

function transport(endpoint: Endpoint, detail: string): RpcError {
  return new RpcError({ kind: "transport", host: endpoint.host, message: `${endpoint.host}: ${detail}` });
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
