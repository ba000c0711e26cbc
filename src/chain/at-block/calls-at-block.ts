import { isHex } from "../../domain/money/address.ts";
import { MULTICALL3 } from "../../networks/network.ts";
import { type JsonRpc, RpcError, type RpcRequest } from "../json-rpc.ts";
import { isFailedCall, isRevert, isTooMuch } from "../node-errors.ts";
import { toQuantity } from "../quantity.ts";
import type { ViewCall, WordsAnswer } from "./batch-reader.ts";
import { type BlockHeader, malformedAnswer, parseBlock } from "./head.ts";
import { decodeAggregate, encodeAggregate } from "./multicall3.ts";
import { decodePacked, encodePacked, READER_ADDRESS } from "./packed-read.ts";
import { READER_CODE } from "./reader-code.ts";
import { readWitness, type Testimony, testimonyOf, WITNESS_CODE } from "./witness.ts";
import { splitWords } from "./words.ts";

/**
 * How many calls travel together. `override`: as one `eth_call` to a program whose code is injected into an empty address.
 * `multicall`: as one `eth_call` to Multicall3. `plain`: one `eth_call` each, as a JSON-RPC batch.
 */
export type ReadMode = "override" | "multicall" | "plain";

/** How this node is read, as found out by trying. */
export interface Method {
  readonly mode: ReadMode;
  /** Whether calls can be pinned to a block's hash; else to its number, and its hash is checked afterwards. */
  readonly byHash: boolean;
  /** what the calls prove of their block; undefined: nothing */
  readonly testimony: Testimony | undefined;
}

/** Calls of one `eth_call`: far below the gas a node grants to one, far below its limit on the request's size. */
const MAX_CALLS = 1_000;

/** Bytes of one HTTP request and its answer together: nodes take requests of 5 MB, and we answers of 16 MB. */
const MAX_HTTP_BYTES = 4_000_000;

/** What a call takes besides its data and the words of its answer, however calls travel. */
const CALL_BYTES = 640;

/** So few calls are never too large: a node that refuses them for their size refuses everything. */
const FEW_CALLS = 100;

/** Calls of one JSON-RPC batch where nothing else works; nodes limit those too. */
const MAX_PLAIN_CALLS = 400;

/** Calls at one block, made in one way. */
export interface BlockRead {
  readonly rpc: JsonRpc;
  readonly block: BlockHeader;
  readonly method: Method;
  /** undefined: what the node grants */
  readonly gasOfCall?: number | undefined;
}

/** What a packed read uses besides its calls. */
const OWN_GAS = 100_000;

function gasOf({ gasOfCall }: BlockRead, calls: number): { readonly gas?: string } {
  return gasOfCall === undefined ? {} : { gas: toQuantity(OWN_GAS + calls * gasOfCall) };
}

/** The block, as a request names it. */
export function pinOf(block: Pick<BlockHeader, "number" | "hash">, byHash: boolean): unknown {
  return byHash ? { blockHash: block.hash, requireCanonical: true } : toQuantity(block.number);
}

/** Asks what block the calls run at, and nothing else. */
export function witnessRequest(pin: unknown): RpcRequest {
  return { method: "eth_call", params: [{ data: WITNESS_CODE }, pin] };
}

/** The node answered for another block than the one it was asked for. */
export function wrongBlock({ rpc, block }: Pick<BlockRead, "rpc" | "block">, number: bigint): RpcError {
  const detail = `asked for block ${block.number} (${block.hash}), the node answered for another (number ${number})`;
  return malformedAnswer(rpc.host, detail);
}

/** Many calls as one, in a mode that packs them. */
export function packedRequest(mode: ReadMode, pin: unknown, calls: readonly ViewCall[], limit = {}): RpcRequest {
  if (mode === "multicall") {
    return { method: "eth_call", params: [{ ...limit, to: MULTICALL3, data: encodeAggregate(calls) }, pin] };
  }
  const call = { ...limit, to: READER_ADDRESS, data: encodePacked(calls) };
  return { method: "eth_call", params: [call, pin, { [READER_ADDRESS]: { code: READER_CODE } }] };
}

/** What a packed request was answered; undefined when that is malformed. */
export function decodePart(mode: ReadMode, answer: unknown, calls: readonly ViewCall[]) {
  if (!isHex(answer)) return undefined;
  return mode === "multicall" ? decodeAggregate(answer, calls) : decodePacked(answer, calls);
}

/**
 * Performs all calls; then, where they cannot be pinned to a hash, checks whether the block is still the same.
 * @throws RpcError
 */
