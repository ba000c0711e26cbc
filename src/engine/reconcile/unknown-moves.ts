import type { Address, Hex } from "../../domain/money/address.ts";
import { loggedAmount } from "../../domain/run/measure-fill.ts";
import type { Swap } from "../../domain/run/run.ts";
import { isLive } from "../../domain/run/states.ts";
import type { Receipt } from "../../ports/chain.ts";
import type { Answered } from "../../ports/questions.ts";
import type { TokenMove } from "../../ports/reconciliation-questions.ts";
import type { Finding } from "../../ports/reconciliation-store.ts";
import { isTakenBy, mayFill, orKeptBack } from "../perform/outflows.ts";
import { receiptOf, withBlockTime } from "../perform/receipt-of.ts";
import { exactAmount } from "./exact-amount.ts";
import { fillKey, moveName, outflowKey, placed } from "./move-keys.ts";
import type { ScanContext } from "./patient-chain.ts";
import type { FoundLog } from "./read-back.ts";

/** Moves of a wallet that the chain shows. */
interface Seen {
  readonly wallet: Address;
  readonly fills: readonly FoundLog[];
  readonly outflows: readonly FoundLog[];
  /** where the check began */
  readonly fromBlock: number;
}

type Ours = Answered<"ours">;

/** Asks the rows what of the moves they know. They are asked after the chain: they may know more by then, never less. */
export async function whatIsOurs({ deps }: ScanContext, { wallet, fills, outflows }: Seen): Promise<Ours> {
  const known = fills.flatMap((log) => deps.service.profile.nonceRecord?.readFill(log) ?? []);
  const moves = [
    ...soldBy(deps, fills),
    ...outflows.filter(({ data }) => loggedAmount(data) > 0n).map((log) => moveOf(log)),
  ];
  const each = new Map(moves.map((move) => [moveName(move), move]));
  const nonces = new Set(known.map(({ nonce }) => nonce));
  return await deps.store.read({ kind: "ours", wallet, moves: [...each.values()], nonces: [...nonces] });
}

/** What an outflow is of: a token, in a transaction. */
function moveOf({ transactionHash: hash, address: token }: FoundLog): TokenMove {
  return { hash, token };
}

/** What fills in our settlement sold. */
function soldBy({ service }: ScanContext["deps"], fills: readonly FoundLog[]): readonly TokenMove[] {
  return fills.flatMap((log) => {
    const fill = service.profile.nonceRecord?.readFill(log);
    return fill === undefined ? [] : [{ hash: log.transactionHash, token: fill.sell }];
  });
}

/** Fills of a wallet in our settlement that no row knows. */
export function unknownFills(context: ScanContext, { wallet, fills }: Seen, ours: Ours): readonly Finding[] {
  const known = new Set(ours.moves.map(moveName));
  return placed(fills).flatMap(({ log, place }) => {
    const fill = context.deps.service.profile.nonceRecord?.readFill(log);
    if (fill === undefined || known.has(moveName({ hash: log.transactionHash, token: fill.sell }))) return [];
    if (fill.nonce !== 0n && ours.nonces.has(fill.nonce)) return [];
    const [sold, bought] = [exactAmount(context, fill.sell, fill.sold), exactAmount(context, fill.buy, fill.bought)];
    const text = `${wallet} sold ${sold} for ${bought} in block ${log.blockNumber}, transaction ${log.transactionHash}: no row knows this fill`;
    const key = fillKey(wallet, { log, place });
    const at = { hash: log.transactionHash, block: log.blockNumber.toString() };
    const facts = { sell: fill.sell, buy: fill.buy, sold: fill.sold.toString(), ...at };
    return [{ key, wallet, token: undefined, kind: "fill", scope: "wallet", text, facts } as const];
  });
}

