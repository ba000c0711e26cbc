import { type Address, type Hex, isHex } from "../../domain/money/address.ts";
import { RpcError } from "../json-rpc.ts";
import { isFailedCall } from "../node-errors.ts";
import { type Asked, gatherTurn } from "../same-turn.ts";
import { malformedAnswer } from "./head.ts";
import { firstWord } from "./words.ts";

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

/** Performs many calls at one block; the answers are in their order. @param gasOfCall as much as each may use, at most */
export type ReadAll = (calls: readonly ViewCall[], gasOfCall?: number) => Promise<readonly WordsAnswer[]>;

/** What a view of an honest token uses many times over; anybody can deploy one that uses all it is given. */
const STRANGERS_GAS = 300_000;

/**
 * Lets reads that start in the same turn of the event loop travel together. Those of a contract that is not vouched for
 * travel alone, with less gas: what it does affects no other read.
 */
export function createBatchReader(readAll: ReadAll, isKnown: (contract: Address) => boolean = () => true): ReadWords {
  function send(reads: readonly Asked<ViewCall, WordsAnswer>[], gasOfCall?: number): void {
    const calls = reads.map(({ question }) => question);
    readAll(calls, gasOfCall).then(
      (answers) => {
        for (const [index, read] of reads.entries()) read.resolve(answers[index]);
      },
      (error: unknown) => {
        for (const read of reads) read.reject(error);
      },
    );
  }

  const read = gatherTurn<ViewCall, WordsAnswer>((reads) => {
    const known = reads.filter(({ question: { to } }) => isKnown(to));
    const strangers = new Set(reads.flatMap(({ question: { to } }) => (isKnown(to) ? [] : [to])));
    if (known.length > 0) send(known);
    for (const stranger of strangers) {
      const own = reads.filter(({ question: { to } }) => to === stranger);
      send(own, STRANGERS_GAS);
    }
  });
  return (to, data, words) => read({ to, data, words });
}

/** The first word that a view answers; undefined when it reverts or answers less. @throws RpcError */
export function readViewWord(host: string, answer: unknown): bigint | undefined {
  if (answer instanceof RpcError) {
    if (!isFailedCall(answer)) throw answer;
    return undefined;
  }
  if (!isHex(answer)) throw malformedAnswer(host, "the node's answer to a call is no byte string");
  return firstWord(answer);
}
