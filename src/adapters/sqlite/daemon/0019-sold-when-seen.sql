-- Dollars count in the hour and day in which they were seen to be sold. A swap may have been planned days before: counted
-- from then, two days' worth fitted into one. What is reserved counts whole, from its rows.
DELETE FROM sold_usd_hours;
DELETE FROM sold_usd_days;
INSERT INTO sold_usd_hours (hour_ms, usd)
  SELECT settled_at_ms - settled_at_ms % 3600000, exact_sum(usd) FROM ledger
  WHERE state = 'spent' AND settled_at_ms IS NOT NULL GROUP BY 1;
INSERT INTO sold_usd_days (day_ms, usd)
  SELECT hour_ms - hour_ms % 86400000, exact_sum(usd) FROM sold_usd_hours GROUP BY 1;
DROP INDEX ledger_by_time;
CREATE INDEX ledger_spent_by_time ON ledger (settled_at_ms) WHERE state = 'spent';
