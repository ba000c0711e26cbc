-- Runs that wait for a person, or did: until when, and what he said. One row for each kind of wait of a run.
CREATE TABLE holds (
  run_id TEXT NOT NULL REFERENCES runs (id),
  kind TEXT NOT NULL CHECK (kind IN ('approval', 'announcement')),
  swap_id TEXT NOT NULL,
  since_ms INTEGER NOT NULL,
  until_ms INTEGER NOT NULL,
  window_ends_ms INTEGER NOT NULL,
  decision TEXT CHECK (decision IN ('approved', 'refused')),
  decided_by TEXT,
  decided_at_ms INTEGER,
  PRIMARY KEY (run_id, kind)
) STRICT, WITHOUT ROWID;
