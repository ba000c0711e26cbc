-- An order by a clock that was ahead must not bar later ones until then: the last one that was written down holds.
DROP TRIGGER lot_orders_not_afterwards;
CREATE TRIGGER lot_orders_not_afterwards BEFORE INSERT ON lot_orders
WHEN NEW.at_ms < (SELECT block_time_seconds * 1000 FROM swaps WHERE block_number IS NOT NULL
  ORDER BY block_number DESC LIMIT 1)
BEGIN SELECT RAISE(ABORT, 'a standing order holds for sales after it'); END;

-- Digests and followers know by the number of a transition how far they are: where the newest ones went with their runs,
-- their numbers are never given again. A table with millions of rows stays as it is.
CREATE TABLE transitions_gone (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  -- the highest number that went while it was the newest
  newest INTEGER NOT NULL
) STRICT;
INSERT INTO transitions_gone (one, newest) SELECT 1, ifnull(max(last_transition), 0) FROM digests;
CREATE TRIGGER transitions_gone_rise BEFORE UPDATE ON transitions_gone WHEN NEW.newest < OLD.newest
BEGIN SELECT RAISE(ABORT, 'the number of a transition is never given again'); END;
CREATE TRIGGER transitions_gone_stay BEFORE DELETE ON transitions_gone
BEGIN SELECT RAISE(ABORT, 'the number of a transition is never given again'); END;
CREATE TRIGGER transitions_newest_gone AFTER DELETE ON transitions
WHEN NOT EXISTS (SELECT 1 FROM transitions WHERE id > OLD.id)
BEGIN UPDATE transitions_gone SET newest = max(newest, OLD.id); END;
CREATE TRIGGER transitions_numbered_once AFTER INSERT ON transitions
WHEN NEW.id <= (SELECT newest FROM transitions_gone)
BEGIN SELECT RAISE(ABORT, 'the number of a transition is never given again'); END;
