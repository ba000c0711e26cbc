import { type Address, type Hex, NATIVE_TOKEN } from "../domain/money/address.ts";
import type { Accepted } from "./accepted.ts";
import { amountText } from "./amount-text.ts";
import type { Claims } from "./claims.ts";
import { measureExchange } from "./exchange.ts";
import type { OwnTransaction } from "./lane.ts";
import type { Flow } from "./movements.ts";
import type { Receipt } from "./node-answers.ts";
import { type Deposit, type Difference, difference } from "./report.ts";
import type { BaselineRow, SwapRow } from "./rows.ts";

/** What balances are recomputed from. */
interface BalanceSources {
  readonly baselines: readonly BaselineRow[];
  readonly flows: readonly Flow[];
  readonly claims: Claims;
  readonly receipts: ReadonlyMap<Hex, Receipt>;
  /** transactions of ours that are in blocks, each with what it paid */
  readonly ownTransactions: readonly OwnTransaction[];
  readonly wrappedNative: Address;
  /** whose native coins move by acts of their owners, of which no event tells */
  readonly safes: ReadonlySet<Address>;
  /** accounts with transactions that a person accepted and that could not be found, and in how many blocks they may be */
  readonly unread: ReadonlyMap<Address, number>;
  readonly accepted: Pick<Accepted, "lost">;
  readonly tip: number;
}

/**
 * Baseline plus everything that came less everything that left gives today's balance, to the wei. What is missing is a
 * difference; what is too much came without an event, as native coins do, and is a deposit. What a token does not say is
 * noted.
 * @param actual balances at the tip, in the order of the baselines
 */
export function checkBalances(
  sources: BalanceSources,
  actual: readonly (bigint | undefined)[],
): { differences: Difference[]; deposits: Deposit[]; notes: string[] } {
  const differences: Difference[] = [];
  const deposits: Deposit[] = [];
  const notes: string[] = [];
  for (const [index, baseline] of sources.baselines.entries()) {
    const now = actual[index];
    if (now === undefined) {
      notes.push(`What ${baseline.wallet} has of ${baseline.symbol} was not checked: the token does not say it.`);
      continue;
    }
    const moved = movedSince(baseline, sources);
    const expected = baseline.balance + moved;
    const { wallet, token, symbol, decimals } = baseline;
    if (token === NATIVE_TOKEN && sources.safes.has(wallet)) continue;
    if (now > expected) {
      const amount = String(now - expected);
      deposits.push({ wallet, token, symbol, decimals, amount, hash: null, blockNumber: null });
    } else if (now < expected) {
      const found = shortfall(baseline, { moved, now }, sources);
      if (typeof found === "string") notes.push(found);
      else differences.push(found);
    }
  }
  return { differences, deposits, notes };
}

/**
 * @returns a note where a person accepted that so much is gone, or where it may be what transactions paid that a person
 *   accepted and that could not be found
 */
function shortfall(
  baseline: BaselineRow,
  { moved, now }: { readonly moved: bigint; readonly now: bigint },
  { unread, accepted }: BalanceSources,
): Difference | string {
  const { wallet, token, symbol, balance } = baseline;
  const expected = balance + moved;
  const message = `${wallet} holds ${amountText(now, baseline)}; its baseline and all movements since give ${amountText(expected, baseline)}.`;
  const blocks = token === NATIVE_TOKEN ? unread.get(wallet) : undefined;
  if (blocks !== undefined) {
    return `${message} What transactions paid that a person accepted is not known: the node does not say which of ${blocks} blocks they are in.`;
  }
  const lost = accepted.lost(baseline);
  if (expected - now <= lost) return `${message} A person accepted that ${amountText(lost, baseline)} is gone.`;
  const fields = { wallet, token, baseline: balance, moved, expected, actual: now, missing: expected - now };
  return difference("BALANCE_DIFFERS", `${wallet} ${symbol}`, message, fields);
}

function movedSince(baseline: BaselineRow, sources: BalanceSources): bigint {
  return baseline.token === NATIVE_TOKEN ? nativeMoved(baseline, sources) : tokenMoved(baseline, sources.flows);
}

function tokenMoved(baseline: BaselineRow, flows: readonly Flow[]): bigint {
  let moved = 0n;
  for (const flow of flows) {
    if (flow.wallet === baseline.wallet && flow.token === baseline.token) moved += flow.in - flow.out;
  }
  return moved;
}

/** Own transactions cost gas and carry value; swaps bring unwrapped coins back or in. */
function nativeMoved(baseline: BaselineRow, sources: BalanceSources): bigint {
  const isCounted = ({ blockNumber }: Receipt): boolean =>
    blockNumber > baseline.block_number && blockNumber <= sources.tip;
  let moved = 0n;
  for (const own of sources.ownTransactions) {
    if (own.account === baseline.wallet && isCounted(own.receipt)) moved -= nativePaid(own);
  }
  for (const hash of sources.claims.hashes) {
    const receipt = sources.receipts.get(hash);
    if (receipt === undefined || !receipt.succeeded || !isCounted(receipt)) continue;
    const swaps = sources.claims.of(hash);
    for (const swap of swaps) {
      const beside = swaps.filter((other) => other !== swap);
      moved += nativeUnwrapped(baseline.wallet, { swap, beside, receipt }, sources);
    }
  }
  return moved;
}

function nativePaid({ account, to, value, receipt }: OwnTransaction): bigint {
  return receipt.cost + (receipt.succeeded && to !== account ? value : 0n);
}

/** What one payment brought several swaps counts once. */
function nativeUnwrapped(
  wallet: Address,
  { swap, beside, receipt }: { swap: SwapRow; beside: readonly SwapRow[]; receipt: Receipt },
  { wrappedNative }: BalanceSources,
): bigint {
  const { sold, bought } = measureExchange(swap, receipt, { wrapped: wrappedNative, value: 0n }, beside);
  const came = swap.buy_token === NATIVE_TOKEN && swap.recipient === wallet ? bought : 0n;
  // With no value given, what is "sold" is less than nothing: the part that was sent back.
  return swap.sell_token === NATIVE_TOKEN && swap.wallet === wallet ? came - sold : came;
}
