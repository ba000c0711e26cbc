/** What each kind of difference means. The codes are stable: people and scripts filter by them. */
export const DIFFERENCE_MEANINGS = {
  ROW_UNREADABLE: "a row of the database does not have the shape that it must have",
  BASELINE_MISSING: "a wallet that signed has no recorded balance to count from, of what it sold or bought",
  BASELINE_DIFFERS: "a recorded balance to count from is not the one that the chain had",
  DATABASE_BEHIND: "the daemon found that its database knows less than the chain, and nobody accepted it",
  HISTORY_CHANGED: "what is kept of an old run, or old gaps, was changed or deleted since it was closed",
  TRANSITION_ILLEGAL: "a run or a swap moved in a way that its machine does not have",
  TRANSITION_BROKEN: "a transition does not start where the one before it ended",
  STATE_NOT_REPLAYED: "the recorded transitions do not lead to the state in the row",
  SIGNED_ROW_MISSING: "something was signed for a run or a swap whose row is gone",
  RUN_MISSING: "a swap belongs to a run whose row is gone",
  MODE_DIFFERS: "a swap is recorded as executed in another way than its transaction shows",
  SIGNATURE_MISSING:
    "a gasless swap was filled, and the signature that allowed it is not stored; or fewer are stored than were made",
  BODY_DIFFERS: "a column of a swap says something else than the record that the daemon goes on with",
  CHECKS_MISSING: "a swap was signed, and none of the checks before it is stored",
  LEDGER_UNVALUED: "a signed swap counts for no dollars, so it is missing from the caps",
  CAPABILITY_LEFT: "a right is recorded as live although its swap has ended",
  MEMORY_LOST: "what a strategy remembers cannot be read",
  RUN_END_WRONG: "the end of a run contradicts its swaps",
  SLOT_TWICE: "a scheduled instant has more than one end",
  PLACE_MISSING: "the places of a run, or the attempts at one, have a hole",
  SLOT_MOVED: "a run has a slot that its strategy had not come to",
  PLACE_FILLED_TWICE: "one place of a run was filled by more than one swap",
  TWO_LIVE: "two signed swaps of one wallet and sold token were open at the same time",
  FILL_MISSING: "a swap is recorded as filled, and the chain has no such transaction",
  FILL_REVERTED: "a swap is recorded as filled, and its transaction reverted",
  FILL_BLOCK_DIFFERS: "a fill is in another block than recorded",
  SOLD_DIFFERS: "what left the wallet is not what is recorded as sold",
  BOUGHT_DIFFERS: "what reached the recipient is not what is recorded as bought",
  FILL_BEYOND_ORDER: "a fill took more than its swap was to sell, or brought less than its swap asked for",
  RECIPIENT_DIFFERS: "bought tokens went to somebody else than the swap's recipient",
  EVENT_DIFFERS: "the settlement contract's event of a fill says something else than the row",
  SECOND_FILL: "one swap was filled by more than one transaction",
  FILL_CLAIMED_TWICE:
    "one transaction on the chain is said to be the fill of several swaps, and did not sell or pay enough for all of them",
  FILL_OF_ENDED_SWAP: "a swap that is recorded as ended or as never signed was filled on the chain",
  UNEXPLAINED_OUTFLOW: "tokens left a wallet and no swap explains it",
  OUTFLOW_OF_OPEN_SWAP:
    "tokens left a wallet as an open order of another service permits, and the daemon has not seen its fill yet",
  BALANCE_DIFFERS: "a balance is lower than the baseline and all recorded movements give",
  NONCE_GAP: "the nonces given to transactions of a wallet have a hole",
  FOREIGN_NONCE: "a nonce of a wallet was used on the chain by a transaction that is not recorded",
  ATTEMPT_DIFFERS: "a signed transaction is not what its row says",
  REPLACEMENT_UNDERPRICED: "a replacement raised its fees by less than ten percent",
  INTENT_DIFFERS: "the outcome of a transaction is not what the chain says",
  COST_DIFFERS:
    "what a transaction cost is not recorded, or not as its receipt reports it, so the gas of the books is wrong",
  TIME_DIFFERS:
    "a fill or a transaction is recorded at another time than its block has, so it may stand in another year",
  DECIMALS_DIFFER: "rows count a token with other decimals than its contract has, so amounts are shown wrongly",
  INTENT_WITHOUT_SWAP: "a swap transaction of ours landed, and not exactly one swap belongs to it",
  LEDGER_MISSING: "a signed swap has no row in the ledger",
  LEDGER_DIFFERS: "the ledger does not account for a swap as the swap's state demands",
  TOTAL_DIFFERS: "a sum that budgets and caps are checked against is not what its rows add up to",
  RESERVATION_LEFT: "money is still reserved for a swap that has ended",
  CAPABILITY_MISSING: "a swap was signed or may still land, and it is not recorded as a right, or not as a live one",
  ALLOWANCE_LEFT: "an allowance was left although no swap of this wallet and token is open",
  GRANT_MISSING: "an allowance is there, and its grant is not recorded, so that nothing revokes it",
  ALLOWANCE_UNEXPLAINED: "an allowance was granted that is not recorded",
  TYPED_DATA_UNREADABLE: "stored typed data cannot be hashed",
  DIGEST_DIFFERS: "stored typed data does not hash to the recorded digest",
  SIGNER_DIFFERS: "a stored signature is not the wallet's",
  SIGNED_SWAP_DIFFERS: "a signed swap message says something else than the swap's row",
  PERMIT_DIFFERS: "a signed permit says something else than the swap needs",
} as const;

