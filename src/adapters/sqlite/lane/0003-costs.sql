-- What the transaction that took an intent's nonce cost the account: swaps, approvals, revocations, what reverted and
-- what was cancelled alike. Written with the move to `mined`, taken away with it by a reorganisation, then for ever.
CREATE TABLE lane_costs (
  intent_id TEXT PRIMARY KEY REFERENCES lane_intents (id),
  hash TEXT NOT NULL,
  succeeded INTEGER NOT NULL CHECK (succeeded IN (0, 1)),
  block_number INTEGER NOT NULL,
  block_time_seconds INTEGER NOT NULL,
  gas_used TEXT NOT NULL,
  -- wei paid per gas
  gas_price TEXT NOT NULL,
  -- wei that a rollup charged beside gas; null: its receipt tells of none
  data_fee TEXT
) STRICT;

CREATE TRIGGER lane_costs_fixed BEFORE UPDATE ON lane_costs
WHEN (SELECT state FROM lane_intents WHERE id = OLD.intent_id) = 'final'
BEGIN
  SELECT RAISE(ABORT, 'what a final transaction cost never changes');
END;

CREATE TRIGGER lane_costs_kept BEFORE DELETE ON lane_costs
WHEN (SELECT state FROM lane_intents WHERE id = OLD.intent_id) = 'final'
BEGIN
  SELECT RAISE(ABORT, 'what a final transaction cost is never deleted');
END;
