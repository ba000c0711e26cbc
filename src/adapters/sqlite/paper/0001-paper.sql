-- What happens on paper: what accounts began with, transactions that were never signed, and what became of them at which
-- block of the real chain. Amounts are decimal text in the smallest unit.

CREATE TABLE paper_starts (
  account TEXT NOT NULL,
  token TEXT NOT NULL,
  block INTEGER NOT NULL,
  amount TEXT NOT NULL,
  PRIMARY KEY (account, token)
) STRICT, WITHOUT ROWID;

-- What an account has after a block, whenever that changed.
CREATE TABLE paper_holdings (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  account TEXT NOT NULL,
  token TEXT NOT NULL,
  block INTEGER NOT NULL,
  amount TEXT NOT NULL,
  FOREIGN KEY (account, token) REFERENCES paper_starts (account, token)
) STRICT;
CREATE INDEX paper_holdings_by_block ON paper_holdings (account, token, block, seq);
CREATE INDEX paper_holdings_to_take_back ON paper_holdings (block);

CREATE TABLE paper_allowances (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  owner TEXT NOT NULL,
  token TEXT NOT NULL,
  spender TEXT NOT NULL,
  block INTEGER NOT NULL,
  amount TEXT NOT NULL
) STRICT;
CREATE INDEX paper_allowances_by_block ON paper_allowances (owner, token, spender, block, seq);
CREATE INDEX paper_allowances_to_take_back ON paper_allowances (block);

CREATE TABLE paper_transactions (
  hash TEXT PRIMARY KEY,
  account TEXT NOT NULL,
  nonce INTEGER NOT NULL,
  to_address TEXT NOT NULL,
  data TEXT NOT NULL,
  value TEXT NOT NULL,
  gas_limit TEXT NOT NULL,
  max_fee_per_gas TEXT NOT NULL,
  max_priority_fee_per_gas TEXT NOT NULL,
  sent_block INTEGER NOT NULL,
  judged_block INTEGER NOT NULL,
  -- these are of the block that it is in
  block INTEGER,
  block_hash TEXT,
  gas_used TEXT,
  gas_price TEXT,
  data_fee TEXT,
  logs TEXT,
  CHECK ((block IS NULL) = (block_hash IS NULL) AND (block IS NULL) = (gas_used IS NULL)),
  CHECK (block IS NULL OR block > sent_block)
) STRICT, WITHOUT ROWID;
-- One transaction of a nonce is in a block, however many versions there are.
CREATE UNIQUE INDEX paper_transactions_mined ON paper_transactions (account, nonce) WHERE block IS NOT NULL;
CREATE INDEX paper_transactions_waiting ON paper_transactions (account, nonce) WHERE block IS NULL;
CREATE INDEX paper_transactions_by_block ON paper_transactions (account, block, nonce) WHERE block IS NOT NULL;

CREATE TABLE paper_shifts (
  hash TEXT PRIMARY KEY REFERENCES paper_transactions (hash),
  sell TEXT NOT NULL,
  buy TEXT NOT NULL,
  block INTEGER NOT NULL,
  seconds INTEGER NOT NULL,
  ppm TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX paper_shifts_by_pair ON paper_shifts (sell, buy, seconds);
CREATE INDEX paper_shifts_to_take_back ON paper_shifts (block);
