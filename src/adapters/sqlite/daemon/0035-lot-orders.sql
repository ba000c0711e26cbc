-- Which lots the sales of a wallet take from then on, for accounts: written down before they are made, and never changed.
CREATE TABLE lot_orders (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  wallet TEXT NOT NULL,
  pick TEXT NOT NULL CHECK (pick IN ('oldest', 'newest', 'highest-cost', 'lowest-cost')),
  made_by TEXT NOT NULL,
  -- for sales after it
  at_ms INTEGER NOT NULL
) STRICT;
CREATE TRIGGER lot_orders_fixed BEFORE UPDATE ON lot_orders
BEGIN SELECT RAISE(ABORT, 'a standing order never changes: another one follows it'); END;
CREATE TRIGGER lot_orders_stay BEFORE DELETE ON lot_orders
BEGIN SELECT RAISE(ABORT, 'a standing order is never deleted'); END;
-- A clock that is behind must not name lots of sales that were made.
CREATE TRIGGER lot_orders_not_afterwards BEFORE INSERT ON lot_orders
WHEN NEW.at_ms < (SELECT block_time_seconds * 1000 FROM swaps WHERE block_number IS NOT NULL
  ORDER BY block_number DESC LIMIT 1) OR NEW.at_ms < (SELECT max(at_ms) FROM lot_orders)
BEGIN SELECT RAISE(ABORT, 'a standing order holds for sales after it'); END;
