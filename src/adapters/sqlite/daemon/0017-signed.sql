-- How often typed data was signed; never less. A copy in which an order was only meant to be signed is told by it from the
-- database that handed the order over.
ALTER TABLE identity ADD COLUMN signed INTEGER NOT NULL DEFAULT 0;
UPDATE identity SET signed = (SELECT count(*) FROM signatures WHERE signature IS NOT NULL);
CREATE TRIGGER signed_counted AFTER UPDATE OF signature ON signatures
WHEN OLD.signature IS NULL AND NEW.signature IS NOT NULL
BEGIN UPDATE identity SET signed = signed + 1; END;
