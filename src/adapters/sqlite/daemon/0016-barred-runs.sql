-- Runs that were open when a person accepted what another database had done: that one may have traded them already.
CREATE TABLE barred_runs (
  run_id TEXT PRIMARY KEY REFERENCES runs (id)
) STRICT, WITHOUT ROWID;
