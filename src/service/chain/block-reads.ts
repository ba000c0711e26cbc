import { type Address, isHex } from "../../domain/money/address.ts";
import { type JsonRpc, RpcError, type RpcRequest } from "../../net/json-rpc.ts";
import { isFailedCall, isRevert, isTooMuch } from "../../net/node-errors.ts";
import { retryRead } from "../../net/retry-read.ts";
import { MULTICALL3 } from "../../networks/network.ts";
import { createBatchReader, type ReadAll, type ReadWords, type ViewCall, type WordsAnswer } from "./batch-reader.ts";
import { type BlockHeader, malformedAnswer, parseBlock } from "./head.ts";
import { decodeAggregate, encodeAggregate } from "./multicall3.ts";
import { decodePacked, encodePacked, READER_ADDRESS, READER_CODE } from "./packed-read.ts";
import { isChildOfParent, readWitness, type Testimony, testimonyOf, WITNESS_CODE, type Witness } from "./witness.ts";
import { splitWords } from "./words.ts";

/**
 * How many calls travel together. `override`: as one `eth_call` to a program whose code is lent to an empty address.
 * `multicall`: as one `eth_call` to Multicall3. `plain`: one `eth_call` each, as a JSON-RPC batch.
 */
export type ReadMode = "override" | "multicall" | "plain";

/** How this node is read, as found out by trying. */
interface Method {
  readonly mode: ReadMode;
  /** Whether calls can be pinned to a block's hash; else to its number, and its hash is looked at afterwards. */
  readonly byHash: boolean;
  /** what the calls prove of their block; undefined: nothing */
  readonly testimony: Testimony | undefined;
}

/** Reads at one block and no other. */
export interface BlockReader {
  readonly readAll: ReadAll;
  readonly read: ReadWords;
}

export interface BlockReads {
  at(block: BlockHeader): BlockReader;
  /** The mode in use, undefined before the first read. */
  mode(): ReadMode | undefined;
}

/** In the order of preference: one answer of one block, then one answer of a contract that must be there, then many. */
const MODES: readonly ReadMode[] = ["override", "multicall", "plain"];

/** Calls of one `eth_call`: far below the gas a node grants to one, far below its limit on the request's size. */
const MAX_CALLS = 1_000;

/** Calls of one JSON-RPC batch where nothing else works; nodes limit those too. */
const MAX_PLAIN_CALLS = 400;

const RETRIES = { retries: 2, minDelayMs: 50, maxDelayMs: 400 };

/** Whether this failure may pass by itself: no answer, or a node that is behind or busy. A revert stays a revert. */
function isTransient(error: Error): boolean {
  return error instanceof RpcError && !isRevert(error);
}

/**
 * Reads of one endpoint, which is tried first for what it can do. What was found out is remembered until it fails.
 * @param options `mode` takes this one without trying the better ones
 */
export function createBlockReads(options: {
  readonly rpc: JsonRpc;
  readonly mode?: ReadMode | undefined;
  /** contracts whose calls may travel with others; absent: all */
  readonly isKnown?: ((contract: Address) => boolean) | undefined;
}): BlockReads {
  const { rpc } = options;
  const modes = options.mode === undefined ? MODES : [options.mode];
  let method: Method | undefined;
  let trying: Promise<Method> | undefined;

  async function tryAll(block: BlockHeader): Promise<Method> {
    let refusal: unknown;
    for (const mode of modes) {
      for (const byHash of [true, false]) {
        try {
          return await tryMethod(rpc, block, { mode, byHash });
        } catch (error) {
          // No answer proves nothing of what the node can do, and one of another block proves that it must not be used.
          if (!(error instanceof RpcError) || error.kind !== "rpc") throw error;
          refusal = error;
        }
      }
    }
    throw refusal;
  }

  async function chosen(block: BlockHeader): Promise<Method> {
    if (method !== undefined) return method;
    trying ??= tryAll(block).finally(() => {
      trying = undefined;
    });
    method = await trying;
    return method;
  }

  async function readOnce({ block, gasOfCall }: Pick<Reading, "block" | "gasOfCall">, calls: readonly ViewCall[]) {
    const used = await chosen(block);
    try {
      return await readWith({ rpc, block, gasOfCall, method: used }, calls);
    } catch (error) {
      // Perhaps another machine answers behind the same address now, which can do other things.
      if (error instanceof RpcError && error.kind === "rpc" && method === used) method = undefined;
      throw error;
    }
  }

  return {
    mode: () => method?.mode,
    at(block) {
      const readAll: ReadAll = (calls, gasOfCall) =>
        calls.length === 0
          ? Promise.resolve([])
          : retryRead(() => readOnce({ block, gasOfCall }, calls), { ...RETRIES, isTransient });
      return { readAll, read: createBatchReader(readAll, options.isKnown) };
    },
  };
}

