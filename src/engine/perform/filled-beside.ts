import { type Address, wordOf } from "../../domain/money/address.ts";
import { loggedAmount, measureFill, TRANSFER_TOPIC } from "../../domain/run/measure-fill.ts";
import { isPastDeadlines, type Swap } from "../../domain/run/run.ts";
import { fullestReceipt } from "../../lane/fullest-receipt.ts";
import type { Receipt } from "../../ports/chain.ts";
import type { EngineContext } from "../engine-context.ts";
import { isTakenBy } from "./outflows.ts";

/**
 * The receipt of a fill with what else of ours it fills and what could be taken for this swap's: a service that settles in
 * batches fills several orders in one transaction. Of one whose fill is not known yet the token it sells shows it, and of one
 * that no row knows, as of a newer database that was lost, that nothing else sold this: it may have bought either side.
 */
export async function withOthers(context: EngineContext, swap: Swap, receipt: Receipt): Promise<Receipt> {
  const { deps } = context;
  const { id, wallet, recipient, sell, buy } = swap;
  const sides = { wallet, recipient, sell: sell.address, buy: buy.address };
  const others = await deps.store.read({ kind: "beside", swapId: id, hash: receipt.hash, sides });
  const filled = others.filter(({ fill }) => fill !== undefined);
  const isAlike = (other: Swap): boolean => soldBy(other) === soldBy(swap);
  const mayBe = others.filter(
    (other) =>
      other.fill === undefined && (isAlike(other) ? isNamedIn(context, other, receipt) : isFilledBy(other, receipt)),
  );
  const taken = await takenByKnown(context, receipt, mayBe);
  const open = mayBe.filter((other) => isAlike(other) || !taken.has(soldBy(other)));
  const beside = [...filled, ...open].map((other) => ({
    ...{ wallet: other.wallet, recipient: other.recipient },
    ...{ sell: other.sell.address, buy: other.buy.address },
  }));
  const named = new Set([swap, ...filled, ...open].map(soldBy));
  for (const sold of await soldForNoRow(context, receipt, named)) {
    const other = { wallet: sold.wallet, sell: sold.sell.address };
    beside.push({ ...other, recipient, buy: buy.address }, { ...other, recipient: wallet, buy: sell.address });
  }
  return beside.length === 0 ? receipt : { ...receipt, beside };
}

/** What of these a transaction took for a swap of ours that is known to be filled by it, whatever that one bought. */
async function takenByKnown(
  { deps }: EngineContext,
  { hash }: Receipt,
  open: readonly Swap[],
): Promise<ReadonlySet<string>> {
  const taken = new Set<string>();
  for (const [wallet, swaps] of Map.groupBy(open, (swap) => swap.wallet)) {
    const asked = swaps.map(({ sell }) => ({ hash, token: sell.address }));
    const { moves } = await deps.store.read({ kind: "ours", wallet, moves: asked, nonces: [] });
    for (const { token } of moves) taken.add(soldBy({ wallet, sell: { address: token } }));
  }
  return taken;
}

/** Two orders that sell one token of one wallet are open together only where a fork took a fill back. */
function soldBy({ wallet, sell }: Sold): string {
  return `${wallet} ${sell.address}`;
}

interface Sold {
  readonly wallet: Address;
  readonly sell: { readonly address: Address };
}

/**
 * What left our wallets in a transaction, and is no swap's of the rows: others that share no side with the measured one are
 * asked for as well.
 * @param named what is some swap's, see {@link soldBy}
 */
async function soldForNoRow(
  { deps, settings }: EngineContext,
  receipt: Receipt,
  named: ReadonlySet<string>,
): Promise<readonly Sold[]> {
  const { hash } = receipt;
  const ours = { wallets: [...deps.signers.keys()], tokens: settings.tokens.map(({ address }) => address) };
  const left = soldIn(receipt, ours).filter((sold) => !named.has(soldBy(sold)));
  const ofNobody: Sold[] = [];
  for (const [wallet, sold] of Map.groupBy(left, (one) => one.wallet)) {
    const asked = sold.map(({ sell }) => ({ hash, token: sell.address }));
    const { moves, swaps } = await deps.store.read({ kind: "ours", wallet, moves: asked, nonces: [] });
    const open = swaps.filter((other) => isOpenOrder(other) && isFilledBy(other, receipt));
    const known = new Set([...moves.map(({ token }) => token), ...open.map(({ sell }) => sell.address)]);
    ofNobody.push(...sold.filter(({ sell }) => !known.has(sell.address)));
  }
  return ofNobody;
}

/** Whether a transaction of others may fill it: what it sends by itself has its own, and what is filled had another one. */
function isOpenOrder({ terms, fill, intentId }: Swap): boolean {
  return terms !== undefined && fill === undefined && intentId === undefined;
}

/** Which tokens left which of our wallets in a transaction, each once. Contracts that we do not trade may log anything. */
function soldIn(
  { logs }: Receipt,
  ours: { readonly wallets: readonly Address[]; readonly tokens: readonly Address[] },
): readonly Sold[] {
  const sold = new Map<string, Sold>();
  for (const { address, topics, data } of logs) {
    const wallet = ours.wallets.find((one) => topics[0] === TRANSFER_TOPIC && topics[1] === wordOf(one));
    if (wallet === undefined || !ours.tokens.includes(address) || loggedAmount(data) === 0n) continue;
    const one = { wallet, sell: { address } };
    sold.set(soldBy(one), one);
  }
  return [...sold.values()];
}

/**
 * Whether the settlement's own event names an order. Another order of the same token is filled by the same transaction only
 * where a fork took a fill back after which the token was signed for again: what left the wallet does not tell them apart.
 */
function isNamedIn({ deps: { service } }: EngineContext, { wallet, terms }: Swap, { logs }: Receipt): boolean {
  const { nonceRecord } = service.profile;
  if (nonceRecord === undefined || terms?.nonce === undefined) return false;
  const wanted = nonceRecord.fillTopics(wallet, terms.nonce);
  const contract = terms.contracts[nonceRecord.at];
  return logs.some(
    ({ address, topics }) =>
      address === contract && wanted.every((topic, index) => topic === null || topic === topics[index]),
  );
}

/** An order may take its token from the block on in which it was signed, up to its deadlines. */
function isFilledBy(swap: Swap, { logs, blockNumber, blockTimeSeconds }: Receipt): boolean {
  if ((swap.terms?.fromBlock ?? 0) > blockNumber || isPastDeadlines(swap, blockTimeSeconds ?? 0)) return false;
  const from = wordOf(swap.wallet);
  const outflow = logs.filter(
    ({ address, topics }) => address === swap.sell.address && topics[0] === TRANSFER_TOPIC && topics[1] === from,
  );
  return isTakenBy(swap, outflow);
}

/** Where one endpoint leaves out what was exchanged, the others are asked for the same receipt. */
export async function asShown(context: EngineContext, swap: Swap, receipt: Receipt): Promise<Receipt> {
  if (!receipt.succeeded || isShown(context, swap, receipt)) return receipt;
  return { ...receipt, ...(await fullestReceipt(context.deps.chain, receipt)) };
}

/** Whether a receipt shows the whole exchange of a swap. */
export function isShown({ settings }: EngineContext, swap: Swap, receipt: Receipt): boolean {
  return measureFill(receipt, swap, { wrapped: settings.wrappedNative, value: 0n }).assumed !== true;
}
