import { type Address, type Hex, NATIVE_TOKEN } from "../../domain/money/address.ts";
import type {
  AgreedChainReads,
  AttemptBytes,
  BlockHead,
  BlockTransaction,
  BroadcastOutcome,
  Chain,
  Receipt,
} from "../../ports/chain.ts";
import type { PaperRows, PaperTransaction } from "../../ports/paper.ts";
import { type JudgeDependencies, judge } from "./judge.ts";
import { readPaperBytes } from "./paper-bytes.ts";

/** The real chain without any way to send something to it. */
export type ChainToRead = Omit<Chain, "broadcast" | "submitEndpoints">;

export interface PaperChainDependencies extends Omit<JudgeDependencies, "chain" | "rows"> {
  readonly chain: ChainToRead;
  readonly rows: PaperRows;
}

/** Nodes keep the state of so many blocks for certain; what waited longer is judged at the oldest of them. */
const STATE_BLOCKS = 100;
/** So many blocks are judged at most before a read is answered. */
const BLOCKS_AT_ONCE = 16;

/**
 * The real chain with what happens on paper on top of it: what accounts on paper have, may spend and sent. All else is
 * passed through. Nothing is ever sent: there is no way to.
 */
export function createPaperChain(deps: PaperChainDependencies): Chain {
  const { chain, rows, book } = deps;
  const settle = createSettling(deps);
  const balance: Chain["balance"] = async (token, owner, block) => {
    const real = book.has(owner) ? 0n : await chain.balance(token, owner, block);
    if (!book.has(owner) && !book.isPaid(owner)) return real;
    await book.begun(owner);
    return real + book.balance({ account: owner, token }, block);
  };
  const allowance: Chain["allowance"] = async (grant, block) => {
    if (!book.has(grant.owner)) return await chain.allowance(grant, block);
    return rows.allowance(grant, block);
  };
  const transactionsOf: Chain["transactionsOf"] = async (account, block) =>
    book.has(account) ? rows.ofBlock(account, block).map(asListed) : await chain.transactionsOf(account, block);
  const countOf = (account: Address, block: "latest" | number): number =>
    rows.count(account, block === "latest" ? undefined : block);
  return {
    ...chain,
    ...{ balance, allowance, transactionsOf },
    visibility: "public",
    submitEndpoints: async () => [],
    nativeBalance: (account) => balance(NATIVE_TOKEN, account),
    // What the account is on the chain, a contract perhaps, changes nothing of what it does on paper.
    code: async (account, block) => (book.has(account) ? "0x" : await chain.code(account, block)),
    transactionCount: async (account, block) =>
      book.has(account) ? countOf(account, block) : await chain.transactionCount(account, block),
    receipt: async (hash) => {
      const sent = rows.transaction(hash);
      if (sent === undefined) return await chain.receipt(hash);
      await settle(sent.account);
      return await standing(deps, hash);
    },
    simulate: async (calls, about = {}) => {
      const owner = calls.map(({ from }) => from).find(book.has);
      if (owner === undefined || about.assumed !== undefined) return await chain.simulate(calls, about);
      await book.begun(owner);
      return await chain.simulate(calls, { ...about, assumed: book.assumed(owner, about.on?.number) });
    },
    broadcast: (attempt) => writeDown(deps, attempt),
    agreed: async (): Promise<AgreedChainReads> => {
      const agreed = await chain.agreed();
      return {
        ...agreed,
        ...{ balance, allowance },
        transactionsOf: async (account, block) =>
          book.has(account) ? rows.ofBlock(account, block).map(asListed) : await agreed.transactionsOf(account, block),
        transactionCount: async (account, block) =>
          book.has(account) ? countOf(account, block) : await agreed.transactionCount(account, block),
        receipt: async (hash) => (rows.transaction(hash) ? rows.receipt(hash) : await agreed.receipt(hash)),
        code: async (account, block) => (book.has(account) ? "0x" : await agreed.code(account, block)),
        highestAllowance: async (grant, block) =>
          book.has(grant.owner) ? rows.allowance(grant, block) : await agreed.highestAllowance(grant, block),
      };
    },
  };
}

/** Written down with the block after which it is judged; the same bytes once. */
async function writeDown(
  { chain, rows, book }: PaperChainDependencies,
  { raw }: AttemptBytes,
): Promise<BroadcastOutcome> {
  const { account, chainId, ...sent } = readPaperBytes(raw);
  if (!book.has(account) || chainId !== chain.chainId) throw new Error(`${account} is no account on paper`);
  if (rows.transaction(sent.hash) !== undefined) return { kind: "known" };
  const { number } = await chain.latest();
  return rows.send({ account, ...sent, sentBlock: number, judgedBlock: number })
    ? { kind: "accepted" }
    : { kind: "known" };
}

/** A fill of a block that the chain took back is in no block any more: it is judged anew. */
async function standing({ chain, rows }: PaperChainDependencies, hash: Hex): Promise<Receipt | undefined> {
  const receipt = rows.receipt(hash);
  if (receipt === undefined) return undefined;
  const block = await chain.block(receipt.blockNumber);
  if (block !== undefined && block.hash !== receipt.blockHash) rows.takeBack(receipt.blockNumber);
  return rows.receipt(hash);
}

/** Judges what waits of an account at each block since, one account's transactions after the other's. */
function createSettling(deps: PaperChainDependencies): (account: Address) => Promise<void> {
  const underway = new Map<Address, Promise<void>>();
  return async (account) => {
    const settling = underway.get(account) ?? settleAccount(deps, account).finally(() => underway.delete(account));
    underway.set(account, settling);
    await settling;
  };
}

async function settleAccount(deps: PaperChainDependencies, account: Address): Promise<void> {
  const { chain, rows, book } = deps;
  if (rows.waiting(account).length === 0) return;
  await book.begun(account);
  const head = await chain.latest();
  for (let count = 0; count < BLOCKS_AT_ONCE; count += 1) {
    const due = dueOf(rows, account);
    const first = Math.min(...due.map(nextBlock));
    const number = Math.max(first, head.number - STATE_BLOCKS);
    if (due.length === 0 || number > head.number) return;
    const block = number === head.number ? head : await chain.block(number);
    if (block === undefined) return;
    await judgeAt(deps, due, { block, isNewest: number === head.number });
  }
}

/** What may be in the next block: of the versions of one nonce the one that pays most comes first. */
function dueOf(rows: PaperRows, account: Address): readonly PaperTransaction[] {
  const nonce = rows.count(account);
  return rows.waiting(account).filter((one) => one.nonce === nonce);
}

function nextBlock({ sentBlock, judgedBlock }: PaperTransaction): number {
  return Math.max(sentBlock, judgedBlock) + 1;
}

async function judgeAt(
  deps: PaperChainDependencies,
  due: readonly PaperTransaction[],
  at: { readonly block: BlockHead; readonly isNewest: boolean },
): Promise<void> {
  const { rows, book } = deps;
  for (const transaction of due) {
    if (nextBlock(transaction) > at.block.number) continue;
    const outcome = await judge(deps, transaction, at);
    for (const { account } of outcome?.moves ?? []) await book.begun(account);
    if (outcome === undefined) rows.judged(transaction.hash, at.block.number);
    else {
      rows.fill(outcome);
      return;
    }
  }
}

function asListed(transaction: PaperTransaction): BlockTransaction {
  const { hash, nonce, to, data, value, gasLimit, maxFeePerGas, maxPriorityFeePerGas } = transaction;
  return { hash, nonce, to, data, value, gasLimit, fees: { maxFeePerGas, maxPriorityFeePerGas } };
}
