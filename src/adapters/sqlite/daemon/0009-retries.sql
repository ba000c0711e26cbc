-- Questions of a run in a row that came to nothing: how long it waits for the next one.
ALTER TABLE runs ADD COLUMN retries INTEGER NOT NULL DEFAULT 0;

-- Why a run asked again: equal reasons in a row share one line, with the words of the last one.
CREATE TABLE retries (
  id INTEGER PRIMARY KEY,
  run_id TEXT NOT NULL REFERENCES runs (id),
  swap_id TEXT,
  reason TEXT NOT NULL,
  detail TEXT NOT NULL,
  count INTEGER NOT NULL,
  first_at_ms INTEGER NOT NULL,
  last_at_ms INTEGER NOT NULL,
  next_at_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX retries_by_run ON retries (run_id, id);
