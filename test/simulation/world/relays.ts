import type { Hex } from "../../../src/domain/money/address.ts";
import type { Faults } from "../faults.ts";
import type { VirtualTime } from "../virtual-time.ts";
import type { SimChain } from "./chain.ts";
import { Ledger, Revert } from "./ledger.ts";
import { NodeError } from "./node.ts";
import { CHAIN_ID } from "./places.ts";
import { addToPool } from "./pool.ts";
import type { SignedTransaction } from "./signatures.ts";

export const RELAYS = 2;

export function isRelay(host: string): boolean {
  return host.startsWith("relay");
}

/**
 * Endpoints for private sending at `relay<n>.sim`. What they hold nobody sees: they hand it to whoever builds the next block,
 * and it is in that block or in no pool. They answer for nothing else, neither whether they have a transaction nor how
 * many of an account wait. They may keep what they take, forget it, leave out what would revert, or show it to everybody.
 */
export interface Relays {
  /** @throws NodeError */
  answer(host: string, method: string, params: readonly unknown[]): unknown;
  /** What they hold goes to the builder of the next block. */
  beforeBlock(): void;
  /** What is in no block goes back to them, and what the pool had in its place is there again. */
  afterBlock(): void;
}

type Held = Map<number, SignedTransaction>;

export function createRelays(parts: {
  readonly chain: SimChain;
  readonly faults: Faults;
  readonly time: VirtualTime;
  transactionOf(raw: string): SignedTransaction | undefined;
}): Relays {
  const { chain, faults, time } = parts;
  const held = new Map<string, Held>();
  let lent: { readonly transaction: SignedTransaction; readonly before: SignedTransaction | undefined }[] = [];

  const take = (host: string, raw: string): Hex => {
    const transaction = parts.transactionOf(raw);
    if (transaction === undefined) throw new NodeError(-32_000, "failed to decode signed transaction");
    const { nonce, hash, maxFeePerGas } = transaction;
    if (nonce < new Ledger(chain.tip.state).count(transaction.from)) throw new NodeError(-32_000, "nonce too low");
    const mine = held.get(host) ?? new Map<number, SignedTransaction>();
    held.set(host, mine);
    const known = mine.get(nonce);
    if (known === undefined || maxFeePerGas > known.maxFeePerGas) mine.set(nonce, transaction);
    if (faults.lasts("private: leaks", host, time.monotonicMs)) chain.send(raw);
    return hash;
  };
  const wouldRevert = ({ from, to, data, value }: SignedTransaction): boolean => {
    const moment = { seconds: Math.floor(time.trueMs / 1_000), prices: chain.prices(chain.tip.number + 1) };
    try {
      new Ledger(chain.tip.state).call({ from, to, data, value }, moment);
      return false;
    } catch (error) {
      if (error instanceof Revert) return true;
      throw error;
    }
  };
  const lend = (host: string, transaction: SignedTransaction): void => {
    if (faults.lasts("private: no reverts", host, time.monotonicMs) && wouldRevert(transaction)) return;
    const before = chain.pool.get(transaction.nonce);
    if (addToPool(chain.pool, transaction, new Ledger(chain.tip.state)) === undefined)
      lent.push({ transaction, before });
  };
  return {
    answer: (host, method, params) => {
      if (method === "eth_chainId") return `0x${CHAIN_ID.toString(16)}`;
      if (method === "eth_sendRawTransaction") return take(host, String(params[0]));
      throw new NodeError(-32_601, `the method ${method} does not exist`);
    },
    beforeBlock: () => {
      for (const [host, mine] of held) {
        for (const [nonce, { from }] of mine) if (nonce < new Ledger(chain.tip.state).count(from)) mine.delete(nonce);
        if (faults.strikes("private: drops", host)) mine.clear();
        if (faults.lasts("private: keeps", host, time.monotonicMs)) continue;
        for (const transaction of mine.values()) lend(host, transaction);
      }
    },
    afterBlock: () => {
      for (const { transaction, before } of lent.reverse()) {
        const { nonce, hash, from } = transaction;
        if (chain.pool.get(nonce)?.hash !== hash) continue;
        chain.pool.delete(nonce);
        const isOpen = nonce >= new Ledger(chain.tip.state).count(from);
        if (before !== undefined && isOpen) chain.pool.set(nonce, before);
      }
      lent = [];
    },
  };
}
