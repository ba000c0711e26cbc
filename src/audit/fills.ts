import type { Address, Hex } from "../domain/money/address.ts";
import { amountText, boughtToken, soldToken } from "./amount-text.ts";
import { readSwapped, type SwappedEvent } from "./events.ts";
import { type Exchange, measureExchange } from "./exchange.ts";
import type { Receipt } from "./node-answers.ts";
import { type Difference, difference } from "./report.ts";
import { isFilled, isOpen, type SwapRow } from "./rows.ts";
import { executionsOf } from "./safes.ts";

/** What the fills are checked against. */
export interface FillSources {
  readonly receipts: ReadonlyMap<Hex, Receipt>;
  readonly wrappedNative: Address;
  readonly settlement: Address | undefined;
  /** the swaps that a transaction filled */
  claimedBy(hash: Hex): readonly SwapRow[];
  /** native value that a transaction of ours sent along; zero for those of others */
  valueOf(hash: Hex): bigint;
  /** contract that the swap was signed for; undefined when no signed bytes of it are stored */
  routerOf(swap: SwapRow): Address | undefined;
  /** what owners of a Safe were asked to sign for it; undefined where it was not proposed */
  proposedAs(swap: SwapRow): Hex | undefined;
}

/** Checks every swap that is recorded as filled against its one transaction on the chain. */
export function checkFills(swaps: Iterable<SwapRow>, sources: FillSources): Difference[] {
  const found: Difference[] = [];
  for (const swap of swaps) if (isFilled(swap)) found.push(...checkFill(swap, sources));
  return found;
}

function checkFill(swap: SwapRow, sources: FillSources): Difference[] {
  const receipt = swap.hash === null ? undefined : sources.receipts.get(swap.hash);
  const subject = `swap ${swap.id}`;
  if (receipt === undefined) {
    const message = `Swap ${swap.id} is ${swap.state}, but the chain has no transaction ${swap.hash ?? "of it"}.`;
    return [difference("FILL_MISSING", subject, message, { state: swap.state, hash: swap.hash })];
  }
  if (!receipt.succeeded) {
    const message = `Swap ${swap.id} is ${swap.state}, but its transaction ${receipt.hash} reverted.`;
    return [difference("FILL_REVERTED", subject, message, { state: swap.state, hash: swap.hash })];
  }
  const measured = measuredIn(receipt, swap, sources);
  const { own, exchange } = measured;
  const found = [...checkAmounts(swap, own, exchange), ...checkRecipient(swap, own, exchange)];
  return [...found, ...checkOrder(swap, measured, sources), ...checkEvent(swap, measured, sources)];
}

/**
 * Checks what landed of swaps that the daemon has not seen filled yet. Nothing is recorded of it that it could be held
 * against, but the order itself: that one is open explains neither more than it was to sell nor what brought nothing.
 */
export function checkLanded(filledBy: ReadonlyMap<Hex, readonly SwapRow[]>, sources: FillSources): Difference[] {
  return [...filledBy].flatMap(([hash, swaps]) => {
    const receipt = sources.receipts.get(hash);
    if (receipt === undefined) return [];
    return swaps.filter(isOpen).flatMap((swap) => {
      const measured = measuredIn(receipt, swap, sources);
      return [...checkRecipient(swap, measured.own, measured.exchange), ...checkOrder(swap, measured, sources)];
    });
  });
}

/** A swap's part of a transaction, and what it exchanged there. */
interface Measured {
  readonly own: Receipt;
  readonly exchange: Exchange;
  /** other swaps that this part filled */
  readonly beside: readonly SwapRow[];
}

function measuredIn(receipt: Receipt, swap: SwapRow, sources: FillSources): Measured {
  const native = { wrapped: sources.wrappedNative, value: sources.valueOf(receipt.hash) };
  const own = ownExecution(swap, receipt, { native, digest: sources.proposedAs(swap) });
  // What fills another swap of a Safe is another execution, whose logs are not these.
  const beside = own === receipt ? sources.claimedBy(receipt.hash).filter(({ id }) => id !== swap.id) : [];
  return { own, exchange: measureExchange(swap, own, native, beside), beside };
}

