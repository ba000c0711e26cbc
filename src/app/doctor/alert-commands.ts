import type { ALERT_CODES } from "../../domain/run/alert-codes.ts";

type AlertCode = (typeof ALERT_CODES)[number];

/** What is typed first when an alert is open: the first command of its runbook in docs/RUNBOOKS.md. */
export const ALERT_COMMANDS: Readonly<Record<AlertCode, string>> = {
  ACCOUNT_HALTED: "swapd tx list",
  ALLOWANCE_MISSING: "swapd allowances list",
  APPROVAL_NEEDED: "swapd status",
  CHAT_UNHEARD: "swapd notify test",
  CLOCK_DISAGREES: "timedatectl set-ntp true",
  CONFIGURATION_REFUSED: "swapd check",
  DATABASE_BEHIND: "swapd db check",
  DATABASE_UNCHECKED: "swapd db check",
  DRAWDOWN_STOP: "swapd status",
  DRAWDOWN_UNWATCHED: "swapd check",
  ENDPOINTS_DISAGREE: "swapd doctor",
  ENDPOINTS_UNABLE: "swapd check",
  FILL_TAKEN_BACK: "swapd why <strategy>",
  FILL_UNMEASURED: "swapd audit",
  FLOOR_NOT_MET: "swapd why <strategy> --next",
  HALTED_BY_OPERATOR: "swapd status",
  MEMORY_UNREADABLE: "swapd db check",
  NODE_UNREACHABLE: "swapd doctor",
  NO_FUNDS: "swapd plan",
  NO_PRICE: "swapd why <strategy> --next",
  NO_STRATEGIES_LEFT: "swapd check",
  PROPOSAL_UNDELIVERED: "swapd check",
  PROPOSAL_WAITING: "swapd status",
  RATE_LIMIT_UNEXPECTED: "swapd check",
  RESTART_NEEDED: "swapd check",
  RUN_PARKED: "swapd status",
  SERVICE_HOLDS_US_BACK: "swapd status --service",
  SERVICE_UNREACHABLE: "swapd doctor",
  SIGNED_SOMETHING_ELSE: "swapd halt",
  SIGNER_AWAY: "swapd check",
  SLOTS_END_ALIKE: "swapd why <strategy>",
  STRATEGY_EXITS_ONLY: "swapd why <strategy>",
  SWAP_ANNOUNCED: "swapd status",
  SWAP_UNKNOWN: "swapd doctor",
  TRANSACTION_REFUSED: "swapd tx list",
  TRIGGER_GIVEN_BACK: "swapd why <strategy>",
  TRIGGER_NOT_FILLED: "swapd why <strategy>",
};

/** The same about a strategy; of a denial, or of a strategy's own end, why its last slot did not trade. */
export function alertCommand(code: string, strategy: string | undefined): string {
  const known = (ALERT_COMMANDS as Readonly<Record<string, string>>)[code];
  const command = known ?? (strategy === undefined ? "swapd status" : "swapd why <strategy>");
  if (strategy !== undefined) return command.replace("<strategy>", strategy);
  return command.includes("<strategy>") ? "swapd status" : command;
}
