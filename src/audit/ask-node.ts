import type { Hex } from "../domain/money/address.ts";
import { retryRead } from "../net/retry-read.ts";
import { NoAnswer, type NodeClient, type Question, Refusal } from "./node-client.ts";
import { AuditError } from "./report.ts";

/** Asks a node, in as many requests as it wants; the answers in the order of the questions. @throws AuditError */
export type Ask = (requests: readonly Question[]) => Promise<readonly (unknown | Refusal)[]>;

/** Most that are asked at once. */
export const BATCH_SIZE = 50;
/** Who counts calls is waited for longer than who is away. */
const RETRIES = { retries: 7, minDelayMs: 200, maxDelayMs: 5_000 };
const MOST_TRIES_AWAY = 5;

/** What asks one endpoint. */
export interface Asker {
  readonly ask: Ask;
  /**
   * From now on an answer counts only from a node that knows this block: several may stand behind one endpoint.
   * @param otherwise what is said of one that does not come to know it
   */
  knowing(block: Hex, otherwise: string): void;
}

interface Newest {
  readonly block: Hex;
  readonly otherwise: string;
}

/** A node that refuses so many at once as a whole is asked for half as many, and for more again while that goes well. */
export function createAsker(node: NodeClient, signal: AbortSignal | undefined): Asker {
  let most = BATCH_SIZE;
  let newest: Newest | undefined;
  /** @returns nothing where fewer are to be asked at once */
  const askSome = async (part: readonly Question[]): Promise<readonly (unknown | Refusal)[]> => {
    try {
      const answers = await askPatiently(node, part, { newest, signal });
      most = Math.min(BATCH_SIZE, most + 1);
      return answers;
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
      if (error.hindrance === "away") throw unreadable(error);
      most = Math.ceil(part.length / 2);
      if (part.length > 1) return [];
      if (error.hindrance === "too-large") return [new Refusal(error.message)];
      throw unreadable(error);
    }
  };
  return {
    ask: async (requests) => {
      const answers: (unknown | Refusal)[] = [];
      while (answers.length < requests.length)
        answers.push(...(await askSome(requests.slice(answers.length, answers.length + most))));
      return answers;
    },
    knowing: (block, otherwise) => {
      newest = { block, otherwise };
    },
  };
}

/**
 * Tries again what may pass by itself: not what is too large, nor what goes by asking for less. One that is behind the
 * newest block that was named has no logs of it, and says nothing of that.
 */
async function askPatiently(
  node: NodeClient,
  part: readonly Question[],
  { newest, signal }: { readonly newest: Newest | undefined; readonly signal: AbortSignal | undefined },
): Promise<readonly (unknown | Refusal)[]> {
  let tries = 0;
  const isTransient = (error: Error): boolean => {
    if (!(error instanceof NoAnswer) || error.hindrance === "away") return tries < MOST_TRIES_AWAY;
    return error.hindrance === "asked-too-much" && part.length === 1;
  };
  const ask = async () => {
    tries += 1;
    if (newest === undefined) return await node.ask(part, signal);
    const known = { method: "eth_getBlockByNumber", params: [newest.block, false] };
    const answers = await node.ask([...part, known], signal);
    const block = answers.at(-1);
    if (block !== null && !(block instanceof Refusal)) return answers.slice(0, -1);
    throw new NoAnswer(`${node.host}: block ${Number(newest.block)}, ${newest.otherwise}`, "away");
  };
  return await retryRead(ask, { ...RETRIES, isTransient, ...(signal === undefined ? {} : { signal }) });
}

/** What ends the audit. */
export function unreadable(cause: Refusal | NoAnswer): AuditError {
  return new AuditError("CHAIN_UNREADABLE", `The chain could not be read. ${cause.message}`, { cause });
}