/** Of several executions of a Safe at once the proposal's own: by its hash, or the one that sold exactly its amount. */
function ownExecution(
  swap: SwapRow,
  receipt: Receipt,
  { native, digest }: { native: { wrapped: Address; value: bigint }; digest: Hex | undefined },
): Receipt {
  const executions = digest === undefined ? [] : executionsOf(receipt, swap.wallet);
  if (executions.length < 2) return receipt;
  const exact = executions.filter((one) => {
    const { sold, bought } = measureExchange(swap, one.receipt, native);
    return sold === swap.amount_in && bought > 0n && bought >= (swap.amount_out_min ?? 0n);
  });
  const asked = executions.find(({ hash }) => hash === digest);
  return (asked ?? (exact.length === 1 ? exact[0] : undefined))?.receipt ?? receipt;
}

function checkAmounts(swap: SwapRow, receipt: Receipt, { sold, bought }: Exchange): Difference[] {
  const found: Difference[] = [];
  const subject = `swap ${swap.id}`;
  if (swap.block_number !== receipt.blockNumber) {
    const message = `Swap ${swap.id} is recorded in block ${swap.block_number}, but lies in ${receipt.blockNumber}.`;
    const fields = { recorded: swap.block_number, chain: receipt.blockNumber, hash: receipt.hash };
    found.push(difference("FILL_BLOCK_DIFFERS", subject, message, fields));
  }
  if (swap.sold !== sold) {
    const message = `Swap ${swap.id} records ${amountText(swap.sold, soldToken(swap))} as sold; ${amountText(sold, soldToken(swap))} left the wallet.`;
    const fields = { recorded: swap.sold, chain: sold, token: swap.sell_token, hash: receipt.hash };
    found.push(difference("SOLD_DIFFERS", subject, message, fields));
  }
  if (swap.bought !== bought) {
    const message = `Swap ${swap.id} records ${amountText(swap.bought, boughtToken(swap))} as bought; ${amountText(bought, boughtToken(swap))} reached the recipient.`;
    const fields = { recorded: swap.bought, chain: bought, token: swap.buy_token, hash: receipt.hash };
    found.push(difference("BOUGHT_DIFFERS", subject, message, { ...fields, recipient: swap.recipient }));
  }
  return found;
}

function checkRecipient(swap: SwapRow, { hash }: Receipt, { bought }: Exchange): Difference[] {
  if (bought > 0n) return [];
  const message = `The recipient of swap ${swap.id} got no ${swap.buy_symbol} in ${hash}.`;
  const fields = { recipient: swap.recipient, token: swap.buy_token, hash };
  return [difference("RECIPIENT_DIFFERS", `swap ${swap.id}`, message, fields)];
}

/**
 * What is recorded as it was, or not recorded yet, may still be more than the swap was to sell, or less than it asked for:
 * of a part of what it was to sell that part of its minimum. Owners of a Safe may have sold more at once, for themselves.
 */
function checkOrder(
  swap: SwapRow,
  { own: { hash }, exchange: { sold, bought } }: Measured,
  { proposedAs }: FillSources,
): Difference[] {
  const { id, amount_in: gross, amount_out_min: minimum } = swap;
  if (gross === null || gross === 0n || proposedAs(swap) !== undefined) return [];
  const differs = (message: string, fields: Readonly<Record<string, bigint>>) =>
    difference("FILL_BEYOND_ORDER", `swap ${id}`, message, { ...fields, hash });
  const found: Difference[] = [];
  if ((isOpen(swap) || swap.sold === sold) && sold > gross) {
    const message = `Swap ${id} was to sell ${amountText(gross, soldToken(swap))}; ${amountText(sold, soldToken(swap))} left the wallet.`;
    found.push(differs(message, { most: gross, sold }));
  }
  const least = ((minimum ?? 0n) * (sold < gross ? sold : gross)) / gross;
  if ((isOpen(swap) || swap.bought === bought) && bought > 0n && bought < least) {
    const message = `Swap ${id} asked for at least ${amountText(least, boughtToken(swap))}; ${amountText(bought, boughtToken(swap))} reached the recipient.`;
    found.push(differs(message, { least, bought }));
  }
  return found;
}

