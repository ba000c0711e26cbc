import { type Address, NATIVE_TOKEN } from "../domain/money/address.ts";
import { readTransfer } from "./events.ts";
import type { Receipt } from "./node-answers.ts";
import type { SwapRow } from "./rows.ts";

/** What the chain shows about one transaction of a swap. */
export interface Exchange {
  readonly sold: bigint;
  readonly bought: bigint;
  /** of what was taken from the wallet, what came back to it */
  readonly back: bigint;
}

/** The payments of what a swap buys, each as far as it may have been its own. Coins are paid to nobody by name. */
function paymentsFor({ buy_token: buy, recipient }: SwapRow, receipt: Receipt, wrapped: Address): bigint[] {
  return buy === NATIVE_TOKEN ? paid(receipt, wrapped, [wrapped, undefined]) : paid(receipt, wrapped, [buy, recipient]);
}

/** The amounts of a token that somebody got; nobody gets what is unwrapped. */
function paid(
  receipt: Receipt,
  wrapped: Address,
  [token, to]: readonly [token: Address, to: Address | undefined],
): bigint[] {
  return receipt.logs
    .flatMap((log) => readTransfer(log, wrapped) ?? [])
    .filter((move) => move.token === token && move.to === to)
    .map(({ amount }) => amount);
}

/** What a transaction paid out of what a swap buys, for all who receive it there. */
export function paidOut(swap: SwapRow, receipt: Receipt | undefined, wrapped: Address): bigint {
  const payments = receipt === undefined ? [] : paymentsFor(swap, receipt, wrapped);
  return payments.reduce((sum, amount) => sum + amount, 0n);
}

/** What a transaction took of what a swap sells, from its wallet, for all who sold it there. Coins leave without an event. */
export function takenFor(
  { sell_token: sell, wallet }: SwapRow,
  receipt: Receipt | undefined,
  wrapped: Address,
): bigint {
  const transfers = receipt?.logs.flatMap((log) => readTransfer(log, wrapped) ?? []) ?? [];
  return transfers.reduce((sum, move) => (move.token === sell && move.from === wallet ? sum + move.amount : sum), 0n);
}

/**
 * Measures what a swap exchanged in a transaction. Sold is what left the wallet less what came back to it; bought is
 * what reached the recipient less what left it. Native coins have no transfer events: sold is the value sent along less
 * what was unwrapped for the way back, bought is what the wrapped token paid out, as far as it was for the recipient.
 * @param beside other swaps that the transaction filled: what they bought or sold is not counted for this one
 */
export function measureExchange(
  swap: SwapRow,
  receipt: Receipt,
  native: { wrapped: Address; value: bigint },
  beside: readonly SwapRow[] = [],
): Exchange {
  const transfers = receipt.logs.flatMap((log) => readTransfer(log, native.wrapped) ?? []);
  const moved = (token: Address, way: "from" | "to", holder: Address | undefined): bigint =>
    transfers.reduce((sum, move) => (move.token === token && move[way] === holder ? sum + move.amount : sum), 0n);
  const { sell_token: sell, buy_token: buy, wallet, recipient } = swap;
  const taken = sell === NATIVE_TOKEN ? native.value : moved(sell, "from", wallet);
  const isBoughtBeside = beside.some((other) => other.buy_token === sell && other.recipient === wallet);
  const came = isBoughtBeside ? 0n : moved(sell, "to", wallet);
  const back = sell === NATIVE_TOKEN ? coinsBack(swap, receipt, native.wrapped) : came;
  const payments = paymentsFor(swap, receipt, native.wrapped);
  const isSoldBeside = beside.some((other) => other.sell_token === buy && other.wallet === recipient);
  const away = buy === NATIVE_TOKEN || isSoldBeside ? 0n : moved(buy, "from", recipient);
  const rivals = beside.filter((other) => other.buy_token === buy && other.recipient === recipient).length;
  const isShared = rivals > 0 || buy === NATIVE_TOKEN;
  const bought = isShared ? shareOf(swap, payments, rivals) : payments.reduce((left, right) => left + right, 0n);
  return { sold: soldOf(swap, taken - back, beside), bought: bought - away, back };
}

/** Where others sold the same, what left was for each of them first, as far as it was to sell; the rest may be this one's. */
function soldOf({ amount_in: gross, ...swap }: SwapRow, left: bigint, beside: readonly SwapRow[]): bigint {
  const others = beside.filter((other) => other.wallet === swap.wallet && other.sell_token === swap.sell_token);
  if (others.length === 0 || gross === null) return left;
  const rest = others.reduce((sum, { amount_in }) => sum - (amount_in ?? 0n), left);
  return left < gross ? left : rest > gross ? rest : gross;
}

/**
 * Of the coins that were unwrapped, what came back to the wallet that sold coins. A pool of the coin itself is paid with
 * unwrapped ones as well, and no event tells the two apart: what is recorded as sold says which it was, where that is
 * nothing, one of the payments or all. The balance of coins then shows whether it is true.
 */
function coinsBack({ amount_in: gross, sold }: SwapRow, receipt: Receipt, wrapped: Address): bigint {
  const unwrapped = paid(receipt, wrapped, [wrapped, undefined]);
  const all = unwrapped.reduce((sum, amount) => sum + amount, 0n);
  const said = gross === null || sold === null ? 0n : gross - sold;
  return said === 0n || unwrapped.includes(said) ? said : all;
}

/**
 * Everybody's unwrapping looks alike, and so do payments to one recipient: the smallest that is no less than the swap's
 * minimum counts; the minimum where it takes several to be as much, or where there are fewer than swaps.
 */
function shareOf({ amount_out_min: minimum }: SwapRow, payments: readonly bigint[], rivals: number): bigint {
  const sum = payments.reduce((left, right) => left + right, 0n);
  if (minimum === null || minimum === 0n || sum < minimum) return sum;
  if (rivals > 0 && payments.length <= rivals) return minimum;
  const [smallest = minimum] = payments.filter((amount) => amount >= minimum).sort((a, b) => (a < b ? -1 : 1));
  return smallest;
}
