import { ChainReadError } from "../domain/chain-read-error.ts";
import type { BoundedFetch } from "../net/bounded-fetch.ts";
import type { Secret } from "../net/secret.ts";
import { type Ask, createCrowdedReads } from "./crowded-reads.ts";
import { createHealth, type EndpointClock } from "./endpoint-health.ts";
import { createJsonRpc, RpcError } from "./json-rpc.ts";
import { classOf, lacksBlock } from "./node-errors.ts";

/** One endpoint of a chain, and what was learnt of it by asking. */
export interface Endpoint {
  readonly host: string;
  /** @throws RpcError, or ChainReadError where it serves another chain */
  readonly ask: Ask;
  /** The same for what cannot wait: an endpoint that rests is asked too. */
  readonly askNow: Ask;
  /** In which order it is asked, lowest first: well, without the ability, in trouble, resting. */
  rank(ability?: string): number;
  /** Remembers whether it can do something, as a probe showed. */
  learn(ability: string, has: boolean): void;
  /** Asks for its newest block where a check is due: while the others are asked before it, nothing else does. */
  checkAgain(): void;
  /** Its chain id is checked anew before the next answer: what frees money rests on no check of a while ago. */
  doubtChain(): void;
}

export interface EndpointOptions {
  readonly url: Secret;
  readonly chainId: number;
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly fetch?: BoundedFetch | undefined;
  /** called when it answers again after trouble */
  readonly onReturn: () => void;
}

/** A checked chain id is believed for this long while the endpoint answers. */
const CHAIN_CHECK_MS = 60_000;

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
  const health = createHealth(rpc.host, clock, { onReturn: options.onReturn });
  let checkedAtMs: number | undefined;
  /** the check under way, which all reads that begin meanwhile wait for */
  let checking: Promise<void> | undefined;

  async function checkChain(): Promise<void> {
    const now = monotonicMs();
    if (checkedAtMs !== undefined && now - checkedAtMs < CHAIN_CHECK_MS) return;
    checking ??= readChain();
    const underway = checking;
    try {
      await underway;
      // What was doubted meanwhile is checked by another one.
      if (checking === underway) checkedAtMs = now;
    } finally {
      if (checking === underway) checking = undefined;
    }
  }

  async function readChain(): Promise<void> {
    assertChain(rpc.host, options.chainId, await rpc.call("eth_chainId", []));
  }

  function doubtChain(): void {
    checkedAtMs = undefined;
    checking = undefined;
  }

  const askNow: Ask = async (method, params) => {
    const ability = abilityOf(method, params);
    const rests = health.rests();
    try {
      await checkChain();
      const answer = await callOnce({ ask: crowded, headers }, method, params);
      health.answered(ability, rests);
      if (isNewest(method, params)) health.sawNewest(answer);
      return answer;
    } catch (error) {
      if (!(error instanceof RpcError || error instanceof ChainReadError)) throw error;
      health.failed(error, ability);
      // Another machine may stand behind the address when it answers again.
      if (!(error instanceof RpcError) || classOf(error) === "no-answer") doubtChain();
      const newest = () => callOnce({ ask: crowded, headers }, "eth_getBlockByNumber", NEWEST).catch(assertNoted);
      throw await whyFailed({ host: rpc.host, newest }, error, params);
    }
  };

  return {
    host: rpc.host,
    askNow,
    ask: async (method, params) => {
      health.assertRested();
      return await askNow(method, params);
    },
    rank: health.rank,
    learn: health.learn,
    checkAgain: () => {
      // What it answers is noted, and so is that it does not.
      if (health.takeCheck()) askNow("eth_getBlockByNumber", NEWEST).catch(assertNoted);
    },
    doubtChain,
  };
}

const NEWEST = ["latest", false] as const;

/** A node that keeps nothing so old may say the same as one that has not come so far: its newest block tells them apart. */
async function whyFailed(
  node: { readonly host: string; readonly newest: () => Promise<unknown> },
  error: RpcError | ChainReadError,
  params: readonly unknown[],
): Promise<Error> {
  const asked = error instanceof RpcError && lacksBlock(error) ? blocksIn(params) : undefined;
  if (asked === undefined) return error;
  const newest = newestIn(await node.newest());
  const below = newest - asked.from;
  if (!(asked.to <= newest && below > KEPT_BLOCKS)) return error;
  const message = `${node.host} keeps nothing of block ${asked.from}, ${below} blocks below its newest one: ${error.message}`;
  return new ChainReadError("refused", message);
}

/** A full node has at least so many of the newest states, and what stands behind one address is not so far apart. */
const KEPT_BLOCKS = 128;

/** The oldest and the newest block that a request names by numbers; undefined where it names none. */
function blocksIn(params: readonly unknown[]): { readonly from: number; readonly to: number } | undefined {
  const [first] = params;
  const isFilter = typeof first === "object" && first !== null && "fromBlock" in first && "toBlock" in first;
  const last = params.findLast((param) => typeof param === "string");
  const [from, to] = (isFilter ? [first.fromBlock, first.toBlock] : [last, last]).map(numberIn);
  return from === undefined || to === undefined ? undefined : { from, to };
}

function numberIn(tag: unknown): number | undefined {
  return typeof tag === "string" && /^0x[0-9a-f]{1,13}$/i.test(tag) ? Number(tag) : undefined;
}

/** @returns NaN where it is no block */
function newestIn(head: unknown): number {
  const number = typeof head === "object" && head !== null && "number" in head ? numberIn(head.number) : undefined;
  return number ?? Number.NaN;
}

/** @throws what is a fault of our own */
function assertNoted(error: unknown): void {
  if (!(error instanceof RpcError || error instanceof ChainReadError)) throw error;
}

function isNewest(method: string, params: readonly unknown[]): boolean {
  return method === "eth_getBlockByNumber" && params[0] === "latest";
}

/** @throws ChainReadError */
function assertChain(host: string, chainId: number, answer: unknown): void {
  if (typeof answer === "string" && /^0x[0-9a-f]{1,13}$/i.test(answer) && Number(answer) === chainId) return;
  if (typeof answer !== "string" || !/^0x[0-9a-f]+$/i.test(answer)) {
    throw new ChainReadError("malformed answer", `${host} reports no chain id`);
  }
  const shown = answer.length > 15 ? answer.slice(0, 20) : Number(answer);
  throw new ChainReadError("wrong chain", `${host} serves chain ${shown}, not ${chainId}: correct the RPC endpoint`);
}

/**
 * Reads of a header that is just being read wait for the same answer: many swaps that are checked together all
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
