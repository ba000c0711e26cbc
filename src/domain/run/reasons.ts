import type { SkipReason } from "../strategy/decision.ts";
import type { OperatingMode } from "./operating-mode.ts";

/** Why a due slot got no run. */
export type SlotReason =
  | "missed"
  | "accumulated"
  | "outside_window"
  | "overlap"
  | "skipped_by_operator"
  | Exclude<OperatingMode, "active">;

/** Why a swap ended before anything was signed, or its run with it. */
export type UnsignedReason =
  | "view_unavailable"
  | "quote_unavailable"
  | "node_unavailable"
  | "service_unavailable"
  | "clock_disagrees"
  | "quote_refused"
  | "gasless_refused"
  | "wallet_busy"
  | "dry_run"
  | "signing_barred"
  | "approval_failed"
  | "approval_not_sent"
  | "not_signed_in_time"
  | "window_over"
  | "cancelled_by_operator"
  | "earlier_swap_denied"
  | "not_announced"
  | "not_approved"
  | "refused_by_operator";

/** What is said of a swap that was signed, besides its state. */
export type SignedReason = "answer_lost" | "overdue" | "reorganised" | "reverted" | "cancelled" | "expired";

/** What a reason means and what the operator can do, one line each. */
export interface ReasonExplanation {
  readonly meaning: string;
  readonly whatToDo: string;
}

const NOTHING = "Nothing: this is the strategy at work.";

/** Reasons of a strategy that trades nothing at a slot. */
export const STRATEGY_REASONS: Readonly<Record<SkipReason, ReasonExplanation>> = {
  budget_spent: {
    meaning: "The strategy has sold its whole budget or `allocation`, or too little for a sale is left of it.",
    whatToDo: "Raise that key and `swapd resume`, or remove the strategy.",
  },
  budget_period_spent: {
    meaning: "What is left of the budget of a day, week or month is less than what the slot would sell.",
    whatToDo: "Nothing: the detail says when it renews; or raise `budget`.",
  },
  insufficient_balance: {
    meaning: "The wallet holds less of the sold token, reservations and gas reserve aside, than the slot would sell.",
    whatToDo: "Fund the wallet, or sell less.",
  },
  within_bands: { meaning: "No weight is far enough from its target.", whatToDo: NOTHING },
  below_minimum_trade: {
    meaning:
      "What would be traded is less than `trades.min`, `min_sell`, `min_fill` or the token's smallest unit, or an earlier swap of the run brought too little.",
    whatToDo: "Nothing, or lower that key; mind the fees of small trades.",
  },
  unpriceable: {
    meaning: "A token that the strategy weighs or watches has no fresh reference price.",
    whatToDo: "Check the token's price feed.",
  },
  not_triggered: { meaning: "The price has not crossed the trigger.", whatToDo: NOTHING },
  not_armed: {
    meaning: "The trigger waits: the price must first be seen on the other side, or at the re-arm price.",
    whatToDo: NOTHING,
  },
  cooling_down: { meaning: "The strategy has fired and its cooldown is not over.", whatToDo: NOTHING },
  already_fired: {
    meaning: "No trigger of the strategy is left: each has fired for the last time, or was cancelled by one that did.",
    whatToDo: "Add `rearm` or a leg with a new `id` if it shall fire again, then `swapd resume`; else remove it.",
  },
  not_started: { meaning: "The strategy's first instant is still to come.", whatToDo: NOTHING },
  ended: {
    meaning: "The strategy has reached its last day or its largest number of runs.",
    whatToDo: "Move its end if it shall go on, then `swapd resume`; else remove it.",
  },
  price_gate: {
    meaning: "The price did not satisfy `only_if` in the slot's window.",
    whatToDo: NOTHING,
  },
  price_limit: { meaning: "The price did not meet the strategy's own limit.", whatToDo: NOTHING },
  price_abort: {
    meaning: "The price passed the strategy's abort price, so it sells no further.",
    whatToDo: "Look at the market; `swapd resume` goes on if the price allows it.",
  },
  max_sell_exceeded: {
    meaning: "The amount to be bought would cost more than `max_sell`.",
    whatToDo: "Nothing, or raise `max_sell`.",
  },
  confirming: { meaning: "The condition holds, but not yet for as long as it must.", whatToDo: NOTHING },
  backing_off: {
    meaning: "The trigger has fired, its last attempts came to nothing, and the next one waits: a minute at most.",
    whatToDo: "Look at the runs before with `swapd why`: they say what they lacked.",
  },
  turnover_spent: {
    meaning: "The largest turnover of the day or of the run is used up.",
    whatToDo: "Nothing: it converges over the next slots.",
  },
  on_path: { meaning: "The holding is worth what its path asks for at this slot, or more.", whatToDo: NOTHING },
  not_activated: { meaning: "The trailing stop waits for its activation price.", whatToDo: NOTHING },
  below_mark: { meaning: "The balance has not passed the mark at which the strategy acts.", whatToDo: NOTHING },
};

