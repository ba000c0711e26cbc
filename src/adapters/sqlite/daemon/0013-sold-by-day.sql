-- Dollars (1e-18) of everything not released in the ledger, by the day in which it was reserved: a month of hours is
-- 720 rows, asked for with every decision.
CREATE TABLE sold_usd_days (
  day_ms INTEGER PRIMARY KEY,
  usd TEXT NOT NULL
) STRICT;

INSERT INTO sold_usd_days (day_ms, usd)
  SELECT hour_ms - hour_ms % 86400000, exact_sum(usd) FROM sold_usd_hours GROUP BY 1;
