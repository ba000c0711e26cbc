-- What is final and old may go into an archive, and out of these tables. An intent that goes is marked in the transaction
-- in which it goes: such a mark cannot be committed, because it refers to what cannot be there.
CREATE TABLE lane_no_rows (id TEXT PRIMARY KEY CHECK (id IS NULL)) STRICT, WITHOUT ROWID;
CREATE TABLE lane_leaving (
  intent_id TEXT PRIMARY KEY REFERENCES lane_no_rows (id) DEFERRABLE INITIALLY DEFERRED
) STRICT, WITHOUT ROWID;
CREATE TRIGGER lane_leaving_over BEFORE INSERT ON lane_leaving
WHEN NOT EXISTS (SELECT 1 FROM lane_intents WHERE id = NEW.intent_id AND state IN ('final', 'dropped'))
BEGIN SELECT RAISE(ABORT, 'a transaction that is not over stays'); END;
-- The next nonce is the one after the highest that was given.
CREATE TRIGGER lane_leaving_not_the_newest BEFORE INSERT ON lane_leaving
WHEN EXISTS (
  SELECT 1 FROM lane_intents AS one WHERE one.id = NEW.intent_id AND one.nonce IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM lane_intents WHERE account = one.account AND chain_id = one.chain_id AND nonce > one.nonce
  )
)
BEGIN SELECT RAISE(ABORT, 'the newest transaction of an account stays'); END;
-- Nonces up to these may have been given to what is gone from these tables.
CREATE TABLE lane_archived (
  account TEXT NOT NULL,
  chain_id INTEGER NOT NULL,
  nonce INTEGER NOT NULL,
  PRIMARY KEY (account, chain_id)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER lane_archived_up_to AFTER INSERT ON lane_leaving
BEGIN
  INSERT INTO lane_archived (account, chain_id, nonce)
    SELECT account, chain_id, nonce FROM lane_intents WHERE id = NEW.intent_id AND nonce IS NOT NULL
    ON CONFLICT (account, chain_id) DO UPDATE SET nonce = max(nonce, excluded.nonce);
END;
CREATE TRIGGER lane_archived_stays BEFORE DELETE ON lane_archived
BEGIN SELECT RAISE(ABORT, 'what was archived is not forgotten'); END;

DROP TRIGGER lane_intents_kept;
CREATE TRIGGER lane_intents_kept BEFORE DELETE ON lane_intents
WHEN OLD.state <> 'dropped' AND NOT EXISTS (SELECT 1 FROM lane_leaving WHERE intent_id = OLD.id)
BEGIN
  SELECT RAISE(ABORT, 'an intent that may have been signed is never deleted');
END;
DROP TRIGGER lane_attempts_kept;
CREATE TRIGGER lane_attempts_kept BEFORE DELETE ON lane_attempts
WHEN NOT EXISTS (SELECT 1 FROM lane_leaving WHERE intent_id = OLD.intent_id)
BEGIN
  SELECT RAISE(ABORT, 'what was signed is never deleted');
END;
DROP TRIGGER lane_signings_append_only_delete;
CREATE TRIGGER lane_signings_append_only_delete BEFORE DELETE ON lane_signings
WHEN NOT EXISTS (SELECT 1 FROM lane_leaving WHERE intent_id = OLD.intent_id) AND NOT EXISTS (
  SELECT 1 FROM lane_intents WHERE id = OLD.intent_id AND purpose = 'relay' AND state = 'dropped'
    AND NOT EXISTS (SELECT 1 FROM lane_attempts WHERE intent_id = OLD.intent_id)
)
BEGIN
  SELECT RAISE(ABORT, 'signings are append-only');
END;
DROP TRIGGER lane_transitions_append_only_delete;
CREATE TRIGGER lane_transitions_append_only_delete BEFORE DELETE ON lane_transitions
WHEN NOT EXISTS (SELECT 1 FROM lane_leaving WHERE intent_id = OLD.intent_id) AND NOT EXISTS (
  SELECT 1 FROM lane_intents WHERE id = OLD.intent_id AND purpose = 'relay' AND state = 'dropped'
    AND NOT EXISTS (SELECT 1 FROM lane_attempts WHERE intent_id = OLD.intent_id)
)
BEGIN
  SELECT RAISE(ABORT, 'transitions are append-only');
END;
DROP TRIGGER lane_costs_kept;
CREATE TRIGGER lane_costs_kept BEFORE DELETE ON lane_costs
WHEN (SELECT state FROM lane_intents WHERE id = OLD.intent_id) = 'final'
  AND NOT EXISTS (SELECT 1 FROM lane_leaving WHERE intent_id = OLD.intent_id)
BEGIN
  SELECT RAISE(ABORT, 'what a final transaction cost is never deleted');
END;
