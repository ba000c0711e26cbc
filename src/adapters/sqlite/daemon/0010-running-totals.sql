-- Sums that steps ask for, kept in the transaction of the rows that they count, so that no question grows with the
-- history. Amounts are decimal text. What is counted, by whom, of what, and from whom:
--   sold      strategy    token           everything not released in the ledger
--   bought    strategy    token           as measured, of confirmed and final swaps
--   paid      wallet      token           as measured, the same swaps
--   received  recipient   token   wallet  as measured, the same swaps
--   runs      strategy    state           how many
--   swaps                 state           how many
CREATE TABLE totals (
  kind TEXT NOT NULL CHECK (kind IN ('sold', 'bought', 'paid', 'received', 'runs', 'swaps')),
  subject TEXT NOT NULL,
  item TEXT NOT NULL,
  source TEXT NOT NULL DEFAULT '',
  amount TEXT NOT NULL,
  PRIMARY KEY (kind, subject, item, source)
) STRICT, WITHOUT ROWID;

-- Dollars (1e-18) of everything not released in the ledger, by the hour in which it was reserved.
CREATE TABLE sold_usd_hours (
  hour_ms INTEGER PRIMARY KEY,
  usd TEXT NOT NULL
) STRICT;

INSERT INTO totals (kind, subject, item, amount)
  SELECT 'sold', strategy, token, exact_sum(amount) FROM ledger WHERE state <> 'released' GROUP BY strategy, token;
INSERT INTO totals (kind, subject, item, amount)
  SELECT 'bought', runs.strategy, swaps.buy_token, exact_sum(swaps.bought) FROM swaps JOIN runs ON runs.id = swaps.run_id
  WHERE swaps.state IN ('confirmed', 'final') AND swaps.bought IS NOT NULL GROUP BY runs.strategy, swaps.buy_token;
INSERT INTO totals (kind, subject, item, amount)
  SELECT 'paid', wallet, sell_token, exact_sum(sold) FROM swaps
  WHERE state IN ('confirmed', 'final') AND sold IS NOT NULL GROUP BY wallet, sell_token;
INSERT INTO totals (kind, subject, item, source, amount)
  SELECT 'received', recipient, buy_token, wallet, exact_sum(bought) FROM swaps
  WHERE state IN ('confirmed', 'final') AND bought IS NOT NULL GROUP BY recipient, buy_token, wallet;
INSERT INTO totals (kind, subject, item, amount)
  SELECT 'runs', strategy, state, CAST(count(*) AS TEXT) FROM runs GROUP BY strategy, state;
INSERT INTO totals (kind, subject, item, amount)
  SELECT 'swaps', '', state, CAST(count(*) AS TEXT) FROM swaps GROUP BY state;
INSERT INTO sold_usd_hours (hour_ms, usd)
  SELECT reserved_at_ms - reserved_at_ms % 3600000, exact_sum(usd) FROM ledger WHERE state <> 'released' GROUP BY 1;

-- What is asked for every swap, each by an index that holds no more than the answer may need.
DROP INDEX swaps_by_token;
-- Its unique index begins with the run already.
DROP INDEX swaps_by_run;
CREATE INDEX swaps_busy ON swaps (wallet, sell_token)
  WHERE state IN ('quoted', 'cleared', 'approving', 'signed', 'submitted', 'mined', 'unknown');
CREATE INDEX swaps_by_hash ON swaps (hash) WHERE hash IS NOT NULL;
CREATE INDEX runs_failed ON runs (strategy, ended_at_ms) WHERE state = 'failed';
CREATE INDEX requests_open ON requests (id) WHERE taken_at_ms IS NULL;
CREATE INDEX gaps_by_end ON gaps (strategy, last_slot_ms);
CREATE INDEX gaps_by_slot ON gaps (first_slot_ms);
