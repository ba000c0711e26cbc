import { type Address, type Hex, isHex } from "../../domain/money/address.ts";
import { RpcError } from "../../net/json-rpc.ts";
import { isFailedCall } from "../../net/node-errors.ts";
import { malformedAnswer } from "./head.ts";
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

/** Performs many calls at one block; the answers are in their order. */
export type ReadAll = (calls: readonly ViewCall[]) => Promise<readonly WordsAnswer[]>;

interface PendingRead extends ViewCall {
  resolve(words: WordsAnswer): void;
  reject(error: unknown): void;
}

/** Lets reads that start in the same turn of the event loop travel together. */
export function createBatchReader(readAll: ReadAll): ReadWords {
  let pending: PendingRead[] = [];

  function flush(): void {
    const reads = pending;
    pending = [];
    readAll(reads).then(
      (answers) => {
        for (const [index, read] of reads.entries()) read.resolve(answers[index]);
      },
      (error: unknown) => {
        for (const read of reads) read.reject(error);
      },
    );
  }

  return (to, data, words) =>
    new Promise((resolve, reject) => {
      if (pending.length === 0) setImmediate(flush);
      pending.push({ to, data, words, resolve, reject });
    });
}

/** The first word that a view answers; undefined when it reverts or answers less. @throws RpcError */
export function readViewWord(host: string, answer: unknown): bigint | undefined {
  if (answer instanceof RpcError) {
    if (!isFailedCall(answer)) throw answer;
    return undefined;
  }
  if (!isHex(answer)) throw malformedAnswer(host, "the node's answer to a call is no byte string");
  return splitWords(answer)[0];
}
