-- What strategies sold, by the quarter of an hour and the day in which it was seen to be, and over their life (length 0):
-- budgets of a day, week or month begin at the midnight of a zone, and each of these is the beginning of a quarter of an
-- hour. Amounts and dollars (1e-18) are decimal text. What is reserved counts from its rows.
CREATE TABLE sold_by_time (
  strategy TEXT NOT NULL,
  length_ms INTEGER NOT NULL CHECK (length_ms IN (0, 900000, 86400000)),
  start_ms INTEGER NOT NULL,
  token TEXT NOT NULL,
  amount TEXT NOT NULL,
  usd TEXT NOT NULL,
  PRIMARY KEY (strategy, length_ms, start_ms, token)
) STRICT, WITHOUT ROWID;

INSERT INTO sold_by_time (strategy, length_ms, start_ms, token, amount, usd)
  SELECT strategy, length_ms, CASE length_ms WHEN 0 THEN 0 ELSE settled_at_ms - settled_at_ms % length_ms END, token,
    exact_sum(amount), exact_sum(usd)
  FROM ledger CROSS JOIN (SELECT 0 AS length_ms UNION ALL SELECT 900000 UNION ALL SELECT 86400000)
  WHERE state = 'spent' AND settled_at_ms IS NOT NULL GROUP BY 1, 2, 3, 4;

CREATE INDEX ledger_reserved_by_strategy ON ledger (strategy) WHERE state = 'reserved';
