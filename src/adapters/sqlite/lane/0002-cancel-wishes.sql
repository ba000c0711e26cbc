-- That a person wants an open intent cancelled. It is a wish: the chain decides which transaction takes the nonce.
CREATE TABLE lane_cancel_wishes (
  intent_id TEXT PRIMARY KEY REFERENCES lane_intents (id),
  wished_by TEXT NOT NULL,
  at_ms INTEGER NOT NULL
) STRICT;

CREATE TRIGGER lane_cancel_wishes_append_only BEFORE UPDATE ON lane_cancel_wishes
BEGIN
  SELECT RAISE(ABORT, 'a wish to cancel never changes');
END;