/** Reasons of a slot without a run. */
export const SLOT_REASONS: Readonly<Record<SlotReason, ReasonExplanation>> = {
  missed: {
    meaning:
      "The slot was too old to be caught up, or one too many: the daemon was not running, or busy with the run before.",
    whatToDo: "Nothing, or change `catch_up`; the count says how many slots were missed.",
  },
  accumulated: {
    meaning: "The slot passed while no run could start, and the run of a later slot stands for it too.",
    whatToDo: "Nothing: `catch_up: { policy: accumulate }` asks for it.",
  },
  outside_window: {
    meaning: "The slot could only have started late, outside of the schedule's windows or on a blackout date.",
    whatToDo: "Nothing, or widen `schedule.windows`.",
  },
  overlap: {
    meaning: "The strategy's run before this one was still open.",
    whatToDo: "If it lasts, see the open run with `swapd show`; a schedule may be tighter than swaps take.",
  },
  skipped_by_operator: { meaning: "An operator let this slot pass.", whatToDo: "Nothing." },
  paused: {
    meaning: "The daemon or the strategy is paused, or was when the slot passed.",
    whatToDo: "`swapd resume`, after `swapd status` said why.",
  },
  "exits-only": {
    meaning: "Only runs that leave a position may start, and this one would not.",
    whatToDo: "`swapd resume` to go back to all runs.",
  },
  halted: { meaning: "Nothing may be signed.", whatToDo: "`swapd resume`, after `swapd status` said why." },
};

