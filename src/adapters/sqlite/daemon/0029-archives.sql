-- What is kept of a run that signed, once all of it is final and old: one compressed row in place of some eighty. The run
-- and its swaps stay, with everything that is looked up by: states, amounts, hashes, nonces, blocks.
CREATE TABLE archives (
  seq INTEGER PRIMARY KEY,
  -- the archive that this one was compressed against, which was compressed alone; null: this one was, too
  base INTEGER,
  body BLOB NOT NULL
) STRICT;
CREATE TRIGGER archives_fixed BEFORE UPDATE ON archives
BEGIN SELECT RAISE(ABORT, 'an archive never changes'); END;
CREATE TRIGGER archives_stay BEFORE DELETE ON archives
BEGIN SELECT RAISE(ABORT, 'an archive is never deleted'); END;
-- Runs of a strategy resemble one another: what its next ones are compressed against.
CREATE TABLE archive_bases (
  strategy TEXT PRIMARY KEY,
  seq INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- A reference would have SQLite read all runs with each new archive.
ALTER TABLE runs ADD COLUMN archive INTEGER;
DROP INDEX runs_ended;
CREATE INDEX runs_ended ON runs (ended_at_ms, id) WHERE ended_at_ms IS NOT NULL AND archive IS NULL;
-- Nobody looks anything up by these.
DROP INDEX swaps_by_intent;
DROP INDEX ledger_by_strategy;

-- What leaves goes into an archive, or signed nothing.
DROP TABLE leaving;
CREATE TABLE leaving (
  run_id TEXT PRIMARY KEY REFERENCES no_rows (id) DEFERRABLE INITIALLY DEFERRED,
  archive INTEGER
) STRICT, WITHOUT ROWID;
CREATE TRIGGER leaving_when_over BEFORE INSERT ON leaving
WHEN NOT EXISTS (SELECT 1 FROM runs WHERE id = NEW.run_id AND ended_at_ms IS NOT NULL AND archive IS NULL)
  OR (NEW.archive IS NOT NULL AND NOT EXISTS (SELECT 1 FROM archives WHERE seq = NEW.archive))
  OR EXISTS (SELECT 1 FROM effects WHERE run_id = NEW.run_id)
  OR EXISTS (
    SELECT 1 FROM swaps WHERE run_id = NEW.run_id
      AND state NOT IN ('final', 'reverted', 'expired', 'cancelled', 'skipped', 'denied')
  )
  OR EXISTS (SELECT 1 FROM swaps JOIN capabilities ON swap_id = swaps.id WHERE run_id = NEW.run_id AND live = 1)
  OR EXISTS (
    SELECT 1 FROM swaps JOIN ledger ON swap_id = swaps.id WHERE run_id = NEW.run_id AND ledger.state = 'reserved'
  )
BEGIN SELECT RAISE(ABORT, 'a run that is not over stays'); END;
CREATE TRIGGER leaving_unsigned BEFORE INSERT ON leaving
WHEN NEW.archive IS NULL AND (
  EXISTS (SELECT 1 FROM runs WHERE id = NEW.run_id AND state NOT IN ('skipped', 'failed'))
  OR EXISTS (
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
)
BEGIN SELECT RAISE(ABORT, 'a run that may have signed anything is archived, or stays'); END;

DROP TRIGGER runs_kept;
CREATE TRIGGER runs_kept BEFORE DELETE ON runs
WHEN NOT EXISTS (SELECT 1 FROM leaving WHERE run_id = OLD.id AND archive IS NULL)
BEGIN SELECT RAISE(ABORT, 'a run goes only when it is old and signed nothing'); END;
DROP TRIGGER swaps_kept;
CREATE TRIGGER swaps_kept BEFORE DELETE ON swaps
WHEN NOT EXISTS (SELECT 1 FROM leaving WHERE run_id = OLD.run_id AND archive IS NULL)
BEGIN SELECT RAISE(ABORT, 'a swap is never deleted but with its run'); END;
DROP TRIGGER capabilities_kept;
CREATE TRIGGER capabilities_kept BEFORE DELETE ON capabilities
WHEN NOT EXISTS (SELECT 1 FROM leaving WHERE run_id = (SELECT run_id FROM swaps WHERE id = OLD.swap_id))
BEGIN SELECT RAISE(ABORT, 'a right that was given is never forgotten'); END;
DROP TRIGGER signatures_kept;
CREATE TRIGGER signatures_kept BEFORE DELETE ON signatures
WHEN NOT EXISTS (SELECT 1 FROM leaving WHERE run_id = (SELECT run_id FROM swaps WHERE id = OLD.swap_id))
BEGIN SELECT RAISE(ABORT, 'what was signed is never deleted'); END;

-- An archived run is over for good: nothing of it changes, and nothing is added.
CREATE TRIGGER runs_archived BEFORE UPDATE ON runs
WHEN OLD.archive IS NOT NULL OR (
  NEW.archive IS NOT NULL AND NOT EXISTS (SELECT 1 FROM leaving WHERE run_id = NEW.id AND archive = NEW.archive)
)
BEGIN SELECT RAISE(ABORT, 'an archived run never changes'); END;
CREATE TRIGGER swaps_archived BEFORE UPDATE ON swaps
WHEN (SELECT archive FROM runs WHERE id = OLD.run_id) IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'an archived run never changes'); END;
CREATE TRIGGER swaps_of_archived BEFORE INSERT ON swaps
WHEN (SELECT archive FROM runs WHERE id = NEW.run_id) IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'an archived run never changes'); END;
CREATE TRIGGER effects_of_archived BEFORE INSERT ON effects
WHEN (SELECT archive FROM runs WHERE id = NEW.run_id) IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'nothing is to be done for an archived run'); END;
DROP TRIGGER swaps_end;
CREATE TRIGGER swaps_end BEFORE UPDATE OF
  mode, amount_in, amount_out_min, quote_id, intent_id, nonce, deadline_seconds, hash, block_number, sold, bought
  ON swaps
WHEN OLD.state IN ('final', 'reverted', 'expired', 'cancelled') AND (
  NEW.mode IS NOT OLD.mode OR NEW.amount_in IS NOT OLD.amount_in OR NEW.amount_out_min IS NOT OLD.amount_out_min
  OR NEW.intent_id IS NOT OLD.intent_id OR NEW.nonce IS NOT OLD.nonce
  OR NEW.deadline_seconds IS NOT OLD.deadline_seconds OR NEW.hash IS NOT OLD.hash
  OR NEW.block_number IS NOT OLD.block_number OR NEW.sold IS NOT OLD.sold OR NEW.bought IS NOT OLD.bought
  OR (NEW.quote_id IS NOT OLD.quote_id AND NOT EXISTS (SELECT 1 FROM leaving WHERE run_id = OLD.run_id))
)
BEGIN SELECT RAISE(ABORT, 'a signed swap that ended never changes'); END;
