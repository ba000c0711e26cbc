-- How long a difference is open is measured by a clock that nobody can set, as long as the machine does not boot again.
ALTER TABLE differences ADD COLUMN found_boot TEXT;
ALTER TABLE differences ADD COLUMN found_boot_ms INTEGER;
