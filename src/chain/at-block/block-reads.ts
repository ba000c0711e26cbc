import { type Address, isHex } from "../../domain/money/address.ts";
import { retryRead } from "../../net/retry-read.ts";
import type { Clock } from "../../ports/clock.ts";
import { type JsonRpc, RpcError } from "../json-rpc.ts";
import { isHeldBack, lacksBlock, mayPassSoon } from "../node-errors.ts";
import { createBatchReader, type ReadAll, type ReadWords, type ViewCall } from "./batch-reader.ts";
import {
  type BlockRead,
  decodePart,
  type Method,
  packedRequest,
  pinOf,
  type ReadMode,
  readWith,
  witnessRequest,
  wrongBlock,
} from "./calls-at-block.ts";
import { type BlockHeader, RETRIES } from "./head.ts";
import { READER_ADDRESS } from "./packed-read.ts";
import { isChildOfParent, readWitness, testimonyOf, type Witness } from "./witness.ts";
import { splitWords } from "./words.ts";

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

/** Whether this failure may pass by itself: no answer, or a node that is behind or busy. */
function isTransient(error: Error): boolean {
  return error instanceof RpcError && mayPassSoon(error);
}

/** Whether the node says something of what it was asked to do. One that is busy or lags says nothing of it. */
function isOfRequest(error: unknown): boolean {
  return error instanceof RpcError && error.kind === "rpc" && !isHeldBack(error) && !lacksBlock(error);
}

/** A node may fail once at what it can do: after so long in a weaker way the better ones are tried again. */
const WEAKER_MS = 600_000;

/** What this node can do, which is tried out with the first read. */
function createChoice(
  rpc: JsonRpc,
  { modes, clock }: { readonly modes: readonly ReadMode[]; readonly clock: Pick<Clock, "monotonicMs"> | undefined },
) {
  let method: Method | undefined;
  let trying: Promise<Method> | undefined;
  let triedAtMs = 0;

  async function tryAll(block: BlockHeader): Promise<Method> {
    let refusal: unknown;
    for (const mode of modes) {
      for (const byHash of [true, false]) {
        try {
          return await tryMethod(rpc, block, { mode, byHash });
        } catch (error) {
          // No answer proves nothing of what the node can do, and one of another block proves that it must not be used.
          if (!isOfRequest(error)) throw error;
          refusal = error;
        }
      }
    }
    throw refusal;
  }

  /** Whether the way in use is a weaker one, and was long enough. */
  function isOutlived({ mode, byHash }: Method): boolean {
    const isBest = mode === modes[0] && byHash;
    return !isBest && clock !== undefined && clock.monotonicMs() - triedAtMs > WEAKER_MS;
  }

  async function chosen(block: BlockHeader): Promise<Method> {
    const before = method;
    if (before !== undefined && !isOutlived(before)) return before;
    trying ??= tryAll(block).finally(() => {
      trying = undefined;
      triedAtMs = clock?.monotonicMs() ?? 0;
    });
    try {
      method = await trying;
      return method;
    } catch (error) {
      // What worked until now goes on.
      if (before !== undefined && error instanceof RpcError) return before;
      throw error;
    }
  }

  return {
    mode: () => method?.mode,
    chosen,
    /** Perhaps another machine answers behind the same address now, which can do other things. */
    forget(used: Method) {
      if (method === used) method = undefined;
    },
  };
}

/**
 * Reads of one endpoint, which is tried first for what it can do. What was found out is remembered until it fails, and a
 * weaker way than the best for ten minutes at most.
 * @param options `mode` takes this one without trying the better ones
 */
export function createBlockReads(options: {
  readonly rpc: JsonRpc;
  readonly mode?: ReadMode | undefined;
  /** contracts whose calls may travel with others; absent: all */
  readonly isKnown?: ((contract: Address) => boolean) | undefined;
  /** called when a read failed for good */
  readonly onTrouble?: ((error: RpcError) => void) | undefined;
  /** absent: a weaker way is kept until it fails */
  readonly clock?: Pick<Clock, "monotonicMs"> | undefined;
}): BlockReads {
  const { rpc, clock } = options;
  const choice = createChoice(rpc, { modes: options.mode === undefined ? MODES : [options.mode], clock });

  async function readOnce({ block, gasOfCall }: Pick<BlockRead, "block" | "gasOfCall">, calls: readonly ViewCall[]) {
    const used = await choice.chosen(block);
    try {
      return await readWith({ rpc, block, gasOfCall, method: used }, calls);
    } catch (error) {
      if (isOfRequest(error)) choice.forget(used);
      throw error;
    }
  }

  function report(error: unknown): never {
    if (error instanceof RpcError) options.onTrouble?.(error);
    throw error;
  }

  return {
    mode: choice.mode,
    at(block) {
      const readAll: ReadAll = (calls, gasOfCall) =>
        calls.length === 0
          ? Promise.resolve([])
          : retryRead(() => readOnce({ block, gasOfCall }, calls), { ...RETRIES, isTransient }).catch(report);
      return { readAll, read: createBatchReader(readAll, options.isKnown) };
    },
  };
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
    if (answer instanceof RpcError && (mode !== "plain" || !isOfRequest(answer))) throw answer;
    if (mode === "plain") return isHex(answer) ? readWitness(splitWords(answer)) : undefined;
    return decodePart(mode, answer, [])?.witness;
  };
  const witness = await ask(pinOf(block, byHash));
  if (witness === undefined) {
    // Calls of their own need no proof to work; a node that ignores the injected code, or has no such contract, is no use.
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
  at: Pick<BlockRead, "rpc" | "block">,
  askParent: () => Promise<Witness | undefined>,
): Promise<void> {
  const witness = await askParent();
  if (witness === undefined || !isChildOfParent(witness, at.block)) throw wrongBlock(at, witness?.number ?? 0n);
}
