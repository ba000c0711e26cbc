-- A channel may leave messages out, and codes may be switched off for all channels.
ALTER TABLE alert_channels ADD COLUMN tells_messages INTEGER NOT NULL DEFAULT 1 CHECK (tells_messages IN (0, 1));
CREATE TABLE alert_codes_off (code TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;

-- How far the digests of a day and of a week have come: by the calendar, by the moves, and of gaps that may still grow.
CREATE TABLE digests (
  period TEXT PRIMARY KEY CHECK (period IN ('day', 'week')),
  until_ms INTEGER NOT NULL,
  last_transition INTEGER NOT NULL,
  -- JSON: how many slots of each gap were counted
  gaps TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- What digests count: fills, and runs without a trade, each since a move.
CREATE INDEX transitions_of_fills ON transitions (id) WHERE subject = 'swap' AND to_state = 'confirmed';
CREATE INDEX transitions_of_ends ON transitions (id) WHERE subject = 'run' AND to_state IN ('skipped', 'failed');
