/**
 * Every reason for which we deny a swap. The words are stable: users filter by them, and docs/ERRORS.md is generated
 * from {@link DENIALS}. We deny, a node rejects, a chain reverts.
 */
export type DenialCode =
  | "TARGET_NOT_PINNED"
  | "SPENDER_NOT_PINNED"
  | "VERIFYING_CONTRACT_NOT_PINNED"
  | "CHAIN_MISMATCH"
  | "VALUE_MISMATCH"
  | "UNDECODABLE"
  | "TYPED_DATA_UNKNOWN"
  | "SENDER_MISMATCH"
  | "RECIPIENT_MISMATCH"
  | "RECIPIENT_NOT_ALLOWED"
  | "TOKEN_NOT_ALLOWED"
  | "SPENDER_NOT_ALLOWED"
  | "TOKEN_MISMATCH"
  | "AMOUNT_MISMATCH"
  | "AFFILIATE_MISMATCH"
  | "SWAP_FEE_TOO_HIGH"
  | "OUTPUT_BELOW_MINIMUM"
  | "PRICE_LIMIT_NOT_MET"
  | "DEADLINE_OUT_OF_BOUNDS"
  | "NONCE_MISSING"
  | "NONCE_USED"
  | "PERMIT_UNEXPECTED"
  | "PERMIT_UNSUPPORTED"
  | "QUOTE_EXPIRED"
  | "REFERENCE_MISSING"
  | "REFERENCE_DIVERGES"
  | "STABLECOIN_DEPEGGED"
  | "SEQUENCER_DOWN"
  | "PRICE_IMPACT_TOO_HIGH"
  | "FEE_CAP_EXCEEDED"
  | "RUN_CAP_EXCEEDED"
  | "DAILY_CAP_EXCEEDED"
  | "MONTHLY_CAP_EXCEEDED"
  | "BUDGET_EXCEEDED"
  | "TRADE_TOO_SMALL"
  | "BALANCE_TOO_LOW"
  | "GAS_RESERVE_TOO_LOW"
  | "GAS_PRICE_TOO_HIGH"
  | "SIMULATION_REVERTED"
  | "SIMULATION_MISMATCH"
  | "SIMULATION_UNAVAILABLE"
  | "GASLESS_UNTRIED"
  | "PROPOSAL_MISMATCH"
  | "TOKEN_TAX"
  | "ROUND_TRIP_LOSS"
  | "ANSWER_TOO_LARGE"
  | "ANSWER_NOT_JSON"
  | "ANSWER_MALFORMED";

/** A refusal of ours to sign: its code, and the values that led to it, as text. Never a secret. */
export interface Denial {
  readonly code: DenialCode;
  readonly fields: Readonly<Record<string, string>>;
}

/** What a code means and what the operator can do, one line each. */
export interface DenialExplanation {
  readonly meaning: string;
  readonly whatToDo: string;
}

