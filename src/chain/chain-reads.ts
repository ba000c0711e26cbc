import { ChainReadError } from "../domain/chain-read-error.ts";
import { type Address, type Hex, NATIVE_TOKEN } from "../domain/money/address.ts";
import type { BlockHead, Chain, Receipt } from "../ports/chain.ts";
import { decodeTokenAnswer, encodeTokenCall, type TokenCall } from "./abi.ts";
import { RpcError } from "./json-rpc.ts";
import { isFailedCall } from "./node-errors.ts";
import { toQuantity } from "./quantity.ts";
import { readLogs } from "./read-logs.ts";
import {
  fitsItsLogs,
  readBlock,
  readBytes,
  readNumber,
  readQuantity,
  readReceipt,
  readTransactionsOf,
} from "./read-values.ts";
import type { RpcPool } from "./rpc-pool.ts";

export interface ReadOptions {
  /** Blocks of one log query; longer ranges are asked in pieces. Default 2,000. */
  readonly maxLogBlocks?: number;
  /** Only for chains without a `finalized` tag: so many blocks below the tip count as final. */
  readonly finalityDepth?: number;
}

export const DEFAULT_LOG_BLOCKS = 2_000;

/** What can be read of a chain, over some of its endpoints or over one. */
export type ChainReads = Omit<
  Chain,
  | "chainId"
  | "visibility"
  | "submitEndpoints"
  | "agreed"
  | "broadcast"
  | "simulate"
  | "permitFacts"
  | "takesDelegatedPermit"
  | "abilities"
>;

export function readsOver(pool: RpcPool, options: ReadOptions): ChainReads {
  const call = createCall(pool);
  return {
    ...createLaneReads(pool, options),
    ...createTokenReads(pool, call),
    call,
    code: async (address, block) => {
      const tag = block === undefined ? "latest" : toQuantity(block);
      return readBytes(await read(pool, "eth_getCode", [address, tag]), "an account's code");
    },
    logs: (filter) => readLogs(pool, filter, options.maxLogBlocks ?? DEFAULT_LOG_BLOCKS),
  };
}

/** A read for which a node's error is no answer. @throws ChainReadError */
async function read(pool: RpcPool, method: string, params: readonly unknown[]): Promise<unknown> {
  try {
    return await pool.read(method, params);
  } catch (error) {
    if (error instanceof RpcError) throw new ChainReadError("refused", `${method} was refused: ${error.message}`);
    throw error;
  }
}

/** The same, of the first endpoint whose answer `parse` makes something of. @throws ChainReadError */
async function readFirst<T>(
  pool: RpcPool,
  method: string,
  params: readonly unknown[],
  parse: (answer: unknown) => T | undefined,
): Promise<T | undefined> {
  try {
    return await pool.readFirst(method, params, parse);
  } catch (error) {
    throw asReadError(method, error);
  }
}

type LaneReads = Omit<ChainReads, "call" | "code" | "logs" | "balance" | "allowance" | "decimals">;

function createLaneReads(pool: RpcPool, options: ReadOptions): LaneReads {
  async function block(tag: string): Promise<BlockHead | undefined> {
    return readBlock(await read(pool, "eth_getBlockByNumber", [tag, false]));
  }
  async function existingBlock(tag: string): Promise<BlockHead> {
    const head = await block(tag);
    if (head === undefined) throw new ChainReadError("malformed answer", `the node has no ${tag} block`);
    return head;
  }
  /** Of the first endpoint that has come so far, else of the first one that answers. */
  async function latest(from = 0): Promise<BlockHead> {
    const first = await existingBlock("latest");
    if (first.number >= from) return first;
    const come = (answer: unknown): BlockHead | undefined => {
      const head = readBlock(answer);
      return head !== undefined && head.number >= from ? head : undefined;
    };
    return (await readFirst(pool, "eth_getBlockByNumber", ["latest", false], come)) ?? first;
  }
  async function finalizedBlock(): Promise<BlockHead> {
    const head = await readFirst(pool, "eth_getBlockByNumber", ["finalized", false], readBlock);
    if (head === undefined) throw new ChainReadError("malformed answer", "no node has a finalized block");
    return head;
  }
  return {
    latest,
    async finalized() {
      if (options.finalityDepth === undefined) return finalizedBlock();
      const head = await existingBlock("latest");
      return existingBlock(toQuantity(Math.max(0, head.number - options.finalityDepth)));
    },
    block: (number) => block(toQuantity(number)),
    async transactionCount(address, at) {
      const tag = at === "latest" ? at : toQuantity(at);
      return readNumber(await read(pool, "eth_getTransactionCount", [address, tag]), "a transaction count");
    },
    // What its logs contradict is taken where no endpoint has a better one: on a chain with filters of its own, or one that
    // lists fees among the logs, all look so.
    async receipt(hash) {
      let doubtful: Receipt | undefined;
      const whole = await readFirst(pool, "eth_getTransactionReceipt", [hash], (answer) => {
        const receipt = readReceipt(answer, hash);
        if (receipt === undefined || fitsItsLogs(answer)) return receipt;
        doubtful ??= receipt;
        return undefined;
      });
      return whole ?? doubtful;
    },
    transactionsOf(address, block) {
      const ofAddress = (answer: unknown) => readTransactionsOf(answer, address);
      return readFirst(pool, "eth_getBlockByNumber", [toQuantity(block), true], ofAddress);
    },
    nativeBalance: (address) => readBalance(pool, address),
    priorityFee: () => readPriorityFee(pool, existingBlock),
  };
}

