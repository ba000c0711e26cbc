import type { Address, Hex } from "../domain/money/address.ts";
import type { ChainReader, LogFilter } from "./chain-reader.ts";
import {
  APPROVAL,
  type ChainLog,
  DEPOSIT,
  isOfMatter,
  readApproval,
  readSwapped,
  readTransfer,
  SWAPPED,
  type SwappedEvent,
  TRANSFER,
  type Transfer,
  topicOf,
  WITHDRAWAL,
} from "./events.ts";
import type { Receipt } from "./node-answers.ts";
import { AuditError } from "./report.ts";
import type { WatchList } from "./watch-list.ts";

/** What the chain reports the wallets since their baselines. */
export interface Movements {
  readonly transfers: readonly Transfer[];
  /** everybody who was ever allowed to spend, also those whose allowance is used up */
  readonly approvals: readonly { token: Address; owner: Address; spender: Address }[];
  readonly fills: readonly SwappedEvent[];
  readonly blocks: number;
  /** @throws AuditError `CHAIN_UNREADABLE` where a receipt shows more of what was asked for than the node listed */
  assertListed(receipts: Iterable<Receipt>): void;
}

/** Scans the events of the watched tokens and of the settlement contract, up to and including the tip. */
export async function readMovements(
  chain: ChainReader,
  watch: WatchList,
  scan: {
    tip: number;
    settlement: Address | undefined;
    wrappedNative: Address;
    onProgress: (done: number, total: number) => void;
  },
): Promise<Movements> {
  const { fromBlock } = watch;
  if (fromBlock === undefined || fromBlock > scan.tip || watch.tokens.size === 0) {
    return { transfers: [], approvals: [], fills: [], blocks: 0, assertListed: () => undefined };
  }
  const range = { from: fromBlock, to: scan.tip };
  const filters = filtersOf(watch, scan.settlement);
  const logs = distinct(await chain.logs(filters, range, scan.onProgress));
  const transfers = logs.flatMap((log) => readTransfer(log, scan.wrappedNative) ?? []);
  return {
    transfers: transfers.filter((transfer) => isCounted(watch, transfer)),
    approvals: logs.flatMap((log) => readApproval(log) ?? []),
    fills: logs.flatMap((log) => (log.address === scan.settlement ? (readSwapped(log) ?? []) : [])),
    blocks: scan.tip - fromBlock + 1,
    assertListed: listedBy(filters, range, logs),
  };
}

/**
 * A node that has no old events may answer that there are none. Each transaction is held against its receipt by how many
 * it has: some nodes number the logs of a receipt otherwise than those of a block.
 */
function listedBy(
  filters: readonly LogFilter[],
  { from, to }: { readonly from: number; readonly to: number },
  logs: readonly ChainLog[],
): Movements["assertListed"] {
  const listed = new Map<Hex, number>();
  for (const one of logs)
    if (isOfMatter(one)) listed.set(one.transactionHash, (listed.get(one.transactionHash) ?? 0) + 1);
  const isAsked = (log: ChainLog): boolean => filters.some((filter) => isBy(filter, log));
  return (receipts) => {
    for (const { hash, blockNumber, logs: shown } of receipts) {
      if (blockNumber < from || blockNumber > to) continue;
      const [wanted, found] = [shown.filter(isAsked).length, listed.get(hash) ?? 0];
      if (found >= wanted) continue;
      const message = `The chain could not be read: the node lists ${found} of ${wanted} events of ${hash} in block ${blockNumber}, by the transaction's own receipt. Name an endpoint that keeps all events.`;
      throw new AuditError("CHAIN_UNREADABLE", message);
    }
  };
}

function isBy({ address, topics }: LogFilter, log: ChainLog): boolean {
  return (
    address.includes(log.address) &&
    topics.every((wanted, index) => {
      const topic = log.topics[index];
      return topic !== undefined && (wanted === null || wanted.includes(topic));
    })
  );
}

function filtersOf(watch: WatchList, settlement: Address | undefined): LogFilter[] {
  const wallets = [...watch.wallets].map(topicOf);
  const tokens = [...watch.tokens];
  return [
    { address: tokens, topics: [[TRANSFER, APPROVAL, DEPOSIT, WITHDRAWAL], wallets] },
    { address: tokens, topics: [TRANSFER, null, wallets] },
    ...(settlement === undefined ? [] : [{ address: [settlement], topics: [SWAPPED, wallets] }]),
  ];
}

/** A transfer from a wallet of ours to another is found by two filters. */
function distinct(logs: readonly ChainLog[]): ChainLog[] {
  const byPlace = new Map(logs.map((log) => [`${log.blockNumber} ${log.logIndex}`, log]));
  return [...byPlace.values()].sort((a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex);
}

/** Each wallet and token counts from its own baseline. */
function isCounted(watch: WatchList, transfer: Transfer): boolean {
  return [transfer.from, transfer.to].some(
    (side) =>
      side !== undefined && watch.wallets.has(side) && transfer.blockNumber > watch.baselineBlock(side, transfer.token),
  );
}

/** What moved between a wallet and everybody else in one transaction, in one token. */
export interface Flow {
  readonly wallet: Address;
  readonly token: Address;
  readonly hash: Transfer["hash"];
  readonly blockNumber: number;
  readonly out: bigint;
  readonly in: bigint;
}

/** Sums transfers by wallet, token and transaction, as far as they come after the baseline of that wallet and token. */
export function flowsOf(transfers: readonly Transfer[], watch: WatchList): Flow[] {
  const flows = new Map<string, Flow>();
  const add = (wallet: Address | undefined, transfer: Transfer, way: "in" | "out"): void => {
    if (wallet === undefined || !watch.wallets.has(wallet)) return;
    const { token, hash, blockNumber, amount } = transfer;
    if (blockNumber <= watch.baselineBlock(wallet, token)) return;
    const key = `${wallet} ${token} ${hash}`;
    const flow = flows.get(key) ?? { wallet, token, hash, blockNumber, out: 0n, in: 0n };
    flows.set(key, { ...flow, [way]: flow[way] + amount });
  };
  for (const transfer of transfers) {
    add(transfer.from, transfer, "out");
    add(transfer.to, transfer, "in");
  }
  return [...flows.values()];
}
