-- An order by a clock that was ahead must not bar later ones until then: the last one that was written down holds.
DROP TRIGGER lot_orders_not_afterwards;
CREATE TRIGGER lot_orders_not_afterwards BEFORE INSERT ON lot_orders
WHEN NEW.at_ms < (SELECT block_time_seconds * 1000 FROM swaps WHERE block_number IS NOT NULL
  ORDER BY block_number DESC LIMIT 1)
BEGIN SELECT RAISE(ABORT, 'a standing order holds for sales after it'); END;
