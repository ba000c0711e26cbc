import type { IncomingMessage, ServerResponse } from "node:http";
import { type Address, toAddress } from "../../../src/domain/money/address.ts";
import type { Pool } from "../../../src/service/pools/pool.ts";
import { V2_SELECTOR } from "../../../src/service/pools/uniswap-v2/selectors.ts";
import { V3_SELECTOR } from "../../../src/service/pools/uniswap-v3/selectors.ts";
import { sqrtRatioAtTick } from "../../../src/service/pools/uniswap-v3/tick-math.ts";
import { readBody, startHttpServer } from "../../support/http-server.ts";

/** One HTTP request: its bytes, and how many calls travel in it. */
interface Seen {
  readonly bytes: number;
  readonly calls: readonly string[];
}

/** A chain all of whose pools have liquidity at each tick there is. */
export interface TickNode {
  readonly url: string;
  /** the next block, with the price at this tick. @param liquidityMoves whether it does in all pools, else in none */
  mine(tick?: number, liquidityMoves?: boolean): void;
  readonly seen: Seen[];
  /** calls that were asked for since the last time */
  callsSince(): number;
  /** requests of more bytes are refused with 413, those of a call of these contracts with 500; some refuse to tell ticks */
  limits: { bytes: number; broken: ReadonlySet<string>; withoutTicks?: ReadonlySet<string> };
}

const word = (value: bigint | number) => BigInt.asUintN(256, BigInt(value)).toString(16).padStart(64, "0");
const hex = (value: number) => `0x${value.toString(16)}`;
const hashOf = (number: number) => `0x${word(number)}`;

const FIRST_BLOCK = 100;
/** Unix seconds of the block 0; each further one is made a second later. */
export const FIRST_SECOND = 1_000_000_000;

function blockOf(number: number, liquidityMoves: boolean) {
  // A bloom of one bit, which no topic has alone, says that nothing was logged that anybody looks for.
  const logsBloom = liquidityMoves ? `0x${"ff".repeat(256)}` : `0x${"00".repeat(255)}01`;
  const hashes = { hash: hashOf(number), parentHash: hashOf(number - 1), logsBloom };
  return { ...hashes, number: hex(number), timestamp: hex(FIRST_SECOND + number), baseFeePerGas: "0x1" };
}

const POOL_PREFIX = "c".repeat(36);
const TOKENS = [toAddress(`0x${"1".repeat(40)}`), toAddress(`0x${"2".repeat(40)}`)] as const;

/** The pool of this number. @param tokens what it trades */
export function tickPool(number: number, [token0, token1]: readonly [Address, Address] = TOKENS): Pool {
  const address = toAddress(`0x${POOL_PREFIX}${number.toString(16).padStart(4, "0")}`);
  return { kind: 2, protocol: 0, address, token0, token1, feePips: 100, tickSpacing: 1 };
}

/** What a pool says to the entries of a packed read. */
function answerEntries(
  data: string,
  tick: number,
  withoutTicks?: ReadonlySet<string>,
): { readonly answer: string; readonly calls: readonly string[] } {
  const out: string[] = [];
  const calls: string[] = [];
  for (let at = 2; at < data.length; ) {
    const [size, words] = [Number.parseInt(data.slice(at + 40, at + 42), 16), data.slice(at + 42, at + 44)];
    const selector = `0x${data.slice(at + 44, at + 52)}`;
    const contract = `0x${data.slice(at, at + 40)}`;
    calls.push(contract);
    at += 44 + size * 2;
    if (selector === V3_SELECTOR.slot0) out.push(word(1), word(sqrtRatioAtTick(tick)), word(tick));
    else if (selector === V3_SELECTOR.liquidity) out.push(word(1), word(10n ** 20n));
    else if (selector === V3_SELECTOR.tickBitmap) out.push(word(1), "f".repeat(64));
    else if (selector === V3_SELECTOR.ticks && withoutTicks?.has(contract) !== true)
      out.push(word(1), word(2), word(1), word(5), word(5));
    else if (selector === V2_SELECTOR.getReserves) out.push(word(1), word(10n ** 24n), word(10n ** 24n));
    else out.push(word(0), word(0).repeat(Number.parseInt(words, 16)));
  }
  return { answer: out.join(""), calls };
}

/** Starts the node; it ends with the running test. */
export async function startTickNode(): Promise<TickNode> {
  const ticks = new Map([[FIRST_BLOCK, 0]]);
  const silent = new Set<number>();
  let newest = FIRST_BLOCK;
  let reported = 0;
  const seen: Seen[] = [];
  const limits: TickNode["limits"] = { bytes: Number.POSITIVE_INFINITY, broken: new Set() };

  const block = (number: number) => blockOf(number, !silent.has(number));
  function result(method: string, params: readonly unknown[], calls: string[]): unknown {
    const [first, pin] = params;
    if (method === "eth_chainId" || method === "eth_gasPrice" || method === "eth_maxPriorityFeePerGas") return "0x1";
    if (method === "eth_getBlockByNumber") return block(first === "latest" ? newest : Number(first));
    if (method === "eth_getBlockByHash") return block(Number(first));
    if (method === "eth_getLogs") {
      const { blockHash } = first as { blockHash: string };
      return Array.from({ length: 256 }, (_, number) => ({ address: tickPool(number).address, topics: [], blockHash }));
    }
    const number = Number((pin as { blockHash: string }).blockHash);
    const entries = answerEntries((first as { data: string }).data, ticks.get(number) ?? 0, limits.withoutTicks);
    calls.push(...entries.calls);
    return `0x${word(number)}${word(number - 1)}${word(FIRST_SECOND + number)}${entries.answer}`;
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request);
    if (body.length > limits.bytes) {
      response.writeHead(413).end("request entity too large");
      return;
    }
    const calls: string[] = [];
    type Asked = { id: number; method: string; params: unknown[] };
    const envelope = ({ id, method, params }: Asked) => ({ jsonrpc: "2.0", id, result: result(method, params, calls) });
    const asked = JSON.parse(body) as Asked | Asked[];
    const text = JSON.stringify(Array.isArray(asked) ? asked.map(envelope) : envelope(asked));
    seen.push({ bytes: body.length, calls });
    if (calls.some((contract) => limits.broken.has(contract))) response.writeHead(500).end("internal error");
    else response.writeHead(200, { "content-type": "application/json" }).end(text);
  }

  const { url } = await startHttpServer((request, response) => void answer(request, response));
  return {
    url,
    seen,
    limits,
    mine(tick = 0, liquidityMoves = true) {
      newest += 1;
      if (!liquidityMoves) silent.add(newest);
      ticks.set(newest, tick);
    },
    callsSince() {
      const all = seen.reduce((sum, { calls }) => sum + calls.length, 0);
      const since = all - reported;
      reported = all;
      return since;
    },
  };
}
