-- When the daemon was last known to be at work: what a start counts its downtime from, after a kill too.
ALTER TABLE identity ADD COLUMN alive_at_ms INTEGER;
