import type { Address, Hex } from "../domain/money/address.ts";
import type { ModeRow } from "../domain/run/operating-mode.ts";
import type { Swap } from "../domain/run/run.ts";
import type { StrategySpec } from "../domain/strategy/spec.ts";
import type { BootInstant } from "./clock.ts";
import type { StrategyRow } from "./daemon-rows.ts";
import type { LaneHalt } from "./lane-store.ts";
import type { DatabaseState, Difference, FinalBlock, Finding, KnownChain } from "./reconciliation-store.ts";
import type { BaselineRow } from "./watch-questions.ts";

/** An allowance by its three parties. */
export interface Grant {
  readonly wallet: Address;
  readonly token: Address;
  readonly spender: Address;
}

/** How the rows stand to what is outside of them. */
export interface Standing {
  readonly database: DatabaseState;
  /** of all wallets */
  readonly open: readonly Difference[];
  /** those of the keys that were asked for of which the same is open or was accepted: found again, it is nothing new */
  readonly reported: ReadonlySet<string>;
  /** how far the chain was checked against the rows, by wallet, of those that were asked for */
  readonly known: ReadonlyMap<Address, KnownChain>;
  /** wallets of which a person accepted something, and that no check has proved since */
  readonly acceptedUnproved: ReadonlySet<Address>;
}

/** What a person may accept, and what accepting it depends on. Of all wallets. */
export interface AcceptanceRows extends Pick<Standing, "open" | "known"> {
  /** those that have not ended */
  readonly swaps: readonly Swap[];
  /** every strategy that was ever loaded, with its newest settings, also where its file is gone */
  readonly strategies: readonly Pick<StrategyRow, "id" | "spec">[];
}

/** Whether an allowance may be taken back, or be forgotten. */
export interface GrantRows extends GrantTerms {
  /** as `LedgerStore.ledgerVersion` says it of the wallet */
  readonly version: number;
  /** a swap may take the token, or its allowance is being taken back */
  readonly isBusy: boolean;
}

/** Who says whether a wallet's allowances of a token may be taken back. */
export interface GrantTerms {
  readonly differences: readonly Difference[];
  /** the mode of everything */
  readonly mode: ModeRow | undefined;
  /** strategies whose swaps granted allowances of the wallet's token that are not forgotten yet */
  readonly grantors: readonly {
    readonly strategyId: string;
    /** undefined: it has no row */
    readonly spec: StrategySpec | undefined;
    readonly mode: ModeRow | undefined;
  }[];
}

/** A token that left a wallet in a transaction. */
export interface TokenMove {
  readonly hash: Hex;
  readonly token: Address;
}

/** What is asked of the rows where they are checked against the chain. */
export interface ReconciliationQuestions {
  /** @param asked.keys names of findings */
  readonly standing: {
    readonly asked: {
      readonly keys: readonly string[];
      /** of whom to say how far the chain was checked */
      readonly wallets: readonly Address[];
    };
    readonly rows: Standing;
  };
  readonly acceptance: { readonly asked: object; readonly rows: AcceptanceRows };
  /** What a wallet did by the rows that know it, before the chain was ever checked against them. */
  readonly "first-look": {
    readonly asked: Omit<Grant, "token"> & { readonly tokens: readonly Address[] };
    readonly rows: {
      /** whether anything was ever about to be signed for the wallet */
      readonly hasSigned: boolean;
      /** the last block that the wallet's rows know */
      readonly lastBlock: number;
      /** tokens whose allowance was granted here */
      readonly granted: ReadonlySet<Address>;
    };
  };
  /** What of a wallet's moves on the chain is ours. */
  readonly ours: {
    readonly asked: {
      readonly wallet: Address;
      /** with what its fills sold */
      readonly moves: readonly TokenMove[];
      /** of the settlement contract */
      readonly nonces: readonly bigint[];
    };
    readonly rows: {
      /** those that are of a fill which sold that token of the wallet, or of a transaction of ours */
      readonly moves: readonly TokenMove[];
      /** that a swap of the wallet was bound to */
      readonly nonces: ReadonlySet<bigint>;
      /** swaps of the wallet that have not ended */
      readonly swaps: readonly Swap[];
    };
  };
  /** What the rows say of an allowance that the chain shows. */
  readonly allowance: {
    readonly asked: Grant & { readonly final: FinalBlock | undefined };
    readonly rows: {
      readonly isGranted: boolean;
      /** a difference is about one of the wallet's token */
      readonly isFound: boolean;
      /** it may still change after the final block; undefined where none was named */
      readonly isOpen: boolean | undefined;
    };
  };
  /** Allowances that were granted once, whose wallet and token have nothing open now. */
  readonly "idle-grants": { readonly asked: object; readonly rows: readonly Grant[] };
  readonly grant: { readonly asked: Omit<Grant, "spender">; readonly rows: GrantRows };
}

/** What is written where the rows are checked against the chain. */
export type ReconciliationChange =
  /** a name for a database that has none */
  | { readonly kind: "database-named"; readonly id: string }
  /** what was asked before and is not answered, and is not to be carried out */
  | { readonly kind: "requests-refused"; readonly answer: string }
  /** a finding, unless the same is open or was accepted */
  | {
      readonly kind: "difference";
      readonly finding: Finding;
      readonly at: { readonly ms: number; readonly sinceBoot: BootInstant };
    }
  /** @param by `chain`, or the person who accepted it */
  | { readonly kind: "difference-settled"; readonly id: number; readonly by: string }
  /** the wallet is unchecked no more */
  | { readonly kind: "checked"; readonly wallet: Address }
  /** what is open was found now at the latest, whatever a clock that ran ahead said */
  | { readonly kind: "findings-capped" }
  | { readonly kind: "acceptances-capped" }
  /** @param baselines what the audit counts from, in place of what it did; undefined: that stays */
  | {
      readonly kind: "known-chain";
      readonly known: KnownChain;
      readonly baselines?: readonly BaselineRow[] | undefined;
    }
  /** so many transactions of the account are accepted that no halt counted, no matter who made them */
  | {
      readonly kind: "count-accepted";
      readonly counted: Pick<LaneHalt, "account" | "chainId" | "transactionCount">;
      readonly by: string;
    }
  /** a database that stood at so many steps of signing, or was about to, is the older one from now on */
  | { readonly kind: "signatures-counted"; readonly beyond: number }
  /** the runs that are open now trade no more: another database may have traded them */
  | { readonly kind: "open-runs-barred" }
  /** an allowance that this database did not grant is taken back like any leftover; with the block that showed it */
  | { readonly kind: "grant-adopted"; readonly grant: Grant; readonly block: number }
  /** an accepted fill counts in a strategy's budget */
  | {
      readonly kind: "sale-accepted";
      readonly differenceId: number;
      readonly strategy: string;
      readonly token: Address;
      readonly amount: bigint;
    }
  /**
   * a final block shows no allowance. Nothing is done while that is open, nor while a swap is confirmed and not final:
   * without the grant, what a fork leaves of its approval could still be taken. Nor by a block below the one in which a
   * foreign allowance was seen.
   */
  | { readonly kind: "grant-forgotten"; readonly grant: Grant; readonly final: FinalBlock };