/** What was paid for several together is recorded with the least that it was for each. */
function boughtByEvent(swap: SwapRow, { amountOut }: SwappedEvent, beside: readonly SwapRow[]): bigint | null {
  const { bought, buy_token: buy, recipient } = swap;
  const isTogether = beside.some((other) => other.buy_token === buy && other.recipient === recipient);
  return isTogether && bought !== null && bought < amountOut ? amountOut : bought;
}

/** Where our own settlement contract was signed for, its event must report the same story. */
function checkEvent(swap: SwapRow, measured: Measured, sources: FillSources): Difference[] {
  const { own: receipt, beside } = measured;
  const { settlement } = sources;
  if (settlement === undefined || sources.routerOf(swap) !== settlement) return [];
  const events = receipt.logs
    .filter((log) => log.address === settlement)
    .flatMap((log) => readSwapped(log) ?? [])
    .filter((event) => event.owner === swap.wallet);
  const isOther = (other: SwapRow) => other.wallet === swap.wallet && sources.routerOf(other) === settlement;
  const wanted = 1 + beside.filter(isOther).length;
  const event = events.length === 1 ? events[0] : events.find(({ nonce }) => nonce === swap.nonce);
  const subject = `swap ${swap.id}`;
  if (event === undefined || events.length !== wanted) {
    const message = `Transaction ${receipt.hash} of swap ${swap.id} has ${events.length} Swapped events of the wallet instead of ${wanted}.`;
    return [difference("EVENT_DIFFERS", subject, message, { events: events.length, hash: receipt.hash })];
  }
  const found = differingFields(swap, event, measured).map(([name, { recorded, chain }]) => {
    const code = name === "recipient" ? "RECIPIENT_DIFFERS" : "EVENT_DIFFERS";
    const message = `The Swapped event of swap ${swap.id} says ${name} ${chain}; the row says ${recorded}.`;
    return difference(code, subject, message, { field: name, recorded, chain, hash: receipt.hash });
  });
  return found;
}

type Pair = { readonly recorded: string; readonly chain: string };

function differingFields(swap: SwapRow, event: SwappedEvent, { exchange, beside }: Measured): [string, Pair][] {
  const { back } = exchange;
  const gross = event.amountIn + event.swapFee + event.affiliateFee;
  // Where a part came back the event reports what was sold, but in an older settlement the order's amount.
  const isPart = back > 0n && gross !== swap.amount_in;
  const pairs: [string, unknown, unknown][] = [
    ["recipient", swap.recipient, event.recipient],
    ["fromAsset", swap.sell_token, event.fromAsset],
    ["toAsset", swap.buy_token, event.toAsset],
    ["gross", isPart ? swap.sold : swap.amount_in, gross],
    ["amountOut", boughtByEvent(swap, event, beside), event.amountOut],
    // Rows of before fees were kept have none.
    ["swapFee", swap.swap_fee ?? event.swapFee, event.swapFee],
    ["affiliateFee", swap.affiliate_fee ?? event.affiliateFee, event.affiliateFee],
    // Own transactions have the account's nonce instead.
    ["nonce", swap.mode === "gasless" ? swap.nonce : 0n, event.nonce],
  ];
  return pairs
    .filter(([, recorded, chain]) => recorded !== chain)
    .map(([name, recorded, chain]) => [name, { recorded: String(recorded ?? "none"), chain: String(chain) }]);
}