/** The one table of denial codes. */
export const DENIALS: Readonly<Record<DenialCode, DenialExplanation>> = {
  TARGET_NOT_PINNED: {
    meaning: "The service named a contract that is not the settlement contract pinned for this network.",
    whatToDo: "Check the service; change the pinned settlement address only after verifying the contract yourself.",
  },
  SPENDER_NOT_PINNED: {
    meaning: "Another contract would be allowed to take the sold token than the spender pinned for this network.",
    whatToDo: "Check the service; change `service.spender` only after verifying the contract yourself.",
  },
  VERIFYING_CONTRACT_NOT_PINNED: {
    meaning: "The order would be checked by another contract than the one pinned for this network.",
    whatToDo: "Check the service; change `service.verifyingContract` only after verifying the contract yourself.",
  },
  CHAIN_MISMATCH: {
    meaning: "The service's answer is for another chain than the one this daemon runs on.",
    whatToDo: "Check the network name and the service address in the configuration.",
  },
  VALUE_MISMATCH: {
    meaning: "The transaction would send another amount of the native token than the swap sells.",
    whatToDo: "Do not use this service until its operator explains the difference.",
  },
  UNDECODABLE: {
    meaning: "The calldata is not exactly what the profile's pinned decoder knows.",
    whatToDo: "Check that the profile fits the service; a changed contract needs a new profile.",
  },
  TYPED_DATA_UNKNOWN: {
    meaning: "The typed data is missing, or has another domain, type or field than the profile pins.",
    whatToDo: "Check that the profile fits the service; the fields say which type was seen.",
  },
  SENDER_MISMATCH: {
    meaning: "The swap would have to be sent by an account that must not send it.",
    whatToDo:
      "Check the service's answer: our own account sends what it executes itself, another account a gasless swap.",
  },
  RECIPIENT_MISMATCH: {
    meaning: "The bought tokens would go to another address than the one requested.",
    whatToDo: "Do not use this service until its operator explains the difference.",
  },
  RECIPIENT_NOT_ALLOWED: {
    meaning: "The policy does not list this recipient.",
    whatToDo: "Add the address to `recipients` in the policy, or change the strategy's recipient.",
  },
  TOKEN_NOT_ALLOWED: {
    meaning: "The policy does not list a token that the swap sells or buys.",
    whatToDo: "Let the owner add the token to `tokens` in the policy, or trade another one.",
  },
  SPENDER_NOT_ALLOWED: {
    meaning: "The policy does not list a contract that the swap would be signed for.",
    whatToDo: "Let the owner verify the contract and add it to `spenders` in the policy.",
  },
  TOKEN_MISMATCH: {
    meaning: "The swap is of other tokens than those requested.",
    whatToDo: "Do not use this service until its operator explains the difference.",
  },
  AMOUNT_MISMATCH: {
    meaning: "Net amount and fees do not add up to exactly the amount that was to be sold.",
    whatToDo: "Do not use this service until its operator explains the difference.",
  },
  AFFILIATE_MISMATCH: {
    meaning: "The affiliate or its fee is not the one requested.",
    whatToDo: "Do not use this service until its operator explains the difference.",
  },
  SWAP_FEE_TOO_HIGH: {
    meaning: "The service's own fee is a larger share of the sold amount than allowed.",
    whatToDo: "Trade larger amounts, raise `max_fee`, or use self-execution.",
  },
  OUTPUT_BELOW_MINIMUM: {
    meaning: "The guaranteed output is below what the quote and the reference price require.",
    whatToDo: "Usually passes by itself; if it lasts, check the pair's depth and `reference` in the policy.",
  },
  PRICE_LIMIT_NOT_MET: {
    meaning: "The quote brings less, all fees counted, than the strategy's own price limit asks for.",
    whatToDo: "Nothing: it is tried again while the window is open; move the limit if it never fills.",
  },
  DEADLINE_OUT_OF_BOUNDS: {
    meaning: "The swap's deadline has passed or lies too far in the future.",
    whatToDo: "Check this machine's clock; otherwise the service's quote lifetime is longer than the one configured.",
  },
  NONCE_MISSING: {
    meaning: "The signature would carry no nonce although this service's signatures have one.",
    whatToDo: "Check that the profile fits the service.",
  },
  NONCE_USED: {
    meaning: "The signature's nonce already belongs to another swap of this wallet, or is used on the chain.",
    whatToDo: "Usually passes with the next quote; a service that repeats nonces should not be used.",
  },
  PERMIT_UNEXPECTED: {
    meaning: "The calldata carries a permit; permits are built by the daemon alone.",
    whatToDo: "Do not use this service until its operator explains it.",
  },
  PERMIT_UNSUPPORTED: {
    meaning: "The sold token has no provable EIP-2612 permit and the allowance does not suffice.",
    whatToDo: "Set `gasless: never` or `prefer` for this pair, or approve the settlement contract beforehand.",
  },
  QUOTE_EXPIRED: {
    meaning: "The quote's lifetime has passed.",
    whatToDo: "Passes by itself with the next quote; if it lasts, check this machine's clock.",
  },
  REFERENCE_MISSING: {
    meaning: "A configured source gives no fresh reference price; the fields say which and why.",
    whatToDo: "Check that source; without a reference nothing is traded, and no other source stands in for it.",
  },
  REFERENCE_DIVERGES: {
    meaning: "The sources of the reference price contradict each other by more than allowed.",
    whatToDo:
      "Usually passes by itself; if it lasts, find out which source is wrong before you raise `max_divergence`.",
  },
  STABLECOIN_DEPEGGED: {
    meaning: "A token that is pegged to the dollar is further from it than allowed.",
    whatToDo: "Decide yourself whether to trade it: the peg is `peg: USD` of the token, the bound is `max_depeg`.",
  },
  SEQUENCER_DOWN: {
    meaning: "The rollup's sequencer is down, or came back so lately that prices may still be those of before.",
    whatToDo: "Wait: it passes an hour after the sequencer is back.",
  },
  PRICE_IMPACT_TOO_HIGH: {
    meaning: "The trade would move the price by more than allowed.",
    whatToDo: "Trade smaller amounts, or raise `max_price_impact`.",
  },
  FEE_CAP_EXCEEDED: {
    meaning: "Gas and service fees are a larger share of the trade's value than allowed.",
    whatToDo: "Trade larger amounts, wait for cheaper gas, or raise `max_fee`.",
  },
  RUN_CAP_EXCEEDED: {
    meaning: "The trade is worth more than one trade may be.",
    whatToDo: "Sell less, or raise `max_trade` in the policy.",
  },
  DAILY_CAP_EXCEEDED: {
    meaning: "With this trade the day's trades would be worth more than allowed.",
    whatToDo: "Wait: any 24 hours count, or raise `max_per_day` in the policy.",
  },
  MONTHLY_CAP_EXCEEDED: {
    meaning: "With this trade the trades of 30 days would be worth more than allowed.",
    whatToDo: "Wait, or raise `max_per_month` in the policy.",
  },
  BUDGET_EXCEEDED: {
    meaning: "With this trade the strategy would have sold more than its own budget allows.",
    whatToDo: "Nothing: a later slot is sized by what is left then; or raise `budget` in the strategy.",
  },
  TRADE_TOO_SMALL: {
    meaning: "The trade is worth less than the smallest one that the policy allows.",
    whatToDo: "Trade larger amounts less often, or lower `min_trade` in the policy.",
  },
  BALANCE_TOO_LOW: {
    meaning: "The wallet holds less of the sold token than the swap sells.",
    whatToDo: "Fund the wallet, or sell less.",
  },
  GAS_RESERVE_TOO_LOW: {
    meaning: "After the swap less of the native token would be left than the gas reserve.",
    whatToDo: "Fund the wallet with the native token, or lower `gas_reserve`.",
  },
  GAS_PRICE_TOO_HIGH: {
    meaning: "The network's fee per gas is above the ceiling.",
    whatToDo: "Usually passes by itself; raise `max_gas_price` if it does not.",
  },
  SIMULATION_REVERTED: {
    meaning: "The transaction reverts when simulated on the latest block.",
    whatToDo: "The fields give the revert reason; usually the next attempt with a fresh quote passes.",
  },
  SIMULATION_MISMATCH: {
    meaning: "Simulated, the transaction moves other tokens, or sets other allowances, than the swap may.",
    whatToDo: "Do not use this service until its operator explains the difference.",
  },
  SIMULATION_UNAVAILABLE: {
    meaning: "No RPC endpoint can try transactions out as the policy permits, so none may be signed.",
    whatToDo:
      "Use an endpoint with eth_simulateV1 or debug_traceCall, or let the owner add `probe` to `simulation` in the policy.",
  },
  GASLESS_UNTRIED: {
    meaning: "The service gives nothing with which a gasless order could be simulated before it is signed.",
    whatToDo: "Trade self-executed, or let the owner write `gasless_untried: accept` in the policy.",
  },
  PROPOSAL_MISMATCH: {
    meaning:
      "What the owners of a Safe would be asked to sign is not exactly the swap, or the Safe is none that is known.",
    whatToDo: "The fields say which part it was; compare the Safe's version with those that OPERATIONS names.",
  },
  TOKEN_TAX: {
    meaning: "Part of the bought token is diverted on its way to the recipient: the token charges for transfers.",
    whatToDo: "Remove this token from the strategy; such tokens are not traded.",
  },
  ROUND_TRIP_LOSS: {
    meaning: "Selling back what would be bought brings too little, or is not possible at all.",
    whatToDo: "Check the token: it may charge for sales or forbid them. Buy it only if you know why.",
  },
  ANSWER_TOO_LARGE: {
    meaning: "The service's answer is larger than the configured bound and was not read to its end.",
    whatToDo: "Check the service's address; a proper answer is a few kilobytes.",
  },
  ANSWER_NOT_JSON: {
    meaning: "The service's answer is not JSON, or JSON that two parsers would read differently.",
    whatToDo: "Check the service's address; often a proxy or a login page answers in its place.",
  },
  ANSWER_MALFORMED: {
    meaning: "A field of the service's answer is missing or is not what the interface says.",
    whatToDo: "Check that the profile fits the service; the fields say which one it was.",
  },
};

/** Whether a code that came from elsewhere (a refusal of the service's client) is one of ours. */
export function isDenialCode(code: string): code is DenialCode {
  return Object.hasOwn(DENIALS, code);
}
