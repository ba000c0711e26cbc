-- A pace is only worth a second: rows of an older release are not taken over.
DROP TABLE pace;

-- One row per key of a service. Times are microseconds of the machine's monotonic clock since the boot `boot_id`.
CREATE TABLE pace (
  key_hash TEXT PRIMARY KEY,
  boot_id TEXT NOT NULL,
  next_slot_us INTEGER NOT NULL,
  blocked_until_us INTEGER NOT NULL,
  cautious INTEGER NOT NULL CHECK (cautious IN (0, 1)),
  rate_per_second REAL NOT NULL,
  rate_at_us INTEGER NOT NULL,
  limit_seen REAL
) STRICT;
