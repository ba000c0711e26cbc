-- Every transaction that a swap was ever sent by: who asks by one that was replaced, or gave way to a cancellation, finds
-- the swap too.
CREATE TABLE swap_hashes (
  hash TEXT NOT NULL,
  swap_id TEXT NOT NULL,
  PRIMARY KEY (hash, swap_id)
) STRICT, WITHOUT ROWID;
INSERT INTO swap_hashes (hash, swap_id) SELECT hash, id FROM swaps WHERE hash IS NOT NULL;
DROP INDEX swaps_by_hash;
