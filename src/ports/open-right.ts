import type { Address } from "../domain/money/address.ts";

/** A right to a wallet's token that a swap opened and nobody has closed yet. */
export interface OpenRight {
  readonly swap: string;
  readonly run: string;
  readonly strategy: string;
  /** the state of the swap */
  readonly state: string;
  /** `gasless`: signatures that a relayer may still use; `self-executed`: a transaction of the wallet's own */
  readonly mode: string | null;
  readonly wallet: Address;
  readonly sell: { readonly symbol: string; readonly decimals: number };
  /** what it may take, in the smallest unit; undefined where no amount was decided yet */
  readonly amount: bigint | undefined;
  readonly spender: Address;
  /** until when, in Unix seconds; undefined where it ends with its transaction alone */
  readonly untilSeconds: number | undefined;
  readonly openedAtMs: number;
}
