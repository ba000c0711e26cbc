-- Permits that were signed and may still be brought to their token: until then its allowance may come back.
CREATE INDEX signatures_permits ON signatures (valid_until_seconds) WHERE kind = 'permit';
