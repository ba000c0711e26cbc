import { Interface } from "ethers";
import { z } from "zod";
import { type Address, type Hex, NATIVE_TOKEN } from "../domain/money/address.ts";
import type { Secret } from "../net/secret.ts";
import { type Ask, BATCH_SIZE, createAsker, unreadable } from "./ask-node.ts";
import { receiptsInBlocks } from "./block-receipts.ts";
import type { ChainLog } from "./events.ts";
import {
  bigQuantity,
  bytes,
  fullBlock,
  header,
  log,
  type Receipt,
  receipt,
  smallQuantity,
  type Tip,
  timedHeader,
  tipHeader,
} from "./node-answers.ts";
import { createNodeClient, type Question, Refusal } from "./node-client.ts";
import { proper, read, readBlock, toQuantity } from "./read-answer.ts";

/** A transaction as a full block shows it. */
export interface BlockTransaction {
  readonly hash: Hex;
  readonly from: Address;
  readonly nonce: number;
  /** undefined where it creates a contract */
  readonly to: Address | undefined;
  /** in wei */
  readonly value: bigint;
  readonly blockNumber: number;
}

export interface LogFilter {
  readonly address: readonly Address[];
  readonly topics: readonly (Hex | readonly Hex[] | null)[];
}

/** Reads a chain through one JSON-RPC endpoint, without state of old blocks. Every read throws {@link AuditError}. */
export interface ChainReader {
  chainId(): Promise<number>;
  tip(): Promise<Tip>;
  /**
   * Waits some seconds for a node that is behind to come to this block; what follows counts only from one that has.
   * @param otherwise what is said of one that does not
   */
  reach(number: number, otherwise: string): Promise<void>;
  blockHash(number: number): Promise<Hex | undefined>;
  /** Unix seconds of a block up to the tip. */
  blockTime(number: number): Promise<number>;
  /** Unix seconds of blocks up to the tip, by their numbers. */
  blockTimes(numbers: readonly number[]): Promise<ReadonlyMap<number, number>>;
  /** What each contract says of its decimals; undefined of one that says nothing. */
  decimals(tokens: readonly Address[], block: number): Promise<readonly (bigint | undefined)[]>;
  /** Balances at a recent block; native: the zero address; undefined of a token that does not say it. */
  balances(
    holdings: readonly { token: Address; wallet: Address }[],
    block: number,
  ): Promise<readonly (bigint | undefined)[]>;
  /** Undefined of a token that does not say it. */
  allowances(
    grants: readonly { token: Address; wallet: Address; spender: Address }[],
    block: number | "latest",
  ): Promise<readonly (bigint | undefined)[]>;
  /** How many transactions an account has in blocks up to this one; undefined when the node has no state of it. */
  transactionCount(account: Address, block: number): Promise<number | undefined>;
  /** Whether there is code at each; an account of a key that lends itself some has none of its own. */
  areContracts(accounts: readonly Address[], block: number): Promise<readonly boolean[]>;
  /** @param places blocks that transactions are said to be in, for nodes that find old ones by their blocks alone */
  receipts(hashes: readonly Hex[], places?: ReadonlyMap<Hex, number>): Promise<ReadonlyMap<Hex, Receipt>>;
  /** Logs of all filters, from one block to another, both included, asked for in as many pieces as the node wants. */
  logs(
    filters: readonly LogFilter[],
    range: { from: number; to: number },
    onProgress: (done: number, total: number) => void,
  ): Promise<readonly ChainLog[]>;
  /** Transactions of these senders in these blocks, both included. */
  transactionsFrom(
    senders: ReadonlySet<Address>,
    range: { from: number; to: number },
  ): Promise<readonly BlockTransaction[]>;
}

const erc20 = new Interface([
  "function balanceOf(address) view returns (uint256)",
  "function allowance(address, address) view returns (uint256)",
  "function decimals() view returns (uint8)",
]);

/** EIP-7702: all that is at the account of a key which runs another contract's code. */
const LENT_CODE = "0xef0100";
const TIMEOUT_MS = 30_000;
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
const BLOCKS_PER_BATCH = 20;
const RECEIPTS_PER_BATCH = 20;
const LONGEST_LOG_RANGE = 2_000;
const FIRST_LOG_RANGE = 250;
const MANY_LOGS = 500;

