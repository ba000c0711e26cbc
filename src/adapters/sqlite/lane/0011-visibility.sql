-- To whom a transaction's bytes are shown before they are in a block. Until now each endpoint got all of them.
ALTER TABLE lane_signings ADD COLUMN visibility TEXT NOT NULL DEFAULT 'public'
  CHECK (visibility IN ('private', 'public'));
ALTER TABLE lane_attempts ADD COLUMN visibility TEXT NOT NULL DEFAULT 'public'
  CHECK (visibility IN ('private', 'public'));

-- What was once meant for private endpoints is never signed again for others; only an empty cancellation is.
CREATE TRIGGER lane_signings_stay_private BEFORE INSERT ON lane_signings
WHEN NEW.visibility = 'public'
  AND EXISTS (SELECT 1 FROM lane_signings WHERE intent_id = NEW.intent_id AND visibility = 'private')
  AND (NEW.kind <> 'cancel' OR NEW.data <> '0x' OR NEW.value <> '0')
BEGIN
  SELECT RAISE(ABORT, 'a private transaction stays private');
END;

-- Bytes are shown to those alone for whom they were written down.
CREATE TRIGGER lane_attempts_as_written BEFORE INSERT ON lane_attempts
WHEN NEW.visibility = 'public' AND EXISTS (
  SELECT 1 FROM lane_signings WHERE intent_id = NEW.intent_id AND visibility = 'private' AND kind = NEW.kind
    AND max_fee_per_gas = NEW.max_fee_per_gas AND max_priority_fee_per_gas = NEW.max_priority_fee_per_gas
)
BEGIN
  SELECT RAISE(ABORT, 'what was written down as private is not shown to everybody');
END;

DROP TRIGGER lane_attempts_content;
CREATE TRIGGER lane_attempts_content BEFORE UPDATE OF
  hash, intent_id, kind, raw, nonce, max_fee_per_gas, max_priority_fee_per_gas, signed_at_ms, visibility
  ON lane_attempts
BEGIN
  SELECT RAISE(ABORT, 'what was signed never changes');
END;
