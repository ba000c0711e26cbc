-- Swaps that were accepted and never sent are forgotten some days after their deadline, with their transitions and their
-- quotes. Whatever was sent stays for ever.
CREATE INDEX swaps_unsent ON swaps (deadline_seconds) WHERE hash IS NULL AND status IN ('error', 'expired');
DROP TRIGGER swap_transitions_stay;
CREATE TRIGGER swap_transitions_stay BEFORE DELETE ON swap_transitions
WHEN NOT EXISTS (SELECT 1 FROM swaps WHERE id = OLD.swap_id AND hash IS NULL AND status IN ('error', 'expired'))
BEGIN SELECT RAISE(ABORT, 'transitions are append-only'); END;
