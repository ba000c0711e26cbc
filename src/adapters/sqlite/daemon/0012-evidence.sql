-- What tells this database from an older copy of it, and how much of the chain it knows.
ALTER TABLE identity ADD COLUMN database_id TEXT;
-- How often typed data was about to be signed; never less.
ALTER TABLE identity ADD COLUMN signatures INTEGER NOT NULL DEFAULT 0;
UPDATE identity SET signatures = (SELECT count(*) FROM signatures);
CREATE TRIGGER signatures_counted AFTER INSERT ON signatures
BEGIN UPDATE identity SET signatures = signatures + 1; END;

-- Up to which block the chain was held against the rows of a wallet, and where that began.
CREATE TABLE known_chain (
  wallet TEXT PRIMARY KEY,
  block_number INTEGER NOT NULL,
  transaction_count INTEGER NOT NULL,
  -- JSON: balances by token at that block, as decimal text
  balances TEXT NOT NULL,
  baseline_block INTEGER NOT NULL,
  baseline_count INTEGER NOT NULL,
  at_ms INTEGER NOT NULL
) STRICT;

-- What the chain or the marker knows and the rows do not. While one is open, what it touches signs nothing.
CREATE TABLE differences (
  id INTEGER PRIMARY KEY,
  -- what it is about, so that the same is found once
  key TEXT NOT NULL UNIQUE,
  wallet TEXT NOT NULL,
  token TEXT,
  kind TEXT NOT NULL,
  scope TEXT NOT NULL CHECK (scope IN ('wallet', 'token', 'gasless')),
  text TEXT NOT NULL,
  facts TEXT NOT NULL,
  found_at_ms INTEGER NOT NULL,
  settled_by TEXT,
  settled_at_ms INTEGER
) STRICT;
CREATE INDEX differences_open ON differences (id) WHERE settled_at_ms IS NULL;

-- Fills that a person accepted and no run of this database made: they count in the budgets of those who may have.
CREATE TABLE accepted_sales (
  difference_id INTEGER NOT NULL REFERENCES differences (id),
  strategy TEXT NOT NULL,
  token TEXT NOT NULL,
  amount TEXT NOT NULL,
  PRIMARY KEY (difference_id, strategy)
) STRICT, WITHOUT ROWID;
CREATE INDEX accepted_sales_by_strategy ON accepted_sales (strategy);
