-- Quotes are counted by the key that asked for them. Those of which a swap was made stay for ever beside it; the others are
-- found by these indexes alone, so that pruning never walks over the ones that stay.
ALTER TABLE quotes ADD COLUMN caller TEXT NOT NULL DEFAULT '';
ALTER TABLE quotes ADD COLUMN is_used INTEGER NOT NULL DEFAULT 0 CHECK (is_used IN (0, 1));
UPDATE quotes SET is_used = 1 WHERE id IN (SELECT quote_id FROM swaps);
DROP INDEX quotes_by_expiry;
CREATE INDEX quotes_unused ON quotes (expires_at_seconds) WHERE is_used = 0;
CREATE INDEX quotes_unused_of_caller ON quotes (caller, expires_at_seconds) WHERE is_used = 0;
