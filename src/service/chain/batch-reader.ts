import { type Address, type Hex, isHex, toAddress } from "../../domain/money/address.ts";
import { type JsonRpc, RpcError, type RpcRequest } from "../../net/json-rpc.ts";
import { retryRead } from "../../net/retry-read.ts";
import { splitWords } from "./words.ts";

/** A view call whose answer is read as 32-byte words. */
export interface ViewCall {
  readonly to: Address;
  readonly data: Hex;
  /** how many leading words are wanted, at most 255 */
  readonly words: number;
}

/** The words, or undefined when the call reverts or answers with fewer. */
export type WordsAnswer = readonly bigint[] | undefined;

/** Performs one {@link ViewCall}. */
export type ReadWords = (to: Address, data: Hex, words: number) => Promise<WordsAnswer>;

/**
 * How many calls travel together. `override`: as one `eth_call` to the reader program below, whose code is lent to an
 * empty address; one answer, one block, one charge. `plain`: as a JSON-RPC batch, for nodes without state overrides.
 */
export type ReadMode = "override" | "plain";

/**
 * Performs packed calls and packs their answers; needs no deployed contract. The source, compiled for the "paris" rules
 * so that older networks run it too (a test compiles it again and compares):
 * input: entries of 20 bytes target, 1 byte calldata size, 1 byte number of answer words, the calldata;
 * output: for each entry 1 word success (reverts and short answers are 0), then the answer words.
 */
export const READER_SOURCE = `object "BatchReader" {
  code {
    let input := 0
    let output := 0
    for {} lt(input, calldatasize()) {} {
      let header := shr(80, calldataload(input))
      let answerSize := shl(5, and(header, 0xff))
      let dataSize := and(shr(8, header), 0xff)
      let answer := add(output, 32)
      let scratch := add(answer, answerSize)
      calldatacopy(scratch, add(input, 22), dataSize)
      let ok := staticcall(1000000, shr(16, header), scratch, dataSize, answer, answerSize)
      ok := and(ok, iszero(lt(returndatasize(), answerSize)))
      if iszero(ok) { calldatacopy(answer, calldatasize(), answerSize) }
      mstore(output, ok)
      output := scratch
      input := add(input, add(22, dataSize))
    }
    return(0, output)
  }
}`;

/** {@link READER_SOURCE} compiled. */
export const READER_CODE: Hex =
  "0x6000805b368110600e57506000f35b906016908235611fe081604b1c1660ff8260581c169260208101918083866020838601018097828b8d01833760601c620f4240fa813d1015169283156058575b5050529201016003565b3690373880604e56";

/** An address nobody has a key or a contract for: the first bytes of the name in ASCII. */
const READER_ADDRESS = toAddress("0x7377617064206261746368207265616465720000");

/** Calls of one `eth_call`: far below the gas a node grants to one, far below its limit on the request's size. */
const MAX_CALLS = 400;

const RETRIES = { retries: 2, minDelayMs: 50, maxDelayMs: 400 };

interface PendingRead extends ViewCall {
  resolve(words: WordsAnswer): void;
  reject(error: unknown): void;
}

/** Whether this failure may pass by itself: no answer, or a node that is behind or busy. A revert stays a revert. */
function isTransient(error: Error): boolean {
  return error instanceof RpcError && (error.kind === "transport" || error.code !== 3);
}

/** Reads at one block. Reads that start in the same turn of the event loop travel together. */
export function createBlockReader(options: { rpc: JsonRpc; block: number; mode: ReadMode }): ReadWords {
  let pending: PendingRead[] = [];
  const send = options.mode === "override" ? sendPacked : sendPlain;

  function flush(): void {
    const reads = pending;
    pending = [];
    for (let start = 0; start < reads.length; start += MAX_CALLS) {
      const chunk = reads.slice(start, start + MAX_CALLS);
      retryRead(() => send(options, chunk), { ...RETRIES, isTransient }).then(
        (answers) => {
          for (const [index, read] of chunk.entries()) read.resolve(answers[index]);
        },
        (error: unknown) => {
          for (const read of chunk) read.reject(error);
        },
      );
    }
  }

  return (to, data, words) =>
    new Promise((resolve, reject) => {
      if (pending.length === 0) setImmediate(flush);
      pending.push({ to, data, words, resolve, reject });
    });
}

type Answers = readonly WordsAnswer[];
type Reads = readonly ViewCall[];

function byte(value: number): string {
  return value.toString(16).padStart(2, "0");
}

async function sendPacked(options: { rpc: JsonRpc; block: number }, reads: Reads): Promise<Answers> {
  const entries = reads.map(({ to, data, words }) => {
    return `${to.slice(2)}${byte((data.length - 2) / 2)}${byte(words)}${data.slice(2)}`;
  });
  const call = { to: READER_ADDRESS, data: `0x${entries.join("")}` };
  const overrides = { [READER_ADDRESS]: { code: READER_CODE } };
  const answer = await options.rpc.call("eth_call", [call, blockTag(options.block), overrides]);
  if (!isHex(answer)) throw new Error("the node's answer to a packed read is no byte string");
  const words = splitWords(answer);
  let offset = 0;
  const answers = reads.map((read) => {
    const succeeded = words[offset] === 1n;
    const own = words.slice(offset + 1, offset + 1 + read.words);
    offset += 1 + read.words;
    return succeeded ? own : undefined;
  });
  if (words.length !== offset) throw new Error("the node's answer to a packed read has the wrong length");
  return answers;
}

async function sendPlain(options: { rpc: JsonRpc; block: number }, reads: Reads): Promise<Answers> {
  const tag = blockTag(options.block);
  const requests: RpcRequest[] = reads.map(({ to, data }) => ({ method: "eth_call", params: [{ to, data }, tag] }));
  const answers = await options.rpc.batch(requests);
  return answers.map((answer, index) => {
    if (answer instanceof RpcError) {
      if (!isRevert(answer)) throw answer;
      return undefined;
    }
    if (!isHex(answer)) throw new Error("the node's answer to a call is no byte string");
    const wanted = reads[index]?.words ?? 0;
    const words = splitWords(answer);
    return words.length < wanted ? undefined : words.slice(0, wanted);
  });
}

/** Whether the node says that the called contract refused, as opposed to that the node could not run the call. */
export function isRevert(error: RpcError): boolean {
  return error.code === 3 || /revert|invalid opcode|out of gas|stack underflow/i.test(error.nodeMessage ?? "");
}

function blockTag(block: number): Hex {
  return `0x${block.toString(16)}`;
}

/** Finds out whether the node lends code to an address: reads something known in both ways and compares. */
export async function detectReadMode(
  rpc: JsonRpc,
  probe: { block: number; to: Address; data: Hex },
): Promise<ReadMode> {
  const read = { to: probe.to, data: probe.data, words: 1 };
  const [plain] = await retryRead(() => sendPlain({ rpc, block: probe.block }, [read]), RETRIES);
  if (plain === undefined) throw new Error(`the contract ${probe.to} does not answer: is this the configured network?`);
  try {
    const [packed] = await sendPacked({ rpc, block: probe.block }, [read]);
    return packed?.[0] === plain[0] ? "override" : "plain";
  } catch (error) {
    // A node that cannot lend code says so in its own words; a network failure here costs only speed until a restart.
    if (error instanceof Error) return "plain";
    throw error;
  }
}
