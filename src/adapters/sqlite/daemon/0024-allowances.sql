-- Permits that were signed and may still be brought to their token: until then its allowance may come back.
CREATE INDEX signatures_permits ON signatures (valid_until_seconds) WHERE kind = 'permit';
-- The block in which an accepted allowance was seen: one below it does not know it, and is no proof that it is gone.
ALTER TABLE grants ADD COLUMN seen_block INTEGER;
