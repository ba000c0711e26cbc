-- One database serves several networks: a gasless quote is of one of them. Quotes of an earlier release have none and are
-- found no more; they held for seconds, and the swaps that were accepted from them have their network in their own rows.
ALTER TABLE quotes ADD COLUMN network TEXT NOT NULL DEFAULT '';
