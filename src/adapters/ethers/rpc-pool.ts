import { ChainReadError } from "../../domain/chain-read-error.ts";
import type { Hex } from "../../domain/money/address.ts";
import type { BoundedFetch } from "../../net/bounded-fetch.ts";
import { createJsonRpc, type JsonRpc, RpcError } from "../../net/json-rpc.ts";
import type { Secret } from "../../net/secret.ts";
import { type Ask, createCrowdedReads } from "./crowded-reads.ts";

/** Several endpoints of one chain. Every endpoint's chain id is checked before it is used, and again after trouble. */
export interface RpcPool {
  /**
   * Asks one endpoint after the other until one answers properly. A node's error that is about the request itself (a
   * revert, a missing method) is the answer.
   * @throws RpcError for such an error, ChainReadError when no endpoint answers
   */
  read(method: string, params: readonly unknown[]): Promise<unknown>;
  /**
   * Like `read`, but goes on asking while the answer is null, because one node may lag behind another.
   * @returns null when every endpoint that answered said so
   */
  readFirstKnown(method: string, params: readonly unknown[]): Promise<unknown>;
  /**
   * Like `read`, but passes over endpoints that do not have the block: what such a one leaves out of its answer, a list
   * of logs for example, would look as if it had never happened.
   * @throws ChainReadError also when no endpoint has the block
   */
  readUpTo(block: Hex, method: string, params: readonly unknown[]): Promise<unknown>;
  /** Sends to all endpoints of the right chain at once; errors stand in their places. */
  sendToAll(method: string, params: readonly unknown[]): Promise<readonly unknown[]>;
}

export interface RpcPoolOptions {
  readonly urls: readonly Secret[];
  readonly chainId: number;
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly fetch?: BoundedFetch | undefined;
}

/** An endpoint that had trouble is asked last for this long. */
const COOL_DOWN_MS = 10_000;
/** A checked chain id is believed for this long while the endpoint answers. */
const CHAIN_CHECK_MS = 60_000;

interface Endpoint {
  readonly rpc: JsonRpc;
  readonly ask: Ask;
  /** headers that are being read, by their block */
  readonly headers: Map<unknown, Promise<unknown>>;
  checkedAtMs: number | undefined;
  troubleAtMs: number | undefined;
}

/** Creates the pool. @throws Error without any endpoint */
export function createRpcPool(options: RpcPoolOptions, monotonicMs: () => number): RpcPool {
  if (options.urls.length === 0) throw new Error("a chain needs at least one RPC endpoint");
  const { timeoutMs, maxBytes, fetch } = options;
  const endpoints: readonly Endpoint[] = options.urls.map((url) => {
    const rpc = createJsonRpc({ url, timeoutMs, maxBytes, fetch });
    const ask = createCrowdedReads(rpc, monotonicMs);
    return { rpc, ask, headers: new Map(), checkedAtMs: undefined, troubleAtMs: undefined };
  });

  async function ask(endpoint: Endpoint, method: string, params: readonly unknown[]): Promise<unknown> {
    try {
      await checkChain(endpoint);
      const answer = await callOnce(endpoint, method, params);
      endpoint.troubleAtMs = undefined;
      return answer;
    } catch (error) {
      if (isBroken(error)) {
        endpoint.troubleAtMs = monotonicMs();
        endpoint.checkedAtMs = undefined;
      }
      throw error;
    }
  }

  async function checkChain(endpoint: Endpoint): Promise<void> {
    const now = monotonicMs();
    if (endpoint.checkedAtMs !== undefined && now - endpoint.checkedAtMs < CHAIN_CHECK_MS) return;
    const answer = await endpoint.rpc.call("eth_chainId", []);
    if (typeof answer !== "string" || !/^0x[0-9a-f]{1,13}$/i.test(answer) || Number(answer) !== options.chainId) {
      const shown = typeof answer === "string" ? answer.slice(0, 20) : "no chain id";
      const message = `${endpoint.rpc.host} serves chain ${shown}, not ${options.chainId}: correct the RPC endpoint`;
      throw new ChainReadError("wrong chain", message);
    }
    endpoint.checkedAtMs = now;
  }

  function inOrder(): readonly Endpoint[] {
    const now = monotonicMs();
    const isWell = ({ troubleAtMs }: Endpoint) => troubleAtMs === undefined || now - troubleAtMs >= COOL_DOWN_MS;
    return [...endpoints.filter(isWell), ...endpoints.filter((endpoint) => !isWell(endpoint))];
  }

  async function assertHas(endpoint: Endpoint, block: Hex): Promise<void> {
    if ((await ask(endpoint, "eth_getBlockByNumber", [block, false])) !== null) return;
    throw new ChainReadError("malformed answer", `${endpoint.rpc.host} lags: it does not have block ${Number(block)}`);
  }

  function readUntil(
    method: string,
    params: readonly unknown[],
    isEnough: (answer: unknown) => boolean,
    block?: Hex,
  ): Promise<unknown> {
    return askInTurn(inOrder(), { method, isEnough }, async (endpoint) => {
      if (block !== undefined) await assertHas(endpoint, block);
      return ask(endpoint, method, params);
    });
  }

  return {
    read: (method, params) => readUntil(method, params, () => true),
    readFirstKnown: (method, params) => readUntil(method, params, (answer) => answer !== null),
    readUpTo: (block, method, params) => readUntil(method, params, () => true, block),
    sendToAll: (method, params) =>
      Promise.all(
        endpoints.map((endpoint) => ask(endpoint, method, params).catch((error: unknown) => asAnswer(endpoint, error))),
      ),
  };
}

