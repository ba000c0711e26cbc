-- Alerts go to several channels. Each has a row an alert of its own: its attempts, its pause, and what became of it.
CREATE TABLE alert_channels (
  name TEXT PRIMARY KEY,
  minimum TEXT NOT NULL CHECK (minimum IN ('info', 'warning', 'critical')),
  tells_ends INTEGER NOT NULL CHECK (tells_ends IN (0, 1))
) STRICT;

-- Numbered in the order of what happened: of one subject a channel is told in that order.
CREATE TABLE alert_deliveries (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  channel TEXT NOT NULL REFERENCES alert_channels (name) ON DELETE CASCADE,
  alert INTEGER NOT NULL REFERENCES alerts (number) ON DELETE CASCADE,
  tells TEXT NOT NULL CHECK (tells IN ('begin', 'end')),
  subject TEXT NOT NULL,
  state TEXT NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'sent', 'given-up')),
  attempts INTEGER NOT NULL DEFAULT 0,
  not_before_ms INTEGER NOT NULL DEFAULT 0,
  outcome TEXT,
  finished_at_ms INTEGER,
  UNIQUE (alert, channel, tells)
) STRICT;
CREATE INDEX alert_deliveries_waiting ON alert_deliveries (channel, subject, number) WHERE state = 'waiting';

-- What there was to be sent went to the one webhook; the next start writes down its least severity.
INSERT INTO alert_channels (name, minimum, tells_ends)
  SELECT 'webhook', 'warning', 0 WHERE EXISTS (SELECT 1 FROM alerts WHERE state <> 'log-only');
INSERT INTO alert_deliveries
    (channel, alert, tells, subject, state, attempts, not_before_ms, outcome, finished_at_ms)
  SELECT 'webhook', number, 'begin', subject, state, attempts, not_before_ms, outcome, finished_at_ms
  FROM alerts WHERE state <> 'log-only' ORDER BY number;

DROP INDEX alerts_waiting;
ALTER TABLE alerts DROP COLUMN state;
ALTER TABLE alerts DROP COLUMN attempts;
ALTER TABLE alerts DROP COLUMN not_before_ms;
ALTER TABLE alerts DROP COLUMN outcome;
ALTER TABLE alerts DROP COLUMN finished_at_ms;
