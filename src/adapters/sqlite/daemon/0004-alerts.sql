-- What a person should know, written in the commit that makes it true and sent afterwards.
-- A `log-only` row is below the configured severity, or there is nowhere to send it.
CREATE TABLE alerts (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  severity TEXT NOT NULL CHECK (severity IN ('info', 'warning', 'critical')),
  code TEXT NOT NULL,
  subject TEXT NOT NULL,
  text TEXT NOT NULL,
  strategy TEXT,
  run_id TEXT,
  raised_at_ms INTEGER NOT NULL,
  over_at_ms INTEGER,
  state TEXT NOT NULL CHECK (state IN ('waiting', 'sent', 'given-up', 'log-only')),
  attempts INTEGER NOT NULL DEFAULT 0,
  not_before_ms INTEGER NOT NULL,
  outcome TEXT,
  finished_at_ms INTEGER
) STRICT;
-- The same is not said twice while it is true.
CREATE UNIQUE INDEX alerts_true ON alerts (subject, code) WHERE over_at_ms IS NULL;
CREATE INDEX alerts_waiting ON alerts (not_before_ms) WHERE state = 'waiting';
