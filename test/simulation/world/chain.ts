import type { Address, Hex } from "../../../src/domain/money/address.ts";
import type { Chance } from "../chance.ts";
import { Ledger, type Moment, Revert, receiptLogs, type SimLog, type State } from "./ledger.ts";
import { createMarket, type Prices } from "./market.ts";
import { ETH } from "./places.ts";
import { addToPool, type Pool } from "./pool.ts";
import type { SignatureBook, SignedTransaction } from "./signatures.ts";
import { quickHash } from "./words.ts";

export const GWEI = 10n ** 9n;
const GAS = 100_000n;
const FIRST_BLOCK = 1_000;

export interface SimReceipt {
  readonly hash: Hex;
  readonly from: Address;
  readonly transaction: SignedTransaction | undefined;
  readonly blockNumber: number;
  readonly blockHash: Hex;
  readonly succeeded: boolean;
  readonly gasPrice: bigint;
  readonly logs: readonly SimLog[];
  /** the orders that somebody else brought, and that it filled */
  readonly orders: readonly FilledOrder[];
}

export interface FilledOrder {
  /** what was signed for it */
  readonly text: string;
  readonly logs: readonly SimLog[];
}

export interface SimBlock {
  readonly number: number;
  readonly hash: Hex;
  readonly seconds: number;
  readonly baseFee: bigint;
  readonly state: State;
  readonly receipts: readonly SimReceipt[];
}

/** Work of somebody who is not our wallet: the relayer. Done in the next block, dropped when that block reverts it. */
export interface ForeignWork {
  readonly hash: Hex;
  readonly from: Address;
  /** @throws Revert */
  run(ledger: Ledger, moment: Moment): { readonly logs: readonly SimLog[]; readonly orders: readonly FilledOrder[] };
}

/** What the next block is like. */
export interface BlockTerms {
  readonly seconds: number;
  readonly baseFee: bigint;
  /** true: what waits does not fit */
  readonly isFull: boolean;
}

/**
 * The one true chain: blocks, a pool with geth's rules, reorganisations down to what is final. What nodes show of it is
 * their own matter.
 */
export class SimChain {
  readonly blocks: SimBlock[];
  readonly finality: number;
  readonly pool: Pool = new Map();
  readonly market: (block: number) => Prices;
  private readonly book: SignatureBook;
  private foreign: ForeignWork[] = [];
  private readonly receipts = new Map<string, SimReceipt>();
  private forks = 0;
  /** never goes back, whatever happens to the blocks above it */
  private finalNumber = FIRST_BLOCK;

  constructor(terms: { chance: Chance; book: SignatureBook; seconds: number; finality: number; funds: State }) {
    this.book = terms.book;
    this.finality = terms.finality;
    this.market = createMarket(terms.chance);
    const first = { number: FIRST_BLOCK, hash: quickHash("first"), seconds: terms.seconds, baseFee: GWEI };
    this.blocks = [{ ...first, state: terms.funds, receipts: [] }];
  }

  /** whose tokens all of this is about */
  get wallet(): Address {
    return this.book.address;
  }

  get tip(): SimBlock {
    return this.blockAt(FIRST_BLOCK + this.blocks.length - 1);
  }

  get finalized(): SimBlock {
    return this.blockAt(this.finalNumber);
  }

  has(number: number): boolean {
    return number >= FIRST_BLOCK && number <= this.tip.number;
  }

  blockAt(number: number): SimBlock {
    const block = this.blocks[number - FIRST_BLOCK];
    if (block === undefined) throw new Error(`there is no block ${number}`);
    return block;
  }

  /** only while it is in the canonical chain */
  receipt(hash: string): SimReceipt | undefined {
    return this.receipts.get(hash);
  }

  /** everything in the canonical chain, oldest first */
  allReceipts(): SimReceipt[] {
    return this.blocks.flatMap(({ receipts }) => receipts);
  }

  prices(block: number): Prices {
    return this.market(block - FIRST_BLOCK);
  }

  /** @returns undefined when the pool takes it, else a node's words */
  send(raw: string): string | undefined {
    const transaction = this.book.transactions.get(raw);
    if (transaction === undefined) return "failed to decode signed transaction";
    return addToPool(this.pool, transaction, new Ledger(this.tip.state));
  }

