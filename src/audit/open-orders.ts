import type { Address } from "../domain/money/address.ts";
import type { ChainReader } from "./chain-reader.ts";
import type { Claims } from "./claims.ts";
import { measureExchange } from "./exchange.ts";
import type { Flow } from "./movements.ts";
import { isOpen, type SwapRow } from "./rows.ts";
import { signedFor } from "./signatures.ts";
import type { Snapshot } from "./snapshot.ts";

/** A signed order that is open and that no transaction is known of yet. */
export interface OpenOrder {
  readonly swap: SwapRow;
  /** the most that was signed to be sold, smallest unit */
  readonly gross: bigint;
  readonly signedAtMs: number;
  /** Unix seconds; a fill in a later block is none */
  readonly untilSeconds: number;
}

/** Contracts that the audit knows by name. */
interface Contracts {
  readonly wrappedNative: Address;
  /** our own, whose events name each fill */
  readonly settlement?: Address | undefined;
}

/**
 * Outflows that no swap claims and that may be the fill of an open order of another service, each with that order. No
 * event of such a service is known, so an order is told by what was signed: owner, token, amount, the time between
 * signing and deadline, and what the recipient has to get for it. An order explains one outflow at most, the largest.
 */
export async function findOpenOrders(
  chain: Pick<ChainReader, "blockTime" | "receipts">,
  { snapshot, claims, unclaimed }: { snapshot: Snapshot; claims: Claims; unclaimed: readonly Flow[] },
  contracts: Contracts,
): Promise<ReadonlyMap<Flow, OpenOrder>> {
  const found = new Map<Flow, OpenOrder>();
  if (unclaimed.length === 0) return found;
  for (const order of openOrders(snapshot, claims, contracts.settlement)) {
    const candidates = unclaimed
      .filter((flow) => !found.has(flow) && isOfOrder(flow, order))
      .sort((a, b) => Number(takenBy(b) - takenBy(a)));
    for (const flow of candidates) {
      if (!(await isFill(chain, { flow, order, contracts }))) continue;
      found.set(flow, order);
      break;
    }
  }
  return found;
}

function openOrders(snapshot: Snapshot, claims: Claims, settlement: Address | undefined): OpenOrder[] {
  const claimed = new Set([...claims.hashes].flatMap((hash) => claims.of(hash).map(({ id }) => id)));
  const contracts = signedFor(snapshot);
  const signed = snapshot.signatures.filter(({ kind, signature }) => kind === "swap" && signature !== null);
  const signatureOf = new Map(signed.map((row) => [row.swap_id, row]));
  return [...snapshot.swaps.values()].filter(isOpen).flatMap((swap) => {
    const [row, contract, gross] = [signatureOf.get(swap.id), contracts.get(swap.id), swap.amount_in];
    if (row === undefined || row.signed_at_ms === null || gross === null || claimed.has(swap.id)) return [];
    if (contract === undefined || contract === settlement) return [];
    return [{ swap, gross, signedAtMs: row.signed_at_ms, untilSeconds: row.valid_until_seconds }];
  });
}

function takenBy(flow: Flow): bigint {
  return flow.out - flow.in;
}

function isOfOrder(flow: Flow, { swap, gross }: OpenOrder): boolean {
  return flow.wallet === swap.wallet && flow.token === swap.sell_token && takenBy(flow) <= gross;
}

/** Others send the fill of an order: what the wallet's own key sends is none. */
async function isFill(
  chain: Pick<ChainReader, "blockTime" | "receipts">,
  { flow, order, contracts }: { flow: Flow; order: OpenOrder; contracts: Contracts },
): Promise<boolean> {
  const { swap, gross, signedAtMs, untilSeconds } = order;
  const receipt = (await chain.receipts([flow.hash])).get(flow.hash);
  if (receipt === undefined || receipt.from === swap.wallet) return false;
  const { bought } = measureExchange(swap, receipt, { wrapped: contracts.wrappedNative, value: 0n });
  if (bought <= 0n || bought < ((swap.amount_out_min ?? 0n) * takenBy(flow)) / gross) return false;
  // The time of a block is in whole seconds.
  const minedAt = await chain.blockTime(flow.blockNumber);
  return minedAt >= Math.floor(signedAtMs / 1_000) && minedAt <= untilSeconds;
}
