import type { Address, Hex } from "../domain/money/address.ts";
import type { SwappedEvent } from "./events.ts";
import type { Flow } from "./movements.ts";
import { isOpen, type SwapRow } from "./rows.ts";
import type { Snapshot } from "./snapshot.ts";

/** Which swaps say, or are said by the chain, to be filled by which transaction. */
export interface Claims {
  of(hash: Hex): readonly SwapRow[];
  /** Every transaction that a swap may be filled by. */
  readonly hashes: ReadonlySet<Hex>;
}

/**
 * A transaction belongs to a swap by the hash in its row, by being one of the attempts of its intent, or by the event
 * that names the owner and the nonce of its signature. An open gasless swap whose signature has no nonce, and whose
 * transaction nobody named, is matched by wallet, token and exact amount: at most one such swap is open at a time.
 */
export function claimTransactions(
  snapshot: Snapshot,
  chain: { fills: readonly SwappedEvent[]; flows: readonly Flow[] },
): Claims {
  const claims = new Map<Hex, Map<string, SwapRow>>();
  const add = (hash: Hex, swap: SwapRow): void => {
    const swaps = claims.get(hash) ?? new Map<string, SwapRow>();
    claims.set(hash, swaps.set(swap.id, swap));
  };
  const { byIntent, byNonce } = byName(snapshot);
  for (const swap of snapshot.swaps.values()) if (swap.hash !== null) add(swap.hash, swap);
  for (const attempt of snapshot.attempts) {
    const swap = byIntent.get(attempt.intent_id);
    const isSwap = snapshot.intents.get(attempt.intent_id)?.purpose === "swap" && attempt.kind !== "cancel";
    if (swap !== undefined && isSwap) add(attempt.hash, swap);
  }
  for (const fill of chain.fills) {
    const swap = byNonce.get(nonceKey(fill.owner, fill.nonce));
    if (swap !== undefined) add(fill.hash, swap);
  }
  const claimed = (): ReadonlySet<string> => new Set([...claims.values()].flatMap((swaps) => [...swaps.keys()]));
  for (const [flow, swap] of matchByAmount(snapshot, chain.flows, { claims, claimed: claimed() })) add(flow.hash, swap);
  return { of: (hash) => [...(claims.get(hash)?.values() ?? [])], hashes: new Set(claims.keys()) };
}

/** Swaps by what names them on the chain. */
function byName({ swaps }: Snapshot) {
  const byIntent = new Map<string, SwapRow>();
  const byNonce = new Map<string, SwapRow>();
  for (const swap of swaps.values()) {
    if (swap.intent_id !== null) byIntent.set(swap.intent_id, swap);
    if (swap.nonce !== null && swap.mode === "gasless") byNonce.set(nonceKey(swap.wallet, swap.nonce), swap);
  }
  return { byIntent, byNonce };
}

function nonceKey(owner: Address, nonce: bigint): string {
  return `${owner} ${nonce}`;
}

function matchByAmount(
  snapshot: Snapshot,
  flows: readonly Flow[],
  known: { claims: ReadonlyMap<Hex, ReadonlyMap<string, SwapRow>>; claimed: ReadonlySet<string> },
): [Flow, SwapRow][] {
  const nameless = [...snapshot.swaps.values()].filter(
    (swap) => isOpen(swap) && swap.mode === "gasless" && swap.nonce === null && !known.claimed.has(swap.id),
  );
  const isTaken = ({ hash, wallet, token }: Flow): boolean =>
    [...(known.claims.get(hash)?.values() ?? [])].some(
      (swap) => swap.mode === "self-executed" || (swap.wallet === wallet && swap.sell_token === token),
    );
  const free = flows.filter((flow) => flow.out > flow.in && !isTaken(flow));
  return nameless.flatMap((swap) => {
    const fits = (flow: Flow) =>
      flow.wallet === swap.wallet && flow.token === swap.sell_token && flow.out - flow.in === swap.amount_in;
    const index = free.findIndex(fits);
    const [flow] = index === -1 ? [] : free.splice(index, 1);
    return flow === undefined ? [] : [[flow, swap]];
  });
}
