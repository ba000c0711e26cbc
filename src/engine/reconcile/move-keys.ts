import type { Address } from "../../domain/money/address.ts";
import type { TokenMove } from "../../ports/reconciliation-questions.ts";
import type { FoundLog } from "./read-back.ts";

/** A log with its place among those of its contract in its transaction, which stays where that is mined in another block. */
export interface PlacedLog {
  readonly log: FoundLog;
  readonly place: number;
}

/** The logs in the order of the chain, with their places. All of a contract in a transaction have to be among them. */
export function placed(logs: readonly FoundLog[]): readonly PlacedLog[] {
  const seen = new Map<string, number>();
  return logs
    .toSorted((a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex)
    .map((log) => {
      const group = `${log.transactionHash} ${log.address}`;
      const place = seen.get(group) ?? 0;
      seen.set(group, place + 1);
      return { log, place };
    });
}

/** What a transaction moved of a token, as one text. */
export function moveName({ hash, token }: TokenMove): string {
  return `${hash} ${token}`;
}

/** The name that a fill which no row knows is found and accepted by. */
export function fillKey(wallet: Address, { log, place }: PlacedLog): string {
  return `fill ${wallet} ${log.transactionHash} #${place}`;
}

/** The same of an outflow. */
export function outflowKey(wallet: Address, { log, place }: PlacedLog): string {
  return `outflow ${wallet} ${log.transactionHash} ${log.address} #${place}`;
}