export async function readWith(blockRead: BlockRead, calls: readonly ViewCall[]): Promise<readonly WordsAnswer[]> {
  const { rpc, block, method } = blockRead;
  const answers = method.mode === "plain" ? await readPlain(blockRead, calls) : await readPacked(blockRead, calls);
  if (method.byHash) return answers;
  const header = parseBlock(rpc.host, await rpc.call("eth_getBlockByNumber", [toQuantity(block.number), false]));
  if (header?.hash !== block.hash) throw wrongBlock(blockRead, BigInt(block.number));
  return answers;
}

/** In one HTTP request, or in several where one would be too large or is refused for its size. */
async function readPacked(blockRead: BlockRead, calls: readonly ViewCall[]): Promise<WordsAnswer[]> {
  const bytes = calls.reduce((sum, { data, words }) => sum + CALL_BYTES + data.length + 64 * words, 0);
  const areMany = calls.length > FEW_CALLS;
  if (areMany && bytes > MAX_HTTP_BYTES) return readHalves(blockRead, calls);
  const parts: ViewCall[][] = [];
  for (let start = 0; start < calls.length; start += MAX_CALLS) parts.push(calls.slice(start, start + MAX_CALLS));
  const { mode, byHash } = blockRead.method;
  const pin = pinOf(blockRead.block, byHash);
  const requests = parts.map((part) => packedRequest(mode, pin, part, gasOf(blockRead, part.length)));
  const answers = await blockRead.rpc.batch(requests).catch((error: unknown) => {
    if (areMany && error instanceof RpcError && isTooMuch(error)) return undefined;
    throw error;
  });
  if (answers === undefined) return readHalves(blockRead, calls);
  const decoded = parts.map((part, index) => decodedPart(blockRead, answers[index], part));
  return (await Promise.all(decoded)).flat();
}

async function readHalves(blockRead: BlockRead, calls: readonly ViewCall[]): Promise<WordsAnswer[]> {
  const half = Math.ceil(calls.length / 2);
  const halves = [calls.slice(0, half), calls.slice(half)].map((part) => readPacked(blockRead, part));
  return (await Promise.all(halves)).flat();
}

async function decodedPart(
  blockRead: BlockRead,
  answer: unknown,
  part: readonly ViewCall[],
): Promise<readonly WordsAnswer[]> {
  if (!(answer instanceof RpcError)) return checkedPart(blockRead, answer, part);
  if (!isTooMuch(answer) && !isRevert(answer)) throw answer;
  if (part.length > 1) return readHalves(blockRead, part);
  // One call alone that uses up everything is a call that fails; one that is refused for its size is none.
  if (!isFailedCall(answer)) throw answer;
  return [undefined];
}

function checkedPart(blockRead: BlockRead, answer: unknown, part: readonly ViewCall[]): readonly WordsAnswer[] {
  const { rpc, block, method } = blockRead;
  const decoded = decodePart(method.mode, answer, part);
  if (decoded === undefined) throw malformedAnswer(rpc.host, "the node's answer to a packed read is malformed");
  if (testimonyOf(decoded.witness, block) !== method.testimony) throw wrongBlock(blockRead, decoded.witness.number);
  return decoded.answers;
}

async function readPlain(blockRead: BlockRead, calls: readonly ViewCall[]): Promise<WordsAnswer[]> {
  const parts: Promise<WordsAnswer[]>[] = [];
  for (let start = 0; start < calls.length; start += MAX_PLAIN_CALLS) {
    parts.push(readPlainPart(blockRead, calls.slice(start, start + MAX_PLAIN_CALLS)));
  }
  return (await Promise.all(parts)).flat();
}

async function readPlainPart(blockRead: BlockRead, calls: readonly ViewCall[]): Promise<WordsAnswer[]> {
  const { rpc, block, method } = blockRead;
  const pin = pinOf(block, method.byHash);
  const requests = calls.map(({ to, data }) => ({
    method: "eth_call",
    params: [{ ...gasOf(blockRead, 1), to, data }, pin],
  }));
  const [proof, ...answers] = await rpc.batch([witnessRequest(pin), ...requests]);
  if (method.testimony !== undefined) {
    if (proof instanceof RpcError) throw proof;
    const witness = isHex(proof) ? readWitness(splitWords(proof)) : undefined;
    if (witness === undefined) throw malformedAnswer(rpc.host, "the node does not report the block of its answers");
    if (testimonyOf(witness, block) !== method.testimony) throw wrongBlock(blockRead, witness.number);
  }
  return answers.map((answer, index) => plainAnswer(rpc.host, answer, calls[index]?.words ?? 0));
}

function plainAnswer(host: string, answer: unknown, wanted: number): WordsAnswer {
  if (answer instanceof RpcError) {
    if (!isFailedCall(answer)) throw answer;
    return undefined;
  }
  if (!isHex(answer)) throw malformedAnswer(host, "the node's answer to a call is no byte string");
  const words = splitWords(answer);
  return words.length < wanted ? undefined : words.slice(0, wanted);
}