interface Reading {
  readonly rpc: JsonRpc;
  readonly block: BlockHeader;
  readonly method: Method;
  /** undefined: what the node grants */
  readonly gasOfCall?: number | undefined;
}

/** What a packed read uses beside its calls. */
const OWN_GAS = 100_000;

function gasOf({ gasOfCall }: Reading, calls: number): { readonly gas?: string } {
  return gasOfCall === undefined ? {} : { gas: `0x${(OWN_GAS + calls * gasOfCall).toString(16)}` };
}

function pinOf(block: Pick<BlockHeader, "number" | "hash">, byHash: boolean): unknown {
  return byHash ? { blockHash: block.hash, requireCanonical: true } : `0x${block.number.toString(16)}`;
}

/** Tries a way of reading with no calls at all. @throws RpcError of kind `rpc` when the node cannot do it */
async function tryMethod(
  rpc: JsonRpc,
  block: BlockHeader,
  { mode, byHash }: Pick<Method, "mode" | "byHash">,
): Promise<Method> {
  if (mode === "plain") await rpc.call("eth_call", [{ to: READER_ADDRESS, data: "0x" }, pinOf(block, byHash)]);
  const ask = async (pin: unknown): Promise<Witness | undefined> => {
    const { method, params } = mode === "plain" ? witnessRequest(pin) : packedRequest(mode, pin, []);
    const [answer] = await rpc.batch([{ method, params }]);
    if (answer instanceof RpcError && mode !== "plain") throw answer;
    if (mode === "plain") return isHex(answer) ? readWitness(splitWords(answer)) : undefined;
    return decodePart(mode, answer, [])?.witness;
  };
  const witness = await ask(pinOf(block, byHash));
  if (witness === undefined) {
    // Calls of their own need no proof to work; a node that ignores the lent code, or has no such contract, is no use.
    if (mode === "plain") return { mode, byHash, testimony: undefined };
    throw new RpcError({ kind: "rpc", host: rpc.host, message: `${rpc.host}: cannot be read in mode ${mode}` });
  }
  const testimony = testimonyOf(witness, block);
  if (testimony === undefined) throw wrongBlock({ rpc, block }, witness.number);
  if (testimony === "child") await confirmChild({ rpc, block }, () => ask(pinOf(parentOf(block), byHash)));
  return { mode, byHash, testimony };
}

function parentOf(block: BlockHeader): Pick<BlockHeader, "number" | "hash"> {
  return { number: block.number - 1, hash: block.parentHash };
}

/** A node that answers for its newest block looks the same, when that is the next one; at the parent it does not. */
async function confirmChild(
  at: Pick<Reading, "rpc" | "block">,
  askParent: () => Promise<Witness | undefined>,
): Promise<void> {
  const witness = await askParent();
  if (witness === undefined || !isChildOfParent(witness, at.block)) throw wrongBlock(at, witness?.number ?? 0n);
}

function witnessRequest(pin: unknown): RpcRequest {
  return { method: "eth_call", params: [{ data: WITNESS_CODE }, pin] };
}

function wrongBlock({ rpc, block }: Pick<Reading, "rpc" | "block">, number: bigint): RpcError {
  const detail = `asked for block ${block.number} (${block.hash}), the node answered for another (number ${number})`;
  return malformedAnswer(rpc.host, detail);
}

