-- The value of the wallets as an index free of deposits and withdrawals, with its highs: versioned JSON.
CREATE TABLE drawdown (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  state TEXT NOT NULL,
  at_ms INTEGER NOT NULL
) STRICT;
