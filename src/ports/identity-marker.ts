import type { Address } from "../domain/money/address.ts";
import type { DatabaseState } from "./reconciliation-store.ts";

/** What is kept outside of the database's folder about the database that trades for a wallet. */
export interface Marker {
  /**
   * With the longest time that what it signed may be filled in, where a release wrote it that knew. Undefined: a person
   * accepted that the wallet begins with a new database, and none has begun yet.
   */
  readonly state: (DatabaseState & { readonly id: string; readonly lifetimeSeconds?: number | undefined }) | undefined;
  /** where the database's knowledge of the chain begins */
  readonly baseline: { readonly block: number; readonly transactionCount: number } | undefined;
}

/**
 * Markers by wallet, on a volume of their own. The database is always written first: it may know more than its marker,
 * never less, so that a kill between the two halts nothing.
 */
export interface IdentityMarker {
  /** @throws Error when a marker is there and cannot be read: that is no absence */
  read(wallet: Address): Marker | undefined;
  /** Durable when it returns. @throws Error when it cannot be written */
  write(wallet: Address, marker: Marker): void;
}
