import { DENIALS } from "../guard/denial.ts";

/** Codes of alerts, besides those of denials and of a strategy's own end. */
export const ALERT_CODES = [
  "ACCOUNT_HALTED",
  "ALLOWANCE_MISSING",
  "APPROVAL_NEEDED",
  "CHAT_UNHEARD",
  "CLOCK_DISAGREES",
  "CONFIGURATION_REFUSED",
  "DATABASE_BEHIND",
  "DATABASE_UNCHECKED",
  "DRAWDOWN_STOP",
  "DRAWDOWN_UNWATCHED",
  "ENDPOINTS_DISAGREE",
  "ENDPOINTS_UNABLE",
  "FILL_TAKEN_BACK",
  "FILL_UNMEASURED",
  "FLOOR_NOT_MET",
  "HALTED_BY_OPERATOR",
  "MEMORY_UNREADABLE",
  "NODE_UNREACHABLE",
  "NO_FUNDS",
  "NO_PRICE",
  "NO_STRATEGIES_LEFT",
  "PROPOSAL_UNDELIVERED",
  "PROPOSAL_WAITING",
  "RATE_LIMIT_UNEXPECTED",
  "RESTART_NEEDED",
  "RUN_PARKED",
  "SERVICE_HOLDS_US_BACK",
  "SERVICE_UNREACHABLE",
  "SIGNED_SOMETHING_ELSE",
  "SIGNER_AWAY",
  "SLOTS_END_ALIKE",
  "STRATEGY_EXITS_ONLY",
  "SWAP_ANNOUNCED",
  "SWAP_UNKNOWN",
  "TRANSACTION_REFUSED",
  "TRIGGER_GIVEN_BACK",
  "TRIGGER_NOT_FILLED",
] as const;

/** Codes of messages: what happened, and is not true for a while. */
const MESSAGE_CODES = ["FILLED", "WOULD_FILL", "STARTED", "DOWNTIME", "DIGEST"] as const;

/** A strategy that ended itself says so under a code of its own. */
const STRATEGY_CODE = /^strategy_[a-z_]+$/;

/** Every code that people can be notified of by name. */
export const KNOWN_CODES: readonly string[] = [...ALERT_CODES, ...MESSAGE_CODES, ...Object.keys(DENIALS)];

/** Whether people may be notified of something under this code. */
export function isKnownCode(code: string): boolean {
  return KNOWN_CODES.includes(code) || STRATEGY_CODE.test(code);
}