function packedRequest(mode: ReadMode, pin: unknown, calls: readonly ViewCall[], limit = {}): RpcRequest {
  if (mode === "multicall") {
    return { method: "eth_call", params: [{ ...limit, to: MULTICALL3, data: encodeAggregate(calls) }, pin] };
  }
  const call = { ...limit, to: READER_ADDRESS, data: encodePacked(calls) };
  return { method: "eth_call", params: [call, pin, { [READER_ADDRESS]: { code: READER_CODE } }] };
}

function decodePart(mode: ReadMode, answer: unknown, calls: readonly ViewCall[]) {
  if (!isHex(answer)) return undefined;
  return mode === "multicall" ? decodeAggregate(answer, calls) : decodePacked(answer, calls);
}

/** All calls in one HTTP request; then, where calls cannot be pinned to a hash, whether the block is still the same. */
async function readWith(reading: Reading, calls: readonly ViewCall[]): Promise<readonly WordsAnswer[]> {
  const { rpc, block, method } = reading;
  const answers = method.mode === "plain" ? await readPlain(reading, calls) : await readPacked(reading, calls);
  if (method.byHash) return answers;
  const number = `0x${block.number.toString(16)}`;
  const header = parseBlock(rpc.host, await rpc.call("eth_getBlockByNumber", [number, false]));
  if (header?.hash !== block.hash) throw wrongBlock(reading, BigInt(block.number));
  return answers;
}

async function readPacked(reading: Reading, calls: readonly ViewCall[], most = MAX_CALLS): Promise<WordsAnswer[]> {
  const parts: ViewCall[][] = [];
  for (let start = 0; start < calls.length; start += most) parts.push(calls.slice(start, start + most));
  const { mode, byHash } = reading.method;
  const pin = pinOf(reading.block, byHash);
  const answers = await reading.rpc.batch(
    parts.map((part) => packedRequest(mode, pin, part, gasOf(reading, part.length))),
  );
  const decoded: WordsAnswer[] = [];
  for (const [index, part] of parts.entries()) {
    const answer = answers[index];
    if (answer instanceof RpcError) {
      if (!isTooMuch(answer) && !isRevert(answer)) throw answer;
      // One call alone that uses up everything is a call that fails; one that is refused for its size is none.
      if (part.length === 1 && !isFailedCall(answer)) throw answer;
      decoded.push(...(part.length === 1 ? [undefined] : await readPacked(reading, part, Math.ceil(part.length / 2))));
    } else decoded.push(...checkedPart(reading, answer, part));
  }
  return decoded;
}

function checkedPart(reading: Reading, answer: unknown, part: readonly ViewCall[]): readonly WordsAnswer[] {
  const { rpc, block, method } = reading;
  const decoded = decodePart(method.mode, answer, part);
  if (decoded === undefined) throw malformedAnswer(rpc.host, "the node's answer to a packed read is malformed");
  if (testimonyOf(decoded.witness, block) !== method.testimony) throw wrongBlock(reading, decoded.witness.number);
  return decoded.answers;
}

async function readPlain(reading: Reading, calls: readonly ViewCall[]): Promise<WordsAnswer[]> {
  const parts: Promise<WordsAnswer[]>[] = [];
  for (let start = 0; start < calls.length; start += MAX_PLAIN_CALLS) {
    parts.push(readPlainPart(reading, calls.slice(start, start + MAX_PLAIN_CALLS)));
  }
  return (await Promise.all(parts)).flat();
}

async function readPlainPart(reading: Reading, calls: readonly ViewCall[]): Promise<WordsAnswer[]> {
  const { rpc, block, method } = reading;
  const pin = pinOf(block, method.byHash);
  const requests = calls.map(({ to, data }) => ({
    method: "eth_call",
    params: [{ ...gasOf(reading, 1), to, data }, pin],
  }));
  const [proof, ...answers] = await rpc.batch([witnessRequest(pin), ...requests]);
  if (method.testimony !== undefined) {
    if (proof instanceof RpcError) throw proof;
    const witness = isHex(proof) ? readWitness(splitWords(proof)) : undefined;
    if (witness === undefined) throw malformedAnswer(rpc.host, "the node does not tell the block of its answers");
    if (testimonyOf(witness, block) !== method.testimony) throw wrongBlock(reading, witness.number);
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
