-- What is archived, and gaps that nothing was joined to for days, are links of one chain: the SHA-256 of each covers the
-- one before it and all that is closed with it. So a closed row that somebody changed or deleted is noticed.
CREATE TABLE history_head (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  seq INTEGER NOT NULL,
  hash BLOB NOT NULL
) STRICT;
INSERT INTO history_head (one, seq, hash) VALUES (1, 0, zeroblob(32));
CREATE TRIGGER history_head_goes_on BEFORE UPDATE ON history_head
WHEN NEW.seq <> OLD.seq + 1 OR NOT EXISTS (
  SELECT 1 FROM archives WHERE seq = NEW.seq AND hash = NEW.hash
  UNION ALL SELECT 1 FROM closed_gaps WHERE seq = NEW.seq AND hash = NEW.hash
)
BEGIN SELECT RAISE(ABORT, 'links of the history follow one another'); END;
CREATE TRIGGER history_head_stays BEFORE DELETE ON history_head
BEGIN SELECT RAISE(ABORT, 'links of the history follow one another'); END;

ALTER TABLE archives ADD COLUMN hash BLOB;
CREATE TRIGGER archives_linked BEFORE INSERT ON archives
WHEN NEW.hash IS NULL OR NEW.seq IS NOT (SELECT seq + 1 FROM history_head)
BEGIN SELECT RAISE(ABORT, 'links of the history follow one another'); END;

-- Gaps that were closed together.
CREATE TABLE closed_gaps (
  seq INTEGER PRIMARY KEY,
  hash BLOB NOT NULL
) STRICT;
CREATE TRIGGER closed_gaps_linked BEFORE INSERT ON closed_gaps
WHEN NEW.seq IS NOT (SELECT seq + 1 FROM history_head)
BEGIN SELECT RAISE(ABORT, 'links of the history follow one another'); END;
CREATE TRIGGER closed_gaps_fixed BEFORE UPDATE ON closed_gaps
BEGIN SELECT RAISE(ABORT, 'what is closed never changes'); END;
CREATE TRIGGER closed_gaps_stay BEFORE DELETE ON closed_gaps
BEGIN SELECT RAISE(ABORT, 'what is closed never changes'); END;

ALTER TABLE gaps ADD COLUMN closed INTEGER;
CREATE INDEX gaps_open ON gaps (recorded_at_ms) WHERE closed IS NULL;
CREATE TRIGGER gaps_closed BEFORE UPDATE ON gaps WHEN OLD.closed IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'what is closed never changes'); END;