/** Outflows that no row knows. @returns the unexplained ones, and how many only an open order may explain */
export async function unknownOutflows(
  context: ScanContext,
  seen: Seen,
  ours: Ours,
): Promise<{ readonly found: readonly Finding[]; readonly explained: number }> {
  const { wallet } = seen;
  // A fill explains what it sold: another token that left in the same transaction is nobody's.
  const known = new Set([...soldBy(context.deps, seen.fills), ...ours.moves].map(moveName));
  // Tokens let anybody write a transfer of nothing out of any wallet.
  const unknown = seen.outflows.filter((log) => loggedAmount(log.data) > 0n && !known.has(moveName(moveOf(log))));
  const orders = ordersOut(context, seen, ours);
  const explained = explainedByOrders(unknown, orders, await receiptsOf(context, unknown, orders));
  const found = placed(unknown).flatMap(({ log, place }) => {
    const { transactionHash: hash, address: token, blockNumber } = log;
    if (explained.has(`${hash} ${token}`)) return [];
    const text = `${exactAmount(context, token, loggedAmount(log.data))} left ${wallet} in block ${blockNumber}, transaction ${hash}: no row knows why`;
    const key = outflowKey(wallet, { log, place });
    const facts = { token, amount: loggedAmount(log.data).toString(), hash, block: blockNumber.toString() };
    return [{ key, wallet, token, kind: "outflow", scope: "token", text, facts } as const];
  });
  return { found, explained: explained.size };
}

/** Gasless orders of a wallet that may have been filled without a row that knows the transaction, or knows it for sure. */
function ordersOut({ deps: { service } }: ScanContext, { fills, outflows, fromBlock }: Seen, { swaps }: Ours) {
  const nonces = new Set(fills.map((log) => service.profile.nonceRecord?.readFill(log)?.nonce));
  const hashes = new Set([...fills, ...outflows].map(({ transactionHash }) => transactionHash));
  const isSeen = ({ terms, fill }: Swap): boolean =>
    (terms?.nonce !== undefined && nonces.has(terms.nonce)) ||
    (fill !== undefined && fill.assumed !== true && (hashes.has(fill.hash) || fill.blockNumber < fromBlock));
  return swaps.filter((swap) => swap.mode === "gasless" && isLive(swap.state) && !isSeen(swap));
}

type Receipts = ReadonlyMap<Hex, Receipt>;

/**
 * Of the transactions that may be fills of orders without a nonce: nothing else says whose a part of an order was. The
 * service may be another one by now, whose orders have nonces.
 */
async function receiptsOf(
  { deps: { chain, service } }: ScanContext,
  outflows: readonly FoundLog[],
  orders: readonly Swap[],
): Promise<Receipts> {
  const receipts = new Map<Hex, Receipt>();
  const isNameless = ({ terms }: Swap): boolean =>
    terms?.nonce === undefined || service.profile.nonceRecord === undefined;
  const sold = new Set(orders.filter(isNameless).map(({ sell }) => sell.address));
  for (const log of outflows.filter(({ address }) => sold.has(address))) {
    const { transactionHash } = log;
    if (!receipts.has(transactionHash))
      receipts.set(transactionHash, await withBlockTime(chain, await receiptOf(chain, log)));
  }
  return receipts;
}

/**
 * Moves with the time of their block: what is accepted of them counts from then on, not from when a person did. A node may
 * refuse a block so old.
 */
export async function withTimes(
  { deps: { chain } }: Pick<ScanContext, "deps">,
  findings: readonly Finding[],
): Promise<readonly Finding[]> {
  const timed = async (finding: Finding): Promise<Finding> => {
    const { block } = finding.facts;
    const head = block === undefined ? undefined : await orKeptBack(chain.block(Number(block)));
    return head === undefined
      ? finding
      : { ...finding, facts: { ...finding.facts, atMs: (head.timestamp * 1_000).toString() } };
  };
  return await Promise.all(findings.map(timed));
}

/** An order takes its token once, from when it was signed until its deadline: of several transactions the first may be its fill. */
function explainedByOrders(
  outflows: readonly FoundLog[],
  orders: readonly Swap[],
  receipts: Receipts,
): ReadonlySet<string> {
  const left = [...orders];
  const explained = new Set<string>();
  for (const { address, transactionHash, blockNumber } of outflows.toSorted((a, b) => a.blockNumber - b.blockNumber)) {
    const key = `${transactionHash} ${address}`;
    const taken = outflows.filter((log) => `${log.transactionHash} ${log.address}` === key);
    const receipt = receipts.get(transactionHash);
    const mayBeOf = (swap: Swap): boolean =>
      receipt === undefined ? isTakenBy(swap, taken) : mayFill(swap, receipt, taken);
    const index = left.findIndex(
      (swap) => swap.sell.address === address && (swap.terms?.fromBlock ?? 0) <= blockNumber && mayBeOf(swap),
    );
    if (index < 0 || explained.has(key)) continue;
    explained.add(key);
    left.splice(index, 1);
  }
  return explained;
}
