import { ChainReadError } from "../domain/chain-read-error.ts";
import type { BoundedFetch } from "../net/bounded-fetch.ts";
import type { Secret } from "../net/secret.ts";
import type { Clock } from "../ports/clock.ts";
import { type Ask, createCrowdedReads } from "./crowded-reads.ts";
import { createJsonRpc, RpcError } from "./json-rpc.ts";
import { classOf } from "./node-errors.ts";

/** One endpoint of a chain, and what was learnt of it by asking. */
export interface Endpoint {
  readonly host: string;
  /** @throws RpcError, or ChainReadError where it serves another chain */
  readonly ask: Ask;
  /** The same for what cannot wait: an endpoint that rests is asked too. */
  readonly askNow: Ask;
  /** In which order it is asked, lowest first: well, without the ability, in trouble, resting. */
  rank(ability: string): number;
  /** Remembers whether it can do something, as a trial of it showed. */
  learn(ability: string, has: boolean): void;
  /** Asks for its newest block again where that was old: the others are asked before it, so nobody else does. */
  lookAgain(): void;
}

export type EndpointClock = Pick<Clock, "monotonicMs" | "nowMs">;

export interface EndpointOptions {
  readonly url: Secret;
  readonly chainId: number;
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly fetch?: BoundedFetch | undefined;
  /** called when it answers again after trouble */
  readonly onReturn: () => void;
}

/** An endpoint that had trouble is asked after the others for this long. */
const COOL_DOWN_MS = 10_000;
/** A checked chain id is believed for this long while the endpoint answers. */
const CHAIN_CHECK_MS = 60_000;
/** What an endpoint cannot do is believed for this long; it is then asked in its turn again. */
const LACK_MS = 600_000;
/** An endpoint whose newest block is older than this is asked after the others, and looked at again so often. */
const LAG_MS = 120_000;
const LAG_LOOK_MS = 30_000;
/** How long an endpoint is left alone, at first and at most; it doubles while the answer stays. */
const RESTS = {
  exhausted: { firstMs: 15_000, longestMs: 600_000 },
  "slow-down": { firstMs: 1_000, longestMs: 60_000 },
} as const;

/** The name under which an ability is remembered: the method, or a block by its tag. */
export function abilityOf(method: string, params: readonly unknown[]): string {
  return method === "eth_getBlockByNumber" && params[0] === "finalized" ? "finalized" : method;
}

/** Creates an endpoint. Its chain id is checked before it is used, and again after trouble. */
export function createEndpoint(options: EndpointOptions, clock: EndpointClock): Endpoint {
  const { monotonicMs } = clock;
  const rpc = createJsonRpc(options);
  const crowded = createCrowdedReads(rpc, monotonicMs);
  const headers = new Map<unknown, Promise<unknown>>();
  const lacks = new Map<string, number>();
  const rest = createRest(rpc.host, monotonicMs);
  const lag = createLag(clock);
  let checkedAtMs: number | undefined;
  let troubleAtMs: number | undefined;

  async function checkChain(): Promise<void> {
    const now = monotonicMs();
    if (checkedAtMs !== undefined && now - checkedAtMs < CHAIN_CHECK_MS) return;
    assertChain(rpc.host, options.chainId, await rpc.call("eth_chainId", []));
    checkedAtMs = now;
  }

  function noteAnswer(ability: string): void {
    lacks.delete(ability);
    const isBack = rest.end() || troubleAtMs !== undefined;
    troubleAtMs = undefined;
    if (isBack) options.onReturn();
  }

  function noteFailure(error: unknown, ability: string): void {
    const kind = error instanceof RpcError ? classOf(error) : "no-answer";
    if (kind === "not-available") lacks.set(ability, monotonicMs());
    if (error instanceof RpcError && (kind === "exhausted" || kind === "slow-down")) rest.begin(kind, error);
    if (kind !== "no-answer") return;
    troubleAtMs = monotonicMs();
    checkedAtMs = undefined;
  }

  const askNow: Ask = async (method, params) => {
    const ability = abilityOf(method, params);
    try {
      await checkChain();
      const answer = await callOnce({ ask: crowded, headers }, method, params);
      noteAnswer(ability);
      if (isNewest(method, params)) lag.note(answer);
      return answer;
    } catch (error) {
      if (error instanceof RpcError || error instanceof ChainReadError) noteFailure(error, ability);
      throw error;
    }
  };

  return {
    host: rpc.host,
    askNow,
    ask: async (method, params) => {
      rest.assertOver();
      return await askNow(method, params);
    },
    rank: (ability) => {
      const now = monotonicMs();
      if (rest.isOn()) return 3;
      if (lag.isOn() || (troubleAtMs !== undefined && now - troubleAtMs < COOL_DOWN_MS)) return 2;
      const lackedAtMs = lacks.get(ability);
      return lackedAtMs !== undefined && now - lackedAtMs < LACK_MS ? 1 : 0;
    },
    learn: (ability, has) => void (has ? lacks.delete(ability) : lacks.set(ability, monotonicMs())),
    lookAgain: () => {
      // What it answers is noted, and so is that it does not.
      if (!rest.isOn() && lag.isToBeSeen()) askNow("eth_getBlockByNumber", NEWEST).catch(assertNoted);
    },
  };
}

