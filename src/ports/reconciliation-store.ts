import type { Address } from "../domain/money/address.ts";
import type { BootInstant } from "./clock.ts";

/**
 * What a difference is: `unchecked` the chain was not checked against the rows since the start; `new` a database that never
 * knew a wallet that has traded, or may have; `lost` the marker names another database; `older` the marker saw more
 * signatures than the rows; `nonce`, `fill`, `outflow`, `allowance` what the chain shows and no row explains;
 * `cannot-prove` the chain's logs are not read back (not yet, or the node gives none), or a token's allowance is refused.
 */
export type DifferenceKind =
  | "unchecked"
  | "new"
  | "lost"
  | "older"
  | "nonce"
  | "fill"
  | "outflow"
  | "allowance"
  | "cannot-prove";

/** Something that is known outside and not in the rows, before it is written down. */
export interface Finding {
  /** what it is about: the same is found once, and not again after it was accepted */
  readonly key: string;
  readonly wallet: Address;
  readonly token: Address | undefined;
  readonly kind: DifferenceKind;
  /** what signs nothing while it is open: the whole wallet, what trades the token, or what may trade gasless */
  readonly scope: "wallet" | "token" | "gasless";
  /** with the numbers, for people */
  readonly text: string;
  /** the numbers that accepting it works with, as text */
  readonly facts: Readonly<Record<string, string>>;
}

/** A finding that is written down. */
export interface Difference extends Finding {
  readonly id: number;
  readonly foundAtMs: number;
  /** undefined: found by a release that did not write it down */
  readonly foundSinceBoot: BootInstant | undefined;
}

/** A block that is final. */
export interface FinalBlock {
  readonly number: number;
  /** Unix seconds */
  readonly timestamp: number;
}

/** How far the chain was checked against the rows of a wallet, and where that began. */
export interface KnownChain {
  readonly wallet: Address;
  readonly block: number;
  /** transactions of the account that are accounted for, besides those of the rows */
  readonly transactionCount: number;
  /** by token, at that block; empty where they could not be read */
  readonly balances: ReadonlyMap<Address, bigint>;
  /** what was done up to this block, and so many transactions, is no row's matter: the wallet was not known before */
  readonly baseline: { readonly block: number; readonly transactionCount: number };
}

/** What distinguishes one database from another, and a newer state of it from an older one. Counts never fall. */
export interface DatabaseState {
  /** undefined before its first life with a marker */
  readonly id: string | undefined;
  /** steps with typed data: about to be signed, signed, and about to be submitted */
  readonly signatures: number;
  /** how often a transaction was about to be signed */
  readonly signings: number;
}
