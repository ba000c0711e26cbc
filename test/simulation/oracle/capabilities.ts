import type { Address } from "../../../src/domain/money/address.ts";
import type { SimChain, SimReceipt } from "../world/chain.ts";
import { Ledger } from "../world/ledger.ts";

/** Something that was signed and lets a swap happen, until the chain shows that it cannot any more. */
export interface Capability {
  /** the run and the position in it; all attempts at one place are for the same money */
  readonly place: string;
  readonly strategy: string;
  readonly owner: Address;
  readonly token: Address;
  readonly amount: bigint;
  /** Unix seconds of the last block that may settle it */
  readonly deadline: bigint;
  /** by a transaction of ours at a nonce, or by a signed order, which may have a nonce of its own */
  readonly by:
    | { readonly kind: "transaction"; readonly nonce: number; readonly hashes: string[] }
    | { readonly kind: "order"; readonly nonce: bigint | undefined; readonly text: string };
}

/** filled: it happened, as the canonical chain stands; dead: it can never happen; live: it still may */
export type Fate = "live" | "filled" | "dead";

/** What the chain says of a capability: final blocks alone decide that it is dead. */
export function fateOf(chain: SimChain, capability: Capability): Fate {
  const { by, owner } = capability;
  const final = new Ledger(chain.finalized.state);
  if (by.kind === "transaction") {
    const receipt = by.hashes.map((hash) => chain.receipt(hash)).find((found) => found !== undefined);
    if (receipt?.succeeded === true) return "filled";
    if (receipt !== undefined) return receipt.blockNumber <= chain.finalized.number ? "dead" : "live";
    return final.count(owner) > by.nonce ? "dead" : "live";
  }
  if (chain.allReceipts().some((receipt) => receipt.succeeded && isBy(receipt, capability))) return "filled";
  if (by.nonce !== undefined && final.isNonceUsed(owner, by.nonce)) return "dead";
  return BigInt(chain.finalized.seconds) > capability.deadline ? "dead" : "live";
}

/** Whether it can take money from now on, once more where it did already: an order without a nonce, until its end. */
export function mayTake(chain: SimChain, capability: Capability, fate: Fate): boolean {
  const { by, deadline } = capability;
  const isForEver = by.kind === "order" && by.nonce === undefined;
  return fate === "live" || (fate === "filled" && isForEver && BigInt(chain.finalized.seconds) <= deadline);
}

/** Whether the receipt is of the capability: its transaction, or the fill of its order. */
export function isBy({ hash, logs, orders }: SimReceipt, { by, owner }: Capability): boolean {
  if (by.kind === "transaction") return by.hashes.some((known) => known === hash);
  const { nonce, text } = by;
  return nonce === undefined
    ? orders.some((order) => order.text === text)
    : logs.some((log) => isFillOf(log.topics, owner, nonce));
}

/** The settlement contract's event of a fill has owner and nonce in its topics, and a third one. */
function isFillOf(topics: readonly string[], owner: string, nonce: bigint): boolean {
  return (
    topics.length === 4 && topics[1] === `0x${owner.slice(2).padStart(64, "0")}` && BigInt(topics[2] ?? 0) === nonce
  );
}
