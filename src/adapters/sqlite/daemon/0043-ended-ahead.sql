-- Where a schedule is edited after an operator used up slots to come, the last handled slot lies before those: they have
-- their end or run, and get no second one. How far a strategy ever came says where there may be any.
ALTER TABLE strategies ADD COLUMN furthest_slot_ms INTEGER NOT NULL DEFAULT 0;
UPDATE strategies SET furthest_slot_ms = max(
  last_slot_ms,
  coalesce((SELECT max(slot_ms) FROM runs WHERE strategy = strategies.id), 0),
  coalesce((SELECT max(last_slot_ms) FROM gaps WHERE strategy = strategies.id), 0)
);
CREATE TRIGGER strategies_began AFTER INSERT ON strategies
BEGIN UPDATE strategies SET furthest_slot_ms = NEW.last_slot_ms WHERE id = NEW.id; END;
CREATE TRIGGER strategies_went_on AFTER UPDATE OF last_slot_ms ON strategies
WHEN NEW.last_slot_ms > NEW.furthest_slot_ms
BEGIN UPDATE strategies SET furthest_slot_ms = NEW.last_slot_ms WHERE id = NEW.id; END;