/** Reasons of a swap or run that ended unsigned. */
export const UNSIGNED_REASONS: Readonly<Record<UnsignedReason, ReasonExplanation>> = {
  view_unavailable: {
    meaning: "Balances or prices could not be read within the run's window.",
    whatToDo: "Check the RPC endpoints: `swapd status`.",
  },
  quote_unavailable: {
    meaning: "The service gave no quote within the run's window, for reasons of the moment.",
    whatToDo: "Check the service; the detail names the last error.",
  },
  node_unavailable: {
    meaning:
      "The quote came, but no RPC endpoint properly answered what it must be checked against within the run's window.",
    whatToDo: "Check the RPC endpoints; the detail names the question and each endpoint's answer.",
  },
  service_unavailable: {
    meaning:
      "The quote came, but within the run's window the service did not build its transaction, or not quote the way back that `round_trip` asks for.",
    whatToDo: "Check the service; the detail names the last error.",
  },
  clock_disagrees: {
    meaning:
      "This machine's clock and the time of the latest block were too far apart for a deadline to mean anything, for the whole window.",
    whatToDo: "Set the clock, or check whether the RPC endpoint lags behind its chain.",
  },
  quote_refused: {
    meaning: "The service refused to quote this trade.",
    whatToDo: "The detail has the service's own code; see the service's errors below.",
  },
  gasless_refused: {
    meaning: "The service refused gasless execution, and the strategy allows no other.",
    whatToDo: "Set `gasless: prefer`, approve the settlement contract, or sell a token with an EIP-2612 permit.",
  },
  wallet_busy: {
    meaning:
      "Another swap, approval or revocation of this token was open in the wallet for the whole window. A swap that waits names it too while a reorganisation holds back what it sells.",
    whatToDo: "Nothing, or move strategies that sell the same token apart.",
  },
  dry_run: {
    meaning: "Every check passed. Nothing is signed in a dry run.",
    whatToDo: "Set `mode: live` when you trust what `swapd history` shows.",
  },
  signing_barred: {
    meaning:
      "Signing was halted after the run had begun, its wallet was taken out of the configuration, or what another database did was accepted while it was open.",
    whatToDo: "`swapd status` says who halted it and why; a later slot trades again.",
  },
  approval_failed: {
    meaning: "The approval reverted, did not suffice, or was given up because no block took it.",
    whatToDo:
      "Check the token: it may need an approval from zero, or charge for transfers. What no block took was outbid: gas was too dear for `max_fee`.",
  },
  approval_not_sent: {
    meaning:
      "The approval was not signed within the window, for example because gas was above the ceiling, or its signer elsewhere was away.",
    whatToDo: "If it lasts, raise `max_gas_price`, or look at the signer (`swapd check`).",
  },
  not_signed_in_time: {
    meaning: "The transaction, or the gasless order, was not signed before its quote ran out.",
    whatToDo:
      "Usually the next attempt passes; if it lasts, check gas prices, the wallet's open transactions, and its signer where that is elsewhere (`swapd check`).",
  },
  window_over: {
    meaning:
      "Nothing was signed yet long after the run's window, as after a stop, a sleep of the machine or an outage: what was decided was of another time.",
    whatToDo: "Nothing: slots that were missed meanwhile follow `catch_up`, and the next one decides anew.",
  },
  cancelled_by_operator: {
    meaning: "An operator cancelled the transaction, or the approval before it; the run does not try it again.",
    whatToDo: "Nothing; `swapd pause <strategy>` keeps later slots from trading, too.",
  },
  earlier_swap_denied: {
    meaning: "The swap before it in the same run was denied, so nothing more of the run was begun.",
    whatToDo: "See that swap's code.",
  },
  not_announced: {
    meaning:
      "The strategy announces its swaps (`execution.announce`), and no channel had taken the announcement by the end of the window: receivers refused it or were away, or the channel's `quiet` hours lasted longer.",
    whatToDo: "`swapd notify test` shows what the receivers answer; give swaps of quiet hours a longer `retry_for`.",
  },
  not_approved: {
    meaning:
      "The swap sells more than `execution.approve_above`, and nobody approved its run within `execution.approve_within`.",
    whatToDo:
      "Approve the next one in time with `swapd approve <run>`, give it longer with `execution.approve_within`, or raise the bound.",
  },
  refused_by_operator: {
    meaning: "The run waited for a person, who refused it with `swapd skip <run>`.",
    whatToDo: "Nothing; `swapd pause <strategy>` keeps later slots from trading, too.",
  },
};

/** What is said of a signed swap. Only a finalised block makes the last three of them. */
export const SIGNED_REASONS: Readonly<Record<SignedReason, ReasonExplanation>> = {
  answer_lost: {
    meaning: "Whether the service took the swap is not known. It is not submitted again; the chain decides.",
    whatToDo: "Wait until its deadline is final; its money stays reserved until then.",
  },
  overdue: {
    meaning: "The swap's deadline is past, but no finalised block says so yet.",
    whatToDo: "Wait; if it lasts for hours, check that the RPC endpoints follow the chain.",
  },
  reorganised: {
    meaning: "The block with the swap is no longer part of the chain; it is waited for again.",
    whatToDo: "Nothing; more `confirmations` make this rarer.",
  },
  reverted: {
    meaning: "The transaction is in a finalised block and reverted; nothing was swapped, the gas is spent.",
    whatToDo: "Usually the price moved; a wider `slippage` within the policy makes it rarer.",
  },
  cancelled: {
    meaning: "The nonce was taken by our own cancellation, or the signature was made void on the chain.",
    whatToDo: "Nothing; the next slot trades again.",
  },
  expired: {
    meaning: "The deadline passed in a finalised block without a fill.",
    whatToDo: "If it lasts, the service's relayer is slow or fees are too low for the network.",
  },
};
