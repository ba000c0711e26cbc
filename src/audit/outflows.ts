import { type Hex, NATIVE_TOKEN } from "../domain/money/address.ts";
import { formatUnits } from "../domain/money/amount.ts";
import type { Accepted } from "./accepted.ts";
import { amountText } from "./amount-text.ts";
import type { Claims } from "./claims.ts";
import type { SwappedEvent } from "./events.ts";
import type { Flow } from "./movements.ts";
import type { OpenOrder } from "./open-orders.ts";
import { type Deposit, type Difference, difference } from "./report.ts";
import { isFilled, isOpen, type SwapRow } from "./rows.ts";
import type { WatchList } from "./watch-list.ts";

/** Every token that left a wallet has to belong to a swap that sold it, or a person knows of it. These do not. */
export function unclaimedOutflows(
  flows: readonly Flow[],
  { claims, accepted }: { readonly claims: Claims; readonly accepted: Accepted },
): Flow[] {
  return flows.filter((flow) => {
    const isOfFlow = (swap: SwapRow) => swap.wallet === flow.wallet && swap.sell_token === flow.token;
    return flow.out > flow.in + accepted.outflow(flow) && !claims.of(flow.hash).some(isOfFlow);
  });
}

/** What an open order may have taken is told apart from a theft, and is a difference all the same: no row proves it. */
export function checkOutflows(
  unclaimed: readonly Flow[],
  orders: ReadonlyMap<Flow, OpenOrder>,
  watch: WatchList,
): Difference[] {
  return unclaimed.map((flow) => {
    const token = watch.tokenOf(flow.token);
    const left = `${amountText(flow.out - flow.in, token)} left ${flow.wallet} in ${flow.hash}`;
    const order = orders.get(flow);
    if (order === undefined) {
      const message = `${left}, and no swap explains it.`;
      return difference("UNEXPLAINED_OUTFLOW", `${flow.wallet} ${token.symbol}`, message, fieldsOf(flow));
    }
    const { swap, gross, signedAtMs } = order;
    const signed = `signed at ${new Date(signedAtMs).toISOString()} for up to ${amountText(gross, token)}`;
    const message = `${left}: perhaps the fill of swap ${swap.id}, ${signed}. The daemon has not followed it yet: start it, then audit again.`;
    const fields = { ...fieldsOf(flow), swap: swap.id, state: swap.state, signed: gross };
    return difference("OUTFLOW_OF_OPEN_SWAP", `swap ${swap.id}`, message, fields);
  });
}

/** What a transaction moved of a swap's two sides, for all who traded them there. */
interface Moved {
  /** of what it buys, to its recipient */
  paid(hash: Hex, swap: SwapRow): bigint;
  /** of what it sells, from its wallet */
  taken(hash: Hex, swap: SwapRow): bigint;
}

/** Whether a transaction cannot be the fill of all these: it took or paid less than they are together. */
function isTooMuch(hash: Hex, swaps: readonly SwapRow[], moved: Moved): boolean {
  const isAnyCoin = ({ buy_token: buy }: SwapRow): boolean => buy === NATIVE_TOKEN;
  return swaps.some((swap) => {
    const isBought = (other: SwapRow) =>
      other.buy_token === swap.buy_token && (isAnyCoin(swap) || other.recipient === swap.recipient);
    const isSold = (other: SwapRow) => other.wallet === swap.wallet && other.sell_token === swap.sell_token;
    const least = swaps.filter(isBought).reduce((sum, { amount_out_min }) => sum + (amount_out_min ?? 0n), 0n);
    const sellers = swaps.filter(isSold);
    const sold = sellers.reduce((sum, { amount_in }) => sum + (amount_in ?? 0n), 0n);
    const isSoldTwice = sellers.length > 1 && moved.taken(hash, swap) < sold;
    return swaps.length > 1 && (isSoldTwice || moved.paid(hash, swap) < least);
  });
}

/**
 * Every transaction that filled a swap, on the chain's word, by the swaps that claim it. One transaction may fill several:
 * orders of a batch, or what owners of several Safes execute at once.
 */
export function checkClaims(filledBy: ReadonlyMap<Hex, readonly SwapRow[]>, moved: Moved): Difference[] {
  const found: Difference[] = [];
  const fillsOf = new Map<string, Hex[]>();
  for (const [hash, swaps] of filledBy) {
    if (isTooMuch(hash, swaps, moved)) {
      const ids = swaps.map(({ id }) => id).join(", ");
      const message = `Transaction ${hash} is the fill of more than one swap: ${ids}.`;
      found.push(difference("FILL_CLAIMED_TWICE", `transaction ${hash}`, message, { hash, swaps: ids }));
    }
    for (const swap of swaps) {
      fillsOf.set(swap.id, [...(fillsOf.get(swap.id) ?? []), hash]);
      if (isFilled(swap) || isOpen(swap)) continue;
      const message = `Swap ${swap.id} is recorded as ${swap.state}, but ${hash} filled it.`;
      found.push(difference("FILL_OF_ENDED_SWAP", `swap ${swap.id}`, message, { state: swap.state, hash }));
    }
  }
  for (const [id, hashes] of fillsOf) {
    if (hashes.length < 2) continue;
    const message = `Swap ${id} was filled ${hashes.length} times: ${hashes.join(", ")}.`;
    found.push(difference("SECOND_FILL", `swap ${id}`, message, { hashes: hashes.join(" ") }));
  }
  return found;
}

/** Fills by the settlement contract that no swap claims and that no token transfer gives away: sales of native coins. */
export function checkNativeFills(
  events: readonly SwappedEvent[],
  { claims, accepted }: { readonly claims: Claims; readonly accepted: Accepted },
  watch: WatchList,
): Difference[] {
  return events.flatMap((event) => {
    if (event.fromAsset !== NATIVE_TOKEN || event.blockNumber <= watch.baselineBlock(event.owner, NATIVE_TOKEN))
      return [];
    if (claims.of(event.hash).some(({ wallet }) => wallet === event.owner)) return [];
    const gross = event.amountIn + event.swapFee + event.affiliateFee;
    const { hash, owner: wallet } = event;
    if (accepted.outflow({ hash, wallet, token: NATIVE_TOKEN }) >= gross) return [];
    const message = `${formatUnits(gross, 18)} native coins of ${event.owner} were swapped in ${event.hash}, and no swap explains it.`;
    const fields = {
      wallet: event.owner,
      token: NATIVE_TOKEN,
      amount: gross,
      hash: event.hash,
      block: event.blockNumber,
    };
    return [difference("UNEXPLAINED_OUTFLOW", `${event.owner} native`, message, fields)];
  });
}

/** What came to the wallets in transactions that are no swap's. */
export function depositsOf(flows: readonly Flow[], claims: Claims, watch: WatchList): Deposit[] {
  return flows
    .filter((flow) => flow.in > flow.out && claims.of(flow.hash).length === 0)
    .map((flow) => ({
      wallet: flow.wallet,
      token: flow.token,
      ...watch.tokenOf(flow.token),
      amount: String(flow.in - flow.out),
      hash: flow.hash,
      blockNumber: flow.blockNumber,
    }));
}

function fieldsOf(flow: Flow): Record<string, string | number | bigint> {
  const { wallet, token, hash, blockNumber } = flow;
  return { wallet, token, amount: flow.out - flow.in, hash, block: blockNumber };
}