/** Creates a reader. Reads that fail on the way are tried again a few times; nothing is ever written. */
export function createChainReader(url: string | Secret, signal: AbortSignal | undefined): ChainReader {
  const node = createNodeClient({ url, timeoutMs: TIMEOUT_MS, maxBytes: MAX_ANSWER_BYTES });
  const { ask, knowing } = createAsker(node, signal);
  const one = async <T>(schema: z.ZodType<T>, method: string, ...params: readonly unknown[]): Promise<T> =>
    read(node.host, method, schema, proper((await ask([{ method, params }]))[0]));

  return {
    chainId: () => one(smallQuantity, "eth_chainId"),
    tip: async () => {
      const tip = await one(tipHeader, "eth_getBlockByNumber", "latest", false);
      knowing(toQuantity(tip.number), "which it named, is not known to it: of several nodes behind it one is late");
      return tip;
    },
    reach: async (number, otherwise) => {
      knowing(toQuantity(number), otherwise);
      await one(header.nullable(), "eth_getBlockByNumber", toQuantity(number), false);
    },
    blockHash: async (number) =>
      (await one(header.nullable(), "eth_getBlockByNumber", toQuantity(number), false))?.hash,
    blockTime: async (number) => {
      const [answer] = await ask([{ method: "eth_getBlockByNumber", params: [toQuantity(number), false] }]);
      return readBlock(node.host, number, timedHeader, answer).timestamp;
    },
    blockTimes: (numbers) => readTimes({ host: node.host, ask }, numbers),
    decimals: async (tokens, block) => {
      const data = erc20.encodeFunctionData("decimals");
      const answers = await ask(
        tokens.map((to) => ({ method: "eth_call", params: [{ to, data }, toQuantity(block)] })),
      );
      return answers.map((answer) => bigQuantity.safeParse(answer).data);
    },
    balances: async (holdings, block) => {
      const answers = await ask(holdings.map((holding) => balanceRequest(holding, block)));
      return answers.map((answer) => said(node.host, "a balance", answer));
    },
    allowances: async (grants, block) => {
      const answers = await ask(grants.map((grant) => allowanceRequest(grant, block)));
      return answers.map((answer) => said(node.host, "an allowance", answer));
    },
    transactionCount: async (account, block) => {
      const [answer] = await ask([{ method: "eth_getTransactionCount", params: [account, toQuantity(block)] }]);
      return answer instanceof Refusal ? undefined : read(node.host, "a nonce", smallQuantity, answer);
    },
    areContracts: async (accounts, block) => {
      const answers = await ask(accounts.map((one) => ({ method: "eth_getCode", params: [one, toQuantity(block)] })));
      const codes = answers.map((answer) => read(node.host, "a code", bytes, proper(answer)).toLowerCase());
      return codes.map((code) => code !== "0x" && !code.startsWith(LENT_CODE));
    },
    receipts: (hashes, places = new Map()) => readReceipts({ host: node.host, ask }, hashes, places),
    logs: (filters, range, onProgress) => readLogs({ host: node.host, ask }, filters, range, onProgress),
    transactionsFrom: async (senders, { from, to }) => {
      const found: BlockTransaction[] = [];
      for (let first = from; first <= to; first += BLOCKS_PER_BATCH) {
        const numbers = sequence(first, Math.min(first + BLOCKS_PER_BATCH - 1, to));
        const answers = await ask(
          numbers.map((number) => ({ method: "eth_getBlockByNumber", params: [toQuantity(number), true] })),
        );
        for (const [index, answer] of answers.entries()) {
          const block = readBlock(node.host, first + index, fullBlock, answer);
          for (const transaction of block.transactions) {
            if (senders.has(transaction.from)) found.push({ ...transaction, blockNumber: block.number });
          }
        }
      }
      return found;
    },
  };
}

