import type { Ledger } from "./ledger.ts";
import { ETH } from "./places.ts";
import type { SignedTransaction } from "./signatures.ts";

/** One account's waiting transactions, by nonce. */
export type Pool = Map<number, SignedTransaction>;

const FARTHEST_NONCE = 64;

/** Geth's rules: a replacement offers a tenth more in both fees. @returns undefined when taken, else geth's words */
export function addToPool(pool: Pool, transaction: SignedTransaction, ledger: Ledger): string | undefined {
  const { nonce, from, hash } = transaction;
  const known = pool.get(nonce);
  if (known?.hash === hash) return "already known";
  const count = ledger.count(from);
  if (nonce < count) return `nonce too low: next nonce ${count}, tx nonce ${nonce}`;
  if (nonce > count + FARTHEST_NONCE) return "nonce too high";
  if (transaction.maxPriorityFeePerGas > transaction.maxFeePerGas) {
    return "max priority fee per gas higher than max fee per gas";
  }
  const cost = transaction.value + transaction.gasLimit * transaction.maxFeePerGas;
  if (ledger.balance(ETH.address, from) < cost) return "insufficient funds for gas * price + value";
  if (known !== undefined && !outbids(transaction, known)) return "replacement transaction underpriced";
  pool.set(nonce, transaction);
  return undefined;
}

function outbids(young: SignedTransaction, old: SignedTransaction): boolean {
  const isRaised = (now: bigint, before: bigint): boolean => now > before && now * 10n >= before * 11n;
  return (
    isRaised(young.maxFeePerGas, old.maxFeePerGas) && isRaised(young.maxPriorityFeePerGas, old.maxPriorityFeePerGas)
  );
}
