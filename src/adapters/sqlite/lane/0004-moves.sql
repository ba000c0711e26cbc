-- Every move of intents and attempts that there is; an empty `from_state` is the beginning. A test holds it against
-- the program's own tables.
CREATE TABLE lane_moves (
  subject TEXT NOT NULL CHECK (subject IN ('intent', 'attempt')),
  from_state TEXT NOT NULL,
  to_state TEXT NOT NULL,
  PRIMARY KEY (subject, from_state, to_state)
) STRICT, WITHOUT ROWID;
INSERT INTO lane_moves (subject, from_state, to_state) VALUES
  ('intent', '', 'planned'),
  ('intent', 'planned', 'signed'),
  ('intent', 'planned', 'dropped'),
  ('intent', 'signed', 'broadcast'),
  ('intent', 'signed', 'mined'),
  ('intent', 'signed', 'final'),
  ('intent', 'broadcast', 'mined'),
  ('intent', 'broadcast', 'final'),
  ('intent', 'mined', 'confirmed'),
  ('intent', 'mined', 'broadcast'),
  ('intent', 'confirmed', 'final'),
  ('intent', 'confirmed', 'broadcast'),
  ('attempt', '', 'signed'),
  ('attempt', 'signed', 'broadcast'),
  ('attempt', 'signed', 'mined'),
  ('attempt', 'signed', 'replaced'),
  ('attempt', 'signed', 'dropped'),
  ('attempt', 'broadcast', 'mined'),
  ('attempt', 'broadcast', 'replaced'),
  ('attempt', 'broadcast', 'dropped'),
  ('attempt', 'mined', 'confirmed'),
  ('attempt', 'mined', 'reverted'),
  ('attempt', 'mined', 'broadcast'),
  ('attempt', 'confirmed', 'broadcast'),
  ('attempt', 'reverted', 'broadcast');

CREATE TRIGGER lane_transitions_legal BEFORE INSERT ON lane_transitions
WHEN NOT EXISTS (
  SELECT 1 FROM lane_moves
  WHERE subject = iif(NEW.attempt_hash IS NULL, 'intent', 'attempt')
    AND from_state = coalesce(NEW.from_state, '') AND to_state = NEW.to_state
)
BEGIN SELECT RAISE(ABORT, 'no table lists this transition'); END;

CREATE TRIGGER lane_transitions_of_something BEFORE INSERT ON lane_transitions
WHEN NOT iif(
  NEW.attempt_hash IS NULL,
  EXISTS (SELECT 1 FROM lane_intents WHERE id = NEW.intent_id),
  EXISTS (SELECT 1 FROM lane_attempts WHERE hash = NEW.attempt_hash AND intent_id = NEW.intent_id)
)
BEGIN SELECT RAISE(ABORT, 'a transition of nothing'); END;

CREATE TRIGGER lane_transitions_in_a_row BEFORE INSERT ON lane_transitions
WHEN NEW.from_state IS NOT (
  SELECT to_state FROM lane_transitions
  WHERE intent_id = NEW.intent_id AND attempt_hash IS NEW.attempt_hash ORDER BY id DESC LIMIT 1
)
BEGIN SELECT RAISE(ABORT, 'a transition begins where the last one ended'); END;

CREATE TRIGGER lane_intents_state BEFORE UPDATE OF state ON lane_intents
WHEN NEW.state <> OLD.state AND NOT EXISTS (
  SELECT 1 FROM lane_moves WHERE subject = 'intent' AND from_state = OLD.state AND to_state = NEW.state
)
BEGIN SELECT RAISE(ABORT, 'no such move of an intent'); END;

CREATE TRIGGER lane_attempts_state BEFORE UPDATE OF state ON lane_attempts
WHEN NEW.state <> OLD.state AND NOT EXISTS (
  SELECT 1 FROM lane_moves WHERE subject = 'attempt' AND from_state = OLD.state AND to_state = NEW.state
)
BEGIN SELECT RAISE(ABORT, 'no such move of an attempt'); END;
