-- Runs that are due begin some at a time, in the order of their slots: of ten thousand the next ones are found without
-- reading and sorting all of them.
CREATE INDEX runs_due ON runs (slot_ms, id) WHERE state = 'due';
