-- Runs that signed nothing become gaps once they are old: equal ends in a row share one line.
CREATE TEMP TABLE known_gaps AS SELECT * FROM gaps ORDER BY first_slot_ms;
DROP TABLE gaps;
CREATE TABLE gaps (
  id INTEGER PRIMARY KEY,
  strategy TEXT NOT NULL,
  first_slot_ms INTEGER NOT NULL,
  last_slot_ms INTEGER NOT NULL,
  count INTEGER NOT NULL,
  reason TEXT NOT NULL,
  recorded_at_ms INTEGER NOT NULL,
  -- how the runs of these slots ended; null: the slots got no run
  state TEXT,
  -- how many swaps these runs had planned, by their ends
  skipped_swaps INTEGER NOT NULL DEFAULT 0,
  denied_swaps INTEGER NOT NULL DEFAULT 0,
  UNIQUE (strategy, first_slot_ms)
) STRICT;
INSERT INTO gaps (strategy, first_slot_ms, last_slot_ms, count, reason, recorded_at_ms)
  SELECT strategy, first_slot_ms, last_slot_ms, count, reason, recorded_at_ms FROM temp.known_gaps;
DROP TABLE temp.known_gaps;
CREATE INDEX gaps_by_end ON gaps (strategy, last_slot_ms);
CREATE INDEX gaps_by_slot ON gaps (first_slot_ms);
CREATE TRIGGER gaps_stay BEFORE DELETE ON gaps
BEGIN SELECT RAISE(ABORT, 'every slot keeps its recorded end'); END;

-- What is old is found by its end, and not by reading the history.
CREATE INDEX runs_ended ON runs (ended_at_ms, id) WHERE ended_at_ms IS NOT NULL;

-- Runs whose rows go in this transaction. Such a mark cannot be committed: it refers to what cannot be there.
CREATE TABLE no_rows (id TEXT PRIMARY KEY CHECK (id IS NULL)) STRICT, WITHOUT ROWID;
CREATE TABLE leaving (
  run_id TEXT PRIMARY KEY REFERENCES no_rows (id) DEFERRABLE INITIALLY DEFERRED
) STRICT, WITHOUT ROWID;
CREATE TRIGGER leaving_when_over BEFORE INSERT ON leaving
WHEN NOT EXISTS (SELECT 1 FROM runs WHERE id = NEW.run_id AND ended_at_ms IS NOT NULL)
  OR EXISTS (SELECT 1 FROM effects WHERE run_id = NEW.run_id)
BEGIN SELECT RAISE(ABORT, 'a run that is not over stays'); END;
CREATE TRIGGER leaving_unsigned BEFORE INSERT ON leaving
WHEN EXISTS (
  SELECT 1 FROM swaps WHERE run_id = NEW.run_id AND (
    state NOT IN ('skipped', 'denied')
    OR EXISTS (SELECT 1 FROM capabilities WHERE swap_id = swaps.id)
    OR EXISTS (SELECT 1 FROM signatures WHERE swap_id = swaps.id)
    OR EXISTS (
      SELECT 1 FROM transitions
      WHERE subject_id = swaps.id AND to_state NOT IN ('planned', 'quoted', 'cleared', 'skipped', 'denied')
    )
  )
)
BEGIN SELECT RAISE(ABORT, 'a run that may have signed anything stays'); END;

-- Nothing of a run goes alone.
CREATE TRIGGER runs_kept BEFORE DELETE ON runs
WHEN NOT EXISTS (SELECT 1 FROM leaving WHERE run_id = OLD.id)
BEGIN SELECT RAISE(ABORT, 'a run goes only when it is old and signed nothing'); END;
DROP TRIGGER swaps_kept;
CREATE TRIGGER swaps_kept BEFORE DELETE ON swaps
WHEN NOT EXISTS (SELECT 1 FROM leaving WHERE run_id = OLD.run_id)
BEGIN SELECT RAISE(ABORT, 'a swap is never deleted but with its run'); END;
DROP TRIGGER transitions_stay;
CREATE TRIGGER transitions_stay BEFORE DELETE ON transitions
WHEN NOT EXISTS (
  SELECT 1 FROM leaving WHERE run_id =
    iif(OLD.subject = 'run', OLD.subject_id, (SELECT run_id FROM swaps WHERE id = OLD.subject_id))
)
BEGIN SELECT RAISE(ABORT, 'transitions are append-only'); END;
DROP TRIGGER ledger_kept;
CREATE TRIGGER ledger_kept BEFORE DELETE ON ledger
WHEN NOT EXISTS (SELECT 1 FROM leaving WHERE run_id = (SELECT run_id FROM swaps WHERE id = OLD.swap_id))
BEGIN SELECT RAISE(ABORT, 'the money of a swap is never forgotten but with its run'); END;
CREATE TRIGGER checks_kept BEFORE DELETE ON checks
WHEN NOT EXISTS (SELECT 1 FROM leaving WHERE run_id = (SELECT run_id FROM swaps WHERE id = OLD.swap_id))
BEGIN SELECT RAISE(ABORT, 'checks are never deleted but with their run'); END;
CREATE TRIGGER capabilities_kept BEFORE DELETE ON capabilities
BEGIN SELECT RAISE(ABORT, 'a right that was given is never forgotten'); END;
CREATE TRIGGER signatures_kept BEFORE DELETE ON signatures
BEGIN SELECT RAISE(ABORT, 'what was signed is never deleted'); END;