  /** @throws Error for bytes that nobody signed */
  hashOf(raw: string): Hex {
    const transaction = this.book.transactions.get(raw);
    if (transaction === undefined) throw new Error("nobody signed these bytes");
    return transaction.hash;
  }

  sendForeign(work: ForeignWork): void {
    this.foreign.push(work);
  }

  mine({ seconds, baseFee, isFull }: BlockTerms): SimBlock {
    const number = this.tip.number + 1;
    const head = { number, hash: quickHash(`${number} ${this.forks} ${this.tip.hash}`), seconds, baseFee };
    const ledger = new Ledger(this.tip.state);
    const moment: Moment = { seconds, prices: this.prices(number) };
    const receipts: SimReceipt[] = [];
    for (const transaction of isFull ? [] : this.minable(ledger, baseFee)) {
      this.pool.delete(transaction.nonce);
      receipts.push(this.execute(ledger, transaction, { ...head, moment }));
    }
    for (const work of isFull ? [] : this.foreign.splice(0)) {
      const done = attempt(ledger, (simulated) => work.run(simulated, moment));
      const at = { blockNumber: number, blockHash: head.hash, gasPrice: baseFee, transaction: undefined };
      const { hash, from } = work;
      receipts.push({ ...at, hash, from, succeeded: done !== undefined, ...(done ?? { logs: [], orders: [] }) });
    }
    const isSame = receipts.length === 0;
    const block = { ...head, receipts, state: isSame ? this.tip.state : ledger.values };
    this.blocks.push(block);
    this.finalNumber = Math.max(this.finalNumber, number - this.finality);
    for (const receipt of receipts) this.receipts.set(receipt.hash, receipt);
    return block;
  }

  /** Takes the newest blocks away. @param repools whether what was in them waits again, as with geth */
  reorganise(depth: number, repools: boolean): void {
    const most = Math.min(depth, this.tip.number - this.finalized.number, this.blocks.length - 1);
    if (most < 1) return;
    this.forks += 1;
    const gone = this.blocks.splice(-most);
    for (const receipt of gone.flatMap(({ receipts }) => receipts)) {
      this.receipts.delete(receipt.hash);
      const { transaction } = receipt;
      if (transaction !== undefined && repools) this.pool.set(transaction.nonce, transaction);
    }
  }

  private minable(ledger: Ledger, baseFee: bigint): SignedTransaction[] {
    const due: SignedTransaction[] = [];
    for (const transaction of [...this.pool.values()].sort((a, b) => a.nonce - b.nonce)) {
      const next = ledger.count(transaction.from) + due.length;
      if (transaction.nonce < next) this.pool.delete(transaction.nonce);
      if (transaction.nonce === next && transaction.maxFeePerGas >= baseFee) due.push(transaction);
    }
    return due;
  }

  private execute(
    ledger: Ledger,
    transaction: SignedTransaction,
    at: { number: number; hash: Hex; baseFee: bigint; moment: Moment },
  ): SimReceipt {
    const { from, to, data, value } = transaction;
    const tip = transaction.maxPriorityFeePerGas;
    const room = transaction.maxFeePerGas - at.baseFee;
    const gasPrice = at.baseFee + (tip < room ? tip : room);
    ledger.countUp(from);
    ledger.credit(ETH.address, from, -GAS * gasPrice);
    const logs = attempt(ledger, (simulated) => simulated.call({ from, to, data, value }, at.moment));
    return {
      ...{ hash: transaction.hash, from, transaction, blockNumber: at.number, blockHash: at.hash, gasPrice },
      ...{ succeeded: logs !== undefined, logs: receiptLogs(logs ?? []), orders: [] },
    };
  }
}

/** Does all of it or nothing. @returns what it did; undefined when it reverted */
export function attempt<T>(ledger: Ledger, work: (simulated: Ledger) => T): T | undefined {
  const simulated = new Ledger(ledger.values);
  try {
    const done = work(simulated);
    for (const [name, value] of simulated.values) ledger.values.set(name, value);
    return done;
  } catch (error) {
    if (error instanceof Revert) return undefined;
    throw error;
  }
}