/** The name of a kind of difference. */
export type DifferenceCode = keyof typeof DIFFERENCE_MEANINGS;

/** Something that database and chain do not agree on, or that contradicts itself. */
export interface Difference {
  readonly code: DifferenceCode;
  /** what it is about: a swap, a run, a wallet and token, a digest */
  readonly subject: string;
  /** one sentence for people */
  readonly message: string;
  /** the values, as text; amounts in smallest units */
  readonly fields: Readonly<Record<string, string>>;
}

/** A signed swap that the chain has not settled as far as the database knew. Never a difference by itself. */
export interface OpenSwap {
  readonly id: string;
  readonly runId: string;
  readonly state: string;
  readonly mode: string | null;
  readonly wallet: string;
  readonly sell: string;
  /** of the sold token */
  readonly sellDecimals: number;
  readonly buy: string;
  /** gross amount, smallest unit */
  readonly gross: string | null;
  /** the transaction that already fills it on the chain, if there is one */
  readonly landed: string | null;
}

/** What came to a wallet and is no swap's doing. */
export interface Deposit {
  readonly wallet: string;
  readonly token: string;
  readonly symbol: string;
  readonly decimals: number;
  /** smallest unit, decimal text */
  readonly amount: string;
  /** null where no event names it: native coins, and tokens that change balances silently */
  readonly hash: string | null;
  readonly blockNumber: number | null;
}

/** An allowance that is above zero for a reason: something of that wallet and token is still open. */
export interface OpenAllowance {
  readonly wallet: string;
  readonly token: string;
  readonly symbol: string;
  readonly decimals: number;
  readonly spender: string;
  readonly amount: string;
}

/** How much was looked at. */
export interface Checked {
  readonly wallets: number;
  readonly runs: number;
  readonly swaps: number;
  readonly fills: number;
  readonly transitions: number;
  readonly transactions: number;
  readonly transfers: number;
  readonly balances: number;
  readonly allowances: number;
  readonly signatures: number;
  readonly blocks: number;
}

/** The audit's answer; every value in it can be written as JSON. */
export interface AuditReport {
  /** no difference was found */
  readonly clean: boolean;
  readonly chainId: number;
  /** the block that balances were read at, and its time in Unix seconds */
  readonly tip: { readonly number: number; readonly hash: string; readonly seconds: number };
  readonly differences: readonly Difference[];
  readonly openSwaps: readonly OpenSwap[];
  readonly deposits: readonly Deposit[];
  readonly openAllowances: readonly OpenAllowance[];
  /** what could not be looked at, and why */
  readonly notes: readonly string[];
  readonly checked: Checked;
}

/** The audit could not be made: this says nothing about the money. */
export class AuditError extends Error {
  readonly code: "DATABASE_UNREADABLE" | "CHAIN_UNREADABLE" | "WRONG_CHAIN" | "CHAIN_MOVED" | "NOTHING_SINCE";

  constructor(code: AuditError["code"], message: string, options?: { cause: unknown }) {
    super(message, options);
    this.name = "AuditError";
    this.code = code;
  }
}

/** Builds a difference; field values become text. */
export function difference(
  code: DifferenceCode,
  subject: string,
  message: string,
  fields: Readonly<Record<string, string | number | bigint | null | undefined>> = {},
): Difference {
  const texts = Object.entries(fields).map(([name, value]) => [name, String(value ?? "none")] as const);
  return { code, subject, message, fields: Object.fromEntries(texts) };
}
