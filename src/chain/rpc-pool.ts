import { ChainReadError } from "../domain/chain-read-error.ts";
import type { Hex } from "../domain/money/address.ts";
import type { BoundedFetch } from "../net/bounded-fetch.ts";
import type { Secret } from "../net/secret.ts";
import { abilityOf, createEndpoint, type Endpoint } from "./endpoint.ts";
import type { EndpointClock } from "./endpoint-health.ts";
import { askInTurn, type Failure, type InTurn, inOrder, mayOtherAnswer } from "./in-turn.ts";
import { RpcError } from "./json-rpc.ts";
import { classOf, isHeldBack, lacksBlock } from "./node-errors.ts";

/** Several endpoints of one chain. */
export interface RpcPool {
  /**
   * Asks one endpoint after the other until one answers properly. Of a node's errors only a revert is an answer: every
   * node would say the same.
   * @throws RpcError where the call itself fails, ChainReadError when no endpoint answers
   */
  read(method: string, params: readonly unknown[]): Promise<unknown>;
  /**
   * Like `read`, but goes on asking while `parse` makes nothing of the answer, because one node may lag behind another.
   * @param parse an answer that it throws a `ChainReadError` for counts as none
   * @returns undefined when nothing was made of any answer
   */
  readFirst<T>(
    method: string,
    params: readonly unknown[],
    parse: (answer: unknown) => T | undefined,
  ): Promise<T | undefined>;
  /**
   * Like `read`, but passes over endpoints that do not have the block: what such a one leaves out of its answer, a list
   * of logs for example, would seem never to have happened.
   * @throws ChainReadError also when no endpoint has the block
   */
  readUpTo(block: Hex, method: string, params: readonly unknown[]): Promise<unknown>;
  /**
   * Runs several requests with one endpoint, and where they do not all succeed with the next one. Whatever is thrown
   * counts against the endpoint that they were sent to.
   */
  converse<T>(one: (endpoint: Endpoint) => Promise<T>): Promise<InTurn<T>>;
  /** Sends to all endpoints of the right chain at once; errors stand in their places. */
  sendToAll(method: string, params: readonly unknown[]): Promise<readonly unknown[]>;
  /** all endpoints, in the configured order */
  readonly endpoints: readonly Endpoint[];
}

export interface RpcPoolOptions {
  readonly urls: readonly Secret[];
  readonly chainId: number;
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly fetch?: BoundedFetch | undefined;
  /** called when an endpoint answers again after trouble */
  readonly onReturn?: (endpoint: number) => void;
}

/** Creates the pool. @throws Error without any endpoint */
export function createRpcPool(options: RpcPoolOptions, clock: EndpointClock): RpcPool {
  if (options.urls.length === 0) throw new Error("a chain needs at least one RPC endpoint");
  const endpoints = options.urls.map((url, index) =>
    createEndpoint({ ...options, url, onReturn: () => options.onReturn?.(index) }, clock),
  );
  return poolOf(endpoints);
}

/** A pool of endpoints that exist. */
export function poolOf(endpoints: readonly Endpoint[]): RpcPool {
  async function assertHas(endpoint: Endpoint, block: Hex): Promise<void> {
    if ((await endpoint.ask("eth_getBlockByNumber", [block, false])) !== null) return;
    throw new ChainReadError("malformed answer", `${endpoint.host} lags: it does not have block ${Number(block)}`);
  }

  /** One alone is asked anyway. */
  function checkAgain(): void {
    if (endpoints.length > 1) for (const endpoint of endpoints) endpoint.checkAgain();
  }

  /** @returns undefined when endpoints gave that alone */
  async function ask<T>(
    method: string,
    params: readonly unknown[],
    one: (endpoint: Endpoint) => Promise<T>,
  ): Promise<T> {
    checkAgain();
    const mayOther = (error: RpcError) => mayOtherAnswer(error, { method, params });
    const isEnough = (answer: T) => answer !== undefined;
    const result = await askInTurn(inOrder(endpoints, abilityOf(method, params)), { mayOther, isEnough }, one);
    if (result.kind === "enough") return result.answer;
    if (result.hasAnswered) return undefined as T;
    throw noAnswer(method, result.failures);
  }

  return {
    endpoints,
    read: (method, params) => ask(method, params, (endpoint) => endpoint.ask(method, params)),
    readFirst: (method, params, parse) =>
      ask(method, params, async (endpoint) => {
        const answer = await endpoint.ask(method, params);
        return answer === null ? undefined : parse(answer);
      }),
    readUpTo: (block, method, params) =>
      ask(method, params, async (endpoint) => {
        await assertHas(endpoint, block);
        return endpoint.ask(method, params);
      }),
    converse: (one) => {
      checkAgain();
      return askInTurn(inOrder(endpoints), { mayOther: () => true }, one);
    },
    sendToAll: (method, params) =>
      Promise.all(
        endpoints.map((endpoint) =>
          endpoint.askNow(method, params).catch((error: unknown) => asAnswer(endpoint, error)),
        ),
      ),
  };
}

function asAnswer(endpoint: Endpoint, error: unknown): RpcError {
  if (error instanceof RpcError) return error;
  if (error instanceof ChainReadError) {
    return new RpcError({ kind: "transport", host: endpoint.host, message: error.message });
  }
  throw error;
}

/** What it comes to when no endpoint gave a result: what all that answered agree on, else that none answered. */
function noAnswer(method: string, failures: readonly Failure[]): Failure {
  const said = failures.filter((failure) => failure instanceof RpcError && failure.kind === "rpc") as RpcError[];
  const [first] = said;
  // Each has run the call, and it used up whatever was granted: that is the call's own doing.
  if (first !== undefined && said.every((failure) => classOf(failure) === "out-of-gas")) return first;
  const reasons = failures.map((failure) => failure.message).join("; ");
  return new ChainReadError(reasonOf(failures), `no RPC endpoint answered ${method}: ${reasons}`);
}

/** What they said, each thing once. */
export function saidBy(failures: readonly Failure[]): string {
  return [...new Set(failures.map(({ message }) => message))].join("; ");
}

/** What it comes to that each of them failed like this. */
export function reasonOf(failures: readonly Failure[]): ChainReadError["code"] {
  const isWrongChain = (failure: Failure) => failure instanceof ChainReadError && failure.code === "wrong chain";
  if (failures.every(isWrongChain)) return "wrong chain";
  const isLack = (failure: Failure) =>
    failure instanceof RpcError ? classOf(failure) === "not-available" : failure.code === "not available";
  // Less at once may do, whatever another one lacks.
  if (failures.some((failure) => failure instanceof RpcError && classOf(failure) === "too-much")) return "refused";
  if (failures.some(isLack)) return "not available";
  const isRefusal = (failure: Failure) =>
    failure instanceof RpcError
      ? failure.kind === "rpc" && !isHeldBack(failure) && !lacksBlock(failure)
      : failure.isRefusal;
  return failures.every(isRefusal) ? "refused" : "unreachable";
}