const NEWEST = ["latest", false] as const;

/** @throws what is a fault of our own */
function assertNoted(error: unknown): void {
  if (!(error instanceof RpcError || error instanceof ChainReadError)) throw error;
}

function isNewest(method: string, params: readonly unknown[]): boolean {
  return method === "eth_getBlockByNumber" && params[0] === "latest";
}

/**
 * Whether the newest block of an endpoint is old. It answers then like any other one, of a chain that stands still: prices
 * would stay as they are, and fresh by that chain's own time. By a clock of ours that is ahead all endpoints are so alike.
 */
function createLag({ monotonicMs, nowMs }: EndpointClock) {
  let seenAtMs: number | undefined;
  return {
    isOn: (): boolean => seenAtMs !== undefined,
    note(answer: unknown): void {
      const stamp =
        typeof answer === "object" && answer !== null && "timestamp" in answer ? answer.timestamp : undefined;
      const isOld = typeof stamp === "string" && nowMs() - Number(stamp) * 1_000 > LAG_MS;
      seenAtMs = isOld ? monotonicMs() : undefined;
    },
    isToBeSeen(): boolean {
      if (seenAtMs === undefined || monotonicMs() - seenAtMs < LAG_LOOK_MS) return false;
      seenAtMs = monotonicMs();
      return true;
    },
  };
}

/** @throws ChainReadError */
function assertChain(host: string, chainId: number, answer: unknown): void {
  if (typeof answer === "string" && /^0x[0-9a-f]{1,13}$/i.test(answer) && Number(answer) === chainId) return;
  if (typeof answer !== "string" || !/^0x[0-9a-f]+$/i.test(answer)) {
    throw new ChainReadError("malformed answer", `${host} tells no chain id`);
  }
  const shown = answer.slice(0, 20);
  throw new ChainReadError("wrong chain", `${host} serves chain ${shown}, not ${chainId}: correct the RPC endpoint`);
}

/**
 * Leaves an endpoint alone that says so: a limit by the second for moments, one by the day for minutes. However long it
 * says no, it is asked again within the longest rest.
 */
function createRest(host: string, monotonicMs: () => number) {
  let untilMs = Number.NEGATIVE_INFINITY;
  let lengthMs = 0;
  let reason = "";
  const isOn = (): boolean => monotonicMs() < untilMs;
  return {
    isOn,
    begin(kind: keyof typeof RESTS, error: RpcError): void {
      // Calls that were under way together say the same thing once.
      if (isOn()) return;
      const { firstMs, longestMs } = RESTS[kind];
      const askedForMs = (error.retryAfterSeconds ?? 0) * 1_000;
      lengthMs = Math.min(longestMs, Math.max(firstMs, 2 * lengthMs, askedForMs));
      untilMs = monotonicMs() + lengthMs;
      reason = error.message;
    },
    /** @returns whether it had rested */
    end(): boolean {
      const hadRested = lengthMs > 0;
      lengthMs = 0;
      untilMs = Number.NEGATIVE_INFINITY;
      return hadRested;
    },
    assertOver(): void {
      if (!isOn()) return;
      const seconds = Math.ceil((untilMs - monotonicMs()) / 1_000);
      throw new RpcError({ kind: "transport", host, message: `${reason}; asked again in ${seconds} s` });
    },
  };
}

/**
 * Whoever wants a header that is just being read waits for the same answer: many swaps that are looked at together all
 * begin with the newest and the finalised block. Nothing is kept once the answer is there.
 */
function callOnce(
  { ask, headers }: { ask: Ask; headers: Map<unknown, Promise<unknown>> },
  method: string,
  params: readonly unknown[],
): Promise<unknown> {
  const [block, isFull] = params;
  if (method !== "eth_getBlockByNumber" || isFull !== false) return ask(method, params);
  const underway = headers.get(block);
  if (underway !== undefined) return underway;
  const answer = ask(method, params).finally(() => headers.delete(block));
  headers.set(block, answer);
  return answer;
}