/**
 * Whoever wants a header that is just being read waits for the same answer: many swaps that are looked at together all
 * begin with the newest and the finalised block. Nothing is kept once the answer is there.
 */
function callOnce({ ask, headers }: Endpoint, method: string, params: readonly unknown[]): Promise<unknown> {
  const [block, isFull] = params;
  if (method !== "eth_getBlockByNumber" || isFull !== false) return ask(method, params);
  const underway = headers.get(block);
  if (underway !== undefined) return underway;
  const answer = ask(method, params).finally(() => headers.delete(block));
  headers.set(block, answer);
  return answer;
}

/** Asks until an answer is enough; null when there were answers and none was. */
async function askInTurn(
  endpoints: readonly Endpoint[],
  question: { method: string; isEnough(answer: unknown): boolean },
  ask: (endpoint: Endpoint) => Promise<unknown>,
): Promise<unknown> {
  const failures: Error[] = [];
  let isAnswered = false;
  for (const endpoint of endpoints) {
    try {
      const answer = await ask(endpoint);
      if (question.isEnough(answer)) return answer;
      isAnswered = true;
    } catch (error) {
      if (!mayOtherAnswer(error)) throw error;
      failures.push(error);
    }
  }
  if (isAnswered) return null;
  throw noAnswer(question.method, failures);
}

/** Whether the endpoint itself is in trouble, or serves another chain. */
function isBroken(error: unknown): boolean {
  return error instanceof ChainReadError || (error instanceof RpcError && error.kind === "transport");
}

/** Whether another endpoint may answer where this one did not. */
function mayOtherAnswer(error: unknown): error is RpcError | ChainReadError {
  return error instanceof ChainReadError || (error instanceof RpcError && !isAboutRequest(error));
}

/** Whether every node would say the same: the call reverts, or the method does not exist. */
function isAboutRequest(error: RpcError): boolean {
  return isRevert(error) || isMissingMethod(error);
}

/** Whether the node ran the call and the code refused or broke. */
export function isRevert(error: RpcError): boolean {
  if (error.kind !== "rpc") return false;
  const words = error.nodeMessage ?? "";
  return (
    error.code === 3 || /revert|EVM error|VM execution error|invalid opcode|out of gas|bad instruction/i.test(words)
  );
}

export function isMissingMethod(error: RpcError): boolean {
  if (error.kind !== "rpc") return false;
  const words = error.nodeMessage ?? "";
  return error.code === -32601 || /method .*(not found|not supported|not available|does not exist)/i.test(words);
}

function asAnswer(endpoint: Endpoint, error: unknown): RpcError {
  if (error instanceof RpcError) return error;
  if (error instanceof ChainReadError) {
    return new RpcError({ kind: "transport", host: endpoint.rpc.host, message: error.message });
  }
  throw error;
}

function noAnswer(method: string, failures: readonly Error[]): ChainReadError {
  const wrongChain = failures.every((failure) => failure instanceof ChainReadError && failure.code === "wrong chain");
  const refused = failures.every((failure) => failure instanceof RpcError && failure.kind === "rpc");
  const code = wrongChain ? "wrong chain" : refused ? "refused" : "unreachable";
  const reasons = failures.map((failure) => failure.message).join("; ");
  return new ChainReadError(code, `no RPC endpoint answered ${method}: ${reasons}`);
}
