-- What steps worked under: a strategy's edition, the owner's policy, the daemon's settings. Each is stored once.
CREATE TABLE step_settings (
  hash TEXT PRIMARY KEY,
  body BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- Every step that changed its run, with its event and what it worked with: enough to take it again.
CREATE TABLE steps (
  id INTEGER PRIMARY KEY,
  run_id TEXT NOT NULL REFERENCES runs (id),
  settings TEXT NOT NULL REFERENCES step_settings (hash),
  -- compressed JSON
  body BLOB NOT NULL
) STRICT;
CREATE INDEX steps_by_run ON steps (run_id, id);
