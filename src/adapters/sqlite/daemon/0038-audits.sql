-- What audits found that people made, as a note for others: an audit itself reads none of it.
CREATE TABLE audits (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  made_by TEXT NOT NULL,
  at_ms INTEGER NOT NULL,
  -- where it was asked to begin; both null: it looked at everything
  from_block INTEGER,
  from_ms INTEGER,
  to_block INTEGER NOT NULL,
  differences INTEGER NOT NULL CHECK (differences >= 0),
  -- the first ones, as JSON: code, subject, message
  findings TEXT NOT NULL,
  -- how much was looked at, in words
  looked_at TEXT NOT NULL
) STRICT;
CREATE TRIGGER audits_fixed BEFORE UPDATE ON audits
BEGIN SELECT RAISE(ABORT, 'what an audit found never changes'); END;
