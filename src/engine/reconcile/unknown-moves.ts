import type { Address } from "../../domain/money/address.ts";
import { amountTold } from "../../domain/run/measure-fill.ts";
import type { Swap } from "../../domain/run/run.ts";
import type { SwapState } from "../../domain/run/states.ts";
import type { Finding } from "../../ports/reconciliation-store.ts";
import { isTakenBy } from "../perform/outflows.ts";
import { fillKey, outflowKey, placed } from "./move-keys.ts";
import type { LookContext } from "./patient-chain.ts";
import type { FoundLog } from "./read-back.ts";

/** Fills of a wallet in our settlement that no row knows. */
export function unknownFills(context: LookContext, wallet: Address, fills: readonly FoundLog[]): readonly Finding[] {
  const { store, service } = context.deps;
  return placed(fills).flatMap(({ log, place }) => {
    const fill = service.profile.nonceRecord?.readFill(log);
    if (fill === undefined || store.knowsTransaction(log.transactionHash)) return [];
    if (fill.nonce !== 0n && store.knowsNonce(wallet, fill.nonce)) return [];
    const text = `${wallet} sold ${fill.sold} of ${fill.sell} for ${fill.bought} of ${fill.buy} (smallest units) in block ${log.blockNumber}, transaction ${log.transactionHash}: no row knows this fill`;
    const key = fillKey(wallet, { log, place });
    const facts = { sell: fill.sell, buy: fill.buy, sold: fill.sold.toString(), hash: log.transactionHash };
    return [{ key, wallet, token: undefined, kind: "fill", scope: "wallet", text, facts } as const];
  });
}

interface Seen {
  readonly fills: readonly FoundLog[];
  readonly outflows: readonly FoundLog[];
  /** where the look began */
  readonly fromBlock: number;
}

/** Outflows that no row knows. @returns those that nobody explains, and how many an open order alone may explain */
export function unknownOutflows(
  context: LookContext,
  wallet: Address,
  seen: Seen,
): { readonly found: readonly Finding[]; readonly explained: number } {
  const { store } = context.deps;
  const told = new Set(seen.fills.map(({ transactionHash }) => transactionHash));
  // Tokens let anybody write a transfer of nothing out of any wallet.
  const unknown = seen.outflows.filter(
    ({ data, transactionHash: hash }) => amountTold(data) > 0n && !told.has(hash) && !store.knowsTransaction(hash),
  );
  const explained = explainedByOrders(unknown, unknown.length === 0 ? [] : ordersOut(context, wallet, seen));
  const found = placed(unknown).flatMap(({ log, place }) => {
    const { transactionHash: hash, address: token, blockNumber } = log;
    if (explained.has(`${hash} ${token}`)) return [];
    const text = `${amountTold(log.data)} of ${token} (smallest units) left ${wallet} in block ${blockNumber}, transaction ${hash}: no row knows why`;
    const key = outflowKey(wallet, { log, place });
    const facts = { token, amount: amountTold(log.data).toString(), hash };
    return [{ key, wallet, token, kind: "outflow", scope: "token", text, facts } as const];
  });
  return { found, explained: explained.size };
}

/** Gasless orders of a wallet that may have been filled without a row that knows the transaction. */
function ordersOut(
  { deps: { store, service } }: LookContext,
  wallet: Address,
  { fills, outflows, fromBlock }: Seen,
): readonly Swap[] {
  const nonces = new Set(fills.map((log) => service.profile.nonceRecord?.readFill(log)?.nonce));
  const hashes = new Set([...fills, ...outflows].map(({ transactionHash }) => transactionHash));
  const isSeen = ({ terms, fill }: Swap): boolean =>
    (terms?.nonce !== undefined && nonces.has(terms.nonce)) ||
    (fill !== undefined && (hashes.has(fill.hash) || fill.blockNumber < fromBlock));
  return store
    .openWork()
    .filter((work) => work.wallet === wallet && work.swapId !== undefined)
    .flatMap(({ runId, swapId }) => store.run(runId)?.swaps.filter(({ id }) => id === swapId) ?? [])
    .filter((swap) => swap.mode === "gasless" && TAKING.has(swap.state) && !isSeen(swap));
}

const TAKING: ReadonlySet<SwapState> = new Set(["signed", "submitted", "mined", "confirmed", "unknown"]);

/** An order takes its token once, and not before it was signed: of several transactions the first may be its fill. */
function explainedByOrders(outflows: readonly FoundLog[], orders: readonly Swap[]): ReadonlySet<string> {
  const left = [...orders];
  const explained = new Set<string>();
  for (const { address, transactionHash, blockNumber } of outflows.toSorted((a, b) => a.blockNumber - b.blockNumber)) {
    const key = `${transactionHash} ${address}`;
    const taken = outflows.filter((log) => `${log.transactionHash} ${log.address}` === key);
    const index = left.findIndex(
      (swap) => swap.sell.address === address && (swap.terms?.fromBlock ?? 0) <= blockNumber && isTakenBy(swap, taken),
    );
    if (index < 0 || explained.has(key)) continue;
    explained.add(key);
    left.splice(index, 1);
  }
  return explained;
}
