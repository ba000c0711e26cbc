import { type Hex, NATIVE_TOKEN } from "../domain/money/address.ts";
import type { Claims } from "./claims.ts";
import type { SwappedEvent } from "./events.ts";
import type { Flow } from "./movements.ts";
import { type Deposit, type Difference, difference } from "./report.ts";
import { isFilled, isOpen, type SwapRow } from "./rows.ts";
import type { WatchList } from "./watch-list.ts";

/** Every token that left a wallet belongs to exactly one swap, which may be filled and is filled once. */
export function checkOutflows(flows: readonly Flow[], claims: Claims, watch: WatchList): Difference[] {
  const found: Difference[] = [];
  for (const flow of flows) {
    if (flow.out <= flow.in) continue;
    const owners = claims
      .of(flow.hash)
      .filter(({ wallet, sell_token }) => wallet === flow.wallet && sell_token === flow.token);
    const [owner] = owners;
    if (owner !== undefined) continue;
    const symbol = watch.symbolOf(flow.token);
    const message = `${flow.out - flow.in} ${symbol} left ${flow.wallet} in ${flow.hash}, and no swap explains it.`;
    found.push(difference("UNEXPLAINED_OUTFLOW", `${flow.wallet} ${symbol}`, message, fieldsOf(flow)));
  }
  return found;
}

/** Every transaction that filled a swap, on the chain's word, by the swaps that claim it. */
export function checkClaims(filledBy: ReadonlyMap<Hex, readonly SwapRow[]>): Difference[] {
  const found: Difference[] = [];
  const fillsOf = new Map<string, Hex[]>();
  for (const [hash, swaps] of filledBy) {
    if (swaps.length > 1) {
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
export function checkNativeFills(events: readonly SwappedEvent[], claims: Claims, watch: WatchList): Difference[] {
  return events.flatMap((event) => {
    if (event.fromAsset !== NATIVE_TOKEN || event.blockNumber <= watch.baselineBlock(event.owner, NATIVE_TOKEN))
      return [];
    if (claims.of(event.hash).some(({ wallet }) => wallet === event.owner)) return [];
    const gross = event.amountIn + event.swapFee + event.affiliateFee;
    const message = `${gross} wei of ${event.owner} were swapped in ${event.hash}, and no swap explains it.`;
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
      symbol: watch.symbolOf(flow.token),
      amount: String(flow.in - flow.out),
      hash: flow.hash,
      blockNumber: flow.blockNumber,
    }));
}

function fieldsOf(flow: Flow): Record<string, string | number | bigint> {
  const { wallet, token, hash, blockNumber } = flow;
  return { wallet, token, amount: flow.out - flow.in, hash, block: blockNumber };
}