async function readBalance(pool: RpcPool, owner: Address, block?: number): Promise<bigint> {
  const tag = block === undefined ? "latest" : toQuantity(block);
  return readQuantity(await read(pool, "eth_getBalance", [owner, tag]), "a native balance");
}

/** The node's suggestion; of a node without one, its gas price above the base fee. */
async function readPriorityFee(pool: RpcPool, block: (tag: string) => Promise<BlockHead>): Promise<bigint> {
  try {
    return readQuantity(await pool.read("eth_maxPriorityFeePerGas", []), "a priority fee");
  } catch (error) {
    const isMissing = error instanceof ChainReadError && error.code === "not available";
    if (!isMissing) throw asReadError("eth_maxPriorityFeePerGas", error);
    const gasPrice = readQuantity(await read(pool, "eth_gasPrice", []), "a gas price");
    const { baseFeePerGas } = await block("latest");
    return gasPrice > baseFeePerGas ? gasPrice - baseFeePerGas : 0n;
  }
}

function asReadError(method: string, error: unknown): unknown {
  if (!(error instanceof RpcError)) return error;
  return new ChainReadError("refused", `${method} was refused: ${error.message}`);
}

function createCall(pool: RpcPool): Chain["call"] {
  return async (request, block) => {
    const transaction = { to: request.to, data: request.data, ...(request.from && { from: request.from }) };
    const tag = block === undefined ? "latest" : toQuantity(block);
    try {
      return readBytes(await pool.read("eth_call", [transaction, tag]), "a call's answer");
    } catch (error) {
      if (error instanceof RpcError && isFailedCall(error)) return undefined;
      throw asReadError("eth_call", error);
    }
  };
}

/** Reads of tokens. A token that does not answer as a token is an error, except for its decimals. */
function createTokenReads(pool: RpcPool, call: Chain["call"]): Pick<Chain, "balance" | "allowance" | "decimals"> {
  const ask = (token: Address, name: TokenCall, args: readonly Address[], block?: number): ReturnType<Chain["call"]> =>
    call({ to: token, data: encodeTokenCall(name, args) }, block);
  function amountIn(name: TokenCall, answer: Hex): bigint | undefined {
    const result = decodeTokenAnswer(name, answer);
    return result === undefined ? undefined : BigInt(String(result[0]));
  }
  async function amount(token: Address, name: TokenCall, args: readonly Address[], block?: number): Promise<bigint> {
    const answer = await ask(token, name, args, block);
    if (answer === undefined) throw new ChainReadError("reverted", `${token} refuses ${name}: the call reverts`);
    const value = amountIn(name, answer);
    // A node that does not have the contract yet answers nothing, too.
    if (value === undefined)
      throw new ChainReadError("malformed answer", `${token} does not answer ${name} as a token`);
    return value;
  }
  return {
    balance: (token, owner, block) =>
      token === NATIVE_TOKEN ? readBalance(pool, owner, block) : amount(token, "balanceOf", [owner], block),
    allowance: ({ token, owner, spender }, block) => amount(token, "allowance", [owner, spender], block),
    async decimals(token) {
      const answer = await ask(token, "decimals", []);
      const value = answer === undefined ? undefined : amountIn("decimals", answer);
      return value !== undefined && value <= 255n ? Number(value) : undefined;
    },
  };
}
