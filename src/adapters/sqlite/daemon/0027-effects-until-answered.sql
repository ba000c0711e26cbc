-- The row of an effect goes with its answer: nobody asks what was done, and a run had a dozen of them. The daemon knows
-- effects by their ids while they are performed, so an id is never given again.
CREATE TEMP TABLE waiting AS SELECT * FROM effects WHERE done_at_ms IS NULL;
DROP TABLE effects;
CREATE TABLE effects (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  run_id TEXT NOT NULL REFERENCES runs (id),
  swap_id TEXT,
  kind TEXT NOT NULL,
  version INTEGER NOT NULL,
  payload TEXT NOT NULL,
  not_before_ms INTEGER NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  created_at_ms INTEGER NOT NULL
) STRICT;
INSERT INTO effects (id, run_id, swap_id, kind, version, payload, not_before_ms, attempts, created_at_ms)
  SELECT id, run_id, swap_id, kind, version, payload, not_before_ms, attempts, created_at_ms FROM temp.waiting;
DROP TABLE temp.waiting;
CREATE INDEX effects_pending ON effects (not_before_ms);
CREATE INDEX effects_by_run ON effects (run_id);
