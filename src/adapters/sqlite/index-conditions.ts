/**
 * The conditions of the indexes on what is open, word for word: a query that states one reads the few rows, not all
 * that ever were.
 */

export const OPEN_RUNS = "state IN ('due', 'deciding', 'executing', 'parked')";
/** Swaps that were signed and are not final. */
export const UNSETTLED_SWAPS = "state IN ('signed', 'submitted', 'mined', 'confirmed', 'unknown')";
/** Swaps that may take a wallet's token. */
export const BUSY_SWAPS = "state IN ('quoted', 'cleared', 'approving', 'signed', 'submitted', 'mined', 'unknown')";
/** Swaps that may bring another wallet something at any moment, or brought it something that no total counts yet. */
export const DELIVERING_SWAPS = "recipient <> wallet AND state IN ('signed', 'submitted', 'mined', 'unknown')";
export const OPEN_INTENTS = "state IN ('planned', 'signed', 'broadcast', 'mined', 'confirmed')";
