-- How often in a row the slots of a strategy came to nothing for the same reason; no row after a trade.
CREATE TABLE same_ends (
  strategy TEXT PRIMARY KEY,
  reason TEXT NOT NULL,
  count INTEGER NOT NULL,
  first_slot_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
