-- How many scheduled instants a run stands for: more than one when missed slots were accumulated into it.
ALTER TABLE runs ADD COLUMN slots INTEGER NOT NULL DEFAULT 1;

-- Reference prices by the hour, for strategies that look back. Dollars scaled by 1e18, decimal text.
CREATE TABLE price_bars (
  token TEXT NOT NULL,
  hour_ms INTEGER NOT NULL,
  high TEXT NOT NULL,
  low TEXT NOT NULL,
  close TEXT NOT NULL,
  samples INTEGER NOT NULL,
  PRIMARY KEY (token, hour_ms)
) STRICT;