async function readReceipts(
  node: { host: string; ask: Ask },
  hashes: readonly Hex[],
  places: ReadonlyMap<Hex, number>,
): Promise<ReadonlyMap<Hex, Receipt>> {
  const receipts = new Map<Hex, Receipt>();
  // A receipt as a node reports it takes many times the room of what is kept of it.
  for (let first = 0; first < hashes.length; first += RECEIPTS_PER_BATCH) {
    const part = hashes.slice(first, first + RECEIPTS_PER_BATCH);
    const answers = await node.ask(part.map((asked) => ({ method: "eth_getTransactionReceipt", params: [asked] })));
    for (const answer of answers) {
      const found = read(node.host, "a receipt", receipt.nullable(), proper(answer));
      if (found !== null) receipts.set(found.hash, found);
    }
  }
  const forgotten = hashes.flatMap((hash) => {
    const block = places.get(hash);
    return block === undefined || receipts.has(hash) ? [] : [{ hash, block: toQuantity(block) }];
  });
  const found = await receiptsInBlocks(node, forgotten);
  for (const one of found) receipts.set(one.hash, one);
  return receipts;
}

/** A header names all transactions of its block, and one number of it is kept: they are read in pieces. */
async function readTimes(
  node: { host: string; ask: Ask },
  numbers: readonly number[],
): Promise<ReadonlyMap<number, number>> {
  const times = new Map<number, number>();
  for (let first = 0; first < numbers.length; first += BATCH_SIZE) {
    const part = numbers.slice(first, first + BATCH_SIZE);
    const answers = await node.ask(
      part.map((number) => ({ method: "eth_getBlockByNumber", params: [toQuantity(number), false] })),
    );
    for (const [index, number] of part.entries())
      times.set(number, readBlock(node.host, number, timedHeader, answers[index]).timestamp);
  }
  return times;
}

/** A node that refuses a range, or whose answer is too large, is asked for half of it. */
async function readLogs(
  node: { host: string; ask: Ask },
  filters: readonly LogFilter[],
  range: { from: number; to: number },
  onProgress: (done: number, total: number) => void,
): Promise<readonly ChainLog[]> {
  const found: ChainLog[] = [];
  const total = Math.max(0, range.to - range.from + 1);
  let length = FIRST_LOG_RANGE;
  let from = range.from;
  while (from <= range.to) {
    const to = Math.min(from + length - 1, range.to);
    const answers = await node.ask(filters.map((filter) => logsRequest(filter, from, to)));
    const refusal = answers.find((answer) => answer instanceof Refusal);
    if (refusal !== undefined) {
      if (length === 1) throw unreadable(refusal);
      length = Math.max(1, Math.floor(length / 2));
      continue;
    }
    const before = found.length;
    for (const answer of answers) for (const one of read(node.host, "logs", z.array(log), answer)) found.push(one);
    onProgress(to - range.from + 1, total);
    from = to + 1;
    // A busy stretch is read in short pieces: an answer as text and in all its forms takes much more room than its logs.
    const isBusy = found.length - before > MANY_LOGS;
    length = isBusy ? Math.max(1, Math.floor(length / 2)) : Math.min(LONGEST_LOG_RANGE, length * 2);
  }
  return found;
}

function logsRequest(filter: LogFilter, from: number, to: number): Question {
  const range = { fromBlock: toQuantity(from), toBlock: toQuantity(to) };
  return { method: "eth_getLogs", params: [{ ...range, address: filter.address, topics: filter.topics }] };
}

function balanceRequest(holding: { token: Address; wallet: Address }, block: number): Question {
  if (holding.token === NATIVE_TOKEN) {
    return { method: "eth_getBalance", params: [holding.wallet, toQuantity(block)] };
  }
  const data = erc20.encodeFunctionData("balanceOf", [holding.wallet]);
  return { method: "eth_call", params: [{ to: holding.token, data }, toQuantity(block)] };
}

function allowanceRequest(
  grant: { token: Address; wallet: Address; spender: Address },
  block: number | "latest",
): Question {
  const data = erc20.encodeFunctionData("allowance", [grant.wallet, grant.spender]);
  return {
    method: "eth_call",
    params: [{ to: grant.token, data }, block === "latest" ? block : toQuantity(block)],
  };
}

/** An amount; undefined where the token refuses, or is no contract any more: that says nothing against the node. */
function said(host: string, what: string, answer: unknown): bigint | undefined {
  if (answer === "0x" || (answer instanceof Refusal && answer.isRevert)) return undefined;
  return read(host, what, bigQuantity, proper(answer));
}

function sequence(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}
