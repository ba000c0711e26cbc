import type { Address } from "../domain/money/address.ts";
import type { ChainReader, LogFilter } from "./chain-reader.ts";
import {
  APPROVAL,
  type ChainLog,
  DEPOSIT,
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
import type { WatchList } from "./watch-list.ts";

/** What the chain reports the wallets since their baselines. */
export interface Movements {
  readonly transfers: readonly Transfer[];
  /** everybody who was ever allowed to spend, also those whose allowance is used up */
  readonly approvals: readonly { token: Address; owner: Address; spender: Address }[];
  readonly fills: readonly SwappedEvent[];
  readonly blocks: number;
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
    return { transfers: [], approvals: [], fills: [], blocks: 0 };
  }
  const range = { from: fromBlock, to: scan.tip };
  const logs = distinct(await chain.logs(filtersOf(watch, scan.settlement), range, scan.onProgress));
  const transfers = logs.flatMap((log) => readTransfer(log, scan.wrappedNative) ?? []);
  return {
    transfers: transfers.filter((transfer) => isCounted(watch, transfer)),
    approvals: logs.flatMap((log) => readApproval(log) ?? []),
    fills: logs.flatMap((log) => (log.address === scan.settlement ? (readSwapped(log) ?? []) : [])),
    blocks: scan.tip - fromBlock + 1,
  };
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
