-- What a relayer accepted for others and never signed is forgotten some days after its deadline, with its moves. The moves
-- of whatever was signed, or asked for by ourselves, stay for ever.
DROP TRIGGER lane_transitions_append_only_delete;
CREATE TRIGGER lane_transitions_append_only_delete BEFORE DELETE ON lane_transitions
WHEN NOT EXISTS (
  SELECT 1 FROM lane_intents WHERE id = OLD.intent_id AND purpose = 'relay' AND state = 'dropped'
    AND NOT EXISTS (SELECT 1 FROM lane_signings WHERE intent_id = OLD.intent_id)
)
BEGIN
  SELECT RAISE(ABORT, 'transitions are append-only');
END;
