-- Beside what waits for an earlier nonce that nobody uses any more, an empty transaction at that nonce may be in flight.
DROP INDEX lane_intents_in_flight;
CREATE UNIQUE INDEX lane_intents_in_flight ON lane_intents (account, chain_id)
  WHERE nonce IS NOT NULL AND state IN ('planned', 'signed', 'broadcast', 'mined') AND was_confirmed = 0
    AND substr(id, 1, 4) <> 'gap.';
