-- What a relayer accepted for others and wrote down to be signed, and never signed, is forgotten as well: an intent is
-- dropped only while there are no bytes of it, and bytes leave only once they are rows.
DROP TRIGGER lane_signings_append_only_delete;
CREATE TRIGGER lane_signings_append_only_delete BEFORE DELETE ON lane_signings
WHEN NOT EXISTS (
  SELECT 1 FROM lane_intents WHERE id = OLD.intent_id AND purpose = 'relay' AND state = 'dropped'
    AND NOT EXISTS (SELECT 1 FROM lane_attempts WHERE intent_id = OLD.intent_id)
)
BEGIN
  SELECT RAISE(ABORT, 'signings are append-only');
END;
DROP TRIGGER lane_transitions_append_only_delete;
CREATE TRIGGER lane_transitions_append_only_delete BEFORE DELETE ON lane_transitions
WHEN NOT EXISTS (
  SELECT 1 FROM lane_intents WHERE id = OLD.intent_id AND purpose = 'relay' AND state = 'dropped'
    AND NOT EXISTS (SELECT 1 FROM lane_attempts WHERE intent_id = OLD.intent_id)
)
BEGIN
  SELECT RAISE(ABORT, 'transitions are append-only');
END;
